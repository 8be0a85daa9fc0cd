package convert

import (
	"strings"

	"github.com/callwright/callwright/adapters"
)

// Tracker tells whether a JSON value that arrives in pieces is whole. The zero
// value awaits the value's beginning.
type Tracker struct {
	depth             int
	begun, done       bool
	inString, escaped bool
}

// Add takes the next piece.
func (t *Tracker) Add(s string) {
	for i := 0; i < len(s) && !t.done; i++ {
		b := s[i]
		switch {
		case t.inString:
			switch {
			case t.escaped:
				t.escaped = false
			case b == '\\':
				t.escaped = true
			case b == '"':
				t.inString = false
				t.done = t.depth == 0
			}
		case b == '"':
			t.begun, t.inString = true, true
		case b == '{' || b == '[':
			t.begun = true
			t.depth++
		case b == '}' || b == ']':
			t.depth--
			t.done = t.depth <= 0
		}
	}
}

// Whole reports whether the value has ended.
func (t *Tracker) Whole() bool { return t.done }

// Calls follows the calls of a streamed choice, whose pieces may come in any order
// and with any index, and emits their events.
type Calls struct {
	Choice int
	Emit   func(adapters.Event)
	byKey  map[int64]*call
	order  []*call // as their first pieces came
	begun  []*call // as their names came: the order of their indexes
	last   *call
}

type call struct {
	index          int
	id, name, word string
	custom         bool
	started, ended bool
	waiting        []byte // arguments that came before the name
	tracker        Tracker
	extra          adapters.Extra
	signature      string
}

// Piece takes a piece of a call. hasKey says that the piece says which call it is
// of; else a new id or name begins a new one.
func (c *Calls) Piece(key int64, hasKey bool, id, name, arguments string, custom bool, word string, extra adapters.Extra) {
	if c.byKey == nil {
		c.byKey = map[int64]*call{}
	}
	var at *call
	if hasKey {
		at = c.byKey[key]
		// Some servers give all calls one index.
		if at != nil && name != "" && id != "" && at.id != "" && id != at.id && (at.name != name || at.tracker.Whole()) {
			c.finish(at)
			at = nil
		}
	} else if c.last != nil && (id == "" || id == c.last.id) && (name == "" || c.last.name == "" || id != "") {
		at = c.last
	}
	if at == nil {
		if id == "" && name == "" && arguments == "" || len(c.order) >= adapters.MaxCalls {
			return
		}
		at = &call{custom: custom, word: word}
		c.order = append(c.order, at)
		if hasKey {
			c.byKey[key] = at
		}
		for _, other := range c.order {
			if other != at && other.tracker.Whole() {
				c.finish(other)
			}
		}
	}
	c.last = at
	if at.id == "" {
		at.id = id
	}
	if !at.started {
		at.name = longerName(at.name, name)
	}
	if len(extra.Members) > 0 {
		at.extra = adapters.Extra{Format: extra.Format, Members: append(at.extra.Members, extra.Clone().Members...)}
	}
	if !at.custom {
		at.tracker.Add(arguments)
	}
	if !at.started {
		// The name may come in pieces, and after the arguments.
		if at.waiting = append(at.waiting, arguments...); at.name == "" || len(at.waiting) == 0 {
			return
		}
		c.start(at)
		return
	}
	c.arguments(at, arguments)
}

// maxNameBytes is how long a name may grow; longer ones are no tool's.
const maxNameBytes = 1 << 10

// longerName adds a piece to a name. Some servers send all of the name with each
// piece of the arguments, some all of it so far.
func longerName(name, piece string) string {
	switch {
	case piece == "" || piece == name || len(name) > maxNameBytes:
		return name
	case strings.HasPrefix(piece, name):
		return piece
	}
	return name + piece
}

// Begin says that the name of the call that the last piece was of is whole.
func (c *Calls) Begin() {
	if c.last != nil && !c.last.started && c.last.name != "" {
		c.start(c.last)
	}
}

func (c *Calls) start(at *call) {
	at.started = true
	at.index = len(c.begun)
	c.begun = append(c.begun, at)
	c.Emit(adapters.Event{
		Type: adapters.EventCallStart, Choice: c.Choice, Index: at.index, ID: at.id, Name: at.name, Custom: at.custom, NativeName: at.word,
		Extra: at.extra,
	})
	c.arguments(at, string(at.waiting))
	at.waiting, at.extra = nil, adapters.Extra{}
}

func (c *Calls) arguments(at *call, s string) {
	if s != "" && !at.ended {
		c.Emit(adapters.Event{Type: adapters.EventArguments, Choice: c.Choice, Index: at.index, Text: s})
	}
}

// Sign gives the last call a signature.
func (c *Calls) Sign(s string) {
	if c.last != nil {
		c.last.signature = s
	}
}

func (c *Calls) finish(at *call) {
	if at.ended {
		return
	}
	if !at.started {
		c.start(at)
	}
	at.ended = true
	c.Emit(adapters.Event{Type: adapters.EventCallEnd, Choice: c.Choice, Index: at.index, Text: at.signature, Extra: at.extra})
}

// End ends all calls.
func (c *Calls) End() {
	for _, at := range c.order {
		if !at.started {
			c.start(at)
		}
	}
	for _, at := range c.begun {
		c.finish(at)
	}
}

// EndLast ends the call that the last piece was of.
func (c *Calls) EndLast() {
	if c.last != nil {
		c.finish(c.last)
	}
}

// Len is how many calls there were.
func (c *Calls) Len() int { return len(c.order) }
