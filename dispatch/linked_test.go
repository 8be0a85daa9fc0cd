package dispatch_test

import (
	"os/exec"
	"strings"
	"testing"
)

// TestLinked holds that programs which parse and dispatch link neither MCP nor OpenAPI,
// and that the proxy links no MCP library: it carries bytes.
func TestLinked(t *testing.T) {
	for _, list := range [][]string{{"../parser", "modelcontextprotocol", "openapi"}, {".", "modelcontextprotocol", "openapi"}, {"../mcpproxy", "modelcontextprotocol"}} {
		out, err := exec.Command("go", "list", "-deps", list[0]).Output()
		if err != nil {
			t.Fatal(err)
		}
		for _, forbidden := range list[1:] {
			if strings.Contains(string(out), forbidden) {
				t.Errorf("%s links %s", list[0], forbidden)
			}
		}
	}
}
