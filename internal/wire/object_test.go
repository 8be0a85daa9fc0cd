package wire_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/callwright/callwright/internal/wire"
)

func TestObject(t *testing.T) {
	o, err := wire.ParseObject([]byte(
		` {"name" : "safe", "NAME":"other", "n": 9007199254740993, "l":[1, {"a":"]"} ,null], "e":{}, "s":"\u00e9\"\\", "name":"last", "b":true} `,
	))
	if err != nil {
		t.Fatal(err)
	}
	if o.String("name") != "last" || o.String("NAME") != "other" || string(o.Get("n")) != "9007199254740993" || o.String("s") != "é\"\\" ||
		!o.Bool("b") || o.Has("none") {
		t.Errorf("%s", o.Bytes())
	}
	if l := wire.AsList(o.Get("l")); len(l) != 3 || len(wire.Objects(o.Get("l"))) != 1 || string(l[1]) != `{"a":"]"}` {
		t.Errorf("%q", l)
	}
	if s := o.TakeString("name"); s != "last" || o.Get("name") != nil || len(o) != 6 {
		t.Errorf("%q, left %s", s, o.Bytes())
	}
	for _, bad := range []string{"", "[]", "1", `{"a":1`, `{"a":1}x`, "{'a':1}", "\xff"} {
		if _, err := wire.ParseObject([]byte(bad)); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
	for raw, want := range map[string]int64{"12": 12, "-3": -3, `"7"`: 7, "2.0": 2, "1e3": 1000, "null": 0, "1e400": 0, "[]": 0, "": 0} {
		if n, _ := wire.Int([]byte(raw)); n != want {
			t.Errorf("%s is %d", raw, n)
		}
	}
	if got := string(wire.Quote("a\xffb\u2028<>&\x01")); !json.Valid([]byte(got)) || got != "\"a\ufffdb\u2028<>&\\u0001\"" {
		t.Errorf("%s", got)
	}
}

// TestObjectProperties holds that objects come out as they went in.
func TestObjectProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := rapid.MapOf(rapid.String(), rapid.Custom(func(t *rapid.T) any {
			return rapid.OneOf(
				rapid.Map(rapid.String(), func(s string) any { return s }), rapid.Map(rapid.Int(), func(n int) any { return n }),
				rapid.Map(rapid.SliceOf(rapid.String()), func(l []string) any { return l }),
				rapid.Map(rapid.MapOf(rapid.String(), rapid.Bool()), func(m map[string]bool) any { return m }),
			).Draw(t, "value")
		})).Draw(t, "object")
		data, err := json.MarshalIndent(m, "", rapid.SampledFrom([]string{"", " ", "\t"}).Draw(t, "indent"))
		if err != nil {
			t.Fatal(err)
		}
		o, err := wire.ParseObject(data)
		if err != nil {
			t.Fatal(err)
		}
		var want, got any
		if err := json.Unmarshal(data, &want); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(o.Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
		if !bytes.Equal(o.Bytes(), o.Clone().Bytes()) {
			t.Fatal("a clone differs")
		}
	})
}
