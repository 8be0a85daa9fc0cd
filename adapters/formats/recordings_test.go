package formats_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/adapters/formats"
	"github.com/callwright/callwright/internal/golden"
	"github.com/callwright/callwright/internal/wire"
	"github.com/callwright/callwright/parser"
	"github.com/callwright/callwright/registry"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const wireFolder = "../../testdata/wire"

// recordings are replies as servers sent them, whole and streamed: some recorded,
// some after the providers' documentation, some hostile.
func recordings(t testing.TB) map[string][]byte {
	t.Helper()
	names, err := filepath.Glob(wireFolder + "/*.*")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]byte{}
	for _, name := range names {
		if strings.HasSuffix(name, ".want") {
			continue
		}
		if out[filepath.Base(name)], err = os.ReadFile(name); err != nil {
			t.Fatal(err)
		}
	}
	if len(out) < 30 {
		t.Fatalf("only %d recordings", len(out))
	}
	return out
}

func newParser(t testing.TB) *parser.Parser {
	t.Helper()
	data, err := os.ReadFile("../../testdata/tools.json")
	if err != nil {
		t.Fatal(err)
	}
	tools, err := registry.Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	r, err := registry.New(tools...)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	p, err := parser.New(r, parser.Options{NewID: func() string { n++; return fmt.Sprintf("made_%d", n) }})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func compact(t testing.TB, v any) string {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(b.String())
}

// describe writes what is made of a recording in a form that a person can check.
func describe(t testing.TB, d formats.Detected, r *parser.Result, err error) string {
	t.Helper()
	var b strings.Builder
	if d.Format == nil {
		b.WriteString("format: none\n")
	} else {
		fmt.Fprintf(&b, "format: %s %s %.2f streamed=%v\n", d.Format.Name, d.Version, d.Confidence, d.Stream)
	}
	if err != nil {
		fmt.Fprintf(&b, "error: %v\n", err)
	}
	if r == nil {
		return b.String()
	}
	fmt.Fprintf(&b, "reply: %s\n", compact(t, r.Reply))
	for _, part := range []struct{ name, text string }{{"reasoning", r.Reasoning}, {"content", r.Content}} {
		if part.text != "" {
			fmt.Fprintf(&b, "%s: %q\n", part.name, part.text)
		}
	}
	for _, c := range r.Calls {
		fmt.Fprintf(&b, "call: %s %s %s\n  %s %s %.2f", c.ID, c.Tool, compact(t, c.Parameters), c.SourceFormat, c.Provenance, c.Confidence)
		if c.Inferred {
			b.WriteString(" inferred")
		}
		for _, x := range c.Repairs {
			b.WriteString(" repaired:" + x)
		}
		b.WriteString("\n")
	}
	for _, x := range r.Rejected {
		fmt.Fprintf(&b, "rejected: %s %s %v truncated=%v\n", x.ID, x.Tool, x.Errors, x.Truncated)
	}
	if r.Truncated || len(r.Warnings) > 0 {
		fmt.Fprintf(&b, "truncated=%v warnings=%q\n", r.Truncated, r.Warnings)
	}
	return b.String()
}

// TestEachFormatIsRecorded holds that there are recordings of every format, whole
// and streamed.
func TestEachFormatIsRecorded(t *testing.T) {
	streams, whole := map[string]int{}, map[string]int{}
	for _, data := range recordings(t) {
		switch d := formats.DetectFormat(data); {
		case d.Format == nil:
		case d.Stream:
			streams[d.Format.Name]++
		default:
			whole[d.Format.Name]++
		}
	}
	for _, f := range formats.All() {
		if whole[f.Name] == 0 {
			t.Errorf("testdata/wire has no reply of %s", f.Name)
		}
		// A flavor's stream is told from its original by little, and read as that.
		if streams[f.Name] == 0 && f.FlavorOf == "" {
			t.Errorf("testdata/wire has no stream of %s", f.Name)
		}
	}
}

func TestRecordings(t *testing.T) {
	for name, data := range recordings(t) {
		t.Run(name, func(t *testing.T) {
			reply, err := formats.Read(nil, data, adapters.Limits{})
			var result *parser.Result
			if reply != nil {
				var parseErr error
				if result, parseErr = newParser(t).ParseReply(context.Background(), reply, parser.Context{}); parseErr != nil {
					t.Fatal(parseErr)
				}
			}
			golden.Check(t, filepath.Join(wireFolder, name+".want"), describe(t, formats.DetectFormat(data), result, err))
		})
	}
}

// TestRecordingsStreamed parses recorded streams as they arrive, byte by byte: the
// events add up to the result of the whole.
func TestRecordingsStreamed(t *testing.T) {
	for name, data := range recordings(t) {
		d := formats.DetectFormat(data)
		if !d.Stream {
			continue
		}
		t.Run(name, func(t *testing.T) {
			reply, wantErr := formats.Read(nil, data, adapters.Limits{})
			want, err := newParser(t).ParseReply(context.Background(), reply, parser.Context{})
			if err != nil {
				t.Fatal(err)
			}
			s, err := formats.Open(iotest.OneByteReader(bytes.NewReader(data)), adapters.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			var got *parser.Result
			var gotErr error
			arguments := map[int]string{}
			content := ""
			for e, err := range parser.StreamReply(context.Background(), newParser(t), d.Format.Name, s.Events(d.Format), parser.Context{}) {
				if err != nil {
					gotErr = err
					break
				}
				switch e.Type {
				case parser.EventContent:
					content += e.Text
				case parser.EventArguments:
					arguments[e.Index] += e.Delta
				case parser.EventCallEnd:
					if e.Call != nil {
						var a, b any
						if err := json.Unmarshal([]byte(arguments[e.Index]), &a); err != nil {
							t.Errorf("arguments %q: %v", arguments[e.Index], err)
						}
						if err := json.Unmarshal([]byte(compact(t, e.Call.Parameters)), &b); err != nil || !cmp.Equal(a, b) {
							t.Errorf("deltas add up to %v, the call has %v", a, b)
						}
					}
				case parser.EventResult:
					got = e.Result
				}
			}
			if got == nil {
				t.Fatal("no result")
			}
			if content != got.Content {
				t.Errorf("content adds up to %q, the result has %q", content, got.Content)
			}
			if fmt.Sprint(gotErr) != fmt.Sprint(wantErr) {
				t.Errorf("error %v, of the whole %v", gotErr, wantErr)
			}
			want.Truncated, got.Truncated = false, false // only the stream knows that it broke off
			if diff := cmp.Diff(describe(t, d, want, nil), describe(t, d, got, nil)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestRecordingsCut cuts recorded streams at every byte, which changes no message, and
// off at every byte, which keeps what came before.
func TestRecordingsCut(t *testing.T) {
	for name, data := range recordings(t) {
		d := formats.DetectFormat(data)
		if !d.Stream {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want, wantErr := messages(bytes.NewReader(data))
			reply, _ := d.Format.ReadStream(bytes.NewReader(data), adapters.Limits{})
			said := reply.Text()
			step := 1
			if testing.Short() {
				step = 37
			}
			for i := 0; i <= len(data); i += step {
				// A decoder sees messages: what it makes of the same ones is the same.
				got, err := messages(io.MultiReader(bytes.NewReader(data[:i]), bytes.NewReader(data[i:])))
				if !slices.Equal(want, got) || fmt.Sprint(err) != fmt.Sprint(wantErr) {
					t.Fatalf("cut at %d: %v: %s", i, err, cmp.Diff(want, got))
				}
				part, err := d.Format.ReadStream(bytes.NewReader(data[:i]), adapters.Limits{})
				if err != nil && !wellKnown(err) {
					t.Fatalf("cut off at %d: %v", i, err)
				}
				if !strings.HasPrefix(said, part.Text()) {
					t.Fatalf("cut off at %d: text %q", i, part.Text())
				}
			}
		})
	}
}

// messages are those of a stream, with their names.
func messages(in io.Reader) (list []string, err error) {
	r := wire.NewReader(in, 0, 0)
	for {
		frame, err := r.Next()
		if err != nil {
			return list, err
		}
		list = append(list, frame.Event+": "+string(frame.Data))
	}
}

// wellKnown reports whether an error is one that a broken stream may give.
func wellKnown(err error) bool {
	return errors.Is(err, adapters.ErrUnexpectedEnd) || errors.Is(err, adapters.ErrMalformed) || errors.Is(err, adapters.ErrNotStream) ||
		errors.As(err, new(*adapters.ProviderError))
}

// TestLeaving stops listening at each event: nothing is left behind.
func TestLeaving(t *testing.T) {
	data, err := os.ReadFile(wireFolder + "/openai_chat.sse")
	if err != nil {
		t.Fatal(err)
	}
	for n := 1; ; n++ {
		s, err := formats.Open(bytes.NewReader(data), adapters.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		seen := 0
		for _, err := range parser.StreamReply(context.Background(), newParser(t), s.Format.Name, s.Events(s.Format), parser.Context{}) {
			if err != nil {
				t.Fatal(err)
			}
			if seen++; seen == n {
				break
			}
		}
		if seen < n {
			return
		}
	}
}

// TestHostileStreams reads streams that make each message cost more than the one
// before it, unless it is read with care.
func TestHostileStreams(t *testing.T) {
	n := 20_000
	if testing.Short() {
		n = 2_000
	}
	chunk := `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":%s%s}]}` + "\n\n"
	anthropicDelta := `data: {"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"0123456789"}}` + "\n\n"
	for name, message := range map[string]func(i int) string{
		"names in pieces": func(int) string {
			return fmt.Sprintf(chunk, `{"tool_calls":[{"index":0,"function":{"name":"more"}}]}`, "")
		},
		"arguments early": func(int) string {
			return fmt.Sprintf(chunk, `{"tool_calls":[{"index":0,"function":{"arguments":"more"}}]}`, "")
		},
		"calls": func(i int) string {
			return fmt.Sprintf(chunk, fmt.Sprintf(`{"tool_calls":[{"index":%d,"id":"i%d","function":{"name":"f","arguments":"{"}}]}`, i, i), "")
		},
		"mixed calls": func(i int) string {
			return fmt.Sprintf(
				chunk, fmt.Sprintf(`{"tool_calls":[{"index":%d,"id":"i%d","function":{"name":"f","arguments":"{"}}]}`, i%1000, i%1000), "",
			)
		},
		"log probabilities": func(int) string {
			return fmt.Sprintf(chunk, `{"content":"x"}`, `,"logprobs":{"content":[{"token":"x","logprob":-0.1}]}`)
		},
		"signatures": func(int) string { return anthropicDelta },
		"choices": func(i int) string {
			return strings.Replace(fmt.Sprintf(chunk, `{"content":"x"}`, ""), `"index":0`, fmt.Sprintf(`"index":%d`, i), 1)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var b bytes.Buffer
			for i := range n {
				b.WriteString(message(i))
			}
			d := formats.DetectFormat(b.Bytes())
			if d.Format == nil {
				t.Fatal("no format")
			}
			encoders := make([]adapters.Encoder, len(formats.All())) // as it comes
			for i, f := range formats.All() {
				encoders[i] = f.NewEncoder(io.Discard)
			}
			for e, err := range d.Format.DecodeStream(bytes.NewReader(b.Bytes()), adapters.Limits{}) {
				if err != nil {
					break
				}
				for _, enc := range encoders {
					if err := enc.Event(e); err != nil {
						t.Fatal(err)
					}
				}
			}
			for _, enc := range encoders {
				if err := enc.End(); err != nil {
					t.Fatal(err)
				}
			}
			reply, err := d.Format.ReadStream(&b, adapters.Limits{})
			if !errors.Is(err, adapters.ErrUnexpectedEnd) {
				t.Fatal(err)
			}
			for _, f := range formats.All() {
				if err := f.EncodeStream(io.Discard, reply); err != nil {
					t.Fatal(err)
				}
				if _, err := f.EncodeReply(reply); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// FuzzReadReply holds that no bytes make the adapters panic, and that what was read
// can be written in every format.
func FuzzReadReply(f *testing.F) {
	for _, data := range recordings(f) {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, format := range append(formats.All(), nil) {
			reply, err := formats.Read(format, data, adapters.Limits{MaxMessageBytes: 1 << 16, MaxTotalBytes: 1 << 20})
			if reply == nil || err != nil && format != nil {
				continue
			}
			for _, g := range formats.All() {
				whole, err := g.EncodeReply(reply)
				if err != nil {
					t.Fatal(err)
				}
				if !json.Valid(whole) {
					t.Fatalf("%s wrote %q", g.Name, whole)
				}
				var b bytes.Buffer
				if err := g.EncodeStream(&b, reply); err != nil {
					t.Fatal(err)
				}
				if _, err := g.ReadStream(&b, adapters.Limits{}); err != nil && !errors.As(err, new(*adapters.ProviderError)) {
					t.Fatalf("%s does not read what it wrote: %v", g.Name, err)
				}
			}
		}
	})
}

// TestSameFormatReplies holds that a reply comes out of its own format as it went
// in, with all that we do not know of it, whole and streamed.
func TestSameFormatReplies(t *testing.T) {
	for name, data := range recordings(t) {
		d := formats.DetectFormat(data)
		if d.Format == nil || strings.Contains(name, "error") || strings.Contains(name, "hostile") || strings.Contains(name, "bad") {
			continue
		}
		t.Run(name, func(t *testing.T) {
			if !d.Stream {
				reply, err := d.Format.DecodeReply(data)
				if err != nil {
					t.Fatal(err)
				}
				out, err := d.Format.EncodeReply(reply)
				if err != nil {
					t.Fatal(err)
				}
				want, _ := decodeAny(string(data))
				got, _ := decodeAny(string(out))
				if diff := missing(want, got, ""); diff != "" {
					t.Errorf("%s\n%s", diff, out)
				}
				return
			}
			var b bytes.Buffer
			enc := d.Format.NewEncoder(&b)
			for e, err := range d.Format.DecodeStream(bytes.NewReader(data), adapters.Limits{}) {
				if err == nil {
					err = enc.Event(e)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			if err := enc.End(); err != nil {
				t.Fatal(err)
			}
			want, err := d.Format.ReadStream(bytes.NewReader(data), adapters.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			got, err := d.Format.ReadStream(bytes.NewReader(b.Bytes()), adapters.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			if d.Format.Carries.CallIDs {
				for _, r := range []*adapters.Reply{want, got} { // those that the server left out are made
					for i, c := range r.Calls() {
						if strings.HasPrefix(c.ID, "call_") || c.ID == "" {
							c.ID = fmt.Sprint(i)
						}
					}
				}
			}
			if diff := missing(normal(t, want), normal(t, got), ""); diff != "" {
				t.Errorf("%s\n%s", diff, b.Bytes())
			}
		})
	}
}

func normal(t *testing.T, r *adapters.Reply) any {
	t.Helper()
	v, err := decodeAny(compact(t, describeReply(r)))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// describeReply shows a reply with its extra members.
func describeReply(r *adapters.Reply) map[string]any {
	members := func(e adapters.Extra) json.RawMessage { return wire.Object(e.Members).Bytes() }
	out := map[string]any{"id": r.ID, "model": r.Model, "created": r.Created, "usage": r.Usage, "extra": members(r.Extra)}
	if r.Usage != nil {
		out["usage_extra"] = members(r.Usage.Extra)
	}
	for i, c := range r.Choices {
		var blocks []any
		for _, b := range c.Blocks {
			blocks = append(
				blocks, map[string]any{"type": b.Type, "text": b.Text, "signature": b.Signature, "call": b.Call, "extra": members(b.Extra)},
			)
		}
		out[fmt.Sprint("choice", i)] = map[string]any{"blocks": blocks, "finish": c.Finish, "stop": c.StopSequence, "extra": members(c.Extra)}
	}
	return out
}

// missing says what of one value is not in another.
func missing(want, got any, path string) string {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			return fmt.Sprintf("%s: %v is no object", path, got)
		}
		for k, v := range w {
			if diff := missing(v, g[k], path+"/"+k); diff != "" {
				return diff
			}
		}
	case []any:
		g, ok := got.([]any)
		if got == nil && len(w) == 0 {
			return "" // nothing is left out of nothing
		}
		if !ok || len(g) != len(w) {
			return fmt.Sprintf("%s: %v, want %v", path, got, want)
		}
		for i := range w {
			if diff := missing(w[i], g[i], fmt.Sprint(path, "/", i)); diff != "" {
				return diff
			}
		}
	case nil:
	default:
		nothing := want == "" || want == "0001-01-01T00:00:00Z" || got == nil && fmt.Sprint(want) == "0"
		if !nothing && !cmp.Equal(want, got) {
			return fmt.Sprintf("%s: %v, want %v", path, got, want)
		}
	}
	return ""
}
