package lenient

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"go.uber.org/goleak"
	"pgregory.net/rapid"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestReading checks that code reads a text that arrives as it reads a whole one,
// however it is cut.
func TestReading(t *testing.T) {
	texts := []string{
		`{"a": [1, 2.50, true, null, "x\n\u00e9"]}`, `{a: 'b', "c": "say "hi", ok",}`, `{"a": .5, b: 1,000}`, "[\"\xe4\xb8\"]", `{"a": """x"""}`,
		`{"a": [1, 2}`, `{"a" 1 "b": 2}`, `{"a":`, `nothing`, ``,
	}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SampledFrom(texts).Draw(t, "text")
		whole := NewReader(NewText(text), Options{})
		want, wantErr := whole.Value()

		var reader *Reader
		var got any
		r := Start(func(c *Cursor) (err error) {
			reader = NewReader(c, Options{})
			got, err = reader.Value()
			return err
		})
		defer r.Stop()
		for rest := text; rest != "" && !r.Done(); {
			n := rapid.IntRange(0, len(rest)).Draw(t, "n")
			r.Feed([]byte(rest[:n]))
			rest = rest[n:]
		}
		r.End()
		if !r.Done() || (r.Err() == nil) != (wantErr == nil) || !reflect.DeepEqual(got, want) || !reflect.DeepEqual(reader.Fixes.Names(), whole.Fixes.Names()) {
			t.Fatalf("%q gives %v %v, not %v %v", text, got, r.Err(), want, wantErr)
		}
	})
}

// TestReadingShows checks what may be looked at while the code waits.
func TestReadingShows(t *testing.T) {
	var reader *Reader
	r := Start(func(c *Cursor) error {
		reader = NewReader(c, Options{Watch: true})
		_, err := reader.Value()
		return err
	})
	defer r.Stop()
	if reader != nil {
		t.Fatal("the code runs before the first Resume")
	}
	for _, tt := range []struct {
		chunk, open, text string
	}{
		{`{"a": 1, "b": {"c": "it `, `[{map[a:1] [] [a] b true} {map[] [] [] c true}]`, "it "},
		{`said \`, `[{map[a:1] [] [a] b true} {map[] [] [] c true}]`, "it said "},
		{`"hi" and`, `[{map[a:1] [] [a] b true} {map[] [] [] c true}]`, `it said "hi`}, // is " and" a key?
		{`"`, `[{map[a:1] [] [a] b true} {map[] [] [] c true}]`, `it said "hi`},        // or is and": one whose first quotation mark is missing?
		{`, "d`, `[{map[a:1] [] [a] b true} {map[] [] [] c true}]`, `it said "hi" and`},
		{`": 2`, `[{map[a:1] [] [a] b true} {map[c:it said "hi" and] [] [c] d true}]`, ""},
	} {
		r.Feed([]byte(tt.chunk))
		text, ok := reader.OpenText()
		if !ok {
			text = nil
		}
		if got := show(reader.Open()); got != tt.open || string(text) != tt.text {
			t.Errorf("after %q: %s and %q, not %s and %q", tt.chunk, got, text, tt.open, tt.text)
		}
	}
}

// TestReadingShowsJoined checks that strings which are joined are shown as one.
func TestReadingShowsJoined(t *testing.T) {
	for _, o := range []Options{{Watch: true}, {Watch: true, Python: true}} {
		var reader *Reader
		r := Start(func(c *Cursor) error {
			reader = NewReader(c, o)
			_, err := reader.Value()
			return err
		})
		for _, tt := range []struct{ chunk, text string }{
			{`{"a": "one`, "one"}, {`" + `, "one"}, {`"tw`, "onetw"}, {`o" + "`, ""}, {`thr\n`, "onetwothr\n"}, {`ee"`, "onetwothr\nee"}, {`, "b": "f`, "f"},
		} {
			r.Feed([]byte(tt.chunk))
			text, ok := reader.OpenText()
			if ok != (tt.text != "") || ok && string(text) != tt.text {
				t.Errorf("after %q %q is shown (%v), not %q", tt.chunk, text, ok, tt.text)
			}
		}
		r.Feed([]byte(`our"}`))
		r.End()
		if m, _ := reader.Result().(map[string]any); m["a"] != "onetwothr\nee" || m["b"] != "four" {
			t.Errorf("%v", m)
		}
		r.Stop()
	}
}

func TestReadingStops(t *testing.T) {
	code := func(c *Cursor) error {
		for c.Fill() {
			c.Skip(1)
		}
		return nil
	}
	never := Start(code)
	never.Stop()
	never.Stop()
	never.Resume()
	waiting := Start(code)
	waiting.Feed([]byte("x"))
	if waiting.Done() || waiting.Err() != nil {
		t.Error("the code has returned")
	}
	waiting.Stop()
	if !waiting.Done() || !errors.Is(waiting.Err(), ErrStopped) {
		t.Errorf("stopped code: %v", waiting.Err())
	}
	waiting.Feed([]byte("x"))
	waiting.End()
	waiting.Stop()
	ended := Start(code)
	ended.End()
	ended.End()
	ended.Stop()
	if !ended.Done() || ended.Err() != nil {
		t.Errorf("code that returned: %v", ended.Err())
	}
}

func TestReadingPanics(t *testing.T) {
	for _, value := range []any{"boom", errors.New("boom")} {
		r := Start(func(c *Cursor) error {
			c.Fill()
			panic(value)
		})
		r.Feed([]byte("x"))
		r.Feed([]byte("x"))
		var p *PanicError
		if !r.Done() || !errors.As(r.Err(), &p) || p.Error() != "internal error: boom" || !strings.Contains(string(p.Stack), "TestReadingPanics") {
			t.Errorf("%v", r.Err())
		}
		r.Stop()
	}
}

func show(frames []Frame) string { return fmt.Sprint(frames) }
