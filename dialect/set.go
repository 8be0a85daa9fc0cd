// Package dialect says, as data, how language models write tool calls into their
// text: the markers around a call, what stands between them, how reasoning is set
// apart, how a turn begins and ends.
//
//	dialects:
//	  - name: acme
//	    models: [Acme 1]
//	    source: Acme's model card
//	    open: ["<<call>>"]
//	    close: ["<<end>>"]
//	    body: json
//	reasoning:
//	  - open: ["<musing>"]
//	    close: ["</musing>"]
//	    close_alone: true
//
// A [Row] is one dialect, a [Set] all that is known. [Builtin] has what callwright
// knows; [Parse] reads more of it from YAML. Nothing here reads model text.
package dialect

import (
	"fmt"
	"slices"
)

// Set is what is known of how models write. The zero value knows nothing.
type Set struct {
	// Dialects are the ways of writing calls. Of those that share a marker the first
	// ones are the likelier.
	Dialects []Row `yaml:"dialects,omitempty" json:"dialects,omitempty"`
	// Reasoning are the ways of setting reasoning apart.
	Reasoning []Reasoning `yaml:"reasoning,omitempty" json:"reasoning,omitempty"`
	// Turns are the markers at which turns begin and end.
	Turns []Turn `yaml:"turns,omitempty" json:"turns,omitempty"`
	// Regions are pairs of markers around text that is not the model's own word.
	Regions []Region `yaml:"regions,omitempty" json:"regions,omitempty"`
}

// Builtin returns what callwright knows without being told. The caller may change
// the slices, not what their elements point to.
func Builtin() Set {
	return Set{
		Dialects: slices.Concat(
			jsonRows, nameJSONRows, paramsRows, keyValueRows, elementsRows, pythonicRows, braceCallRows, linesRows,
		),
		Reasoning: slices.Clone(reasoningRows),
		Turns:     slices.Clone(turnRows),
		Regions:   slices.Clone(regionRows),
	}
}

// Lookup returns the built-in dialect of a name, or of an alias.
func Lookup(name string) (Row, bool) {
	for _, d := range Builtin().Dialects {
		if d.Name == name || slices.Contains(d.Aliases, name) {
			return d, true
		}
	}
	return Row{}, false
}

// With returns a set with more added before what s has. A dialect of a name that s
// knows takes the place of that one.
func (s Set) With(more Set) Set {
	named := func(d Row) bool {
		return slices.ContainsFunc(more.Dialects, func(m Row) bool { return m.Name == d.Name })
	}
	return Set{
		Dialects:  slices.Concat(more.Dialects, slices.DeleteFunc(slices.Clone(s.Dialects), named)),
		Reasoning: slices.Concat(more.Reasoning, s.Reasoning),
		Turns:     slices.Concat(more.Turns, s.Turns),
		Regions:   slices.Concat(more.Regions, s.Regions),
	}
}

// IsZero reports whether a set knows nothing.
func (s Set) IsZero() bool {
	return len(s.Dialects) == 0 && len(s.Reasoning) == 0 && len(s.Turns) == 0 && len(s.Regions) == 0
}

// Check reports the first thing that is wrong with a set, as an [*Error].
func (s Set) Check() error {
	names := make(map[string]string, len(s.Dialects))
	for i := range s.Dialects {
		if err := s.Dialects[i].Check(); err != nil {
			return err
		}
		names[s.Dialects[i].Name] = s.Dialects[i].Name
	}
	for i := range s.Dialects {
		d := &s.Dialects[i]
		for _, a := range d.Aliases {
			if other, ok := names[a]; ok && other != d.Name && other == a {
				return &Error{Dialect: d.Name, Field: "aliases", Err: fmt.Errorf("%w: %q", ErrTwice, a)}
			}
			if _, ok := names[a]; !ok {
				names[a] = d.Name
			}
		}
	}
	for i := range s.Reasoning {
		if err := s.Reasoning[i].Check(); err != nil {
			return err
		}
	}
	for i := range s.Turns {
		if err := s.Turns[i].Check(); err != nil {
			return err
		}
	}
	for i := range s.Regions {
		if err := s.Regions[i].Check(); err != nil {
			return err
		}
	}
	return nil
}
