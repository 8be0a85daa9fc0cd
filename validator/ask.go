package validator

import (
	"errors"
	"fmt"
)

// ask asks the schema library about a value of which the plan is unsure. It checks every
// schema that may apply to a value, each time that it may: so what that costs is counted
// before.
func (w *walk) ask(n *node, value any) error {
	if w.err != nil {
		return w.err
	}
	c := counter{known: make(map[pair]int)}
	if c.visits(n, value, 0) > maxAskedVisits {
		w.err = errTooManySteps
		return w.err
	}
	return validate(n, value)
}

// validate runs the schema library over a value, and turns a panic of it into an error.
func validate(n *node, value any) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v", errInapplicable, p)
		}
	}()
	return n.schema.Validate(value)
}

// errInapplicable says that the schema library failed.
var errInapplicable = errors.New("the schema cannot be applied")

// counter counts what the schema library may do with a value.
type counter struct {
	known map[pair]int
	steps int
}

// visits is how many schemas the library may apply to a value and what is in it. It is at
// least right up to [maxAskedVisits].
func (c *counter) visits(n *node, value any, depth int) int {
	if c.steps++; c.steps > maxAskedVisits || depth > maxDepth {
		return maxAskedVisits + 1
	}
	key, compound := pairOf(n, value)
	if compound {
		if total, ok := c.known[key]; ok {
			return total
		}
	}
	total := 1
	add := func(sub *node, value any, depth int) {
		if sub != nil && total <= maxAskedVisits {
			total += c.visits(sub, value, depth)
		}
	}
	n.eachInPlace(func(sub *node) { add(sub, value, depth) })
	switch v := value.(type) {
	case map[string]any:
		total += len(v)
		for k, e := range v {
			add(n.member(k), e, depth+1)
			for i := range n.patterns {
				add(n.patterns[i].node, e, depth+1)
				total += len(k) / bytesPerStep * n.patterns[i].size
			}
			add(n.additional, e, depth+1)
			add(n.loose, e, depth+1)
			add(n.names, k, depth+1)
		}
	case []any:
		total += len(v)
		if n.unique {
			total += len(v) * len(v)
		}
		for i, e := range v {
			add(n.item(i), e, depth+1)
			add(n.contains, e, depth+1)
			add(n.looseItems, e, depth+1)
		}
	case string:
		total += len(v) / bytesPerStep * (1 + n.patternSize)
	}
	if compound {
		c.known[key] = total
	}
	return total
}
