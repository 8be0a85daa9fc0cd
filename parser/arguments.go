package parser

import (
	"slices"

	"github.com/callwright/callwright/call"
	"github.com/callwright/callwright/internal/lenient"
	"github.com/callwright/callwright/internal/scan"
	"github.com/callwright/callwright/normalizer"
	"github.com/callwright/callwright/registry"
)

// normalize finds the calls of a candidate that was read.
func (j *judge) normalize(cand *scan.Candidate) normalizer.Found {
	if cand.Named {
		if cand.Dialect != nil && slices.Contains(cand.Dialect.Options.None, cand.Name) {
			return normalizer.Found{}
		}
		args, ok := cand.Arguments, true
		if s, isString := args.(string); isString || args == nil {
			args, ok = normalizer.Arguments(s)
		} else if list, isList := args.([]any); isList {
			args, ok = normalizer.Arguments(list)
		}
		if !ok {
			return normalizer.Found{}
		}
		e := normalizer.Entry{Name: cand.Name, ID: cand.ID, Arguments: args, Explicit: true, Cut: cand.Truncated, CutKey: cand.CutKey}
		return normalizer.Found{Format: call.Unknown, Confidence: 1, Entries: []normalizer.Entry{e}}
	}
	o := normalizer.Options{Registry: j.p.registry, Marked: cand.Provenance != call.Bare}
	if cand.Truncated {
		o.Open = cand.Open
	}
	found := normalizer.Detect(cand.Value, o)
	found.Entries = slices.DeleteFunc(found.Entries, func(e normalizer.Entry) bool {
		return isNoTool(e.Name) && j.p.registry.Get(e.Name) == nil
	})
	return found
}

// isNoTool reports whether a name means that no tool is called.
func isNoTool(name string) bool {
	switch name {
	case "directly_answer", "directly-answer", "no_function", "Final Answer", "final_answer", "no_tool", "none", "None":
		return true
	}
	return false
}

// bind gives arguments without names their names, in the tool's order.
func (j *judge) bind(cand *scan.Candidate, tool *registry.Tool, arguments any, sc *scorer) (map[string]any, bool) {
	var list []any
	var params map[string]any
	switch a := arguments.(type) {
	case map[string]any:
		params, list = a, cand.Positional
	case []any:
		list = a
	case lenient.Text:
		switch name, certain := tool.TextParameter(); {
		case name != "":
			if !certain {
				sc.add("guessed")
			}
			return map[string]any{name: a}, true
		case j.p.registry.Len() == 0 && !cand.Fixes.Has(lenient.UnquotedValue):
			return map[string]any{"input": string(a)}, true
		}
		return nil, false
	}
	if params == nil {
		params = map[string]any{}
	}
	if len(list) == 0 {
		return params, true
	}
	names := tool.Order()
	if object, ok := list[0].(map[string]any); ok && len(list) == 1 && len(params) == 0 && isParameters(tool, object) {
		return object, true // f({"city": "Rome"})
	}
	if len(list) > len(names) {
		return nil, false
	}
	for i, v := range list {
		if _, twice := params[names[i]]; twice {
			return nil, false
		}
		params[names[i]] = v
	}
	if len(list) > 1 {
		sc.add("guessed")
	}
	return params, true
}

// isParameters reports whether an object that is a call's only argument is all of
// its parameters: its keys are the tool's, or nothing is known of those.
func isParameters(tool *registry.Tool, object map[string]any) bool {
	names := tool.Order()
	for key := range object {
		if len(names) > 0 && !slices.Contains(names, key) {
			return false
		}
	}
	return len(object) > 0 || len(names) == 0
}
