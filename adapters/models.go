package adapters

import (
	_ "embed" // models.yaml
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/callwright/callwright/dialect"
)

// ModelCapabilities are the known capabilities of a model. The zero value stands for an
// unknown model.
type ModelCapabilities struct {
	SupportsNativeToolCalls  bool
	SupportsStructuredOutput bool
	// SupportsToolsWithStructuredOutput says that a request may have both tools and a
	// schema of the answer.
	SupportsToolsWithStructuredOutput bool
	SupportsVision                    bool
	// MaxOutputTokens is the provider's maximum; 0 if it is not known.
	MaxOutputTokens int64
	// KnownFormats are the names of the dialects that the model writes, the most likely
	// first.
	KnownFormats []string
	KnownIssues  []KnownIssue
}

// KnownIssue is a known error of a model, with its fix.
type KnownIssue struct {
	// Issue describes the error.
	Issue string
	// Pattern (RE2) matches the error in the text. Replacement replaces it; $1 and so on
	// stand for the pattern's groups.
	Pattern     *regexp.Regexp
	Replacement string
	// Frequency is the share of the model's replies that have it, from 0 to 1, as far as it
	// is known.
	Frequency float64
}

// Fix returns a text with the issue fixed. A text that is longer than [MaxFixBytes], or
// would more than double, is returned as it is.
func (k *KnownIssue) Fix(text string) string {
	if k.Pattern == nil || len(text) > MaxFixBytes || !k.Pattern.MatchString(text) {
		return text
	}
	fixed := k.Pattern.ReplaceAllString(text, k.Replacement)
	if len(fixed) > 2*len(text)+1024 {
		return text
	}
	return fixed
}

// Limits of known issues.
const (
	MaxFixBytes     = 1 << 20
	maxPatternBytes = 1 << 10
	maxIssues       = 64 // of one row
)

// Models are the capabilities of models, as rows by provider and model.
type Models struct{ rows []modelRow }

// modelRow is one row of the file. What it leaves out the rows behind it may say.
type modelRow struct {
	Provider                  string     `yaml:"provider"`
	Model                     string     `yaml:"model"`
	NativeTools               *bool      `yaml:"native_tools"`
	StructuredOutput          *bool      `yaml:"structured_output"`
	ToolsWithStructuredOutput *bool      `yaml:"tools_with_structured_output"`
	Vision                    *bool      `yaml:"vision"`
	MaxOutputTokens           *int64     `yaml:"max_output_tokens"`
	Dialects                  []string   `yaml:"dialects"`
	KnownIssues               []issueRow `yaml:"known_issues"`
	issues                    []KnownIssue
}

type issueRow struct {
	Issue       string  `yaml:"issue"`
	Pattern     string  `yaml:"pattern"`
	Replacement string  `yaml:"replacement"`
	Frequency   float64 `yaml:"frequency"`
}

//go:embed models.yaml
var builtinModels []byte

// DefaultModels returns the built-in rows.
func DefaultModels() *Models {
	m, err := ParseModels(builtinModels)
	if err != nil {
		panic("models.yaml: " + err.Error())
	}
	return m
}

// ParseModels reads rows from YAML, as in adapters/models.yaml. Unknown keys, patterns that
// are not RE2, and values out of range are errors with the line.
func ParseModels(data []byte) (*Models, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return nil, fmt.Errorf("not YAML: %w", err)
	}
	m := &Models{}
	if len(doc.Content) == 0 {
		return m, nil
	}
	if doc.Content[0].Kind != yaml.SequenceNode {
		return nil, fmt.Errorf("line %d: must be a list of models", doc.Content[0].Line)
	}
	for _, n := range doc.Content[0].Content {
		row, err := parseModel(n)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n.Line, err)
		}
		m.rows = append(m.rows, row)
	}
	return m, nil
}

// modelKeys are the keys of a row, and issueKeys those of an issue.
var (
	modelKeys = []string{
		"provider", "model", "native_tools", "structured_output", "tools_with_structured_output", "vision", "max_output_tokens", "dialects",
		"known_issues",
	}
	issueKeys = []string{"issue", "pattern", "replacement", "frequency"}
)

func parseModel(n *yaml.Node) (row modelRow, err error) {
	if err := onlyKeys(n, modelKeys); err != nil {
		return row, err
	}
	if err := n.Decode(&row); err != nil {
		return row, err
	}
	if row.Provider == "" && row.Model == "" {
		return row, errors.New(`needs "provider" or "model"`)
	}
	if row.MaxOutputTokens != nil && *row.MaxOutputTokens < 0 {
		return row, fmt.Errorf("max_output_tokens is %d, must be 0 or more", *row.MaxOutputTokens)
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == "known_issues" {
			for _, issue := range n.Content[i+1].Content {
				if err := onlyKeys(issue, issueKeys); err != nil {
					return row, err
				}
			}
		}
	}
	if len(row.KnownIssues) > maxIssues {
		return row, fmt.Errorf("%d known issues, at most %d", len(row.KnownIssues), maxIssues)
	}
	for _, r := range row.KnownIssues {
		k := KnownIssue{Issue: r.Issue, Replacement: r.Replacement, Frequency: r.Frequency}
		if len(r.Pattern) > maxPatternBytes {
			return row, fmt.Errorf("a pattern of %d bytes, at most %d", len(r.Pattern), maxPatternBytes)
		}
		if r.Pattern != "" {
			if k.Pattern, err = regexp.Compile(r.Pattern); err != nil {
				return row, fmt.Errorf("known issue %q: %w", r.Issue, err)
			}
		}
		if r.Frequency < 0 || r.Frequency > 1 {
			return row, fmt.Errorf("known issue %q: frequency is %g, must be from 0 to 1", r.Issue, r.Frequency)
		}
		row.issues = append(row.issues, k)
	}
	return row, nil
}

func onlyKeys(n *yaml.Node, keys []string) error {
	if n.Kind != yaml.MappingNode {
		return fmt.Errorf("line %d: must be an object", n.Line)
	}
	for i := 0; i < len(n.Content); i += 2 {
		if k := n.Content[i]; !slices.Contains(keys, k.Value) {
			return fmt.Errorf("line %d: unknown key %q, must be one of %q", k.Line, k.Value, keys)
		}
	}
	return nil
}

// With returns the rows with others before them, which take precedence.
func (m *Models) With(first *Models) *Models {
	return &Models{rows: slices.Concat(first.rows, m.rows)}
}

// Capabilities returns the capabilities of a provider's model: of each property, that of
// the first row that matches and has it. Provider and model may be empty.
func (m *Models) Capabilities(provider, model string) ModelCapabilities {
	var native, structured, both, vision *bool
	var limit *int64
	var c ModelCapabilities
	for i := range m.rows {
		r := &m.rows[i]
		if !Matches(r.Provider, provider) || !Matches(r.Model, model) {
			continue
		}
		setOnce(&native, r.NativeTools)
		setOnce(&structured, r.StructuredOutput)
		setOnce(&both, r.ToolsWithStructuredOutput)
		setOnce(&vision, r.Vision)
		setOnce(&limit, r.MaxOutputTokens)
		if c.KnownFormats == nil {
			c.KnownFormats = slices.Clone(r.Dialects)
		}
		c.KnownIssues = append(c.KnownIssues, r.issues...)
	}
	c.SupportsNativeToolCalls, c.SupportsStructuredOutput = native != nil && *native, structured != nil && *structured
	c.SupportsToolsWithStructuredOutput, c.SupportsVision = both != nil && *both, vision != nil && *vision
	if limit != nil {
		c.MaxOutputTokens = *limit
	}
	return c
}

// setOnce sets a value unless it is set.
func setOnce[T any](into **T, v *T) {
	if *into == nil {
		*into = v
	}
}

// Matches reports whether a name matches a pattern, ignoring case: "*" stands for any
// text, and an empty pattern matches all.
func Matches(pattern, name string) bool {
	if pattern == "" {
		return true
	}
	parts := strings.Split(strings.ToLower(pattern), "*")
	name = strings.ToLower(name)
	if len(parts) == 1 {
		return parts[0] == name
	}
	rest, ok := strings.CutPrefix(name, parts[0])
	if !ok {
		return false
	}
	last := len(parts) - 1
	for _, p := range parts[1:last] {
		i := strings.Index(rest, p)
		if i < 0 {
			return false
		}
		rest = rest[i+len(p):]
	}
	return strings.HasSuffix(rest, parts[last])
}

// Writer returns a writer for the model's own dialect, nil if none is known.
func (c *ModelCapabilities) Writer() Writer {
	for _, name := range c.KnownFormats {
		if d, ok := dialect.Lookup(name); ok {
			if w, ok := d.Writer(); ok {
				return w
			}
		}
	}
	return nil
}

// Fit returns a request that the model supports, and describes the changes: MaxTokens is
// limited to the model's maximum, and set to it if it is missing; Response is removed if the
// model does not support it, or not together with tools.
func (c *ModelCapabilities) Fit(r *Request) (fitted *Request, changes []string) {
	out := *r
	switch {
	case c.MaxOutputTokens > 0 && r.MaxTokens > c.MaxOutputTokens:
		changes = append(changes, fmt.Sprintf("max_tokens: %d is more than the model's %d", r.MaxTokens, c.MaxOutputTokens))
		out.MaxTokens = c.MaxOutputTokens
	case c.MaxOutputTokens > 0 && r.MaxTokens == 0:
		changes = append(changes, fmt.Sprintf("max_tokens: the model's %d", c.MaxOutputTokens))
		out.MaxTokens = c.MaxOutputTokens
	}
	if r.Response != nil && c.excludes(r) {
		changes = append(changes, "response_format: left out, since the model cannot do it with what else is asked")
		out.Response = nil
	}
	return &out, changes
}

// excludes reports whether the model cannot hold its answer to a schema in a
// request.
func (c *ModelCapabilities) excludes(r *Request) bool {
	return !c.SupportsStructuredOutput || len(r.Tools) > 0 && r.ToolChoice.Mode != ToolNone && !c.SupportsToolsWithStructuredOutput
}
