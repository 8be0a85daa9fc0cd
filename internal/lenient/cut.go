package lenient

import (
	"reflect"
	"slices"
	"unsafe"
)

// CutKind says within what a text broke off.
type CutKind uint8

// What can be cut off.
const (
	CutNothing CutKind = iota // no token; brackets may be open all the same
	CutKey                    // a key, or the colon behind it is missing
	CutValue                  // a value that had not begun
	CutString                 // a string
	CutNumber                 // a number: more digits could have followed
	CutWord                   // a literal, or another value without quotes
)

var cutNames = [...]string{"nothing", "key", "value", "string", "number", "word"}

// String returns the kind's name, such as "string".
func (k CutKind) String() string { return cutNames[k] }

// Cut is where a value broke off: at the text's end or, where a value is missing
// altogether, at a closing marker or a fence. It is known behind [Reader.Value].
//
//	{"a": 1, "b": {"c": [2, "x      CutString, Path [b c ""]
type Cut struct {
	Kind CutKind
	// Path has for each bracket that was open, the outermost first, the key of the
	// member that was being read: as far as it was written, with CutKey. It is empty for
	// a list, and for an object whose last member was whole.
	Path []string
}

// Key is the key of the member that was cut, "" if none was.
func (c Cut) Key() string {
	if len(c.Path) == 0 {
		return ""
	}
	return c.Path[len(c.Path)-1]
}

// cutOff says that the text ended within a token, and begins to close what is open.
func (r *Reader) cutOff(kind CutKind) {
	r.CutToken = true
	r.Cut.Kind = kind
	r.unwind()
}

// notePath remembers what was being read where a value ends early.
func (r *Reader) notePath() {
	if len(r.frames) == 0 {
		return
	}
	path := make([]string, len(r.frames))
	for i := range r.frames {
		if r.frames[i].HasKey {
			path[i] = r.frames[i].Key
		}
	}
	last := len(path) - 1
	switch r.Cut.Kind {
	case CutKey:
		path[last] = r.text
	case CutValue:
		if !r.frames[last].HasKey { // its colon is missing
			path[last] = r.text
		}
	case CutNumber:
		path[last] = r.frames[last].Key
	}
	r.Cut.Path = path
}

// Unclosed reports whether an object or a list that [Reader.Value] returned, or that is
// part of it, was still open where the value ended early: the text's end or a closing
// marker stood in the place of its bracket, so that members may be missing. OpenAtEnd is
// 0 if it was a marker. A value that another bracket closed is not unclosed.
func (r *Reader) Unclosed(v any) bool {
	return slices.Contains(r.openAtEnd, identity(v))
}

// OpenKey is [Reader.Unclosed], with the key of the member that was being read: "" for a
// list, and where the last member was whole.
func (r *Reader) OpenKey(v any) (key string, open bool) {
	i := slices.Index(r.openAtEnd, identity(v)) // the innermost stands first
	if i < 0 {
		return "", false
	}
	if at := len(r.Cut.Path) - 1 - i; at >= 0 {
		key = r.Cut.Path[at]
	}
	return key, true
}

// identity tells an object or a list from all others, nil for any other value. An empty
// list that is unclosed has memory of its own.
func identity(v any) unsafe.Pointer {
	switch v.(type) {
	case map[string]any, []any:
		return reflect.ValueOf(v).UnsafePointer()
	}
	return nil
}
