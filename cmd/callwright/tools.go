package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/adapters/formats"
	"github.com/callwright/callwright/dispatch"
	"github.com/callwright/callwright/dispatch/check"
	"github.com/callwright/callwright/dispatch/mcptools"
	"github.com/callwright/callwright/dispatch/openapi"
	"github.com/callwright/callwright/internal/text"
	"github.com/callwright/callwright/registry"
)

// toolFiles are the tools of files: definitions of any provider, OpenAPI documents, and
// lists of MCP servers.
type toolFiles struct {
	tools []dispatch.Tool // those of definitions have no handler
	rules []dispatch.Rule // that the files' owner allows
	sets  []*mcptools.Set
}

// apiFlags say how operations of an OpenAPI document are called.
type apiFlags struct {
	base   string
	header []string
}

func (f *apiFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.base, "api", "", "`URL` of the server of an OpenAPI document, in place of the one that the document names")
	c.Flags().StringArrayVar(
		&f.header, "api-header", nil, "`NAME: VALUE` of a header for that server; ${VARIABLE} in it is taken from the environment",
	)
}

func (f *apiFlags) options() (openapi.Options, error) {
	o := openapi.Options{BaseURL: f.base}
	for _, h := range f.header {
		name, value, ok := strings.Cut(h, ":")
		if !ok {
			return o, fmt.Errorf("--api-header %q must be NAME: VALUE", h)
		}
		if o.Header == nil {
			o.Header = http.Header{}
		}
		o.Header.Add(strings.TrimSpace(name), os.ExpandEnv(strings.TrimSpace(value)))
	}
	return o, nil
}

// loadTools reads files of tools, and connects to the MCP servers that they list. What
// cannot be used is told to warn.
func loadTools(ctx context.Context, names []string, api openapi.Options, warn io.Writer) (*toolFiles, error) {
	f := &toolFiles{}
	for _, name := range names {
		data, err := readInput([]string{name}, os.Stdin)
		if err == nil {
			err = f.load(ctx, []byte(data), api, warn)
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("%s: %w", name, err), f.Close())
		}
	}
	return f, nil
}

func (f *toolFiles) load(ctx context.Context, data []byte, api openapi.Options, warn io.Writer) error {
	if mcptools.IsConfig(data) {
		c, err := mcptools.ParseConfig(data, nil)
		if err != nil {
			return err
		}
		for _, u := range c.Unknown {
			fmt.Fprintf(warn, "callwright: %s means nothing here\n", text.Printable(u))
		}
		set, err := mcptools.Open(ctx, c.Servers...)
		if err != nil {
			return err
		}
		f.sets = append(f.sets, set)
		for _, err := range set.Failed {
			fmt.Fprintf(warn, "callwright: %s\n", text.Printable(err.Error()))
		}
		f.tools, f.rules = append(f.tools, set.Tools...), append(f.rules, set.Rules...)
		return nil
	}
	list, noDefinitions := registry.Parse(data)
	if noDefinitions == nil && len(list) > 0 {
		for _, t := range list {
			f.tools = append(f.tools, dispatch.Tool{Tool: t})
		}
		return nil
	}
	d, err := openapi.Parse(data, api)
	if err != nil {
		return errors.Join(noDefinitions, err)
	}
	for _, s := range d.Skipped {
		fmt.Fprintf(warn, "callwright: %s\n", text.Printable(s))
	}
	f.tools = append(f.tools, d.Tools...)
	return nil
}

// Close ends the MCP servers.
func (f *toolFiles) Close() error {
	var errs []error
	for _, s := range f.sets {
		errs = append(errs, s.Close())
	}
	return errors.Join(errs...)
}

// definitions are the tools without what runs them.
func (f *toolFiles) definitions() []registry.Tool {
	list := make([]registry.Tool, len(f.tools))
	for i := range f.tools {
		list[i] = f.tools[i].Tool
	}
	return list
}

func newTools() *cobra.Command {
	c := &cobra.Command{
		Use:   "tools",
		Short: "List, check, show or convert tools",
		Long: `List, check, show or convert the tools of files. A file has definitions as OpenAI, Anthropic, Ollama, Gemini or MCP write
them, or is an OpenAPI 3 document, or a list of MCP servers: {"mcpServers": {"files": {"command": "…"}}}.`,
	}
	c.RunE = func(*cobra.Command, []string) error { return errors.New("use tools list, check, show or convert") }
	c.AddCommand(
		toolsCommand("list FILE…", "List the tools", cobra.MinimumNArgs(1), false, listTools),
		toolsCommand("check FILE…", "Warn of what models and servers trip over; then exit with 1", cobra.MinimumNArgs(1), false, checkTools),
		toolsCommand("show NAME FILE…", "Show one tool: its signature and its schema", cobra.MinimumNArgs(2), true, showTool),
		newConvert(),
	)
	return c
}

// toolsCommand is a command about the tools of files. named says that the first argument
// is a name.
func toolsCommand(
	use, short string, args cobra.PositionalArgs, named bool, run func(c *cobra.Command, f *toolFiles, name string, asJSON bool) error,
) *cobra.Command {
	var api apiFlags
	var asJSON bool
	c := &cobra.Command{Use: use, Short: short, Args: args, RunE: func(c *cobra.Command, args []string) error {
		name := ""
		if named {
			name, args = args[0], args[1:]
		}
		o, err := api.options()
		if err != nil {
			return err
		}
		f, err := loadTools(c.Context(), args, o, c.ErrOrStderr())
		if err != nil {
			return err
		}
		return errors.Join(run(c, f, name, asJSON), f.Close())
	}}
	api.add(c)
	c.Flags().BoolVar(&asJSON, "json", false, "write JSON")
	return c
}

// listed is a tool in a list.
type listed struct {
	Name        string         `json:"name"`
	Signature   string         `json:"signature"`
	Description string         `json:"description,omitempty"`
	Hints       dispatch.Hints `json:"hints"`
	Parameters  map[string]any `json:"parameters,omitempty"`
}

// listedTools are the tools for a list. Signatures are those of compiled tools.
func (f *toolFiles) listedTools() []listed {
	r, _ := registry.New(f.definitions()...) // tools with problems have no signature: tools check says why
	out := make([]listed, len(f.tools))
	for i := range f.tools {
		t := &f.tools[i]
		out[i] = listed{Name: t.Name, Description: t.Description, Hints: t.Hints, Parameters: t.Parameters}
		out[i].Hints.Destructive = t.Hints.Destructive || t.RequireMarker
		if known := r.Get(t.Name); known != nil {
			out[i].Signature = known.Signature()
		}
	}
	return out
}

// marks are a tool's hints in a word.
func marks(h dispatch.Hints) string {
	switch {
	case h.Destructive:
		return "destructive"
	case h.ReadOnly:
		return "read-only"
	}
	return ""
}

func listTools(c *cobra.Command, f *toolFiles, _ string, asJSON bool) error {
	list := f.listedTools()
	if asJSON {
		return writeJSON(c.OutOrStdout(), list, "  ")
	}
	w := tabwriter.NewWriter(c.OutOrStdout(), 0, 4, 2, ' ', 0)
	for _, t := range list {
		line, _, _ := strings.Cut(t.Description, "\n")
		fmt.Fprintf(w, "%s\t%s\t%s\n", text.Printable(t.Name), marks(t.Hints), text.Printable(line))
	}
	return w.Flush()
}

func showTool(c *cobra.Command, f *toolFiles, name string, asJSON bool) error {
	list := f.listedTools()
	i := slices.IndexFunc(list, func(t listed) bool { return t.Name == name })
	if i < 0 {
		r, _ := registry.New(f.definitions()...) // for a suggestion
		if near := r.Suggest(name); near != "" {
			return fmt.Errorf("there is no tool %q: did you mean %q?", name, near)
		}
		return fmt.Errorf("there is no tool %q", name)
	}
	t := &list[i]
	if asJSON {
		return writeJSON(c.OutOrStdout(), t, "  ")
	}
	fmt.Fprintln(c.OutOrStdout(), text.Printable(t.Signature))
	if m := marks(t.Hints); m != "" {
		fmt.Fprintln(c.OutOrStdout(), m)
	}
	if t.Description != "" {
		fmt.Fprintln(c.OutOrStdout(), "\n"+text.Printable(t.Description))
	}
	fmt.Fprintln(c.OutOrStdout())
	return writeJSON(c.OutOrStdout(), t.Parameters, "  ")
}

// errFindings sets the exit code: there is something that the check warns of.
var errFindings = fmt.Errorf("the tools have problems: %w", errNoCalls)

func checkTools(c *cobra.Command, f *toolFiles, _ string, asJSON bool) error {
	findings := check.Tools(f.definitions()...)
	if asJSON {
		if findings == nil {
			findings = []check.Finding{}
		}
		if err := writeJSON(c.OutOrStdout(), findings, "  "); err != nil {
			return err
		}
	} else {
		for _, x := range findings {
			fmt.Fprintln(c.OutOrStdout(), text.Printable(x.String()))
		}
	}
	if len(findings) > 0 {
		return errFindings
	}
	return nil
}

func newConvert() *cobra.Command {
	var to string
	c := toolsCommand("convert FILE… --to FORMAT", "Write the tools as a provider takes them, or MCP", cobra.MinimumNArgs(1), false,
		func(c *cobra.Command, f *toolFiles, _ string, _ bool) error {
			data, err := convertTools(f, to)
			if err != nil {
				return err
			}
			return writeJSON(c.OutOrStdout(), data, "  ")
		})
	c.Flags().StringVar(&to, "to", "openai", "`FORMAT`: openai, anthropic, ollama, gemini, another wire format, or mcp")
	return c
}

// mcpTool is a tool as MCP lists it.
type mcpTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	InputSchema json.RawMessage `json:"inputSchema"`
	Output      map[string]any  `json:"outputSchema,omitempty"`
	Annotations map[string]bool `json:"annotations,omitempty"`
}

// convertTools writes tools in a format.
func convertTools(f *toolFiles, to string) (any, error) {
	if to == "mcp" {
		list := []mcpTool{}
		for i := range f.tools {
			t := &f.tools[i]
			m := mcpTool{
				Name: t.Name, Description: t.Description, InputSchema: dispatch.Describe(&t.Tool).Parameters, Output: t.Returns,
				Annotations: map[string]bool{},
			}
			if m.InputSchema == nil {
				m.InputSchema = json.RawMessage(`{"type": "object"}`)
			}
			for k, v := range map[string]bool{
				"readOnlyHint": t.Hints.ReadOnly, "destructiveHint": t.Hints.Destructive || t.RequireMarker, "idempotentHint": t.Hints.Idempotent,
				"openWorldHint": t.Hints.OpenWorld,
			} {
				if v {
					m.Annotations[k] = true
				}
			}
			list = append(list, m)
		}
		return map[string]any{"tools": list}, nil
	}
	format := formatNamed(to)
	if format == nil || !format.CarriesRequest.Tools {
		return nil, fmt.Errorf("--to is %q: it must be openai, anthropic, ollama, gemini, another wire format with tools, or mcp", to)
	}
	r := &adapters.Request{Model: "model", Messages: []adapters.Message{{Role: adapters.RoleUser}}}
	for i := range f.tools {
		r.Tools = append(r.Tools, dispatch.Describe(&f.tools[i].Tool))
	}
	data, err := format.EncodeRequest(r)
	if err != nil {
		return nil, err
	}
	var request struct {
		Tools  json.RawMessage `json:"tools"`
		Config json.RawMessage `json:"toolConfig"`
	}
	if err := json.Unmarshal(data, &request); err != nil {
		return nil, err
	}
	if request.Tools == nil {
		return request.Config, nil
	}
	return request.Tools, nil
}

// formatNamed returns a wire format by its name, or the first one of a short name.
func formatNamed(name string) *adapters.Format {
	name = strings.ReplaceAll(name, "-", "_")
	for _, f := range formats.All() {
		if f.Name == name || slices.Contains(f.ShortNames, name) {
			return f
		}
	}
	return nil
}
