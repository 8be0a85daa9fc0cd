package intent

import (
	"errors"
	"slices"
	"testing"
	"testing/fstest"
)

// TestWeights checks that the embedded weights fit the features, that they are written
// as they are read, and that with the lexicons they keep within 2 MiB.
func TestWeights(t *testing.T) {
	m, err := Decode(weights)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(m.Append(nil), weights) {
		t.Error("the weights are written in another way than they were read")
	}
	size := len(weights)
	files, err := lexiconFiles.ReadDir("lexicon")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		info, err := f.Info()
		if err != nil {
			t.Fatal(err)
		}
		size += int(info.Size())
	}
	if size > 2<<20 {
		t.Errorf("%d bytes are embedded", size)
	}
	t.Logf("%d bytes of weights, %d embedded", len(weights), size)
}

// TestBrokenWeights checks that weights that are cut off or spoilt are refused or read,
// and that what was read can judge.
func TestBrokenWeights(t *testing.T) {
	for n := range 2000 {
		if _, err := Decode(weights[:n]); !errors.Is(err, ErrWeights) {
			t.Fatalf("%d bytes: %v", n, err)
		}
	}
	f := &Features{}
	for i := 0; i < 20000; i += 7 {
		b := slices.Clone(weights)
		b[i] ^= 0x55
		m, err := Decode(b)
		if err != nil {
			continue
		}
		f.Read(&Context{Before: "Never send "})
		m.Logit(f)
	}
}

// TestLexicons checks that the lexicons are read whole and that an error names its place.
func TestLexicons(t *testing.T) {
	l, err := newLexicon(lexiconFiles)
	if err != nil {
		t.Fatal(err)
	}
	if len(l.languages) < 30 || len(l.entries) < 20000 {
		t.Errorf("%d languages, %d entries", len(l.languages), len(l.entries))
	}
	for _, bad := range []string{"[nonsense]\nx", "x, y"} {
		if _, err := newLexicon(fstest.MapFS{"lexicon/xx.txt": {Data: []byte(bad)}}); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
}

// TestNames checks that every class, shape and place has a name to be explained by.
func TestNames(t *testing.T) {
	for _, names := range [][]string{cueNames[:], shapeNames[:], placeNames[:], familyNames[:]} {
		if i := slices.Index(names, ""); i >= 0 {
			t.Errorf("number %d has no name", i)
		}
	}
}

func BenchmarkLoad(b *testing.B) {
	b.Run("lexicons", func(b *testing.B) {
		for b.Loop() {
			if _, err := newLexicon(lexiconFiles); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("weights", func(b *testing.B) {
		for b.Loop() {
			if _, err := Decode(weights); err != nil {
				b.Fatal(err)
			}
		}
	})
}
