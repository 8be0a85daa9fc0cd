// Package dialects holds what is known of how models write tool calls, as rows:
// one file for each body.
package dialects

import (
	"slices"

	"github.com/callwright/callwright/extractor"
)

// All returns the built-in rows. Of rows that share a marker, those that come
// first are the likelier ones.
func All() []extractor.Dialect {
	return slices.Concat(jsonRows, nameJSONRows, paramsRows, keyValueRows, elementsRows, pythonicRows, braceCallRows, linesRows)
}

// Lookup returns the built-in row of a name, or of an alias.
func Lookup(name string) (extractor.Dialect, bool) {
	for _, d := range All() {
		if d.Name == name || slices.Contains(d.Aliases, name) {
			return d, true
		}
	}
	return extractor.Dialect{}, false
}
