package mcptools

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/callwright/callwright/internal/text"
)

// Config is a file of MCP servers, in the form that clients of MCP have in common:
//
//	{"mcpServers": {"files": {"command": "npx", "args": ["-y", "server-filesystem", "."], "allow": ["read_*"]},
//	                "search": {"url": "https://search.example/mcp", "headers": {"Authorization": "Bearer ${SEARCH_KEY}"}}}}
//
// "${NAME}" in a value is the environment's. Besides what clients have in common a server
// may have "only", "except" and "allow", lists of patterns of its tools; "trust_hints";
// and "connect_timeout_ms".
type Config struct {
	Servers []Server
	// Unknown are members that mean nothing here, such as "files.autoApprove".
	Unknown []string
}

// entry is a server in the file.
type entry struct {
	Type       string            `json:"type"`
	Command    string            `json:"command"`
	Args       []string          `json:"args"`
	Env        map[string]string `json:"env"`
	Dir        string            `json:"cwd"`
	URL        string            `json:"url"`
	Headers    map[string]string `json:"headers"`
	Disabled   bool              `json:"disabled"`
	Only       []string          `json:"only"`
	Except     []string          `json:"except"`
	Allow      []string          `json:"allow"`
	TrustHints bool              `json:"trust_hints"`
	TimeoutMS  int               `json:"connect_timeout_ms"`
}

var members = []string{
	"type", "command", "args", "env", "cwd", "url", "headers", "disabled", "only", "except", "allow", "trust_hints",
	"connect_timeout_ms", "description",
}

// IsConfig reports whether JSON looks like a file of MCP servers.
func IsConfig(data []byte) bool {
	var top map[string]json.RawMessage
	return json.Unmarshal(data, &top) == nil && top["mcpServers"] != nil
}

// ParseConfig reads a file of MCP servers; nil is os.LookupEnv. Servers that are disabled
// are left out. The error names the server, and joins what is wrong with each.
func ParseConfig(data []byte, getenv func(string) (string, bool)) (*Config, error) {
	if getenv == nil {
		getenv = os.LookupEnv
	}
	var top struct {
		Servers map[string]json.RawMessage `json:"mcpServers"`
	}
	if err := json.Unmarshal(data, &top); err != nil {
		return nil, fmt.Errorf("not a file of MCP servers: %w", err)
	}
	if top.Servers == nil {
		return nil, errors.New(`not a file of MCP servers: it has no "mcpServers"`)
	}
	c := &Config{}
	var errs []error
	for _, name := range text.SortedKeys(top.Servers) {
		var all map[string]json.RawMessage
		var e entry
		if err := errors.Join(json.Unmarshal(top.Servers[name], &all), json.Unmarshal(top.Servers[name], &e)); err != nil {
			errs = append(errs, fmt.Errorf("server %s: %w", name, err))
			continue
		}
		for _, k := range text.SortedKeys(all) {
			if !slices.Contains(members, k) {
				c.Unknown = append(c.Unknown, name+"."+k)
			}
		}
		if e.Disabled {
			continue
		}
		s, err := e.server(name, getenv)
		if err != nil {
			errs = append(errs, fmt.Errorf("server %s: %w", name, err))
			continue
		}
		c.Servers = append(c.Servers, s)
	}
	return c, errors.Join(errs...)
}

// server makes a server of an entry.
func (e *entry) server(name string, getenv func(string) (string, bool)) (Server, error) {
	var missing []string
	expand := func(s string) string {
		return variable.ReplaceAllStringFunc(s, func(m string) string {
			v, ok := getenv(m[2 : len(m)-1])
			if !ok {
				missing = append(missing, m[2:len(m)-1])
			}
			return v
		})
	}
	s := Server{
		Name: name, Dir: expand(e.Dir), URL: expand(e.URL), Only: e.Only, Except: e.Except, Allow: e.Allow, TrustHints: e.TrustHints,
		ConnectTimeout: time.Duration(e.TimeoutMS) * time.Millisecond,
	}
	if e.Command != "" {
		s.Command = []string{expand(e.Command)}
		for _, a := range e.Args {
			s.Command = append(s.Command, expand(a))
		}
	}
	for _, k := range text.SortedKeys(e.Env) {
		s.Env = append(s.Env, k+"="+expand(e.Env[k]))
	}
	for k, v := range e.Headers {
		if s.Header == nil {
			s.Header = http.Header{}
		}
		s.Header.Set(k, expand(v))
	}
	switch {
	case len(missing) > 0:
		return s, fmt.Errorf("the environment has no %s", strings.Join(missing, ", "))
	case (e.Command == "") == (e.URL == ""):
		return s, ErrServer
	case e.Type == "sse":
		return s, errors.New(`the transport "sse" is not supported: use the server's streamable HTTP address`)
	}
	return s, nil
}

// variable is a variable of the environment in a value.
var variable = regexp.MustCompile(`\$\{[A-Za-z_][A-Za-z0-9_]*\}`)
