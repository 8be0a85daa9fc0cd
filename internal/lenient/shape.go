package lenient

import (
	"reflect"
	"slices"
	"strings"
)

// Shape is what a schema says of a value, as far as it helps to read one that is broken:
//
//	{"city": "Rome, "days": 3}      the string ends before "days" if that is a member
//
// A reader asks it only where the text departs from JSON: a value that is JSON is read as
// it stands, whether it fits or not. A Shape is not changed while it is in use, and may
// contain itself.
type Shape struct {
	// Members are the members of an object; nil says that they are not known, and a nil
	// shape that nothing is known of the member.
	Members map[string]*Shape
	// Required are the members that must be there.
	Required []string
	// Items is the shape of a list's elements.
	Items *Shape
	// Choose returns the shape of the parameters of a call by a string that may be the tool's
	// name, nil if it is none. An object with such a member has the parameters as members, or
	// objects of that shape as the members of which nothing else is known. nil says that the
	// object is no call.
	Choose func(name string) *Shape
}

// innerCall stands for the shape of the call itself among the members of a call.
var innerCall = &Shape{}

// callMembers are the members of a call in JSON that are not its parameters: nil for a
// scalar, or the parameters, and innerCall for those that hold a call, or calls.
var callMembers = map[string]*Shape{
	"name": nil, "tool": nil, "tool_name": nil, "id": nil, "type": nil, "call_id": nil, "tool_call_id": nil,
	"arguments": nil, "parameters": nil, "args": nil, "params": nil, "input": nil,
	"function": innerCall, "function_call": innerCall, "tool_call": innerCall, "tool_calls": innerCall,
	"calls": innerCall, "actions": innerCall, "commands": innerCall,
}

// CallShape returns the shape of a call, or of a list of calls, of tools whose parameters
// have the shapes that parameters returns for the tools' names, nil for any other name.
func CallShape(parameters func(tool string) *Shape) *Shape {
	s := &Shape{Members: callMembers, Choose: parameters}
	s.Items = s
	return s
}

// maxShapeDepth is how deep a schema is followed.
const maxShapeDepth = 64

// ShapeOf returns the shape that a JSON Schema describes; nil if it says nothing of
// members. References within the schema are followed, and alternatives taken together.
func ShapeOf(schema map[string]any) *Shape {
	b := shapes{root: schema, done: make(map[uintptr]*Shape)}
	s := b.of(schema, 0)
	if s != nil && s.Members == nil && s.Items == nil {
		return nil
	}
	return s
}

// shapes makes shapes of the parts of one schema, each once.
type shapes struct {
	root map[string]any
	done map[uintptr]*Shape
}

func (b *shapes) of(schema map[string]any, depth int) *Shape {
	if schema == nil || depth > maxShapeDepth {
		return nil
	}
	if ref, ok := schema["$ref"].(string); ok && len(schema) == 1 {
		return b.of(b.target(ref), depth+1)
	}
	id := reflect.ValueOf(schema).Pointer()
	if s, ok := b.done[id]; ok {
		return s
	}
	s := &Shape{}
	b.done[id] = s
	b.add(s, schema, depth)
	return s
}

// add adds what a schema says to a shape.
func (b *shapes) add(s *Shape, schema map[string]any, depth int) {
	if depth > maxShapeDepth {
		return
	}
	if ref, ok := schema["$ref"].(string); ok {
		if target := b.target(ref); target != nil {
			b.add(s, target, depth+1)
		}
	}
	properties, _ := schema["properties"].(map[string]any)
	for key, p := range properties {
		if s.Members == nil {
			s.Members = make(map[string]*Shape, len(properties))
		}
		inner, _ := p.(map[string]any)
		s.Members[key] = b.of(inner, depth+1)
	}
	switch required := schema["required"].(type) {
	case []any:
		for _, key := range required {
			if key, ok := key.(string); ok {
				s.Required = append(s.Required, key)
			}
		}
	case []string:
		s.Required = append(s.Required, required...)
	}
	if items, ok := schema["items"].(map[string]any); ok {
		s.Items = b.of(items, depth+1)
	}
	for _, word := range [...]string{"allOf", "anyOf", "oneOf"} {
		list, _ := schema[word].([]any)
		for _, e := range list {
			if e, ok := e.(map[string]any); ok {
				required := s.Required
				b.add(s, e, depth+1)
				if word != "allOf" {
					s.Required = required
				}
			}
		}
	}
}

// target returns what a reference within the schema, such as "#/$defs/place", points to.
func (b *shapes) target(ref string) map[string]any {
	path, ok := strings.CutPrefix(ref, "#/")
	if !ok {
		return nil
	}
	at := b.root
	for part := range strings.SplitSeq(path, "/") {
		part = strings.NewReplacer("~1", "/", "~0", "~").Replace(part)
		if at, ok = at[part].(map[string]any); !ok {
			return nil
		}
	}
	return at
}

// level is what is known of an open bracket.
type level struct {
	shape  *Shape
	chosen *Shape // by Shape.Choose
	key    string // of the member that is being read
}

// has reports whether a key is that of a member. It is false where nothing is known.
func (l *level) has(key string) bool {
	if l.shape == nil {
		return false
	}
	if _, ok := l.shape.Members[key]; ok {
		return true
	}
	if l.chosen == nil {
		return false
	}
	_, ok := l.chosen.Members[key]
	return ok
}

// knows reports whether the members are known.
func (l *level) knows() bool { return l.shape != nil && l.shape.Members != nil }

// inner returns the shape of the value that is being read.
func (l *level) inner(bracket byte) *Shape {
	switch {
	case l.shape == nil:
		return nil
	case bracket != '{':
		return l.shape.Items
	}
	switch s := l.shape.Members[l.key]; s {
	case nil:
	case innerCall:
		return l.shape
	default:
		return s
	}
	if l.chosen == nil {
		return nil
	}
	if s, ok := l.chosen.Members[l.key]; ok {
		return s
	}
	return l.chosen
}

// enter notes what is known of a bracket that is being opened.
func (r *Reader) enter() {
	if r.o.Shape == nil {
		return
	}
	s := r.o.Shape
	if r.levels == nil {
		r.levels = r.firstLevels[:0]
	}
	if n := len(r.levels); n > 0 {
		s = r.levels[n-1].inner(r.stack[n-1])
	}
	r.levels = append(r.levels, level{shape: s})
}

// level is what is known of the innermost bracket, or n further out.
func (r *Reader) level(n int) *level {
	if n >= len(r.levels) {
		return &level{}
	}
	return &r.levels[len(r.levels)-1-n]
}

// choose notes a string that may be a tool's name.
func (r *Reader) choose() {
	if len(r.levels) == 0 || !r.inObject() {
		return
	}
	l := r.level(0)
	if l.shape == nil || l.shape.Choose == nil || l.chosen != nil {
		return
	}
	if l.shape.Members[l.key] == nil {
		l.chosen = l.shape.Choose(r.text)
	}
}

// given reports whether an object has a member already: the innermost, or the one so many
// brackets further out.
func (r *Reader) given(out int, key string) bool {
	n := len(r.frames) - 1 - out
	if n < 0 || len(r.frames) != len(r.stack) {
		return false
	}
	_, ok := r.frames[n].Object[key]
	return ok || r.frames[n].HasKey && r.frames[n].Key == key
}

// expects reports whether an object has a member of that key by its shape, which has not
// come yet: the innermost, or the one so many brackets further out.
func (r *Reader) expects(out int, key string) bool {
	return r.level(out).has(key) && !r.given(out, key)
}

// lacks reports whether the object that is being read lacks a member that it must have.
func (r *Reader) lacks() bool {
	s := r.level(0).shape
	return s != nil && slices.ContainsFunc(s.Required, func(key string) bool { return !r.given(0, key) })
}

// keyNear returns the key at off, in quotation marks or without, and the offset behind it
// and the white space there; "" if there is none of at most maxKey bytes.
func (r *Reader) keyNear(off int) (key string, end int) {
	c := r.c
	b, ok := c.At(off)
	switch {
	case !ok:
		return "", off
	case b == '"' || b == '\'' || b == '`':
		for end = off + 1; end-off <= maxKey; end++ {
			k, ok := c.At(end)
			if !ok || k == '\n' || k == '\\' {
				return "", off
			}
			if k == b {
				return string(c.Slice(off+1, end)), r.spaceWithin(end+1, 16)
			}
		}
	case isWord(b):
		for end = off; end-off <= maxKey; end++ {
			if k, ok := c.At(end); !ok || !isWord(k) {
				return string(c.Slice(off, end)), r.spaceWithin(end, 16)
			}
		}
	}
	return "", off
}
