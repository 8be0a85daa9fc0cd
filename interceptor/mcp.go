package interceptor

import (
	"context"
	"fmt"
	"os"
	"slices"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/cache"
	"github.com/callwright/callwright/config"
	"github.com/callwright/callwright/dispatch"
	"github.com/callwright/callwright/dispatch/mcptools"
	"github.com/callwright/callwright/internal/wire"
	"github.com/callwright/callwright/registry"
)

// NOTE: The tools of MCP servers (server.mcp) are offered to every model beside the
// client's own. Their calls never reach the client: rounds.go runs them here and asks the
// model again, kept.go keeps those that stand beside calls of the client.

// openTools connects to the MCP servers of the configuration.
func (h *Handler) openTools(c *config.Config) error {
	data, err := os.ReadFile(c.Server.MCP)
	if err != nil {
		return err
	}
	file, err := mcptools.ParseConfig(data, nil)
	if err != nil {
		return fmt.Errorf("%s: %w", c.Server.MCP, err)
	}
	for _, name := range file.Unknown {
		h.log.Warn("an unknown member in the file of MCP servers", "member", name)
	}
	for i := range file.Servers {
		file.Servers[i].Log = h.log
	}
	if h.toolSet, err = mcptools.Open(context.Background(), file.Servers...); err != nil {
		return fmt.Errorf("%s: %w", c.Server.MCP, err)
	}
	for _, err := range h.toolSet.Failed {
		h.log.Warn("an MCP server cannot be used: its tools are left out", "cause", err.Error())
	}
	h.tools, err = mcptools.NewService(h.toolSet, &dispatch.Dispatcher{
		Policy: dispatch.Policy{Rules: toolRules(c.Server.MCPAllow)}, Validation: h.settings.Load().parts.Options.Validation, Log: h.log,
	})
	if err == nil {
		h.kept, err = cache.New[*keptCalls](cache.Options{MaxEntries: maxKeptCalls, MaxBytes: maxKeptBytes})
	}
	return err
}

// toolRules refuse the calls about which a person would be asked, for nobody can be: what
// server.mcp_allow lists is let through. A tool runs at all only if the file of MCP servers
// allows it.
func toolRules(allow []string) []dispatch.Rule {
	rules := []dispatch.Rule{
		{When: []dispatch.Condition{dispatch.Truncated}, Do: dispatch.Deny, Why: "the call was cut off"},
		{When: []dispatch.Condition{dispatch.Destructive, dispatch.BareJSON}, Do: dispatch.Deny, Why: "no marker says that it is a call"},
	}
	for _, r := range []dispatch.Rule{
		{When: []dispatch.Condition{dispatch.Inferred}, Why: "the call was concluded, not said"},
		{When: []dispatch.Condition{dispatch.Repaired}, Why: "the call had to be repaired in a way that may change it"},
	} {
		if r.Do = dispatch.Deny; !slices.Contains(allow, string(r.When[0])) {
			rules = append(rules, r)
		}
	}
	return rules
}

// offerTools adds the tools of MCP servers to a request. They are left out where the
// client allows no call, or requires that of a tool of its own.
func (x *exchange) offerTools() {
	choice := x.req.ToolChoice.Mode
	hasRest := wire.Object(x.req.Extra.For(x.client.Name)).Has("conversation") // the server has the rest of it, without the calls
	if x.h.tools == nil || choice == adapters.ToolNone || choice == adapters.ToolNamed || x.req.Choices > 1 || hasRest {
		return
	}
	offer := x.h.tools.Offer(func(name string) bool {
		return slices.ContainsFunc(x.req.Tools, func(t adapters.Tool) bool { return t.Name == name })
	})
	if len(offer.Tools) == 0 {
		return
	}
	req := *x.req
	req.Tools = slices.Clone(req.Tools)
	for i := range offer.Tools {
		req.Tools = append(req.Tools, described(&offer.Tools[i]))
	}
	x.offer, x.clientTools = offer, len(x.req.Tools)
	x.req, x.changed = &req, true
	x.restoreCalls()
}

// described is a tool as a model is told of it. Every server gets a schema.
func described(t *registry.Tool) adapters.Tool {
	d := dispatch.Describe(t)
	if d.Parameters == nil {
		d.Parameters = []byte(`{"type":"object","properties":{}}`)
	}
	return d
}

// isOwn reports whether a call is none of the client's: it names a tool that runs here, or
// the client has no tools at all.
func (x *exchange) isOwn(tool string) bool {
	return x.offer != nil && (x.clientTools == 0 || x.offer.Has(tool))
}
