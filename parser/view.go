package parser

import (
	"maps"
	"slices"

	"github.com/callwright/callwright/internal/lenient"
	"github.com/callwright/callwright/internal/scan"
)

// view is what can be seen of a call while it is being read. It shares memory with the
// reading code: it holds until that goes on.
type view struct {
	name, id string
	// certain says that name and id stay, whatever comes, and that what is seen of
	// parameters is theirs.
	certain bool
	// idLater says that the id may stand behind the parameters.
	idLater bool
	// keys and values are the parameters that are whole, in the order of the text.
	keys   []string
	values map[string]any
	// key is the parameter whose string is being read, empty if none is, and text what
	// has come of it.
	key   string
	text  []byte
	kind  textKind
	close []string // the markers that may close the call
	// frames are the open brackets of parameters that are JSON, the outermost first;
	// inner is the text of the string that is being read in the innermost.
	frames []lenient.Frame
	inner  []byte
	inText bool
}

// textKind says how the text of a string is written.
type textKind uint8

const (
	jsonString  textKind = iota // decoded
	rawText                     // as it stands, but for white space and tags at its ends
	literalText                 // byte for byte
)

// look returns what can be seen of a call whose text is at a cursor.
func look(p *scan.Partial, c *lenient.Cursor) view {
	v := view{name: p.Name, id: p.ID, certain: p.Name != "", close: p.Close, keys: p.Keys, values: p.Values}
	switch {
	case p.Call != nil:
		v.call(p.Call)
	case p.Arguments != nil:
		v.parameters(p.Arguments, p.Arguments.Open())
	case p.OpenKey != "" && p.OpenSafe > p.OpenFrom:
		v.key, v.text, v.kind = p.OpenKey, c.Slice(p.OpenFrom, p.OpenSafe), rawText
		if p.OpenRaw {
			v.kind = literalText
		}
	}
	return v
}

// parameterKeys are the keys of a call's parameters in a JSON object.
var parameterKeys = [...]string{"arguments", "parameters", "args", "params"}

// call looks at a JSON object that holds the call's name and its parameters. Both are
// certain while the parameters are being read, and nothing else came before them.
func (v *view) call(r *lenient.Reader) {
	v.certain = false
	frames := r.Open()
	if len(frames) == 0 {
		v.wholeCall(r.Result())
		return
	}
	outer := &frames[0]
	v.wholeCall(outer.Object)
	if len(frames) < 2 {
		return
	}
	v.parameters(r, frames[1:])
	v.certain = v.name != "" && v.values != nil && slices.Contains(parameterKeys[:], outer.Key)
	for key := range outer.Object {
		v.certain = v.certain && (key == "name" || key == "id" || key == "type")
	}
}

// wholeCall looks at the members of a call's object that are whole.
func (v *view) wholeCall(object any) {
	m, _ := object.(map[string]any)
	v.name, _ = m["name"].(string)
	v.id, _ = m["id"].(string)
	v.idLater = v.id == ""
	for _, key := range parameterKeys {
		if params, ok := m[key].(map[string]any); ok {
			v.values = params
		}
	}
}

// parameters looks at parameters that are JSON, by their open brackets.
func (v *view) parameters(r *lenient.Reader, frames []lenient.Frame) {
	v.frames = frames
	v.inner, v.inText = r.OpenText()
	v.keys, v.values = nil, nil
	if len(frames) == 0 {
		v.values, _ = r.Result().(map[string]any)
		return
	}
	f := &frames[0]
	if f.Object == nil {
		return
	}
	v.keys, v.values = f.Keys, f.Object
	if v.inText && f.HasKey && len(frames) == 1 {
		v.key, v.text, v.kind = f.Key, v.inner, jsonString
	}
}

// snapshot copies the parameters as far as they have come.
func (v *view) snapshot() map[string]any {
	if len(v.frames) == 0 {
		params := make(map[string]any, len(v.values)+1)
		for k, value := range v.values {
			if t, isText := value.(lenient.Text); isText {
				value = string(t)
			}
			params[k] = value
		}
		if v.key != "" {
			params[v.key] = lenient.ValidUTF8(v.text)
		}
		return params
	}
	var inner any
	if v.inText {
		inner = lenient.ValidUTF8(v.inner)
	}
	for i := len(v.frames) - 1; i >= 0; i-- {
		f := &v.frames[i]
		if f.Object == nil {
			list := append([]any{}, f.Array...)
			if inner != nil {
				list = append(list, inner)
			}
			inner = list
			continue
		}
		m := maps.Clone(f.Object)
		if f.HasKey && inner != nil {
			m[f.Key] = inner
		}
		inner = m
	}
	params, ok := inner.(map[string]any)
	if !ok {
		return map[string]any{}
	}
	return params
}
