package fallback_test

import (
	"context"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/callwright/callwright/fallback"
	"github.com/callwright/callwright/parser"
)

// TestPartialIsWhole cuts calls anywhere. What is made of them has each parameter as it was
// written, or lists it as a default, and has those that are required; of a list the calls
// are the first ones, in order.
func TestPartialIsWhole(t *testing.T) {
	p := newParser(t, fallback.Steps(fallback.Partial{})...)
	text := rapid.StringMatching(`[a-z "\\{}\[\],:é]{0,12}`)
	rapid.Check(t, func(t *rapid.T) {
		var list []map[string]any
		for range rapid.IntRange(1, 3).Draw(t, "calls") {
			args := map[string]any{"path": text.Draw(t, "path"), "content": text.Draw(t, "content")}
			name := "write_file"
			switch rapid.IntRange(0, 2).Draw(t, "tool") {
			case 0:
				name, args = "get_weather", map[string]any{"city": "a" + text.Draw(t, "city"), "days": rapid.IntRange(0, 99).Draw(t, "days")}
			case 1:
				name, args = "tag", map[string]any{"items": rapid.SliceOfN(text, 1, 3).Draw(t, "items"), "meta": map[string]any{"k": text.Draw(t, "k")}}
			}
			list = append(list, map[string]any{"name": name, "arguments": args})
		}
		var value any = list
		switch rapid.IntRange(0, 2).Draw(t, "shape") {
		case 0:
			value = map[string]any{"calls": list, "response": text.Draw(t, "response")}
		case 1:
			value, list = list[0], list[:1]
		}
		b, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		written := string(b)
		cut := string(b[:rapid.IntRange(1, len(b)).Draw(t, "cut")])
		r, err := p.Parse(context.Background(), cut, parser.Context{})
		if err != nil {
			t.Fatal(err)
		}
		whole, at := 0, 0 // calls that end before the cut
		for i := range list {
			b, _ := json.Marshal(list[i])
			if at += strings.Index(written[at:], string(b)) + len(b); at <= len(cut) {
				whole++
			}
		}
		// A list whose last object has not even a name may be no list of calls: nothing is rejected.
		begun := len(r.Calls)+len(r.Rejected) > 0
		if len(r.Calls) > len(list) || begun && len(r.Calls) < whole {
			t.Fatalf("%s: %d calls, %d are whole", cut, len(r.Calls), whole)
		}
		for i := range r.Calls {
			c := &r.Calls[i]
			b, _ := json.Marshal(list[i]["arguments"])
			var want map[string]any
			if err := json.Unmarshal(b, &want); err != nil {
				t.Fatal(err)
			}
			b, _ = json.Marshal(c.Parameters)
			var got map[string]any
			if err := json.Unmarshal(b, &got); err != nil || c.Tool != list[i]["name"] {
				t.Fatalf("%s: call %d is %s %s", cut, i, c.Tool, b)
			}
			for key, v := range got {
				if _, was := want[key]; slices.Contains(c.Defaults, "/"+key) && !was {
					continue
				}
				if !reflect.DeepEqual(v, want[key]) {
					t.Fatalf("%s: %s is %v, was %v, defaults %v", cut, key, v, want[key], c.Defaults)
				}
			}
		}
	})
}
