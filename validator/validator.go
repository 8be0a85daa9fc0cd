// Package validator checks the parameters of a call against its tool's JSON Schema. It
// coerces values where nothing is lost by it, such as "5" to 5, fills in defaults, and
// reports errors with their paths.
//
// Parameters that fit are left as they are; everything that is changed is listed. The time
// for a call grows with its parameters, whatever the schema.
package validator

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/callwright/callwright/internal/lenient"
	"github.com/callwright/callwright/internal/text"
	"github.com/callwright/callwright/registry"
)

// Options say how parameters may be changed. The zero value makes lossless coercions and
// fills in the schema's defaults.
type Options struct {
	// NoCoercion makes no coercions.
	NoCoercion bool `json:"no_coercion,omitempty"`
	// NoDefaults fills in no defaults.
	NoDefaults bool `json:"no_defaults,omitempty"`
	// Lossy allows lossy coercions too: thousands separators, yes/no and 1/0 for booleans,
	// enum values with typing errors, a list of one element for the element, "" for null.
	// Each lowers the confidence.
	Lossy bool `json:"lossy,omitempty"`
	// KeepUnknown keeps parameters that the schema forbids, which is an error; else they
	// are dropped, which is listed as a coercion. Those of tools that require a marker are
	// always kept.
	KeepUnknown bool `json:"keep_unknown,omitempty"`
	// TypeDefaults fills in required parameters without a default with the empty value of
	// their type.
	TypeDefaults bool `json:"type_defaults,omitempty"`
	// Values are the caller's values, by name, for parameters that a call leaves out and
	// that have no default.
	Values map[string]any `json:"-"`
}

// Result has the parameters of a call after validation.
type Result struct {
	Parameters map[string]any
	Coercions  []Coercion
	Defaults   []string // JSON pointers to what was filled in
	Errors     []Error
	Warnings   []string
	// Factor is the factor by which the coercions lower the call's confidence, from 0 to 1.
	Factor float64
}

// Valid reports whether the parameters fit the tool.
func (r *Result) Valid() bool { return len(r.Errors) == 0 }

// Validate coerces the parameters of a call to the tool's schema, fills in defaults and
// checks them. The map may become part of the result; what is changed is copied, but for
// text without a type, which is given one in place. A tool without a schema accepts any
// parameters.
func Validate(tool *registry.Tool, parameters map[string]any, o Options) Result {
	return ValidateContext(context.Background(), tool, parameters, o)
}

// ValidateContext is [Validate] that ends when ctx is done: then the error is
// [ValidationTooCostly].
func ValidateContext(ctx context.Context, tool *registry.Tool, parameters map[string]any, o Options) Result {
	if parameters == nil {
		parameters = map[string]any{}
	}
	v := validation{o: o, tool: tool, wrapped: -1, base: 1, keepObject: true}
	v.res.Parameters, _ = v.validate(ctx, parameters).(map[string]any)
	return v.result()
}

// ValidateValue is [ValidateContext] for a value of any kind, which a schema may want that
// is not one of a call's parameters. The first result is what becomes of the value;
// [Result.Parameters] is unset.
func ValidateValue(ctx context.Context, tool *registry.Tool, value any, o Options) (any, Result) {
	v := validation{o: o, tool: tool, wrapped: -1, base: 1}
	value = v.validate(ctx, value)
	return value, v.result()
}

// validate returns what becomes of a value.
func (v *validation) validate(ctx context.Context, value any) any {
	v.res.Warnings = append(v.res.Warnings, v.tool.Warnings()...)
	p := planOf(v.tool)
	if p == nil {
		return v.typed(value, nil, nil, 0)
	}
	v.res.Warnings = append(v.res.Warnings, p.warnings...)
	v.walk = newWalk(ctx, p, value)
	inner, ok := v.unwrap(p.root, value)
	if !ok {
		return v.run(p.root, value)
	}
	as := *v // as it is, if that fits and what is in it does not
	made := v.run(p.root, inner)
	if len(v.res.Errors) > 0 {
		as.changes, as.walk = nil, newWalk(ctx, p, value)
		if whole := as.run(p.root, value); len(as.res.Errors) == 0 {
			*v = as
			return whole
		}
	}
	return made
}

// run does the work of a validation, and returns what becomes of the value.
func (v *validation) run(root *node, value any) any {
	w := &v.walk
	found := v.verdict(root, value)
	if w.typeless || found != fitting {
		// What came behind the first thing that is wrong was not looked at.
		m := v.mark()
		if typed := v.typed(value, root, nil, 0); v.mayBecome(typed) {
			value = typed
		} else {
			v.undo(m)
		}
		if v.res.Errors = guardNumbers(value); v.res.Errors != nil {
			return value
		}
		w.huge, w.strange, w.defaultly = false, false, false
		clear(w.memo)
		if found = v.verdict(root, value); found != fitting {
			w.strange, w.defaultly = true, true
		}
	} else if w.huge {
		if v.res.Errors = guardNumbers(value); v.res.Errors != nil {
			return value
		}
	}
	w.first, w.noting = false, false
	if !v.o.NoCoercion && (found != fitting || w.strange) {
		m := v.mark()
		if made := v.coerce(root, value, nil, 0); v.grew(m) && v.mayBecome(made) {
			value = made
			found = v.verdict(root, value)
		} else {
			v.undo(m)
		}
	}
	if !v.o.NoDefaults && (w.defaultly || v.o.Values != nil || v.o.TypeDefaults) {
		if value = v.fill(root, value); len(v.res.Defaults) > 0 {
			found = v.verdict(root, value)
		}
	}
	if found != fitting {
		v.res.Errors = v.errors(root, value)
	}
	return value
}

// mayBecome reports whether a value may be what is made of the one that was given.
func (v *validation) mayBecome(value any) bool {
	_, ok := value.(map[string]any)
	return ok || !v.keepObject
}

// verdict checks a value against a node, and asks the schema library if need be.
func (v *validation) verdict(n *node, value any) verdict {
	w := &v.walk
	found := w.fits(n, value, 0)
	if found == unsure && w.err == nil && !w.huge {
		if w.ask(n, value) == nil {
			return fitting
		}
		return wrong
	}
	return found
}

// errors says what is wrong with parameters that do not surely fit.
func (v *validation) errors(root *node, value any) []Error {
	x := explainer{walk: &v.walk}
	errs := x.explain(root, value, nil, 0)
	if len(errs) == 0 && x.err == nil {
		if err := x.ask(root, value); err != nil && x.err == nil {
			errs = translate(err)
		}
	}
	if x.err != nil {
		return []Error{{Code: ValidationTooCostly, Message: x.err.Error()}}
	}
	return tidy(slices.Clone(errs))
}

// validation is the work on one call.
type validation struct {
	o          Options
	tool       *registry.Tool
	res        Result
	walk       walk
	changes    []change
	base       float64                // the factor of what is not listed
	coerced    map[attemptKey]attempt // what coercion made of values
	wrapped    int                    // the depth of the value that is being made an item, or -1
	keepObject bool                   // the value must stay an object
}

// result returns the result with what was noted on the way.
func (v *validation) result() Result {
	v.res.Factor = v.base * factorOf(v.changes)
	for i := range v.changes {
		v.res.Coercions = append(v.res.Coercions, v.changes[i].Coercion)
	}
	return v.res
}

// guardNumbers finds numbers that must not be calculated with.
func guardNumbers(value any) (errs []Error) {
	type at struct {
		step  *step
		value any
	}
	work := []at{{nil, value}}
	for len(work) > 0 {
		item := work[len(work)-1]
		work = work[:len(work)-1]
		switch x := item.value.(type) {
		case json.Number:
			if text.HugeNumber(string(x)) {
				errs = append(errs, tooManyDigits(item.step))
			}
		case map[string]any:
			for k, e := range x {
				if mayHoldNumber(e) {
					here := item.step.member(k)
					work = append(work, at{&here, e})
				}
			}
		case []any:
			for i, e := range x {
				if mayHoldNumber(e) {
					here := item.step.at(i)
					work = append(work, at{&here, e})
				}
			}
		}
	}
	return tidy(errs)
}

// mayHoldNumber reports whether a value is a number too large to calculate with, or may
// hold one.
func mayHoldNumber(v any) bool {
	switch x := v.(type) {
	case json.Number:
		return text.HugeNumber(string(x))
	case map[string]any, []any:
		return true
	}
	return false
}

// wrappers are keys under which models nest all arguments.
var wrappers = []string{"arguments", "parameters", "params", "args", "input", "kwargs", "tool_input", "action_input"}

// unwrap unwraps {"arguments": {…}} if the tool has no such parameter, but has those that
// are in it, or does not take what is around them.
func (v *validation) unwrap(root *node, value any) (inner map[string]any, ok bool) {
	p, ok := value.(map[string]any)
	if !ok || len(p) != 1 || v.o.NoCoercion {
		return nil, false
	}
	for key, value := range p {
		if !slices.Contains(wrappers, key) || root.property(key) != nil {
			return nil, false
		}
		factor := 0.97
		if inner, ok = value.(map[string]any); !ok {
			if inner, ok = objectIn(value); !ok {
				return nil, false
			}
			factor = 0.95
		}
		if !knows(root, inner) && v.verdict(root, p) == fitting {
			return nil, false
		}
		v.record(nil, lenient.Plain(p), lenient.Plain(inner), "unwrapped", factor)
	}
	return inner, true
}

// objectIn reads an object that was written as a string.
func objectIn(value any) (map[string]any, bool) {
	s, ok := value.(string)
	if text, isText := value.(lenient.Text); isText {
		s, ok = string(text), true
	}
	if !ok {
		return nil, false
	}
	decoded, r, err := lenient.Parse(s, lenient.Options{})
	if err != nil || !harmless(r) {
		return nil, false
	}
	inner, ok := decoded.(map[string]any)
	return inner, ok
}

// knows reports whether a node names a member of an object.
func knows(n *node, m map[string]any) bool {
	for k := range m {
		if n.named(k) != nil {
			return true
		}
	}
	return false
}

// Names of the types, as bits of a set.
const (
	tNull = 1 << iota
	tBoolean
	tInteger
	tNumber
	tString
	tArray
	tObject
	tAny = 1<<iota - 1
)

// typeOrder is the order in which messages name types.
var typeOrder = []string{"null", "boolean", "number", "integer", "string", "array", "object"}

var typeBits = map[string]int{
	"null": tNull, "boolean": tBoolean, "integer": tInteger, "number": tNumber, "string": tString, "array": tArray, "object": tObject,
}

// kindOf names the JSON type of a value.
func kindOf(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string, lenient.Text:
		return "string"
	case []any:
		return "array"
	case map[string]any:
		return "object"
	case json.Number:
		if isInteger(string(v)) {
			return "integer"
		}
		return "number"
	}
	if n, ok := numberText(v); ok && isInteger(n) {
		return "integer"
	}
	return "number"
}
