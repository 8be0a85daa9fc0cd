package lenient

import (
	"bytes"
	"encoding/json"
	"sync"
)

// Frame is an open bracket of a value that is being built.
type Frame struct {
	Object map[string]any // nil for an array
	Array  []any
	Keys   []string // the keys of Object in the order in which they came, with Options.Watch
	Key    string   // whose value is being read
	HasKey bool
}

// Open returns the open brackets of the value that is being built, the outermost
// first, for looking at it while the cursor waits.
func (r *Reader) Open() []Frame { return r.frames }

// OpenText returns the decoded text of the string that is being read as a value,
// as far as it is certain; ok is false if no string is being read.
func (r *Reader) OpenText() (text []byte, ok bool) {
	if !r.inString || r.exact {
		return r.scratch, r.inString
	}
	keep, comma := tail(r.scratch)
	if comma < 0 && (keep == len(r.scratch) || closingQuote(bytes.TrimRight(r.scratch[keep:], "\r\n\t }]")) == 0) {
		return r.scratch, true
	}
	return r.scratch[:keep], true
}

// Result is the value that [Reader.Value] has read, nil as long as it is not whole.
func (r *Reader) Result() any { return r.result }

// Value reads the whole value: map[string]any, []any, string, json.Number, bool
// or nil. Numbers keep their digits. Of a value that the text's end cut off it
// returns what there was, with [Truncated] among the fixes.
func (r *Reader) Value() (any, error) {
	v, err := r.build()
	r.giveBuffer()
	return v, err
}

func (r *Reader) build() (any, error) {
	for {
		kind, err := r.Next()
		if err != nil {
			return nil, err
		}
		var v any
		switch kind {
		case End:
			return r.result, nil
		case Key:
			f := &r.frames[len(r.frames)-1]
			f.Key, f.HasKey = r.text, true
			continue
		case ObjectStart:
			r.frames = append(r.frames, Frame{Object: make(map[string]any)})
			continue
		case ArrayStart:
			r.frames = append(r.frames, Frame{})
			continue
		case ObjectEnd, ArrayEnd:
			f := r.frames[len(r.frames)-1]
			r.frames = r.frames[:len(r.frames)-1]
			switch {
			case f.Object != nil:
				v = f.Object
			case f.Array != nil:
				v = f.Array
			case r.ending:
				v = make([]any, 0, 1) // see identity
			default:
				v = []any{}
			}
			if r.ending {
				r.openAtEnd = append(r.openAtEnd, identity(v))
			}
		case String:
			v = r.text
		case Number:
			v = json.Number(r.text)
		case True:
			v = true
		case False:
			v = false
		}
		if len(r.frames) == 0 {
			r.result = v
			continue
		}
		f := &r.frames[len(r.frames)-1]
		if f.Object == nil {
			f.Array = append(f.Array, v)
			continue
		}
		n := len(f.Object)
		f.Object[f.Key] = v
		if len(f.Object) == n {
			r.fix(r.c.off, DuplicateKey)
		}
		if r.o.Watch {
			f.Keys = append(f.Keys, f.Key)
		}
		f.HasKey = false
	}
}

// buffer is what a reader needs while it reads, and leaves to the next one.
type buffer struct {
	scratch []byte     // for the text of strings
	keys    [64]string // read lately, to save allocations
}

var buffers = sync.Pool{New: func() any { return &buffer{scratch: make([]byte, 0, 64)} }}

// giveBuffer gives back what was borrowed.
func (r *Reader) giveBuffer() {
	if r.borrowed == nil {
		return
	}
	if r.scratch != nil {
		r.borrowed.scratch = r.scratch[:0]
	}
	buffers.Put(r.borrowed)
	r.borrowed, r.scratch = nil, nil
}

// borrow takes a buffer that another reader has used before.
func (r *Reader) borrow() *buffer {
	if r.borrowed == nil {
		r.borrowed, _ = buffers.Get().(*buffer)
	}
	return r.borrowed
}
