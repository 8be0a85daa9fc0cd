package parser

import (
	"reflect"

	"github.com/callwright/callwright/call"
)

// sameCall reports whether two calls call the same tool with the same parameters.
func sameCall(a, b *Call) bool {
	return a.Tool == b.Tool && reflect.DeepEqual(a.Parameters, b.Parameters)
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
