package wire_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/callwright/callwright/internal/wire"
)

func frames(in io.Reader, maxFrame, maxTotal int) (out []string, err error) {
	r := wire.NewReader(in, maxFrame, maxTotal)
	for {
		f, err := r.Next()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return out, err
		}
		s := string(f.Data)
		if f.Event != "" {
			s = f.Event + ": " + s
		}
		out = append(out, s)
	}
}

func TestFraming(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"events", "data: a\n\ndata: b\n\n", "a|b"},
		{"names", "event: x\ndata: a\n\ndata: b\n\n", "x: a|b"},
		{"several lines", "data: a\ndata: b\ndata:\ndata: c\n\n", "a\nb\n\nc"},
		{"one space is taken off", "data:a\n\ndata:  b\n\n", "a| b"},
		{"CR LF", "event: x\r\ndata: a\r\n\r\ndata: b\r\n\r\n", "x: a|b"},
		{"CR", "data: a\r\rdata: b\r\r", "a|b"},
		{"mixed", "data: a\r\n\ndata: b\n\r\ndata: c\r\r", "a|b|c"},
		{"comments", ": hello\n\n:\ndata: a\n: within\ndata: b\n\n: bye\n", "a\nb"},
		{"ids and retries", "id: 1\nretry: 5\ndata: a\nid\n\n", "a"},
		{"unknown fields", "data: a\nfoo: bar\nfoobarbaz\n\n", "a"},
		{"an event without data", "event: x\n\ndata: a\n\n", "a"},
		{"empty data", "data\n\ndata:\n\ndata: a\n\n", "||a"},
		{"a mark at the start", "\ufeffdata: a\n\n", "a"},
		{"no blank line at the end", "data: a\n\ndata: b", "a|b"},
		{"no blank lines at all", "data: {\"a\":1}\ndata: {\"a\":2}\ndata: [DONE]\n", `{"a":1}|{"a":2}|[DONE]`},
		{"no blank lines, with names", "event: x\ndata: {\"a\":1}\nevent: y\ndata: {\"a\":2}\n", `x: {"a":1}|y: {"a":2}`},
		{"JSON over several lines", "data: {\ndata: \"a\": 1\ndata: }\n\n", "{\n\"a\": 1\n}"},
		{"NUL within", "data: a\x00b\n\n", "a\x00b"},
		{"lines", "{\"a\":1}\n{\"b\":2}\n", `{"a":1}|{"b":2}`},
		{"lines with CR LF and gaps", "\r\n{\"a\":1}\r\n\r\n  {\"b\":\"}\"}  \r\n", `{"a":1}|{"b":"}"}`},
		{"values without newlines", `{"a":"\"}"}{"b":[1]}`, `{"a":"\"}"}|{"b":[1]}`},
		{"values over several lines", "{\n \"a\": 1\n}\n{\"b\":2}", "{\n \"a\": 1\n}|{\"b\":2}"},
		{"text between", "{\"a\":1}\nnoise {\n{\"b\":2}\n", `{"a":1}|noise {|{"b":2}`},
		{"a line that is no JSON", "{\"a\": \"cut\n{\"b\":2}\n", `{"a": "cut|{"b":2}`},
		{"an array", "[{\"a\":1}\n,\n{\"b\":[2,3]}]\n", `{"a":1}|{"b":[2,3]}`},
		{"an empty array", "[]", ""},
		{"nothing", "", ""},
		{"space", " \n\n", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for how, in := range map[string]io.Reader{
				"whole": strings.NewReader(tt.in), "byte by byte": iotest.OneByteReader(strings.NewReader(tt.in)),
				"halves": iotest.HalfReader(strings.NewReader(tt.in)), "end with data": iotest.DataErrReader(strings.NewReader(tt.in)),
			} {
				got, err := frames(in, 0, 0)
				if err != nil || strings.Join(got, "|") != tt.want {
					t.Errorf("%s: %q, %v, want %q", how, got, err, tt.want)
				}
			}
		})
	}
}

func TestFramingErrors(t *testing.T) {
	endless := io.MultiReader(strings.NewReader("data: "), neverEnding('x'))
	comments := neverEnding(':')
	for name, tt := range map[string]struct {
		in   io.Reader
		want error
	}{
		"a page":                 {strings.NewReader("<!DOCTYPE html>\n<p>"), wire.ErrNotStream},
		"text":                   {strings.NewReader("hello"), wire.ErrNotStream},
		"database":               {strings.NewReader("database: x"), wire.ErrNotStream},
		"a line without end":     {endless, wire.ErrTooLarge},
		"comments without end":   {comments, wire.ErrTooLarge},
		"a value without end":    {io.MultiReader(strings.NewReader("{"), neverEnding('[')), wire.ErrTooLarge},
		"cut off":                {strings.NewReader(`{"a": [1`), wire.ErrCut},
		"a broken message":       {strings.NewReader("\x00\x00\x00\x10\x00\x00\x00\x00\x01\x02\x03\x04\x00\x00\x00\x00"), wire.ErrNotStream},
		"half a message":         {bytes.NewReader(wire.AppendFrame(nil, wire.Binary, "x", []byte("{}"))[:20]), wire.ErrCut},
		"a reader that breaks":   {io.MultiReader(strings.NewReader("data: a\n"), iotest.ErrReader(io.ErrClosedPipe)), io.ErrClosedPipe},
		"events without end":     {&repeater{"data: {}\n\n"}, wire.ErrTooLarge},
		"empty events":           {&repeater{"\n"}, wire.ErrTooLarge},
		"many lines in an event": {&repeater{"data: [{}\ndata: ,{}\n"}, wire.ErrTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := frames(tt.in, 1<<16, 1<<20); !errors.Is(err, tt.want) {
				t.Errorf("%v", err)
			}
		})
	}
}

// neverEnding is a reader of one byte for ever.
type neverEnding byte

func (b neverEnding) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(b)
	}
	return len(p), nil
}

// repeater is a reader of one text for ever.
type repeater struct{ text string }

func (r *repeater) Read(p []byte) (int, error) {
	n := 0
	for n+len(r.text) <= len(p) {
		n += copy(p[n:], r.text)
	}
	return n, nil
}

func TestAppendFrame(t *testing.T) {
	for _, framing := range []wire.Framing{wire.SSE, wire.Lines, wire.Binary} {
		var b []byte
		var want []string
		for i := range 3 {
			data := fmt.Sprintf(`{"n":%d}`, i)
			b = wire.AppendFrame(b, framing, "delta", []byte(data))
			if framing != wire.Lines {
				data = "delta: " + data
			}
			want = append(want, data)
		}
		got, err := frames(bytes.NewReader(b), 0, 0)
		if err != nil || strings.Join(got, "|") != strings.Join(want, "|") {
			t.Errorf("%s: %q, %v", framing, got, err)
		}
	}
}

// FuzzReader holds that no bytes make the reader panic or run on, and that every
// cutting of them gives the same messages.
func FuzzReader(f *testing.F) {
	for _, s := range []string{
		"data: a\n\n", "{\"a\":1}\n[", "[{}]", "\x00\x00\x00\x00", ": x\r\rdata: {}\ndata: {}\r\n", "event: a\ndata: {\"b\":\"\\\"\"}\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		whole, errWhole := frames(bytes.NewReader(data), 1<<16, 1<<20)
		cut, errCut := frames(iotest.OneByteReader(bytes.NewReader(data)), 1<<16, 1<<20)
		if fmt.Sprint(whole) != fmt.Sprint(cut) || (errWhole == nil) != (errCut == nil) {
			t.Fatalf("whole %q, %v; cut %q, %v", whole, errWhole, cut, errCut)
		}
	})
}
