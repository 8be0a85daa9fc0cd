package parser

import (
	"reflect"
	"testing"

	"github.com/callwright/callwright/internal/lenient"
	"github.com/callwright/callwright/internal/scan"
)

// TestLook checks what is seen of a call that is read as JSON, after each piece of it.
func TestLook(t *testing.T) {
	for _, tt := range []struct {
		text    string
		name    string
		certain bool
		key     string
		want    map[string]any
	}{
		{`{"na`, "", false, "", map[string]any{}},
		{`{"name": "f", "`, "f", false, "", map[string]any{}},
		{`{"name": "f", "arguments": {`, "f", true, "", map[string]any{}},
		{`{"name": "f", "arguments": {"a": "x`, "f", true, "a", map[string]any{"a": "x"}},
		{`{"name": "f", "arguments": {"a": "x", "b": ["y", {"c": "z`, "f", true, "", map[string]any{"a": "x", "b": []any{"y", map[string]any{"c": "z"}}}},
		{`{"name": "f", "arguments": {"a": "x"}`, "f", false, "", map[string]any{"a": "x"}},
		{`{"name": "f", "arguments": {"a": "x"}}`, "f", false, "", map[string]any{"a": "x"}},
		{`{"name": "f", "other": 1, "arguments": {"a": "x`, "f", false, "a", map[string]any{"a": "x"}},
		{`{"arguments": {"a": "x`, "", false, "a", map[string]any{"a": "x"}},
		{`["a`, "", false, "", map[string]any{}},
	} {
		var reader *lenient.Reader
		r := lenient.Start(func(c *lenient.Cursor) error {
			reader = lenient.NewReader(c, lenient.Options{Watch: true})
			_, err := reader.Value()
			return err
		})
		r.Feed([]byte(tt.text))
		v := look(&scan.Partial{Call: reader}, &r.Cursor)
		if v.name != tt.name || v.certain != tt.certain || v.key != tt.key || !reflect.DeepEqual(v.snapshot(), tt.want) {
			t.Errorf("%s: %q %v %q %v", tt.text, v.name, v.certain, v.key, v.snapshot())
		}
		r.Stop()
	}
	// Parameters in tags: raw text.
	cur := lenient.NewText("<a>one</a><b>tw")
	v := look(&scan.Partial{
		Name: "f", Keys: []string{"a"}, Values: map[string]any{"a": lenient.Text("one")}, OpenKey: "b", OpenFrom: 13, OpenSafe: 15, OpenRaw: true,
	}, cur)
	if want := map[string]any{"a": "one", "b": "tw"}; !v.certain || v.kind != literalText || !reflect.DeepEqual(v.snapshot(), want) {
		t.Errorf("%+v %v", v, v.snapshot())
	}
}
