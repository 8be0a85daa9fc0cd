package dispatch

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/callwright/callwright/internal/text"
)

// References stand in strings of arguments, in two forms:
//
//	$call_1.id            the whole string; the value keeps its type
//	{{call_1.id}}         the whole string, or within text
//
// The name is a call's id, or its ordinal among the calls of the reply ("call_2"), or the
// name of a tool if only one call it can mean has it. The path is written with dots,
// [0], ['a.b'], or as a JSON pointer behind "#". There are no expressions.
//
// A string is a reference only if its name leads to a call of the same reply: "$HOME" and
// "{{user}}" stay as they are. A backslash before "$", or two more braces before "{{",
// escape one. What a tool returned is never searched.

// maxReference bounds a reference, in bytes.
const maxReference = 512

// maxArguments bounds the arguments of a call with results in them, in bytes.
const maxArguments = 1 << 20

// names lead from what references are written with to the calls of one reply.
type names struct {
	order []*node // calls in the text's order
	known func(tool string) bool
	ids   map[string]*node   // by the ids of calls; nil before the first look
	tools map[string][]*node // calls by tool, in the text's order
	stems map[string]bool    // ids without the digits at their end
}

// index makes the maps, when a reference is looked for.
func (n *names) index() {
	if n.ids != nil {
		return
	}
	n.ids, n.tools, n.stems = make(map[string]*node, len(n.order)), map[string][]*node{}, map[string]bool{}
	for _, x := range n.order {
		if n.ids[x.call.ID] == nil {
			n.ids[x.call.ID] = x
		}
		n.tools[x.call.Tool] = append(n.tools[x.call.Tool], x)
		if stem, ok := numbered(x.call.ID); ok {
			n.stems[stem] = true
		}
	}
}

// addNested makes a call known that stood in another one's arguments, by its id.
func (n *names) addNested(x *node) {
	n.index()
	n.ids[x.call.ID] = x
}

// numbered cuts the digits off the end of an id. ok is false where there are none.
func numbered(id string) (stem string, ok bool) {
	stem = strings.TrimRight(id, "0123456789")
	return stem, stem != id && stem != ""
}

// target is where a reference leads to.
type target struct {
	call *node    // nil if there is none
	path string   // as it was written
	err  *Error   // why it leads nowhere, though it is one
	list []string // of the calls that it may mean
}

// resolve finds the call that a reference of the call from means. ok is false where the
// text is no reference.
func (n *names) resolve(ref string, whole bool, from *node) (t target, ok bool) {
	if len(ref) == 0 || len(ref) > maxReference || !isNameByte(ref[0]) {
		return target{}, false
	}
	n.index()
	// Ids may have dots in them: the longest name that there is counts.
	for end := len(ref); end > 0; end = lastBreak(ref, end) {
		if c, found := n.ids[ref[:end]]; found {
			return target{call: c, path: ref[end:]}, validTail(ref[end:])
		}
	}
	end := strings.IndexAny(ref, ".[#")
	if end < 0 {
		end = len(ref)
	}
	name, path := ref[:end], ref[end:]
	if !validTail(path) {
		return target{}, false
	}
	ordinal, named := strings.CutPrefix(name, "call_")
	if i, err := strconv.Atoi(ordinal); err == nil && i >= 1 && i <= len(n.order) && (named || startsName(path)) {
		return target{call: n.order[i-1], path: path}, true
	}
	if t, found := n.byTool(name, path, from); found {
		return t, true
	}
	if !whole {
		return target{}, false
	}
	stem, isNumbered := numbered(name)
	if isNumbered && (stem == "call_" || n.stems[stem]) || path != "" && n.known != nil && n.known(name) {
		return target{path: path, err: &Error{
			Code: CodeUnknownReference, Message: fmt.Sprintf("%q is no call of this reply: make the call first, or give the value itself", name),
		}}, true
	}
	return target{}, false
}

// byTool finds the one call of a tool: the only one, or else the only one before.
func (n *names) byTool(tool, path string, from *node) (target, bool) {
	var others, before []*node
	for _, c := range n.tools[tool] {
		if c == from {
			continue
		}
		others = append(others, c)
		if c.place < from.place {
			before = append(before, c)
		}
	}
	switch {
	case len(others) == 0:
		return target{}, false
	case len(others) == 1:
		return target{call: others[0], path: path}, true
	case len(before) == 1:
		return target{call: before[0], path: path}, true
	}
	t := target{path: path, err: &Error{Code: CodeUnknownReference}}
	for _, c := range others[:min(len(others), maxShown)] {
		t.list = append(t.list, c.call.ID)
	}
	t.err.Message = fmt.Sprintf("%q may mean several calls: name one of them, such as $%s", tool, t.list[0])
	return t, true
}

// lastBreak returns the last place before end where a path may begin; 0 if there is none.
func lastBreak(ref string, end int) int {
	return max(0, strings.LastIndexAny(ref[:end], ".[#"))
}

func isNameByte(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b == '_' || b == '-'
}

// startsName reports whether a path goes to a member by its name. Behind a bare number
// only such a path makes a reference: "$1.50" is a price.
func startsName(path string) bool {
	return len(path) > 1 && (path[0] == '[' || path[0] == '.' && (path[1] < '0' || path[1] > '9'))
}

// validTail reports whether a text is a path, or empty.
func validTail(path string) bool {
	_, err := segments(path)
	return err == nil
}

var errPath = errors.New("not a path")

// segments splits a path into the names and indexes of its steps.
func segments(path string) (steps []string, err error) {
	for len(path) > 0 {
		switch path[0] {
		case '#':
			if path = path[1:]; path != "" && path[0] != '/' {
				return nil, errPath
			}
			return append(steps, text.Keys(path)...), nil
		case '.':
			end := 1
			for end < len(path) && (isNameByte(path[end]) || path[end] == '$' || path[end] >= 0x80) {
				end++
			}
			if end == 1 {
				return nil, errPath
			}
			steps, path = append(steps, path[1:end]), path[end:]
		case '[':
			end := strings.IndexByte(path, ']')
			if end < 2 {
				return nil, errPath
			}
			inner := path[1:end]
			if q := inner[0]; q == '\'' || q == '"' {
				end = strings.Index(path[2:], string(q)+"]") + 3
				if end < 3 {
					return nil, errPath
				}
				inner = path[2 : end-1]
			} else if _, err := strconv.ParseUint(inner, 10, 31); err != nil {
				return nil, errPath
			}
			steps, path = append(steps, inner), path[end+1:]
		default:
			return nil, errPath
		}
	}
	return steps, nil
}

// piece is a stretch of a string: text, or a reference.
type piece struct {
	text string
	to   target
	ref  bool
}

// scan finds the references in a string. It returns nil where there are none, and nothing
// to unescape.
func (n *names) scan(s string, from *node) []piece {
	if len(s) > 1 && len(s) <= maxReference && (s[0] == '$' || s[0] == '\\') {
		body := strings.TrimLeft(s, `\`)
		if len(body) > 1 && body[0] == '$' && !strings.ContainsAny(body, " \t\r\n") {
			if t, ok := n.resolve(body[1:], true, from); ok {
				if len(body) < len(s) {
					if t.err != nil {
						return nil
					}
					return []piece{{text: s[1:]}}
				}
				return []piece{{ref: true, to: t}}
			}
		}
	}
	var out []piece
	done, at := 0, 0 // what is in out, and where to look on
	for {
		open := strings.Index(s[at:], "{{")
		if open < 0 {
			break
		}
		open += at
		run := open
		for run < len(s) && s[run] == '{' {
			run++
		}
		at = run
		end := strings.Index(s[run:min(len(s), run+maxReference+2)], "}}")
		if end < 0 {
			continue
		}
		body := strings.Trim(s[run:run+end], " ")
		whole := open == 0 && run == 2 && run+end+2 == len(s)
		t, ok := n.resolve(body, whole, from)
		if !ok {
			continue
		}
		at = run + end + 2
		if run-open >= 4 { // escaped
			if t.err != nil {
				continue
			}
			out = append(out, piece{text: s[done : run-2]})
			done = run
			continue
		}
		if run-2 > done {
			out = append(out, piece{text: s[done : run-2]})
		}
		out = append(out, piece{ref: true, to: t})
		done = at
	}
	if out == nil {
		return nil
	}
	if done < len(s) {
		out = append(out, piece{text: s[done:]})
	}
	return out
}

// mayRefer reports whether a value has a string that may hold a reference. It is cheap.
func mayRefer(v any, depth int) bool {
	switch v := v.(type) {
	case string:
		return len(v) > 1 && (v[0] == '$' || v[0] == '\\' || strings.Contains(v, "{{"))
	case map[string]any:
		for _, e := range v {
			if depth < maxDepth && mayRefer(e, depth+1) {
				return true
			}
		}
	case []any:
		for _, e := range v {
			if depth < maxDepth && mayRefer(e, depth+1) {
				return true
			}
		}
	}
	return false
}

// rebuild puts what f gives in place of each string of a value, which it changes. f also
// gets the JSON pointer to the string. The error is errDepth or that of f.
func rebuild(v any, at string, depth int, f func(at, s string) (any, error)) (any, error) {
	if depth > maxDepth {
		return nil, errDepth
	}
	var err error
	switch v := v.(type) {
	case string:
		return f(at, v)
	case map[string]any:
		for k, e := range v {
			if v[k], err = rebuild(e, text.Pointer(at, k), depth+1, f); err != nil {
				return nil, err
			}
		}
	case []any:
		for i := range v {
			if v[i], err = rebuild(v[i], at+"/"+strconv.Itoa(i), depth+1, f); err != nil {
				return nil, err
			}
		}
	}
	return v, nil
}

// follow follows a path into a result. A string that holds JSON is followed into.
func follow(value any, path string) (any, error) {
	steps, err := segments(path)
	if err != nil {
		return nil, err
	}
	value, err = decoded(value)
	if err != nil {
		return nil, err
	}
	for i, step := range steps {
		if s, ok := value.(string); ok {
			if inner, err := parseJSON(s); err == nil {
				value = inner
			}
		}
		switch v := value.(type) {
		case map[string]any:
			next, there := v[step]
			switch {
			case there:
				value = next
			case i == 0 && (step == "result" || step == "output"): // all of it
			default:
				return nil, fmt.Errorf("has no member %q: it has %s", step, members(v))
			}
		case []any:
			n, err := strconv.ParseUint(step, 10, 31)
			if err != nil || int(n) >= len(v) {
				return nil, fmt.Errorf("has no element %q: it is a list of %d", step, len(v))
			}
			value = v[n]
		default:
			if i == 0 && (step == "result" || step == "output") {
				continue
			}
			return nil, fmt.Errorf("has no member %q: it is no object", step)
		}
	}
	return value, nil
}

// members lists the members of an object, for a message.
func members(m map[string]any) string {
	keys := text.SortedKeys(m)
	if len(keys) == 0 {
		return "none"
	}
	const most = 20
	more := ""
	if len(keys) > most {
		keys, more = keys[:most], ", …"
	}
	return text.Clip(strings.Join(keys, ", "), 400) + more
}
