package parser

import (
	"reflect"
	"slices"

	"github.com/callwright/callwright/call"
)

// sameCall reports whether two calls call the same tool with the same parameters.
func sameCall(a, b *Call) bool {
	return a.Tool == b.Tool && reflect.DeepEqual(a.Parameters, b.Parameters)
}

// repeatsTurn reports whether a call without a marker was made already in a turn before
// it: a model that goes on behind the end of its turn often repeats what it asked for.
func (c *collector) repeatsTurn(x *Call) bool {
	if x.Provenance != call.Bare {
		return false
	}
	for i := len(c.res.Dropped) - 1; i >= 0; i-- {
		if c.res.Dropped[i].Why != DroppedTurnMarker {
			continue
		}
		turn := c.res.Dropped[i].Span[0]
		return slices.ContainsFunc(c.res.Calls, func(before Call) bool {
			return before.Provenance == call.Bare && before.Span[1] <= turn && sameCall(&before, x)
		})
	}
	return false
}

// pairs reports whether a call stands both in the text and in the provider's own
// field, and was made already. Each call excuses one other.
func (c *collector) pairs(x *Call) bool {
	if c.judge.native == "" {
		return false
	}
	for i := range c.res.Calls {
		before := &c.res.Calls[i]
		if (before.Provenance == call.Native) != (x.Provenance == call.Native) && !c.paired[i] && sameCall(before, x) {
			if c.paired == nil {
				c.paired = map[int]bool{}
			}
			c.paired[i] = true
			return true
		}
	}
	return false
}

// mayPair reports whether a call that begins may turn out to repeat another.
func (c *collector) mayPair(tool string) bool {
	if c.judge.native == "" {
		return false
	}
	for i := range c.res.Calls {
		if c.res.Calls[i].Tool == tool && !c.paired[i] {
			return true
		}
	}
	return false
}
