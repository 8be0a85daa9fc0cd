package repair

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/callwright/callwright/internal/lenient"
)

func TestJSON(t *testing.T) {
	for _, tt := range []struct{ text, want, tier string }{
		{`{"a": 1,}`, `{"a":1}`, "lenient_reader"}, {`x {"a": 1} y`, `{"a":1}`, "lenient_reader"}, {`{"a": 1, , !"b": 2}`, `{"a":1,"b":2}`, ""},
	} {
		a, err := JSON(tt.text)
		if tt.tier == "" {
			continue // whether the library reads it is its own affair
		}
		got, merr := json.Marshal(a.Value)
		if err != nil || merr != nil || string(got) != tt.want || a.By != tt.tier {
			t.Errorf("%s: %s by %s, %v", tt.text, got, a.By, err)
		}
	}
	if _, err := JSON("no brackets"); !errors.Is(err, ErrNothingFound) {
		t.Errorf("%v", err)
	}
}

// TestShaped checks that what is known of the value decides.
func TestShaped(t *testing.T) {
	shape := lenient.ShapeOf(map[string]any{"properties": map[string]any{"city": map[string]any{}, "days": map[string]any{}}})
	const text = `so: {"city": "the "old" Rome, "days": 3}`
	for _, tt := range []struct {
		shape *lenient.Shape
		want  string
	}{{nil, `{"city":"the \"old\" Rome, \"days\": 3"}`}, {shape, `{"city":"the \"old\" Rome","days":3}`}} {
		a, err := Shaped(text, tt.shape)
		if got, _ := json.Marshal(a.Value); err != nil || string(got) != tt.want {
			t.Errorf("%s is read as %s, not %s: %v", text, got, tt.want, err)
		}
	}
}

// TestLibraryBounds checks that the repairer is kept from what hurts it.
func TestLibraryBounds(t *testing.T) {
	for _, text := range []string{strings.Repeat("[", 100000), "{" + strings.Repeat(`"a": "b" `, 10000), strings.Repeat("{", 600)} {
		if _, err := repairWithLibrary(text); !errors.Is(err, ErrTooLarge) {
			t.Errorf("%.20q: %v", text, err)
		}
	}
	// Well delimited strings must survive; the repairer doubles these backslashes.
	if a, err := repairWithLibrary(`{"path":"C:\\Program Files\\App\\x.txt", "n": 1,}`); err == nil {
		if m, ok := a.Value.(map[string]any); !ok || m["path"] != `C:\Program Files\App\x.txt` {
			t.Errorf("%v", a.Value)
		}
	}
}
