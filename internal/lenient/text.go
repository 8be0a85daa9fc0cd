package lenient

import (
	"errors"

	"github.com/callwright/callwright/call"
)

// Text is a [call.Text]: text whose type is for the tool's schema to say.
type Text = call.Text

// ErrTrailing says that something stands behind a value.
var ErrTrailing = errors.New("text behind the value")

// Parse reads a text that is one value from its first byte to its last, but for
// white space around it.
func Parse(text string, o Options) (any, *Reader, error) {
	c := NewText(text)
	o.Alone = true
	r := NewReader(c, o)
	v, err := r.Value()
	if err != nil {
		return nil, r, err
	}
	c.SkipSpace()
	if !c.EOF() {
		return v, r, ErrTrailing
	}
	return v, r, nil
}

// Plain returns a value in which every [Text] is a string. What holds none is not
// copied. It recurses no deeper than a [Reader] nests values.
func Plain(v any) any {
	switch x := v.(type) {
	case Text:
		return string(x)
	case map[string]any:
		if !holdsText(x) {
			return x
		}
		m := make(map[string]any, len(x))
		for key, e := range x {
			m[key] = Plain(e)
		}
		return m
	case []any:
		if !holdsText(x) {
			return x
		}
		list := make([]any, len(x))
		for i, e := range x {
			list[i] = Plain(e)
		}
		return list
	}
	return v
}

func holdsText(v any) bool {
	switch x := v.(type) {
	case Text:
		return true
	case map[string]any:
		for _, e := range x {
			if holdsText(e) {
				return true
			}
		}
	case []any:
		for _, e := range x {
			if holdsText(e) {
				return true
			}
		}
	}
	return false
}
