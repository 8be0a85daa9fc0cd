package fallback

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/callwright/callwright/call"
)

// Partial takes the complete parameters of calls that the end of the text cut off. The
// parameter that was being written is dropped. The schema decides whether the rest is
// enough; the calls are marked as truncated.
type Partial struct{}

// Strategy is "partial_execution".
func (Partial) Strategy() Strategy { return StrategyPartial }

// Applies reports whether a call was cut off behind its name.
func (Partial) Applies(k *Case) bool {
	for i := range k.Failures {
		if f := &k.Failures[i]; f.Truncated && f.Tool != "" && k.Tools.Get(f.Tool) != nil {
			return true
		}
	}
	return false
}

// Recover proposes what is whole.
func (Partial) Recover(_ context.Context, k *Case) (r Recovery, _ error) {
	r.Tried = "the parameters that are whole"
	for i := range k.Failures {
		f := &k.Failures[i]
		if !f.Truncated || f.Tool == "" || k.Tools.Get(f.Tool) == nil {
			continue
		}
		p := Proposal{
			Failure: i, Tool: f.Tool, Parameters: map[string]any{}, Raw: f.Raw, Span: f.Span, Provenance: f.Provenance,
			Method: call.MethodPartial, Truncated: true,
		}
		cut := cutParameter(f)
		if cut != "" && k.Tools.Get(f.Tool).HasDefault(cut) {
			continue // the default is not what the model was about to say
		}
		for key, v := range f.Parameters {
			if key != cut {
				p.Parameters[key] = v
			}
		}
		if cut != "" {
			p.Fixes = append(p.Fixes, "dropped "+cut)
		}
		r.Proposals = append(r.Proposals, p)
	}
	return r, nil
}

// cutParameter returns the parameter that may be incomplete: the last one, unless
// something stands behind its value that closes it. Where that is not plain it counts
// as incomplete.
func cutParameter(f *Failure) string {
	last, at := "", -1
	for key := range f.Parameters {
		if i := strings.LastIndex(f.Raw, key); i > at || i == at && len(key) > len(last) {
			last, at = key, i
		}
	}
	if last == "" {
		return ""
	}
	var text string
	switch v := f.Parameters[last].(type) {
	case string:
		quoted, err := json.Marshal(v)
		if err != nil {
			return last
		}
		text = string(quoted[1 : len(quoted)-1])
		if !strings.Contains(f.Raw[at:], text) {
			text = v
		}
	case json.Number:
		text = string(v)
	case bool:
		text = map[bool]string{true: "true", false: "false"}[v]
	default: // an object or a list may lack anything
		if strings.HasSuffix(strings.TrimRight(f.Raw, " \r\n\t"), ",") {
			return ""
		}
		return last
	}
	i := strings.LastIndex(f.Raw[at+len(last):], text)
	if i < 0 || text == "" {
		return last
	}
	if rest := strings.TrimLeft(f.Raw[at+len(last)+i+len(text):], " \r\n\t"); rest == "" || strings.IndexByte("\"',}])<", rest[0]) < 0 {
		return last
	}
	return ""
}
