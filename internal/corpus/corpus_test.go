package corpus_test

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/callwright/callwright/internal/corpus"
)

// TestCalibration checks the confidence on the half of the sample that its weights
// were not fitted on: it may be taken for a probability.
func TestCalibration(t *testing.T) {
	fit, check, err := corpus.Sample("../../testdata")
	if err != nil {
		t.Fatal(err)
	}
	r := corpus.Measure(check)
	t.Logf("fitted on %d, checked on the other half:\n%s", len(fit), r.String())
	if len(check) < 5000 || len(fit) < 5000 {
		t.Errorf("%d to fit and %d to check are too few", len(fit), len(check))
	}
	if e := r.ExpectedError(); e >= 0.05 {
		t.Errorf("the expected calibration error is %.4f", e)
	}
	n, right, wrong := 0, 0, 0
	for i := range check {
		x := &check[i]
		if !x.Called {
			continue
		}
		if !x.Right {
			wrong++
		}
		if x.Score.Overall >= 0.9 {
			n++
			if x.Right {
				right++
			}
		}
	}
	if float64(right) < 0.9*float64(n) {
		t.Errorf("of %d calls at 0.9 and more %d are right", n, right)
	}
	t.Logf("%d of %d calls at 0.9 and more are right; %d calls are wrong in all", right, n, wrong)
}

func TestGenerate(t *testing.T) {
	a, b := corpus.Generate(7, 500), corpus.Generate(7, 500)
	formats, tags, difficulties := map[string]bool{}, map[string]bool{}, map[corpus.Difficulty]int{}
	succeed := 0
	for i := range a {
		if a[i].Text != b[i].Text || !reflect.DeepEqual(a[i].Want, b[i].Want) {
			t.Fatalf("case %d differs from run to run", i)
		}
		formats[a[i].Format] = true
		difficulties[a[i].Difficulty]++
		for _, tag := range a[i].Tags {
			tags[tag] = true
		}
		if a[i].ShouldSucceed != (len(a[i].Want) > 0) {
			t.Errorf("%s should succeed: %v", a[i].ID, a[i].Want)
		}
		if a[i].ShouldSucceed {
			succeed++
		}
	}
	if len(formats) < 25 || len(tags) < 20 || len(difficulties) != 3 || succeed < 350 || succeed > 450 {
		t.Errorf("%d formats, %d tags, %v, %d should succeed", len(formats), len(tags), difficulties, succeed)
	}
	if c := corpus.Generate(8, 1); c[0].Text == a[0].Text && fmt.Sprint(c[0].Tags) == fmt.Sprint(a[0].Tags) {
		t.Error("another seed makes the same")
	}
}

// TestWhole checks that texts without any mutation are read as they were meant.
func TestWhole(t *testing.T) {
	for _, c := range corpus.Generate(3, 2000) {
		if c.Difficulty != corpus.Easy {
			continue
		}
		list, err := corpus.Label([]corpus.Case{c})
		if err != nil {
			t.Fatal(err)
		}
		right := 0
		for _, x := range list {
			if x.Right && x.Called {
				right++
			}
		}
		if right != len(c.Want) || len(list) != len(c.Want) {
			t.Errorf("%s (%s): %d of %d calls are right, %d found:\n%s", c.ID, c.Format, right, len(c.Want), len(list), c.Text)
		}
	}
}
