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
	// keys and values are the parameters that are whole, in the order of the text. Of
	// parameters that are all whole the order is not known any more.
	keys   []string
	values map[string]any
	// key is the parameter whose string is being read, empty if none is, and text what
	// has come of it.
	key  string
	text []byte
	kind textKind
	// json reads the parameters if they are JSON, in the brackets from depth on.
	json  *lenient.Reader
	depth int
}

// textKind says how the text of a string is written.
type textKind uint8

const (
	jsonString  textKind = iota // decoded
	rawText                     // as it stands, but for white space and tags at its ends
	literalText                 // byte for byte
)

// look returns what can be seen of a call whose text is at a cursor. It runs for each
// chunk of a stream.
func look(p *scan.Partial, c *lenient.Cursor) (v view) {
	v.name, v.id, v.certain = p.Name, p.ID, p.Name != ""
	switch {
	case p.Call != nil:
		v.json, v.depth = p.Call, 1
		v.name, v.id, v.certain = lookAtCall(p.Call)
		v.idLater = v.id == ""
		v.keys, v.values, v.key, v.text = lookAtParameters(p.Call, 1)
	case p.Arguments != nil:
		v.json = p.Arguments
		v.keys, v.values, v.key, v.text = lookAtParameters(p.Arguments, 0)
	default:
		v.keys, v.values = p.Keys, p.Values
		if p.OpenKey != "" && p.OpenSafe > p.OpenFrom {
			v.key, v.text, v.kind = p.OpenKey, c.Slice(p.OpenFrom, p.OpenSafe), rawText
			if p.OpenRaw {
				v.kind = literalText
			}
		}
	}
	return v
}

// lookAtCall looks at a JSON object that holds a call's name and its parameters. It is
// certain while the parameters are being read, and nothing else came before them.
func lookAtCall(r *lenient.Reader) (name, id string, certain bool) {
	frames := r.Open()
	if len(frames) == 0 {
		whole, _ := r.Result().(map[string]any)
		name, _ = whole["name"].(string)
		id, _ = whole["id"].(string)
		return name, id, false
	}
	f := &frames[0]
	name, _ = f.Object["name"].(string)
	id, _ = f.Object["id"].(string)
	if len(frames) < 2 || frames[1].Object == nil || name == "" || !isParameterKey(f.Key) {
		return name, id, false
	}
	known := 0
	for _, key := range [...]string{"name", "id", "type"} {
		if _, ok := f.Object[key]; ok {
			known++
		}
	}
	return name, id, known == len(f.Object)
}

// parameterKeys are the keys of a call's parameters in a JSON object.
var parameterKeys = [...]string{"arguments", "parameters", "args", "params"}

func isParameterKey(key string) bool { return slices.Contains(parameterKeys[:], key) }

// lookAtParameters looks at parameters that are JSON, in the brackets from depth on:
// those that are whole, and the string that is being read.
func lookAtParameters(r *lenient.Reader, depth int) (keys []string, values map[string]any, key string, text []byte) {
	frames := r.Open()
	if len(frames) <= depth {
		return nil, wholeParameters(r, frames, depth), "", nil
	}
	f := &frames[depth]
	if f.Object == nil {
		return nil, nil, "", nil
	}
	if f.HasKey && len(frames) == depth+1 {
		if open, ok := r.OpenText(); ok {
			return f.Keys, f.Object, f.Key, open
		}
	}
	return f.Keys, f.Object, "", nil
}

// wholeParameters returns the parameters where their own bracket is closed, nil if it
// has not come.
func wholeParameters(r *lenient.Reader, frames []lenient.Frame, depth int) map[string]any {
	outer, _ := r.Result().(map[string]any)
	if depth == 0 {
		return outer
	}
	if len(frames) > 0 {
		outer = frames[0].Object
	}
	for _, key := range parameterKeys {
		if params, ok := outer[key].(map[string]any); ok {
			return params
		}
	}
	return nil
}

// snapshot copies the parameters as far as they have come.
func (v *view) snapshot() map[string]any {
	var frames []lenient.Frame
	if v.json != nil {
		frames = v.json.Open()
		frames = frames[min(v.depth, len(frames)):]
	}
	if len(frames) == 0 {
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
	if open, ok := v.json.OpenText(); ok {
		inner = lenient.ValidUTF8(open)
	}
	for i := len(frames) - 1; i >= 0; i-- {
		f := &frames[i]
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
