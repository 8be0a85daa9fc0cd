package parser_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/metrics"
	"github.com/callwright/callwright/parser"
)

// A fed is what [parser.Feeder] and [parser.ReplyFeeder] have in common.
type fed interface {
	End() ([]parser.Event, error)
	IsComplete() bool
	Partial() *parser.Result
	Close()
}

// feeders make a feeder of texts or of replies, and a function that feeds it a text.
var feeders = map[string]func(context.Context, *parser.Parser) (fed, func(string) error){
	"text": func(ctx context.Context, p *parser.Parser) (fed, func(string) error) {
		f := p.NewFeeder(ctx, parser.Context{})
		return f, func(s string) error {
			_, err := f.Feed([]byte(s))
			return err
		}
	},
	"reply": func(ctx context.Context, p *parser.Parser) (fed, func(string) error) {
		f := p.NewReplyFeeder(ctx, parser.Context{})
		return f, func(s string) error {
			_, err := f.Feed(adapters.Event{Type: adapters.EventText, Text: s})
			return err
		}
	},
}

// TestEndsOnce checks that a feeder gives one result, counts one parse, and that
// nothing comes of it afterwards.
func TestEndsOnce(t *testing.T) {
	for name, start := range feeders {
		t.Run(name, func(t *testing.T) {
			m := metrics.New(metrics.Options{})
			p, err := parser.New(nil, parser.Options{Metrics: m})
			if err != nil {
				t.Fatal(err)
			}
			f, feed := start(context.Background(), p)
			defer f.Close()
			if err := feed(`<tool_call>{"name": "f", "arguments": {}}</tool_call>`); err != nil {
				t.Fatal(err)
			}
			events, err := f.End()
			if err != nil || len(events) == 0 || events[len(events)-1].Type != parser.EventResult {
				t.Fatalf("%v, %v", events, err)
			}
			if events, err := f.End(); len(events) != 0 || !errors.Is(err, parser.ErrEnded) {
				t.Errorf("ended twice: %v, %v", events, err)
			}
			if err := feed("x"); !errors.Is(err, parser.ErrEnded) {
				t.Errorf("fed after the end: %v", err)
			}
			if !f.IsComplete() || len(f.Partial().Calls) != 1 {
				t.Errorf("after the end: complete %v, %+v", f.IsComplete(), f.Partial())
			}
			f.Close()
			f.Close()
			if events, err := f.End(); len(events) != 0 || !errors.Is(err, parser.ErrEnded) {
				t.Errorf("ended after closing: %v, %v", events, err)
			}
			if n := m.Performance().Parses.All; n != 1 {
				t.Errorf("%d parses were counted", n)
			}

			// Closed without an end: there is no result, and nothing was counted.
			g, feedG := start(context.Background(), p)
			if err := feedG("some text"); err != nil {
				t.Fatal(err)
			}
			g.Close()
			if err := feedG("x"); !errors.Is(err, parser.ErrEnded) {
				t.Errorf("fed after closing: %v", err)
			}
			if events, err := g.End(); len(events) != 0 || !errors.Is(err, parser.ErrEnded) {
				t.Errorf("ended after closing: %v, %v", events, err)
			}
			if n := m.Performance().Parses.All; n != 1 {
				t.Errorf("%d parses were counted", n)
			}

			// A context that ended: the result of what came before, once.
			ctx, cancel := context.WithCancel(context.Background())
			h, feedH := start(ctx, p)
			defer h.Close()
			cancel()
			if err := feedH("x"); !errors.Is(err, context.Canceled) {
				t.Errorf("%v", err)
			}
			if events, err := h.End(); len(events) != 1 || !errors.Is(err, context.Canceled) {
				t.Errorf("%v, %v", events, err)
			}
			if events, err := h.End(); len(events) != 0 || !errors.Is(err, parser.ErrEnded) {
				t.Errorf("ended twice: %v, %v", events, err)
			}
		})
	}
}

// TestEndedReplyTakesNoCall checks that a call that begins after the end is not read.
func TestEndedReplyTakesNoCall(t *testing.T) {
	f := bareCases(t)[0].Parser().NewReplyFeeder(context.Background(), parser.Context{})
	defer f.Close()
	if _, err := f.End(); err != nil {
		t.Fatal(err)
	}
	if events, err := f.Feed(adapters.Event{Type: adapters.EventCallStart, Name: "get_weather"}); len(events) != 0 || !errors.Is(err, parser.ErrEnded) {
		t.Errorf("%v, %v", events, err)
	}
}

// TestReplyFeederPartial checks what is said of a reply while it arrives: the calls
// in its own field are open until they end, like those in its text.
func TestReplyFeederPartial(t *testing.T) {
	p := bareCases(t)[0].Parser()
	f := p.NewReplyFeeder(context.Background(), parser.Context{})
	defer f.Close()
	step := func(complete bool, want string, events ...adapters.Event) {
		t.Helper()
		for _, e := range events {
			if _, err := f.Feed(e); err != nil {
				t.Fatal(err)
			}
		}
		r := f.Partial()
		type call struct {
			ID, Tool   string
			Parameters map[string]any
			Truncated  bool
		}
		calls := []call{}
		for _, c := range r.Calls {
			calls = append(calls, call{c.ID, c.Tool, c.Parameters, c.Truncated})
		}
		if got, err := json.Marshal(calls); err != nil || string(got) != want {
			t.Errorf("%s, %v, not %s", got, err, want)
		}
		if f.IsComplete() != complete || r.Truncated == complete {
			t.Errorf("complete: %v, truncated: %v", f.IsComplete(), r.Truncated)
		}
	}
	start := func(i int, id, name string) adapters.Event {
		return adapters.Event{Type: adapters.EventCallStart, Index: i, ID: id, Name: name}
	}
	arguments := func(i int, text string) adapters.Event {
		return adapters.Event{Type: adapters.EventArguments, Index: i, Text: text}
	}
	rome := `{"ID":"a","Tool":"get_weather","Parameters":{"city":"Rome","days":3},"Truncated":false}`
	step(false, `[]`)
	step(true, `[]`, adapters.Event{Type: adapters.EventStart, ID: "r"})
	step(false, `[{"ID":"a","Tool":"get_weather","Parameters":{},"Truncated":true}]`, start(0, "a", "get_weather"))
	step(false, `[{"ID":"a","Tool":"get_weather","Parameters":{"city":"Ro"},"Truncated":true}]`, arguments(0, `{"city":"Ro`))
	step(false, `[{"ID":"a","Tool":"get_weather","Parameters":{"city":"Ro"},"Truncated":true},{"ID":"b","Tool":"tag","Parameters":{"items":["x"]},"Truncated":true}]`,
		start(1, "b", "tag"), arguments(1, `{"items":["x`))
	// Ended, and not yet checked: what follows says whether it was cut off.
	step(false, `[{"ID":"a","Tool":"get_weather","Parameters":{"city":"Rome"},"Truncated":false},{"ID":"b","Tool":"tag","Parameters":{"items":["x"]},"Truncated":true}]`,
		arguments(0, `me"}`), adapters.Event{Type: adapters.EventCallEnd, Index: 0})
	step(false, `[`+rome+`,{"ID":"b","Tool":"tag","Parameters":{"items":["x"]},"Truncated":true}]`, adapters.Event{Type: adapters.EventText, Text: "And "})
	step(true, `[`+rome+`,{"ID":"b","Tool":"tag","Parameters":{"items":["x"]},"Truncated":false}]`,
		arguments(1, `"]}`), adapters.Event{Type: adapters.EventCallEnd, Index: 1})
	events, err := f.End()
	if err != nil {
		t.Fatal(err)
	}
	if r := events[len(events)-1].Result; len(r.Calls) != 2 || !slices.ContainsFunc(r.Calls, func(c parser.Call) bool { return c.ID == "b" }) {
		t.Errorf("%+v", r.Calls)
	}
	step(true, `[`+rome+`,{"ID":"b","Tool":"tag","Parameters":{"items":["x"]},"Truncated":false}]`)
}
