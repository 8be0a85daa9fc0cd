package parser

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/callwright/callwright/registry"
	"github.com/callwright/callwright/validator"
)

// TestTeller checks that whatever is sent of a call while it is read, the pieces add up
// to the JSON of its parameters in the end, a parameter given twice included.
func TestTeller(t *testing.T) {
	tool := toolF(t)
	rapid.Check(t, func(t *rapid.T) {
		var got strings.Builder
		var ended []Event
		out := &outbox{emit: func(e Event) {
			got.WriteString(e.Delta)
			if e.Type == EventCallEnd {
				ended = append(ended, e)
			}
		}}
		tell := teller{out: out, coercion: &validator.Options{}}
		tell.start(tool, "id")

		params := map[string]any{}
		v := view{name: "f", certain: true, values: map[string]any{}}
		for _, key := range rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "n"}), 0, 6).Draw(t, "keys") {
			var value any = json.Number("7")
			if key != "n" {
				text := rapid.StringN(0, 12, -1).Draw(t, "text")
				value = text
				// It comes piece by piece, and is not always looked at.
				for _, end := range rapid.SliceOfN(rapid.IntRange(0, len(text)), 0, 3).Draw(t, "ends") {
					if end >= len(v.text) || v.key != key {
						v.key, v.text = key, []byte(text[:end])
						tell.progress(&v, nil)
					}
				}
			}
			v.key, v.text = "", nil
			v.keys, v.values[key], params[key] = append(v.keys, key), value, value
			if rapid.Bool().Draw(t, "look") {
				tell.progress(&v, nil)
			}
		}
		switch rapid.IntRange(0, 2).Draw(t, "end") {
		case 0:
			tell.end(&Call{}, nil)
			params = nil
		case 1:
			call := Call{}
			call.Parameters = params
			tell.end(&call, nil)
		case 2:
			tell.end(nil, &Rejected{Parameters: params})
		}
		var said map[string]any
		dec := json.NewDecoder(strings.NewReader(got.String()))
		dec.UseNumber()
		if err := dec.Decode(&said); err != nil || len(ended) != 1 || tell.started {
			t.Fatalf("%s: %v, %d ends", got.String(), err, len(ended))
		}
		if params != nil && !reflect.DeepEqual(said, params) {
			t.Fatalf("%s is not %v", got.String(), params)
		}
	})
}

func toolF(t *testing.T) *registry.Tool {
	tools, err := registry.New(registry.Tool{Name: "f", Parameters: map[string]any{"type": "object", "properties": map[string]any{
		"a": map[string]any{"type": "string"}, "b": map[string]any{"type": "string"}, "n": map[string]any{"type": "integer"},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	return tools.Get("f")
}

func TestTellerAbandons(t *testing.T) {
	var events []Event
	out := &outbox{emit: func(e Event) { events = append(events, e) }}
	tell := teller{out: out, coercion: &validator.Options{}}
	tell.abandon()
	if len(events) != 0 {
		t.Errorf("%v", events)
	}
	tell.start(toolF(t), "id")
	tell.progress(&view{key: "a", text: []byte("x"), kind: literalText}, nil)
	tell.abandon()
	var deltas string
	for _, e := range events {
		deltas += e.Delta
	}
	last := events[len(events)-1]
	if deltas != `{"a":"x"}` || last.Type != EventCallEnd || last.Rejected.Reason() != CodeMalformed || last.Rejected.ID != "id" || last.Rejected.Tool != "f" {
		t.Errorf("%s %+v", deltas, last)
	}
}

// TestOutbox checks that only events of calls are held back, and that their order stays.
func TestOutbox(t *testing.T) {
	var got string
	out := &outbox{emit: func(e Event) { got += string(e.Type) + " " }}
	out.holding = true
	for _, e := range []EventType{EventCallStart, EventContent, EventArguments, EventReasoning, EventCallEnd, EventRecast} {
		out.send(Event{Type: e})
	}
	out.release()
	out.holding = true
	out.send(Event{Type: EventCallStart})
	out.discard()
	out.release()
	out.send(Event{Type: EventResult})
	if got != "content reasoning recast call_start arguments call_end result " {
		t.Errorf("%s", got)
	}
	(&outbox{}).send(Event{}) // nobody listens
}

func TestJoined(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var j joined
		want := ""
		for _, s := range rapid.SliceOf(rapid.String()).Draw(t, "parts") {
			j.add(s)
			want += s
			if j.String() != want || j.len() != len(want) {
				t.Fatalf("%q (%d), not %q", j.String(), j.len(), want)
			}
		}
		if j.reset(); j.String() != "" || j.len() != 0 {
			t.Fatal("not empty")
		}
	})
}
