package scan

import (
	"strings"

	"github.com/callwright/callwright/dialect"
	"github.com/callwright/callwright/internal/lenient"
	"github.com/callwright/callwright/registry"
)

// look says what stands at an offset of the text. It waits for text where it has to,
// and never moves the cursor.
type look struct {
	c        *lenient.Cursor
	t        *Table
	registry *registry.Registry
	watch    bool // what is being read will be looked at
	anyValue bool // any JSON is wanted, not only what may be a call

	found    map[string]search    // what was looked ahead for
	searched map[*dialect.Row]int // up to where no closing marker of the row was found

	calls *lenient.Shape // of calls of the known tools; see callShape
}

func newLook(c *lenient.Cursor, o Options) look {
	l := look{c: c, t: o.Table, watch: o.Watch, anyValue: o.AnyValue, calls: o.Calls}
	if o.Registry != nil && o.Registry.Len() > 0 {
		l.registry = o.Registry
	}
	return l
}

// maxName is how long a name may be, in bytes.
const maxName = 256

// known reports whether tools are known. If not, any name may be a tool's.
func (l *look) known() bool { return l.registry != nil }

// lookup finds the tool of a name, nil if there is none.
func (l *look) lookup(name string) *registry.Tool {
	if !l.known() {
		return nil
	}
	m, _ := l.registry.Lookup(name)
	return m.Tool
}

// shape returns what the schema of a named tool says of its parameters, nil for nothing.
func (l *look) shape(name string) *lenient.Shape {
	if !l.known() {
		return nil
	}
	return ParameterShape(l.registry, name)
}

// callShape returns the shape of calls of the known tools, nil if none are known.
func (l *look) callShape() *lenient.Shape {
	if !l.known() {
		return nil
	}
	if l.calls == nil {
		l.calls = CallShape(l.registry)
	}
	return l.calls
}

// ParameterShape returns what the schema of a tool of a registry says of its parameters, nil
// for nothing, or if there is no such tool.
func ParameterShape(r *registry.Registry, tool string) *lenient.Shape {
	m, ok := r.Lookup(tool)
	if !ok {
		return nil
	}
	s, _ := m.Tool.DerivedParameters(shapeOf).(*lenient.Shape)
	return s
}

func shapeOf(parameters map[string]any) any { return lenient.ShapeOf(parameters) }

// CallShape returns the shape of calls of a registry's tools.
func CallShape(r *registry.Registry) *lenient.Shape {
	return lenient.CallShape(func(name string) *lenient.Shape { return ParameterShape(r, name) })
}

// takesArguments reports whether a known tool has parameters.
func (l *look) takesArguments(name string) bool {
	tool := l.lookup(name)
	return tool != nil && len(tool.Order()) > 0
}

// isKnown reports whether a name is a known tool's, exactly or behind a namespace.
func (l *look) isKnown(name string) bool {
	if !l.known() {
		return false
	}
	m, ok := l.registry.Lookup(name)
	return ok && (m.Exact() || m.Rule == "prefix")
}

// mayBegin reports whether two bytes may begin what counts only at a line's start.
func (l *look) mayBegin(first, second byte) bool {
	return l.t.begins.Has(first, second) || l.registry != nil && l.registry.BeginsWith(first, second)
}

// nameEnd returns the offset behind the name at off.
func (l *look) nameEnd(off int) int {
	for i := off; i < off+maxName; i++ {
		b, ok := l.c.At(i)
		part := isName(b) || b == '$' || b == ':' && l.nameGoesOn(i) || b == '\\' && l.c.HasPrefixAt(i, `\_`)
		if !ok || !part {
			return i
		}
		if b >= 0x80 && (l.c.HasPrefixAt(i, "｜") || l.c.HasPrefixAt(i, "：") || l.c.HasPrefixAt(i, "「")) {
			return i
		}
	}
	return off
}

// nameGoesOn reports whether the colon at off is part of a name: an index or a
// namespace's part follows it at once.
func (l *look) nameGoesOn(off int) bool {
	b, ok := l.c.At(off + 1)
	return ok && (isAlnum(b) || b == ':')
}

// word returns the name at off.
func (l *look) word(off int) string { return string(l.c.Slice(off, l.nameEnd(off))) }

// isNear reports whether a name is a known tool's but for its case, separators and
// namespace, as in "get-weather" for "get.weather" and "find" for "shops.find". What stands
// behind such a name has to fit the tool.
func (l *look) isNear(name string) bool {
	if !l.known() {
		return false
	}
	m, ok := l.registry.Lookup(name)
	return ok && (m.Rule == "folded" || m.Rule == "last_part")
}

// lineNamespaces may stand before a tool's name at the beginning of a line.
var lineNamespaces = []string{"functions.", "default_api."}

// knownAt returns the offset behind a known tool's name at off, or one that is near to it,
// or -1. It waits only while what has come can still become one.
func (l *look) knownAt(off int) int {
	c := l.c
	from := off
	for _, namespace := range lineNamespaces {
		if c.HasPrefixAt(off, namespace) && !l.registry.HasPrefix(namespace) {
			off += len(namespace)
			break
		}
	}
	end := off
	for end-off < maxName {
		b, ok := c.At(end)
		if !ok || !isName(b) && b != '\\' && b != ':' {
			break
		}
		if b == '\\' && !c.HasPrefixAt(end, `\_`) || b == ':' && !l.namePartAt(off, end) {
			break
		}
		end++
		if b != '\\' && !l.registry.HasPrefix(strings.ReplaceAll(string(c.Slice(off, end)), `\`, "")) {
			return -1
		}
	}
	if end == off {
		return -1
	}
	if name := string(c.Slice(from, end)); !l.isKnown(name) && !l.isNear(name) {
		return -1
	}
	return end
}

// namePartAt reports whether the colon at end stands between parts of a known tool's name
// that begins at off.
func (l *look) namePartAt(off, end int) bool {
	for end-off < maxName {
		b, ok := l.c.At(end)
		if !ok || b != ':' {
			return ok && isAlnum(b) && l.registry.HasPrefix(string(l.c.Slice(off, end+1)))
		}
		end++
	}
	return false
}

// fitsObject reports whether the object at off begins with a key that a tool of this name
// has, or is empty.
func (l *look) fitsObject(off int, name string) bool {
	at := l.c.SpaceEnd(off + 1)
	quote, _ := l.c.At(at)
	if quote == '}' {
		return true
	}
	if quote != '"' && quote != '\'' {
		return false
	}
	end := at + 1
	for end-at < maxName {
		b, ok := l.c.At(end)
		if !ok || b == '\n' {
			return false
		}
		if b == quote {
			break
		}
		end++
	}
	tool := l.lookup(name)
	return tool != nil && hasProperty(tool, string(l.c.Slice(at+1, end)))
}

// objectAt reports whether an object begins at off: a key follows the brace, or its
// end.
func (l *look) objectAt(off int) bool {
	next := l.c.SpaceEnd(off + 1)
	b, ok := l.c.At(next)
	if !ok {
		return false
	}
	switch b {
	case '"', '\'', '}', '{', '\\', '`', '-', '/':
		return true
	case '&':
		return l.c.HasPrefixAt(next, "&quot;")
	}
	return isIdentStart(b) || b >= 0x80
}

// listOfObjects reports whether a list at off holds objects, which are then read one by
// one.
func (l *look) listOfObjects(off int) bool {
	b, _ := l.c.At(l.c.SpaceEnd(off + 1))
	return b == '{' || b == ']'
}

// callAt reports whether name( stands at off.
func (l *look) callAt(off int) bool {
	end := l.nameEnd(off)
	b, ok := l.c.At(end)
	return end > off && ok && b == '('
}

// knownCallAt reports whether a known tool's name and a parenthesis stand at off, or a
// name and ".call(".
func (l *look) knownCallAt(off int) bool {
	if !l.callAt(off) {
		return false
	}
	name := l.word(off)
	return l.isKnown(name) || strings.HasSuffix(name, ".call")
}

// blanks returns the offset behind spaces and tabs at off.
func (l *look) blanks(off int) int {
	for {
		if b, _ := l.c.At(off); b != ' ' && b != '\t' {
			return off
		}
		off++
	}
}

// endsHere reports whether nothing more stands on the line behind off.
func (l *look) endsHere(off int) bool {
	for {
		b, ok := l.c.At(off)
		if !ok || b == '\n' {
			return true
		}
		if b != ' ' && b != '\r' {
			return false
		}
		off++
	}
}

// lineBefore reports whether nothing but blanks stands between the beginning of the
// line, or start, and off.
func (l *look) lineBefore(off, start int) bool {
	for i := off - 1; i >= start; i-- {
		switch b, _ := l.c.At(i); b {
		case ' ', '\t', '\r':
		case '\n':
			return true
		default:
			return false
		}
	}
	return true
}

func isAlnum(b byte) bool {
	return b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
}

func isIdentStart(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b == '_'
}

func isIdent(b byte) bool { return isAlnum(b) || b == '_' }

// isName reports whether b can stand in a tool's name.
func isName(b byte) bool {
	return isAlnum(b) || b == '_' || b == '-' || b == '.' || b == '/' || b >= 0x80
}

// hasProperty reports whether a tool's schema names a property.
func hasProperty(tool *registry.Tool, key string) bool {
	properties, _ := tool.Parameters["properties"].(map[string]any)
	_, ok := properties[key]
	return ok
}

// propertyOf returns what a tool's schema says of a property.
func propertyOf(tool *registry.Tool, key string) map[string]any {
	if tool == nil {
		return nil
	}
	properties, _ := tool.Parameters["properties"].(map[string]any)
	p, _ := properties[key].(map[string]any)
	return p
}
