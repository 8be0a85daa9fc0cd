package fallback

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"regexp"
	"strings"

	"github.com/callwright/callwright/call"
	"github.com/callwright/callwright/internal/lenient"
	"github.com/callwright/callwright/normalizer"
	"github.com/callwright/callwright/registry"
)

// ErrCutValue says that the text ends inside of a parameter's value.
var ErrCutValue = errors.New("the text ends inside of a value")

// Partial makes the calls of a text that was cut off, as far as they are whole: those that
// stand before the end in the same list, and the last one if the text does not end inside of
// one of its values. A parameter whose name was being written is left out; then no default
// may take its place. The schema decides whether the rest is enough; the calls are marked as
// truncated.
type Partial struct{}

// Strategy is "partial_execution".
func (Partial) Strategy() Strategy { return StrategyPartial }

// Applies reports whether a call was cut off behind its name.
func (Partial) Applies(k *Case) bool {
	for i := range k.Failures {
		if wasCut(k, &k.Failures[i]) {
			return true
		}
	}
	return false
}

func wasCut(k *Case, f *Failure) bool {
	return f.Truncated && f.Tool != "" && k.Tools.Get(f.Tool) != nil
}

// Recover proposes what is whole.
func (Partial) Recover(ctx context.Context, k *Case) (r Recovery, err error) {
	r.Tried = "the parameters that are whole"
	for i := range k.Failures {
		f := &k.Failures[i]
		if !wasCut(k, f) || ctx.Err() != nil {
			continue
		}
		p := Proposal{
			Failure: i, Tool: f.Tool, Parameters: f.Parameters, Raw: f.Raw, Span: f.Span, Provenance: f.Provenance,
			Method: call.MethodPartial, Truncated: true,
		}
		if p.Parameters == nil {
			p.Parameters = map[string]any{}
		}
		if last := i+1 == len(k.Failures) || k.Failures[i+1].Span != f.Span; last {
			end := endOf(k.Tools, f)
			if end.inValue {
				err = errors.Join(err, ErrCutValue)
				continue
			}
			p.Parameters, p.CutKey = end.parameters, end.key
			if p.CutKey != nil && *p.CutKey != "" {
				p.Fixes = append(p.Fixes, "left out "+clipped(*p.CutKey))
			}
		}
		r.Proposals = append(r.Proposals, p)
	}
	if len(r.Proposals) > 0 {
		err = nil
	}
	return r, err
}

// ending is how the last call of a text ends.
type ending struct {
	inValue    bool           // within the value of a parameter
	key        *string        // the name that was being written, as far as it was; nil if none was
	parameters map[string]any // those that are whole
}

// endOf says how a call ends that the end of the text cut off.
func endOf(tools *registry.Registry, f *Failure) ending {
	start := strings.IndexAny(f.Raw, "{[")
	if start < 0 {
		return endOfText(f)
	}
	v, r, err := lenient.Parse(f.Raw[start:], lenient.Options{})
	if err != nil || !r.Fixes.Has(lenient.Truncated) {
		return endOfText(f)
	}
	args, calls, ok := lastParameters(tools, f, v)
	if !ok {
		if v, ok = withoutOpenEnd(r, v, r.Cut.Path); !ok {
			return endOfText(f)
		}
		if args, _, ok = lastParameters(tools, f, v); !ok || !reflect.DeepEqual(lenient.Plain(args), lenient.Plain(f.Parameters)) {
			return ending{inValue: true}
		}
		return ending{parameters: args}
	}
	object, key, direct := openAt(v, r.Cut.Path)
	name := strings.TrimSpace(key)
	if k := r.Cut.Kind; k == lenient.CutKey || k == lenient.CutNothing {
		for _, value := range args {
			if r.Unclosed(value) {
				return ending{inValue: true}
			}
		}
		begun := k == lenient.CutKey || strings.IndexByte(",{", lastByte(f.Raw)) >= 0
		if begun && direct && (r.Unclosed(args) || isFlat(object, args)) {
			return ending{key: &name, parameters: args}
		}
		return ending{parameters: args}
	}
	if object == nil {
		return ending{parameters: args} // beside the calls of a list
	}
	// What was being written is marked, to see whether the parameters have it.
	object[key] = cutMark{}
	args, left, ok := lastParameters(tools, f, v)
	switch _, own := args[key].(cutMark); {
	case !ok || left != calls: // the call's name was being written
		return ending{inValue: true}
	case own && direct && r.Cut.Kind == lenient.CutValue:
		delete(args, key)
		return ending{key: &name, parameters: args}
	case hasMark(args):
		return ending{inValue: true}
	}
	return ending{parameters: args}
}

// cutMark stands in the place of a value that was being written.
type cutMark struct{}

// hasMark reports whether a mark stands anywhere in a value.
func hasMark(v any) bool {
	for open := []any{v}; len(open) > 0; {
		last := open[len(open)-1]
		open = open[:len(open)-1]
		switch x := last.(type) {
		case cutMark:
			return true
		case map[string]any:
			for _, e := range x {
				open = append(open, e)
			}
		case []any:
			open = append(open, x...)
		}
	}
	return false
}

// lastParameters returns the parameters of the last of the calls that a value holds, or the
// value if it is the parameters of a call that is named outside of it.
func lastParameters(tools *registry.Registry, f *Failure, v any) (parameters map[string]any, calls int, ok bool) {
	found := normalizer.Detect(v, normalizer.Options{
		Registry: tools, Marked: f.Provenance != call.Bare, Open: func(any) (string, bool) { return "", false },
	})
	if n := len(found.Entries); n > 0 {
		e := &found.Entries[n-1]
		if m, ok := tools.Lookup(e.Name); ok && m.Tool.Name == f.Tool {
			parameters, ok = e.Arguments.(map[string]any)
			return parameters, n, ok
		}
	}
	object, ok := v.(map[string]any)
	if !ok || len(object) < len(f.Parameters) {
		return nil, 0, false
	}
	for key := range f.Parameters {
		if _, there := object[key]; !there {
			return nil, 0, false
		}
	}
	return object, 0, true
}

// withoutOpenEnd returns a value without the object that was open at the end of a list of
// calls, and false if there is none.
func withoutOpenEnd(r *lenient.Reader, v any, path []string) (any, bool) {
	root, at := v, v
	var parent map[string]any
	var name string
	for _, k := range path {
		switch x := at.(type) {
		case map[string]any:
			parent, name, at = x, k, x[k]
		case []any:
			if len(x) == 0 || !r.Unclosed(x[len(x)-1]) {
				return v, false
			}
			if parent == nil {
				return x[:len(x)-1], true
			}
			parent[name] = x[:len(x)-1]
			return root, true
		}
	}
	return v, false
}

// openAt returns the innermost open object of a value and the key that was being written in
// it; direct says that no list was open within. The object is nil if only lists were open.
func openAt(v any, path []string) (object map[string]any, key string, direct bool) {
	for _, k := range path {
		switch x := v.(type) {
		case map[string]any:
			object, key, direct, v = x, k, true, x[k]
		case []any:
			direct = false
			if len(x) == 0 {
				return object, key, direct
			}
			v = x[len(x)-1]
		}
	}
	return object, key, direct
}

// isFlat reports whether parameters stand beside the tool's name in an object.
func isFlat(object, parameters map[string]any) bool {
	if len(object) <= len(parameters) {
		return false
	}
	for key := range parameters {
		if _, there := object[key]; !there {
			return false
		}
	}
	return true
}

func lastByte(s string) byte {
	if s = strings.TrimRight(s, " \r\n\t"); s == "" {
		return 0
	}
	return s[len(s)-1]
}

// endOfText says how a call ends that is not JSON: by what stands behind the value of its
// last parameter. Where that is not plain the text ends inside of the value.
func endOfText(f *Failure) ending {
	last, at := "", -1
	for key := range f.Parameters {
		if i := strings.LastIndex(f.Raw, key); i > at || i == at && len(key) > len(last) {
			last, at = key, i
		}
	}
	unknown := ""
	if last == "" {
		return ending{key: &unknown, parameters: map[string]any{}}
	}
	var text string
	switch v := f.Parameters[last].(type) {
	case string:
		text = v
		if quoted, err := json.Marshal(v); err == nil && strings.Contains(f.Raw[at:], string(quoted[1:len(quoted)-1])) {
			text = string(quoted[1 : len(quoted)-1])
		}
	case json.Number:
		text = string(v)
	}
	rest := f.Raw[at+len(last):]
	i := strings.LastIndex(rest, text)
	if text == "" || i < 0 { // an object or a list may lack anything
		return ending{inValue: true}
	}
	rest = strings.TrimLeft(rest[i+len(text):], " \r\n\t")
	if rest == "" || strings.IndexByte("\"',}])<", rest[0]) < 0 || rest[0] == '<' && strings.IndexByte(rest, '>') < 0 {
		return ending{inValue: true}
	}
	if closing.MatchString(rest) {
		return ending{parameters: f.Parameters}
	}
	return ending{key: &unknown, parameters: f.Parameters}
}

// closing is what ends a value and nothing more.
var closing = regexp.MustCompile(`^(?:["'\])}\s]|</[^<>]*>|<\|[^<>|]*\|>)*$`)
