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
	id, name, word string // word: the native name
	custom         bool
	started, ended bool
	waiting        []byte // arguments that came before the name
	tracker        Tracker
	extra          adapters.Extra
	signature      string
}

// Piece is a piece of a streamed call.
type Piece struct {
	// Key says which call it is of, if HasKey is set. Else a new id or name begins a new
	// call.
	Key    int64
	HasKey bool
	// ID and Name may be empty, or come again with each piece.
	ID, Name string
	// Arguments are the next piece of the arguments.
	Arguments  string
	Custom     bool // of a call that begins
	NativeName string
	Extra      adapters.Extra
}

// Piece takes a piece of a call.
func (c *Calls) Piece(p Piece) {
	at := c.find(&p)
	if at == nil {
		return
	}
	c.last = at
	if at.id == "" {
		at.id = p.ID
	}
	if !at.started {
		at.name = longerName(at.name, p.Name)
	}
	if len(p.Extra.Members) > 0 {
		at.extra = adapters.Extra{Format: p.Extra.Format, Members: append(at.extra.Members, p.Extra.Clone().Members...)}
	}
	if !at.custom {
		at.tracker.Add(p.Arguments)
	}
	if !at.started {
		// The name may come in pieces, and after the arguments.
		if at.waiting = append(at.waiting, p.Arguments...); at.name == "" || len(at.waiting) == 0 {
			return
		}
		c.start(at)
		return
	}
	c.arguments(at, p.Arguments)
}

// find returns the call that a piece is of, which may be a new one; nil if there is none.
func (c *Calls) find(p *Piece) *call {
	if p.HasKey {
		at := c.byKey[p.Key]
		if at != nil && !c.restarts(at, p) {
			return at
		}
		if at != nil {
			c.finish(at, false)
		}
	} else if c.last != nil && (p.ID == "" || p.ID == c.last.id) && (p.Name == "" || c.last.name == "" || p.ID != "") {
		return c.last
	}
	if p.ID == "" && p.Name == "" && p.Arguments == "" || len(c.order) >= adapters.MaxCalls {
		return nil
	}
	at := &call{custom: p.Custom, word: p.NativeName}
	c.order = append(c.order, at)
	if p.HasKey {
		if c.byKey == nil {
			c.byKey = map[int64]*call{}
		}
		c.byKey[p.Key] = at
	}
	for _, other := range c.order {
		if other != at && other.tracker.Whole() {
			c.finish(other, false)
		}
	}
	return at
}

// restarts reports whether a piece begins another call with the key of an earlier one:
// some servers give all calls one index.
func (c *Calls) restarts(at *call, p *Piece) bool {
	return p.Name != "" && p.ID != "" && at.id != "" && p.ID != at.id && (at.name != p.Name || at.tracker.Whole())
}

// maxNameBytes bounds a name that comes in pieces.
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

func (c *Calls) finish(at *call, truncated bool) {
	if at.ended {
		return
	}
	if !at.started {
		c.start(at)
	}
	at.ended = true
	c.Emit(adapters.Event{
		Type: adapters.EventCallEnd, Choice: c.Choice, Index: at.index, Text: at.signature, Truncated: truncated, Extra: at.extra,
	})
}

// End ends all calls.
func (c *Calls) End() {
	for _, at := range c.order {
		if !at.started {
			c.start(at)
		}
	}
	for _, at := range c.begun {
		c.finish(at, false)
	}
}

// EndLast ends the call that the last piece was of; truncated says that it was cut off.
func (c *Calls) EndLast(truncated bool) {
	if c.last != nil {
		c.finish(c.last, truncated)
	}
}

// Len is how many calls there were.
func (c *Calls) Len() int { return len(c.order) }
