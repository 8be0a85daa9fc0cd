package formats_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/adapters/formats"
)

// object draws a JSON object, with what makes its cuts interesting: brackets, quotes and
// escapes in strings, nested values, numbers.
func object(t *rapid.T) string {
	value := rapid.SampledFrom([]string{
		`"Rome"`, `"rm -rf /tmp/build"`, `"a \"quoted\" {brace} [list]"`, `"\u00fc\n\\"`, `12`, `-1.5e3`, `true`, `null`, `{"b":{"c":[1,"}"]}}`, `["x",{}]`,
		`""`, `{}`, `"日本"`,
	})
	members := rapid.SliceOfN(value, 1, 4).Draw(t, "values")
	for i, v := range members {
		members[i] = fmt.Sprintf("%q: %s", string(rune('a'+i)), v)
	}
	return "{" + strings.Join(members, rapid.SampledFrom([]string{",", ", ", ",\n  "}).Draw(t, "between")) + "}"
}

// cutReply is a reply whose last call was cut off within its arguments.
func cutReply(arguments string, finish adapters.FinishReason) *adapters.Reply {
	return &adapters.Reply{ID: "reply_1", Model: "m", Choices: []adapters.Choice{{Finish: finish, Blocks: []adapters.Block{
		{Type: adapters.BlockText, Text: "Let me look."},
		{Type: adapters.BlockCall, Call: &adapters.Call{ID: "abcDEF123", Name: "first", Arguments: `{"x":1}`}},
		{Type: adapters.BlockCall, Call: &adapters.Call{ID: "abcDEF124", Name: "cut", Arguments: arguments}},
	}}}}
}

// checkCut checks what a format says of a reply of [cutReply]: the cut call is there with
// the arguments that it has, or not there at all, and the reply says that it was cut off.
func checkCut(t interface {
	Helper()
	Fatalf(string, ...any)
}, f *adapters.Format, got *adapters.Reply, arguments string, written []byte,
) {
	t.Helper()
	if f.Carries.NoCalls {
		if strings.Contains(got.Text(), `"cut"`) || got.First().Finish != adapters.FinishLength {
			t.Fatalf("%s: %q, ends with %q\n%s", f.Name, got.Text(), got.First().Finish, written)
		}
		return
	}
	for _, c := range got.Calls() {
		if c.Name == "cut" && c.Arguments != arguments {
			t.Fatalf("%s: arguments %q, they were cut off as %q\n%s", f.Name, c.Arguments, arguments, written)
		}
	}
	if n := len(got.Calls()); n == 0 || got.Calls()[0].Name != "first" || got.Calls()[0].Arguments != `{"x":1}` && got.Calls()[0].Arguments != `{"x": 1}` {
		t.Fatalf("%s: the whole call is lost: %s", f.Name, written)
	}
	if got.First().Finish != adapters.FinishLength {
		t.Fatalf("%s: a reply with a call that was cut off ends with %q\n%s", f.Name, got.First().Finish, written)
	}
}

var cutFinishes = []adapters.FinishReason{adapters.FinishLength, adapters.FinishCalls, adapters.FinishStop, ""}

// TestCutCalls cuts a call's arguments anywhere: no format closes them, whole or
// streamed, and none says that the reply is complete.
func TestCutCalls(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := object(t)
		arguments := strings.ToValidUTF8(all[:rapid.IntRange(1, len(all)-1).Draw(t, "cut")], "\uFFFD")
		r := cutReply(arguments, rapid.SampledFrom(cutFinishes).Draw(t, "finish"))
		for _, f := range formats.All() {
			data, err := f.EncodeReply(r)
			if err != nil || !json.Valid(data) {
				t.Fatalf("%s: %v %s", f.Name, err, data)
			}
			got, err := f.DecodeReply(data)
			if err != nil {
				t.Fatalf("%s: %v %s", f.Name, err, data)
			}
			checkCut(t, f, got, arguments, data)
			for _, ended := range []bool{true, false} { // as a stream that ends its calls, and one that does not
				var b bytes.Buffer
				enc := f.NewEncoder(&b)
				for _, e := range pieces(cutReply(arguments, r.Choices[0].Finish)) {
					if !ended && (e.Type == adapters.EventCallEnd && e.Index == 1 || e.Type == adapters.EventFinish) {
						continue
					}
					if err := enc.Event(e); err != nil {
						t.Fatalf("%s: %v", f.Name, err)
					}
				}
				if err := enc.End(); err != nil {
					t.Fatalf("%s: %v", f.Name, err)
				}
				got, err := f.ReadStream(bytes.NewReader(b.Bytes()), adapters.Limits{})
				if err != nil {
					t.Fatalf("%s: %v\n%s", f.Name, err, b.Bytes())
				}
				checkCut(t, f, got, arguments, b.Bytes())
			}
		}
	})
}

// TestCutWithoutArguments has the reply end behind a call's name: a call that was cut
// off there has no arguments, which is something else than none.
func TestCutWithoutArguments(t *testing.T) {
	for _, f := range formats.All() {
		r := cutReply("", adapters.FinishLength)
		r.Choices[0].Blocks[2].Call.Truncated = true
		data, err := f.EncodeReply(r)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := f.EncodeStream(&b, r); err != nil {
			t.Fatal(err)
		}
		for _, written := range [][]byte{data, b.Bytes()} {
			got, err := formats.Read(f, written, adapters.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			checkCut(t, f, got, "", written)
		}
	}
}

// TestFreeText holds that text for a custom tool, and what is no JSON, is not taken for
// what was cut off.
func TestFreeText(t *testing.T) {
	for _, call := range []adapters.Call{
		{Name: "x", Arguments: "*** Begin {", Custom: true},
		{Name: "x", Arguments: `Rome`},
		{Name: "x", Arguments: `{"text": "he said "hi"}`},
		{Name: "x", Arguments: `{'a': 'b',}`},
		{Name: "x", Arguments: `5`},
		{Name: "x", Arguments: ``},
	} {
		if call.Cut() {
			t.Errorf("%q counts as cut off", call.Arguments)
		}
	}
	for _, arguments := range []string{`{`, `{"a`, `{"a":`, `{"a":1`, `{"a":"x}`, `[1`, `"{\"a\": 1`, `"{\"a\": \"x\""`, `{'a': 'b`} {
		if call := (adapters.Call{Name: "x", Arguments: arguments}); !call.Cut() {
			t.Errorf("%q does not count as cut off", arguments)
		}
	}
}

// TestFailedStreams has a reply fail at each of its events: nothing behind the error says
// that it is complete, and one message ends the stream.
func TestFailedStreams(t *testing.T) {
	failure := &adapters.ProviderError{Type: "api_error", Message: "out of memory"}
	events := cutReply(`{"city":"Rome"}`, adapters.FinishCalls).Events()
	for _, f := range formats.All() {
		for at := range events {
			var b bytes.Buffer
			enc := f.NewEncoder(&b)
			for _, e := range events[:at] {
				if err := enc.Event(e); err != nil {
					t.Fatal(err)
				}
			}
			before := b.Len()
			if err := errors.Join(enc.Fail(failure), enc.Fail(failure), enc.Event(adapters.Event{Type: adapters.EventText, Text: "more"}), enc.End()); err != nil {
				t.Fatal(err)
			}
			behind := b.String()[before:]
			for _, word := range []string{
				`"finish_reason":"`, "_reason\":\"stop", "end_turn", "tool_use", "response.completed", "item.done", "STOP", "COMPLETE", `"more"`,
				"content_block_stop",
			} {
				if strings.Contains(behind, word) && !strings.Contains(behind, `"finish_reason":"ERROR"`) {
					t.Errorf("%s, at event %d: behind the error stands %s: %s", f.Name, at, word, behind)
				}
			}
			if n := strings.Count(behind, "out of memory"); n != 1 && (f.Name != "openai_responses" || n != 2) {
				t.Errorf("%s: the error is told %d times: %s", f.Name, n, behind)
			}
			for format, end := range map[string]string{
				"openai_chat": "data: [DONE]", "mistral_chat": "data: [DONE]", "anthropic_messages": `data: {"type":"message_stop"}`,
				"openai_responses": `"type":"response.failed"`, "ollama_chat": `"done":true`, "ollama_generate": `"done":true`,
				"cohere_chat": `"type":"message-end"`,
			} {
				if f.Name == format && strings.Count(behind, end) != 1 {
					t.Errorf("%s: the stream ends %d times: %s", f.Name, strings.Count(behind, end), behind)
				}
			}
			var reported *adapters.ProviderError
			if _, err := f.ReadStream(bytes.NewReader(b.Bytes()), adapters.Limits{}); !errors.As(err, &reported) || reported.Message != failure.Message {
				t.Errorf("%s: %v\n%s", f.Name, err, b.Bytes())
			}
		}
	}
}

// TestBrokenStreams cuts the stream of each format at every byte and writes what came in
// every other: what had no end is not told as whole.
func TestBrokenStreams(t *testing.T) {
	const whole = `{"city":"Rome and Oslo","days":12}`
	r := cutReply(whole, adapters.FinishCalls)
	for _, f := range formats.All() {
		if f.Carries.NoCalls {
			continue
		}
		var b bytes.Buffer
		enc := f.NewEncoder(&b)
		for _, e := range pieces(r) {
			if err := enc.Event(e); err != nil {
				t.Fatal(err)
			}
		}
		if err := enc.End(); err != nil {
			t.Fatal(err)
		}
		step := 1
		if testing.Short() {
			step = 17
		}
		for at := 0; at < b.Len(); at += step {
			got, err := f.ReadStream(bytes.NewReader(b.Bytes()[:at]), adapters.Limits{})
			for _, c := range got.Calls() {
				if c.Name == "cut" && !c.Truncated && c.Arguments != whole && err != nil {
					t.Fatalf("%s, cut at %d: %+v (%v)", f.Name, at, c, err)
				}
			}
			if err == nil || errors.Is(err, io.EOF) {
				continue
			}
			for _, g := range formats.All() {
				data, err := g.EncodeReply(got)
				if err != nil {
					t.Fatal(err)
				}
				again, err := g.DecodeReply(data)
				if err != nil {
					t.Fatal(err)
				}
				for _, c := range again.Calls() {
					if c.Name == "cut" && c.Arguments != whole && json.Valid([]byte(c.Arguments)) {
						t.Fatalf("%s, cut at %d, as %s: %s", f.Name, at, g.Name, data)
					}
				}
			}
		}
	}
}

// FuzzCutCall cuts any arguments at any byte: no format closes them.
func FuzzCutCall(f *testing.F) {
	f.Add(`{"city": "Rome", "days": 3}`, 10)
	f.Add(`{"a": "x \" } ] \\", "b": [1, {"c": null}]}`, 21)
	f.Add(`"{\"city\": \"Rome\"}"`, 15)
	f.Fuzz(func(t *testing.T, all string, at int) {
		if len(all) > 4<<10 || !json.Valid([]byte(all)) || at <= 0 {
			return
		}
		all = strings.TrimSpace(strings.ToValidUTF8(all, "\uFFFD"))
		arguments := strings.ToValidUTF8(all[:at%max(len(all), 1)], "\uFFFD")
		if arguments = strings.TrimSpace(arguments); len(arguments) == 0 || strings.IndexByte(`{["`, arguments[0]) < 0 {
			return
		}
		for _, format := range formats.All() {
			for _, finish := range cutFinishes {
				data, err := format.EncodeReply(cutReply(arguments, finish))
				if err != nil {
					t.Fatal(err)
				}
				got, err := format.DecodeReply(data)
				if err != nil {
					t.Fatal(err)
				}
				checkCut(t, format, got, arguments, data)
			}
		}
	})
}
