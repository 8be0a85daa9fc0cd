package dispatch_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/adapters/openai"
	"github.com/callwright/callwright/dispatch"
	"github.com/callwright/callwright/registry"
)

// scripted is a model that says one thing after another, the last for ever. It keeps the
// requests.
type scripted struct {
	says     []string
	requests []adapters.Request
}

func (s *scripted) model(_ context.Context, r *adapters.Request) iter.Seq2[adapters.Event, error] {
	said := s.says[min(len(s.requests), len(s.says)-1)]
	s.requests = append(s.requests, *r)
	return func(yield func(adapters.Event, error) bool) {
		if said == "fail" {
			yield(adapters.Event{}, errModel)
			return
		}
		for _, c := range said { // it streams
			if !yield(adapters.Event{Type: adapters.EventText, Text: string(c)}, nil) {
				return
			}
		}
		_ = yield(adapters.Event{Type: adapters.EventFinish, Finish: adapters.FinishStop}, nil) &&
			yield(adapters.Event{Type: adapters.EventUsage, Usage: &adapters.Usage{InputTokens: 10, OutputTokens: 5}}, nil)
	}
}

var errModel = errors.New("the model is gone")

// adder has tools that add, fail, wait and stop.
func adder() *dispatch.Dispatcher {
	var d dispatch.Dispatcher
	type numbers struct {
		A int `json:"a"`
		B int `json:"b"`
	}
	dispatch.Handle(&d, "add", func(_ context.Context, in numbers) (int, error) { return in.A + in.B, nil })
	dispatch.Handle(&d, "fail", func(_ context.Context, in numbers) (int, error) { return 0, fmt.Errorf("no %d", in.A) })
	dispatch.Handle(&d, "poll", func(context.Context, struct{}) (string, error) { return "not yet", nil }).Repeatable = true
	dispatch.Handle(&d, "wait", func(ctx context.Context, _ struct{}) (string, error) {
		<-ctx.Done()
		return "", context.Cause(ctx)
	})
	dispatch.Handle(&d, "finish", func(context.Context, struct{}) (string, error) { return "bye", dispatch.ErrStop })
	dispatch.Handle(&d, "delete", func(context.Context, struct{}) (string, error) { return "deleted", nil }).Hints.Destructive = true
	return &d
}

// show writes a conversation in lines.
func show(messages []adapters.Message) string {
	var b strings.Builder
	for i := range messages {
		m := &messages[i]
		fmt.Fprintf(&b, "%s:", m.Role)
		for _, x := range m.Blocks {
			switch x.Type {
			case adapters.BlockCall:
				fmt.Fprintf(&b, " %s(%s)", x.Call.Name, x.Call.Arguments)
			case adapters.BlockResult:
				fmt.Fprintf(&b, " %s", x.Result.Text)
			default:
				fmt.Fprintf(&b, " %s", x.Text)
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

func TestLoop(t *testing.T) {
	s := &scripted{says: []string{
		`I add. ` + call("add", `{"a": "1", "b": 2,}`) + call("add", `{"a": 1, "b": "x"}`),
		call("add", `{"a": 3, "b": 4}`) + call("sum", `{}`),
		"It is 7.",
	}}
	var events []string
	l := dispatch.Loop{
		Model: s.model, Dispatch: adder(),
		Request: adapters.Request{Model: "m", Messages: []adapters.Message{{Role: adapters.RoleSystem, Blocks: []adapters.Block{{Type: adapters.BlockText, Text: "Be brief."}}}}},
		OnEvent: func(e dispatch.LoopEvent) {
			switch e.Type {
			case dispatch.EventToolStart:
				events = append(events, fmt.Sprint(e.Turn, " start ", e.Call.Tool))
			case dispatch.EventToolEnd:
				events = append(events, fmt.Sprint(e.Turn, " end ", e.Result.Call.Tool, " ", e.Result.Err == nil))
			case dispatch.EventParsed:
				if e.Parsed.Type == "content" && e.Turn == 3 {
					events = append(events, e.Parsed.Text)
				}
			}
		},
	}
	got, err := l.Say(context.Background(), "How much?")
	if err != nil || got.Stop != dispatch.StopAnswer || got.Text() != "It is 7." || len(got.Turns) != 3 || got.Usage.InputTokens != 30 {
		t.Fatalf("%v %s %q %+v", err, got.Stop, got.Text(), got.Usage)
	}
	lines := strings.Split(show(got.Messages), "\n")
	want := []string{"system: Be brief.", "user: How much?", `assistant: I add. add({"a":1,"b":2}) add({"a":1,"b":"x"})`, "tool: 3"}
	if diff := cmp.Diff(want, lines[:4]); diff != "" {
		t.Error(diff)
	}
	if !strings.HasPrefix(lines[4], "tool: Error (rejected): The call of add was not made:") {
		t.Error(lines[4])
	}
	if s := strings.Join(events, ","); !strings.Contains(s, "1 start add,1 end add true") || !strings.Contains(s, "1 end add false") || !strings.Contains(s, "2 end sum false") {
		t.Error(s)
	}
	if len(s.requests[0].Tools) != 6 || s.requests[0].Model != "m" || len(s.requests[0].Tools[0].Parameters) == 0 {
		t.Errorf("%+v", s.requests[0].Tools)
	}
	ids := map[string]bool{}
	for i := range got.Messages {
		for _, c := range got.Messages[i].Calls() {
			if ids[c.ID] || c.ID == "" {
				t.Errorf("the id %q is there twice", c.ID)
			}
			ids[c.ID] = true
		}
	}

	// A transcript that was written goes on.
	var b bytes.Buffer
	if n, err := got.WriteTo(&b); err != nil || n != int64(b.Len()) {
		t.Fatal(n, err)
	}
	read, err := dispatch.ReadTranscript(&b)
	if err != nil || show(read.Messages) != show(got.Messages) || read.Stop != got.Stop || read.Usage.InputTokens != 30 {
		t.Fatalf("%v\n%s", err, show(read.Messages))
	}
	if err := l.Continue(context.Background(), read, "And more?"); err != nil || len(read.Messages) != len(got.Messages)+2 {
		t.Error(err, show(read.Messages))
	}
	for _, bad := range []string{"{", `{"role":"user","blocks":[{"type":"call"}]}`, `{}`} {
		if _, err := dispatch.ReadTranscript(strings.NewReader(bad)); err == nil || !strings.Contains(err.Error(), "line 1") {
			t.Error(bad, err)
		}
	}
}

func TestLoopLimits(t *testing.T) {
	count := 0
	for _, tt := range []struct {
		name  string
		says  []string
		loop  dispatch.Loop
		stop  dispatch.Stop
		turns int
		last  string
	}{
		{"turns", []string{call("poll", `{}`)}, dispatch.Loop{MaxTurns: 4}, dispatch.StopTurns, 4, "turn 3 of 4"},
		{"one turn", []string{call("poll", `{}`)}, dispatch.Loop{MaxTurns: 1}, dispatch.StopTurns, 1, ""},
		{"same calls", []string{call("add", `{"a": 1, "b": 2}`)}, dispatch.Loop{}, dispatch.StopSame, 4, "same calls 3 times"},
		{"failing tool", []string{call("fail", `{"a": 1, "b": 2}`), call("fail", `{"a": 2, "b": 2}`), call("fail", `{"a": 3, "b": 2}`)}, dispatch.Loop{}, dispatch.StopFailing, 4, "fail failed in 3 turns"},
		{"polling", []string{call("poll", `{}`), call("poll", `{}`), call("poll", `{}`), call("poll", `{}`), "done"}, dispatch.Loop{}, dispatch.StopAnswer, 5, ""},
		{"tokens", []string{call("poll", `{}`)}, dispatch.Loop{MaxTokens: 40}, dispatch.StopTokens, 3, ""},
		{"stop", []string{call("finish", `{}`)}, dispatch.Loop{}, dispatch.StopTool, 1, ""},
		{"rejected only", []string{call("nothing", `{}`)}, dispatch.Loop{MaxSame: 2}, dispatch.StopSame, 3, "same calls 2 times"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			count++
			s := &scripted{says: tt.says}
			tt.loop.Model, tt.loop.Dispatch = s.model, adder()
			got, err := tt.loop.Say(context.Background(), "go")
			if err != nil || got.Stop != tt.stop || len(got.Turns) != tt.turns || got.Stop.Limit() != (tt.stop != dispatch.StopAnswer && tt.stop != dispatch.StopTool) {
				t.Fatalf("%v %s %d turns\n%s", err, got.Stop, len(got.Turns), show(got.Messages))
			}
			if tt.last != "" {
				final := s.requests[len(s.requests)-1]
				if text := final.Messages[len(final.Messages)-1].Text(); !strings.Contains(text, tt.last) || final.ToolChoice.Mode != adapters.ToolNone {
					t.Errorf("%q %v", text, final.ToolChoice)
				}
			}
		})
	}
}

func TestLoopTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := dispatch.Loop{Model: (&scripted{says: []string{call("wait", `{}`)}}).model, Dispatch: adder(), MaxTime: 10 * time.Second}
		got, err := l.Say(context.Background(), "go")
		if err != nil || got.Stop != dispatch.StopTime {
			t.Error(err, got.Stop)
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if got, err := l.Say(ctx, "go"); !errors.Is(err, context.DeadlineExceeded) || got.Stop != dispatch.StopError {
			t.Error(err, got.Stop)
		}
		l.Model = (&scripted{says: []string{"fail"}}).model
		if got, err := l.Say(context.Background(), "go"); !errors.Is(err, errModel) || got.Stop != dispatch.StopError {
			t.Error(err, got.Stop)
		}
	})
}

// TestLoopApproval holds that an approval for always holds for the loop, and that pending
// calls end it.
func TestLoopApproval(t *testing.T) {
	s := &scripted{says: []string{call("delete", `{}`), call("delete", `{}`) + call("add", `{"a":1,"b":1}`), "gone"}}
	d, asked := adder(), 0
	d.Policy.Ask = func(context.Context, dispatch.Question) (dispatch.Answer, error) {
		asked++
		return dispatch.Answer{Allow: true, Always: true}, nil
	}
	d.Memory = dispatch.NewMemory(100)
	got, err := (&dispatch.Loop{Model: s.model, Dispatch: d}).Say(context.Background(), "go")
	if err != nil || asked != 1 || got.Stop != dispatch.StopAnswer {
		t.Fatal(err, asked, got.Stop, show(got.Messages))
	}
	d = adder()
	d.Policy.Ask = func(context.Context, dispatch.Question) (dispatch.Answer, error) {
		return dispatch.Answer{}, dispatch.ErrLater
	}
	got, err = (&dispatch.Loop{Model: (&scripted{says: s.says}).model, Dispatch: d}).Say(context.Background(), "go")
	if err != nil || got.Stop != dispatch.StopPending || len(got.Pending()) != 1 {
		t.Fatal(err, got.Stop)
	}
}

func TestModelOf(t *testing.T) {
	reply := &adapters.Reply{Model: "m", Choices: []adapters.Choice{{Blocks: []adapters.Block{{Type: adapters.BlockText, Text: "hello"}}, Finish: adapters.FinishStop}}}
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		q, err := openai.Chat.DecodeRequest(body)
		if err != nil {
			t.Error(err)
		}
		switch q.Model {
		case "whole":
			data, err := openai.Chat.EncodeReply(reply)
			if err != nil {
				t.Error(err)
			}
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write(data)
		case "stream":
			w.Header().Set("Content-Type", "text/event-stream")
			_ = openai.Chat.EncodeStream(w, reply)
		case "error":
			w.WriteHeader(http.StatusEarlyHints)
			http.Error(w, `{"error":{"message":"no such model"}}`, http.StatusNotFound)
		case "odd":
			http.Error(w, "what?", http.StatusTeapot)
		case "abort":
			panic(http.ErrAbortHandler)
		case "hang":
			<-r.Context().Done()
		case "endless":
			w.Header().Set("Content-Type", "text/event-stream")
			for {
				if _, err := io.WriteString(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"x\"}}]}\n\n"); err != nil {
					return
				}
			}
		}
	})
	m := dispatch.ModelOf(h, openai.Chat)
	for model, want := range map[string]string{
		"whole": "hello", "stream": "hello", "error": "no such model", "odd": "418: what?", "abort": "broke off", "hang": "deadline", "endless": "xxx",
	} {
		ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
		text := ""
		for e, err := range m(ctx, &adapters.Request{Model: model}) {
			if err != nil {
				text += err.Error()
				break
			}
			if e.Type == adapters.EventText {
				text += e.Text
			}
			if len(text) == 3 {
				break
			}
		}
		cancel()
		if !strings.Contains(text, want) {
			t.Errorf("%s: %q", model, text)
		}
	}
}

func TestDescribe(t *testing.T) {
	list, err := registry.Parse([]byte(`{"name": "f", "description": "does", "parameters": {"type": "object",
		"properties": {"z": {"type": "array", "items": {"properties": {"y": {}, "x": {"const": 1.50}}}}, "a": {"enum": ["<"]}, "properties": {}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"properties":{"z":{"items":{"properties":{"y":{},"x":{"const":1.50}}},"type":"array"},"a":{"enum":["<"]},"properties":{}},"type":"object"}`
	if got := dispatch.Describe(&list[0]); string(got.Parameters) != want || got.Name != "f" || got.Description != "does" {
		t.Errorf("%s, want %s", got.Parameters, want)
	}
	if got := dispatch.Describe(&registry.Tool{Name: "f"}); got.Parameters != nil {
		t.Errorf("%s", got.Parameters)
	}
}
