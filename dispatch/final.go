package dispatch

import (
	"fmt"
	"slices"
	"strings"

	"github.com/callwright/callwright/internal/text"
	"github.com/callwright/callwright/validator"
)

// final makes the arguments of a call final: other calls' results in place of references,
// what resolvers give, and, if anything changed, a last validation.
func (r *run) final(n *node) *Error {
	if n.refer {
		if err := r.substitute(n); err != nil {
			return err
		}
	}
	if n.fill {
		if err := r.resolve(n); err != nil {
			return err
		}
	}
	if n.check {
		return r.validate(n)
	}
	return nil
}

// substitute puts results in place of references. Results are not searched again.
func (r *run) substitute(n *node) *Error {
	size := 0
	var wrong *Error
	err := n.eachString(func(_, s string) (any, error) {
		pieces := r.g.names.scan(s, n)
		if pieces == nil {
			size += len(s)
			return s, nil
		}
		var b strings.Builder
		for _, p := range pieces {
			if !p.ref {
				b.WriteString(p.text)
				continue
			}
			from := p.to.call
			v, err := follow(r.results[from.index].Value, p.to.path)
			if err != nil {
				wrong = &Error{
					Code: CodeReferencePath, Calls: []string{from.call.ID},
					Message: fmt.Sprintf("the result of %s (%s) %v", from.call.ID, from.call.Tool, err),
				}
				return nil, wrong
			}
			shown, err := appendJSON(nil, v, asWritten, 0)
			if err == nil && size+len(shown)+b.Len() > maxArguments {
				err = fmt.Errorf("with it the arguments are larger than %d bytes", maxArguments)
			}
			if err != nil {
				wrong = &Error{
					Code: CodeReferenceTooLarge, Calls: []string{from.call.ID},
					Message: fmt.Sprintf("the result of %s cannot be an argument: %v", from.call.ID, err),
				}
				return nil, wrong
			}
			if len(pieces) == 1 {
				size += len(shown)
				return text.Clone(v), nil
			}
			if inner, ok := v.(string); ok {
				b.WriteString(inner)
			} else {
				b.Write(shown)
			}
		}
		size += b.Len()
		return b.String(), nil
	})
	if wrong == nil && err != nil {
		wrong = &Error{Code: CodeInvalid, Message: err.Error(), Err: err}
	}
	return wrong
}

// resolve fills in what the model left out by the tool's own functions.
func (r *run) resolve(n *node) *Error {
	c := n.call
	for _, name := range text.SortedKeys(n.tool.Resolve) {
		if _, there := c.Parameters[name]; there {
			continue
		}
		v, err := r.resolved(n, n.tool.Resolve[name])
		if err != nil {
			return errorOf(r.ctx, c, fmt.Errorf("%s: %w", name, err))
		}
		if v != nil {
			c.Parameters[name] = v
			c.Defaults = append(slices.Clone(c.Defaults), text.Pointer("", name))
		}
	}
	return nil
}

// resolved calls a resolver. A panic is its error.
func (r *run) resolved(n *node, f Resolver) (v any, err error) {
	defer func() {
		if p := recover(); p != nil {
			v, err = nil, panicError(p)
		}
	}()
	v, err = f(r.ctx, n.call, r.c)
	if err != nil || v == nil {
		return nil, err
	}
	return decoded(v)
}

// validate checks the arguments of a call against its tool, and coerces them.
func (r *run) validate(n *node) *Error {
	c := n.call
	v := validator.Validate(n.tool.entry, c.Parameters, r.d.Validation)
	c.Parameters, c.key = v.Parameters, ""
	c.Coercions = slices.Concat(c.Coercions, v.Coercions)
	c.Defaults = slices.Concat(c.Defaults, v.Defaults)
	if !v.Valid() {
		return &Error{Code: CodeInvalid, ID: c.ID, Tool: c.Tool, Message: wrong(n.tool, v.Errors)}
	}
	return nil
}
