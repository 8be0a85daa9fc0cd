// Package normalizer finds the tool calls in a JSON value, in whatever shape they come.
//
//	found := normalizer.Detect(map[string]any{"tool": "add", "params": map[string]any{"a": 1}}, normalizer.Options{})
//	found.Entries[0].Name // "add"
package normalizer

import "github.com/callwright/callwright/call"

// NormalizedToolCall is the specification's name of a [call.Call].
type NormalizedToolCall = call.Call
