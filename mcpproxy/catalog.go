package mcpproxy

import (
	"crypto/sha256"
	"sync"

	"github.com/callwright/callwright/internal/wire"
	"github.com/callwright/callwright/registry"
)

// catalog is what is known of a server's tools, as one client sees them.
type catalog struct {
	mu       sync.Mutex
	tools    *registry.Registry // nil: nothing is known
	complete bool               // the last page of the list has come
	passed   map[string]bool    // tools whose schemas the server contradicted
	digest   [sha256.Size]byte  // of the list that was learned last, if that was one page
	changes  int                // how often the list changed
}

// learn takes a page of the tools: the result of tools/list. first says that it is the
// first page. A list that changed since it was asked for is not learned.
func (c *catalog) learn(result []byte, first bool, asked int) bool {
	o, ok := wire.AsObject(result)
	if !ok {
		return false
	}
	list := wire.AsList(o.Get("tools"))
	if list == nil {
		return false
	}
	complete := !o.Has("nextCursor") || o.String("nextCursor") == ""
	digest := sha256.Sum256(o.Get("tools"))
	c.mu.Lock()
	defer c.mu.Unlock()
	if asked != c.changes {
		return false
	}
	if first && complete && c.tools != nil && c.digest == digest {
		c.complete, c.passed = true, nil
		return true
	}
	var tools []registry.Tool
	for _, raw := range list {
		if t, err := registry.Parse(raw); err == nil {
			tools = append(tools, t...)
		}
	}
	known := c.tools != nil
	if first || !known {
		c.tools, _ = registry.New() // without tools there is no error
		c.passed = nil
	}
	_ = c.tools.Add(tools...) // a tool with a problem is not known, or has no schema
	c.complete = complete && (first || known)
	c.digest = [sha256.Size]byte{}
	if first && complete {
		c.digest = digest
	}
	return true
}

// forget forgets the tools: the server's list changed.
func (c *catalog) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tools, c.complete, c.passed = nil, false, nil
	c.changes++
}

// version counts how often the list changed.
func (c *catalog) version() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.changes
}

// pass lets calls of a tool pass as they are, until the tools are listed again.
func (c *catalog) pass(tool string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.passed == nil {
		c.passed = map[string]bool{}
	}
	c.passed[tool] = true
}

// find returns the tool that a name means; nil if it is not known, or has no schema. A
// name that is only nearly right counts once all tools are known.
func (c *catalog) find(name string) *registry.Tool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.tools == nil {
		return nil
	}
	m, ok := c.tools.Lookup(name)
	if !ok || !m.Exact() && !c.complete || c.passed[m.Tool.Name] || m.Tool.Schema() == nil {
		return nil
	}
	return m.Tool
}
