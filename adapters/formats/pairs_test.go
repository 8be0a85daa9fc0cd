package formats_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/adapters/formats"
)

// samples are neutral replies that together say all that a reply can say.
func samples() map[string]*adapters.Reply {
	text := func(s string) adapters.Block { return adapters.Block{Type: adapters.BlockText, Text: s} }
	call := func(id, name, arguments string) adapters.Block {
		return adapters.Block{Type: adapters.BlockCall, Call: &adapters.Call{ID: id, Name: name, Arguments: arguments}}
	}
	created := time.Unix(1_760_000_000, 0).UTC()
	reply := func(finish adapters.FinishReason, blocks ...adapters.Block) *adapters.Reply {
		return &adapters.Reply{
			ID: "reply_1", Model: "model-1", Created: created,
			Usage:   &adapters.Usage{InputTokens: 100, OutputTokens: 50, CachedTokens: 30, CacheWriteTokens: 20, ReasoningTokens: 10},
			Choices: []adapters.Choice{{Blocks: blocks, Finish: finish}},
		}
	}
	signed := call("abcDEF123", "get_weather", `{"city":"Zürich 🌧","days":3}`)
	signed.Signature = "c2lnbmVk"
	two := reply(adapters.FinishStop, text("one"))
	two.Choices = append(
		two.Choices,
		adapters.Choice{Blocks: []adapters.Block{text("two"), call("abcDEF125", "get_weather", `{"city":"Oslo"}`)}, Finish: adapters.FinishCalls},
	)
	stopped := reply(adapters.FinishSequence, text("up to here"))
	stopped.Choices[0].StopSequence = "END"
	return map[string]*adapters.Reply{
		"text":  reply(adapters.FinishStop, text("Hello \"world\"\n\tüß 🌍 </end>")),
		"empty": reply(adapters.FinishStop),
		"calls": reply(adapters.FinishCalls, adapters.Block{
			Type: adapters.BlockReasoning, Text: "I need the weather.\nOf two cities.",
		}, text("Let me look."),
			call("abcDEF123", "get_weather", `{"city":"Rome","days":3}`), call(
				"abcDEF124", "get_weather", `{"city":"Os\"lo\\","n":9007199254740993,"o":{"a":[1.50,null]}}`,
			)),
		"no arguments": reply(adapters.FinishCalls, call("abcDEF123", "list_all", `{}`)),
		"order": reply(
			adapters.FinishCalls, text("First."), call("abcDEF123", "a", `{"x":1}`), text("Then."), call("abcDEF124", "b", `{"x":2}`),
		),
		"signed": reply(
			adapters.FinishCalls, adapters.Block{Type: adapters.BlockReasoning, Text: "Deep thought.", Signature: "c2lnbmF0dXJl"}, signed,
		),
		"hidden":  reply(adapters.FinishStop, adapters.Block{Type: adapters.BlockReasoning, Signature: "cmVkYWN0ZWQ="}, text("Done.")),
		"refusal": reply(adapters.FinishStop, adapters.Block{Type: adapters.BlockRefusal, Text: "I cannot."}),
		"length":  reply(adapters.FinishLength, text("This goes on and")),
		"cut call": reply(
			adapters.FinishLength,
			adapters.Block{Type: adapters.BlockCall, Call: &adapters.Call{ID: "abcDEF123", Name: "write", Arguments: cutArguments, Truncated: true}},
		),
		"filter":   reply(adapters.FinishFilter, text("I was")),
		"sequence": stopped,
		"pause":    reply(adapters.FinishPause, text("Searching")),
		"custom": reply(adapters.FinishCalls, adapters.Block{
			Type: adapters.BlockCall, Call: &adapters.Call{ID: "abcDEF123", Name: "apply_patch", Arguments: "*** Begin\n+{\"a\" }", Custom: true},
		}),
		"choices": two,
	}
}

const cutArguments = `{"path":"/a","text":"`

// lossy is what is left of a reply in a format.
func lossy(r *adapters.Reply, f *adapters.Format, streamed bool) *adapters.Reply {
	c := f.Carries
	out := *without(r, f)
	if !c.Usage {
		out.Usage = nil
	} else if r.Usage != nil {
		u := *r.Usage
		if !c.CachedTokens {
			u.CachedTokens = 0
		}
		if !c.CacheWriteTokens {
			u.CacheWriteTokens = 0
		}
		if !c.ReasoningTokens {
			u.ReasoningTokens = 0
		}
		out.Usage = &u
	}
	out.Choices = nil
	for i, choice := range r.Choices {
		if i > 0 && !c.Choices {
			break
		}
		out.Choices = append(out.Choices, lossyChoice(choice, f, streamed))
	}
	return out.Normalize()
}

func lossyChoice(choice adapters.Choice, f *adapters.Format, streamed bool) adapters.Choice {
	c := f.Carries
	switch {
	case choice.Finish == adapters.FinishFilter && !c.Filter, choice.Finish == adapters.FinishSequence && !c.Sequence,
		choice.Finish == adapters.FinishPause && !c.Pause, choice.Finish == adapters.FinishError && !c.Error,
		choice.Finish == adapters.FinishCalls && c.NoCalls:
		choice.Finish = adapters.FinishStop
	}
	if !c.StopSequence {
		choice.StopSequence = ""
	}
	var texts, reasoning, rest, blocks []adapters.Block
	for _, b := range choice.Blocks {
		switch {
		case b.Type == adapters.BlockRefusal && !c.Refusal:
			b.Type = adapters.BlockText
		case b.Type == adapters.BlockReasoning && !c.Reasoning:
			continue
		case b.Type == adapters.BlockReasoning && !c.Signature:
			if b.Signature = ""; b.Text == "" {
				continue
			}
		case b.Type == adapters.BlockCall && b.Call.Cut() && (c.NoCalls || f.ObjectArguments && !streamed || f.WholeCalls && streamed):
			continue // it is not closed, so it cannot be said
		case b.Type == adapters.BlockCall:
			call := *b.Call
			if call.Custom && !c.Custom {
				call.Custom = false
				arguments, _ := json.Marshal(map[string]string{"input": call.Arguments})
				call.Arguments = string(arguments)
			}
			b.Call = &call
			if !c.CallSignature {
				b.Signature = ""
			}
			if !c.CallIDs {
				call.ID = ""
			}
			if c.NoCalls {
				b = adapters.Block{Type: adapters.BlockText, Text: adapters.WriteCall(&call)}
			}
		}
		switch b.Type {
		case adapters.BlockText:
			texts = append(texts, b)
		case adapters.BlockReasoning:
			reasoning = append(reasoning, b)
		default:
			rest = append(rest, b)
		}
		blocks = append(blocks, b)
	}
	if !c.Order && !streamed {
		blocks = append(append(reasoning, texts...), rest...)
	}
	choice.Blocks = join(blocks)
	return choice
}

// join joins text blocks that follow each other.
func join(blocks []adapters.Block) []adapters.Block {
	var out []adapters.Block
	for _, b := range blocks {
		if last := len(out) - 1; last >= 0 && b.Type == adapters.BlockText && out[last].Type == adapters.BlockText {
			out[last].Text += b.Text
			continue
		}
		out = append(out, b)
	}
	return out
}

var equal = cmp.Options{
	cmpopts.IgnoreTypes(adapters.Extra{}),
	cmpopts.IgnoreFields(adapters.Reply{}, "Format"),
	cmpopts.IgnoreFields(adapters.Block{}, "NativeName"),
	cmpopts.EquateEmpty(),
	// Arguments count as JSON.
	cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".Arguments" }, cmp.Comparer(sameArguments)),
}

func sameArguments(a, b string) bool {
	x, errX := decodeAny(a)
	y, errY := decodeAny(b)
	if errX == nil && errY == nil {
		return cmp.Equal(x, y)
	}
	return a == b
}

func decodeAny(s string) (any, error) {
	dec := json.NewDecoder(strings.NewReader(s))
	dec.UseNumber()
	var v any
	err := dec.Decode(&v)
	return v, err
}

// without takes out of a reply what a format has no word for, or makes up because
// another had none.
func without(r *adapters.Reply, f *adapters.Format) *adapters.Reply {
	out := *r
	out.Choices = nil
	for _, c := range r.Choices {
		c.Blocks = join(c.Blocks)
		for i := range c.Blocks {
			if b := &c.Blocks[i]; b.Call != nil && !f.Carries.CallIDs {
				call := *b.Call
				call.ID = ""
				b.Call = &call
			}
		}
		out.Choices = append(out.Choices, c)
	}
	if !f.Carries.Usage {
		out.Usage = nil
	}
	if !f.Carries.ID {
		out.ID = ""
	}
	if !f.Carries.Model {
		out.Model = ""
	}
	if !f.Carries.Created {
		out.Created = time.Time{}
	}
	return &out
}

func whole(t *testing.T, f *adapters.Format, r *adapters.Reply) *adapters.Reply {
	t.Helper()
	data, err := f.EncodeReply(r)
	if err != nil {
		t.Fatalf("%s: %v", f.Name, err)
	}
	if !json.Valid(data) {
		t.Fatalf("%s: not JSON: %s", f.Name, data)
	}
	out, err := f.DecodeReply(data)
	if err != nil {
		t.Fatalf("%s: %v\n%s", f.Name, err, data)
	}
	return out
}

// pieces are the events of a reply with its text and arguments in small pieces.
func pieces(r *adapters.Reply) []adapters.Event {
	var out []adapters.Event
	for _, e := range r.Events() {
		switch e.Type {
		case adapters.EventText, adapters.EventReasoning, adapters.EventRefusal, adapters.EventArguments:
			runes := []rune(e.Text)
			for i := 0; i < len(runes); i += 3 {
				piece := e
				piece.Text, piece.New = string(runes[i:min(i+3, len(runes))]), e.New && i == 0
				out = append(out, piece)
			}
		default:
			out = append(out, e)
		}
	}
	return out
}

func streamed(t *testing.T, f *adapters.Format, r *adapters.Reply) (*adapters.Reply, []byte) {
	t.Helper()
	var b bytes.Buffer
	enc := f.NewEncoder(&b)
	for _, e := range pieces(r) {
		if err := enc.Event(e); err != nil {
			t.Fatalf("%s: %v", f.Name, err)
		}
	}
	if err := enc.End(); err != nil {
		t.Fatalf("%s: %v", f.Name, err)
	}
	out, err := f.ReadStream(bytes.NewReader(b.Bytes()), adapters.Limits{})
	if err != nil {
		t.Fatalf("%s: %v\n%s", f.Name, err, b.Bytes())
	}
	return out, b.Bytes()
}

// TestPairs takes replies through every pair of formats, whole and streamed, and
// back: nothing changes but what a format says that it has no words for. What does not
// depend on the second format is done once.
func TestPairs(t *testing.T) {
	for name, sample := range samples() {
		for _, stream := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/streamed=%v", name, stream), func(t *testing.T) {
				t.Parallel()
				through := func(f *adapters.Format, r *adapters.Reply) *adapters.Reply {
					if stream {
						out, _ := streamed(t, f, r)
						return out
					}
					return whole(t, f, r)
				}
				for _, f := range formats.All() {
					first, want := through(f, sample), lossy(without(sample, f), f, stream)
					if diff := cmp.Diff(want, without(first, f), equal); diff != "" {
						t.Fatalf("%s: %s", f.Name, diff)
					}
					for _, g := range formats.All() {
						got, want := first, want
						for _, format := range []*adapters.Format{g, f} {
							got = through(format, got)
							want = without(without(lossy(want, format, stream), f), g)
							if diff := cmp.Diff(want, without(without(got, f), g), equal); diff != "" {
								t.Fatalf("%s, %s and back, at %s: %s", f.Name, g.Name, format.Name, diff)
							}
						}
					}
				}
			})
		}
	}
}

// TestErrors holds that each format reads the errors that it writes, in place of a
// reply and within a stream, where what came before them stays true.
func TestErrors(t *testing.T) {
	reported := &adapters.ProviderError{Type: "overloaded_error", Code: "529", Message: "Too many requests: \"wait\"."}
	for _, f := range formats.All() {
		t.Run(f.Name, func(t *testing.T) {
			var got *adapters.ProviderError
			if _, err := f.DecodeReply(f.EncodeError(reported)); !errors.As(err, &got) || got.Message != reported.Message {
				t.Errorf("whole: %v", err)
			}
			for _, said := range []string{"", "I was about to"} {
				var b bytes.Buffer
				enc := f.NewEncoder(&b)
				err := errors.Join(enc.Event(adapters.Event{Type: adapters.EventStart, ID: "reply_1", Model: "model-1"}),
					enc.Event(adapters.Event{Type: adapters.EventText, Text: said}), enc.Fail(reported), enc.End())
				if err != nil {
					t.Fatal(err)
				}
				got = nil
				reply, err := f.ReadStream(bytes.NewReader(b.Bytes()), adapters.Limits{})
				if !errors.As(err, &got) || got.Message != reported.Message || reply.Text() != said {
					t.Errorf("streamed: %v behind %q\n%s", err, reply.Text(), b.Bytes())
				}
			}
		})
	}
}
