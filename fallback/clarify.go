package fallback

import (
	"context"
	"fmt"
	"strings"

	"github.com/callwright/callwright/internal/text"
	"github.com/callwright/callwright/registry"
	"github.com/callwright/callwright/validator"
)

// Clarification makes no call. It suggests what a person can do, and lists what only a
// person can supply.
type Clarification struct{}

// Strategy is "user_clarification".
func (Clarification) Strategy() Strategy { return StrategyClarification }

// Applies reports whether there is anything to say.
func (Clarification) Applies(k *Case) bool { return len(k.Failures) > 0 || k.Cues.Name != "" }

// Bounds of the suggestions.
const (
	maxSuggestions = 16
	maxQuotedBytes = 80
)

// Recover makes the suggestions.
func (Clarification) Recover(_ context.Context, k *Case) (r Recovery, _ error) {
	r.Tried = "suggestions"
	r.Input = requiredInput(k)
	add := func(format string, args ...any) {
		if s := fmt.Sprintf(format, args...); len(r.Suggestions) < maxSuggestions {
			r.Suggestions = append(r.Suggestions, s)
		}
	}
	for i := range k.Failures {
		f := &k.Failures[i]
		tool := k.Tools.Get(f.Tool)
		switch {
		case f.Truncated:
			add("The text ends inside the call of %s: allow the model more output tokens and ask again.", nameOf(f))
			continue
		case f.Unreadable():
			add("The call of %s cannot be read: ask the model again with the feedback, or allow model-assisted repair.", nameOf(f))
			continue
		}
		for _, e := range f.Errors {
			switch e.Code {
			case validator.UnknownTool:
				if e.SuggestedFix != "" {
					add("There is no tool %s: did the model mean %s?", nameOf(f), k.signature(e.SuggestedFix))
				} else {
					add("There is no tool %s: register it, or tell the model which tools there are.", nameOf(f))
				}
			case validator.RequiredParameterMissing:
				add("Ask for %s of %s%s.", parameterOf(e.Path), f.Tool, described(tool, e.Path))
			default:
				fix := ""
				if e.SuggestedFix != "" {
					fix = " (" + e.SuggestedFix + ")"
				}
				add("Correct %s of %s: %s%s.", parameterOf(e.Path), nameOf(f), e.Message, fix)
			}
		}
	}
	if len(k.Failures) == 0 && k.Cues.Name != "" {
		add("The text names %s and makes no call: ask the model to make it.", k.signature(k.Cues.Name))
	}
	return r, nil
}

func (k *Case) signature(tool string) string {
	if t := k.Tools.Get(tool); t != nil {
		return t.Signature()
	}
	return tool
}

func nameOf(f *Failure) string {
	if f.Tool == "" {
		return "a tool"
	}
	return fmt.Sprintf("%q", text.Clip(f.Tool, maxQuotedBytes))
}

// parameterOf writes a JSON pointer as a person would say it.
func parameterOf(path string) string {
	if path == "" {
		return "the parameters"
	}
	return strings.Join(text.Keys(path), ".")
}

// described is what a tool's schema says of a parameter at its top.
func described(tool *registry.Tool, path string) string {
	if tool == nil {
		return ""
	}
	properties, _ := tool.Parameters["properties"].(map[string]any)
	property, _ := properties[parameterOf(path)].(map[string]any)
	if said, _ := property["description"].(string); said != "" {
		return " (" + strings.TrimRight(text.Clip(said, maxQuotedBytes), ". ") + ")"
	}
	return ""
}

// requiredInput names the parameters that are missing, and the tool where not even
// that is known.
func requiredInput(k *Case) []string {
	var input []string
	for i := range k.Failures {
		f := &k.Failures[i]
		for _, e := range f.Errors {
			switch e.Code {
			case validator.RequiredParameterMissing:
				if len(input) < maxSuggestions {
					input = append(input, f.Tool+"."+parameterOf(e.Path))
				}
			case validator.UnknownTool:
				if len(input) < maxSuggestions {
					input = append(input, "tool")
				}
			}
		}
	}
	return input
}
