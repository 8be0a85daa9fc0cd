package validator

import (
	"fmt"
	"slices"

	"github.com/callwright/callwright/registry"
)

// NotCalled returns a warning for each tool that must run before one that is called, and
// is itself not called: "dependency_not_called: …". called has the names of all tools that
// are called with it, or were called before in the conversation.
func NotCalled(tool *registry.Tool, called []string) (warnings []string) {
	for i, name := range tool.Dependencies {
		if name == tool.Name || slices.Contains(called, name) || slices.Contains(tool.Dependencies[:i], name) {
			continue
		}
		warnings = append(warnings, fmt.Sprintf("dependency_not_called: %q must run before %q, and is not called", name, tool.Name))
	}
	return warnings
}
