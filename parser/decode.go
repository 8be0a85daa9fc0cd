package parser

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/callwright/callwright/call"
	"github.com/callwright/callwright/internal/lenient"
	"github.com/callwright/callwright/internal/repair"
	"github.com/callwright/callwright/internal/scan"
	"github.com/callwright/callwright/registry"
	"github.com/callwright/callwright/validator"
)

// ErrNoJSON says that a text holds no JSON object or array.
var ErrNoJSON = errors.New("no JSON found in output")

// Decoded is the JSON that a text holds.
type Decoded struct {
	// Content is the value as canonical JSON: without white space, keys in order,
	// numbers with the digits that the text has.
	Content string `json:"content"`
	// StructuredData is the value: a map[string]any or []any, as decoded JSON with
	// json.Number, or a scalar that the schema wants.
	StructuredData any `json:"structured_data"`
	// JSONRepaired says that the text had to be repaired to be read.
	JSONRepaired bool `json:"json_repaired"`
	// JSONTruncated says that the text ended inside the value: it is valid, and
	// something is missing.
	JSONTruncated bool       `json:"json_truncated"`
	Validation    Validation `json:"validation"`
	// Coercions and Defaults are what was changed and filled in to fit the schema.
	Coercions []validator.Coercion `json:"coercions,omitempty"`
	Defaults  []string             `json:"defaults,omitempty"`
	// Warnings say what of the schema was not taken as it is, as lines "code: text".
	Warnings []string `json:"warnings,omitempty"`
}

// Validation says whether a value fits its schema; without one every value does.
type Validation struct {
	Success bool     `json:"success"`
	Errors  []string `json:"errors,omitempty"`
}

// DecodeOptions say which JSON in a text is wanted. The zero value takes any object or
// array.
type DecodeOptions struct {
	// Schema is the JSON Schema that the value should fit, as decoded JSON; nil if
	// there is none.
	Schema map[string]any
	// Keys are keys of which an object should have at least one; others are taken only
	// if there is none such.
	Keys []string
	// NoRepairs takes only JSON that needs no repair.
	NoRepairs bool
	// Validation says how the value may be changed to fit the schema.
	Validation validator.Options
}

// Decode finds the JSON in a text that fits T, and decodes it. Members are matched
// in their exact case. See [DecodeSchema] for which JSON it takes and for the errors; the
// schema is that of T unless the options have one. Of several options the first counts.
func Decode[T any](ctx context.Context, text string, options ...DecodeOptions) (T, *Decoded, error) {
	var out T
	var o DecodeOptions
	if len(options) > 0 {
		o = options[0]
	}
	if o.Schema == nil {
		o.Schema = schemaOf[T]()
	}
	d, err := DecodeSchema(ctx, text, o)
	if err != nil {
		return out, d, err
	}
	if err := jsonv2.Unmarshal([]byte(d.Content), &out); err != nil {
		return out, d, fmt.Errorf("the JSON does not fit %v: %w", reflect.TypeFor[T](), err)
	}
	return out, d, nil
}

// schemaOf returns the schema of a Go type, nil if it has none. Members that it
// does not name are allowed.
func schemaOf[T any]() map[string]any {
	s, err := jsonschema.For[T](&jsonschema.ForOptions{IgnoreInvalidTypes: true})
	if err != nil {
		return nil
	}
	data, err := json.Marshal(s)
	if err != nil {
		return nil
	}
	m, err := decodeSchema(data)
	if err != nil {
		return nil
	}
	allowMore(m)
	return m
}

// decodeSchema decodes a schema, its numbers with their digits.
func decodeSchema(data []byte) (map[string]any, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var m map[string]any
	err := dec.Decode(&m)
	return m, err
}

func allowMore(v any) {
	switch v := v.(type) {
	case map[string]any:
		if v["additionalProperties"] == false {
			delete(v, "additionalProperties")
		}
		for _, e := range v {
			allowMore(e)
		}
	case []any:
		for _, e := range v {
			allowMore(e)
		}
	}
}

// DecodeSchema finds the JSON that fits a schema in a text: the first candidate that fits
// as it stands, else the first that fits after coercion, else the first that can be read,
// with Validation saying what is wrong.
//
// Candidates are the whole text, then the fences, the last one first, then the prose.
// Reasoning is searched only if nothing else has JSON. Where the schema wants a list and
// no candidate fits, all of them together are one. Where it wants a number, a boolean,
// null or one of listed values, the whole text may be that. Without a schema a blank text
// is an empty object.
//
// The text may have [DefaultMaxTextBytes]; the error is [ErrTextTooLarge], [ErrNoJSON]
// with the beginning of the text, that of the context, or that of a schema that cannot
// be used.
func DecodeSchema(ctx context.Context, text string, o DecodeOptions) (*Decoded, error) {
	d, err := NewDecoder(o)
	if err != nil {
		return nil, err
	}
	return d.Decode(ctx, text)
}

// Decoder finds JSON in texts, with a schema that is compiled once. It is safe for
// concurrent use.
type Decoder struct {
	o      DecodeOptions
	schema *registry.Tool // nil if there is none
}

// NewDecoder returns a decoder. The error is that of a schema that cannot be used.
func NewDecoder(o DecodeOptions) (*Decoder, error) {
	d := &Decoder{o: o}
	if o.Schema != nil {
		var err error
		if d.schema, err = compileSchema(o.Schema); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// Decode finds the JSON in a text; see [DecodeSchema].
func (x *Decoder) Decode(ctx context.Context, text string) (*Decoded, error) {
	if strings.TrimSpace(text) == "" && x.schema == nil {
		d := &Decoded{}
		d.take(ctx, nil, map[string]any{}, x.o)
		return d, nil
	}
	if len(text) > DefaultMaxTextBytes {
		return nil, fmt.Errorf("%w: %d bytes, at most %d", ErrTextTooLarge, len(text), DefaultMaxTextBytes)
	}
	candidates, err := valuesIn(ctx, text, x.o)
	if err != nil {
		return nil, err
	}
	if len(candidates) == 0 {
		if d := x.scalar(ctx, text); d != nil {
			return d, nil
		}
		head := strings.ToValidUTF8(text[:min(len(text), 200)], "")
		return nil, fmt.Errorf("%w: %q", ErrNoJSON, head)
	}
	var fitting, first *Decoded
	for _, c := range candidates {
		d := &Decoded{JSONRepaired: c.repaired, JSONTruncated: c.truncated}
		d.take(ctx, x.schema, c.value, x.o)
		switch {
		case d.Validation.Success && len(d.Coercions) == 0 && !d.JSONTruncated:
			return d, nil
		case d.Validation.Success && fitting == nil:
			fitting = d
		case first == nil:
			first = d
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	if d := x.together(ctx, candidates); d != nil {
		return d, nil
	}
	if fitting != nil {
		return fitting, nil
	}
	return first, nil
}

// together takes several candidates for the items of one list, if the schema wants that.
func (x *Decoder) together(ctx context.Context, candidates []found) *Decoded {
	if x.schema == nil || len(candidates) < 2 {
		return nil
	}
	candidates = slices.Clone(candidates)
	slices.SortStableFunc(candidates, func(a, b found) int { return a.start - b.start })
	d := &Decoded{}
	list := make([]any, len(candidates))
	for i, c := range candidates {
		if c.truncated {
			return nil
		}
		list[i] = c.value
		d.JSONRepaired = d.JSONRepaired || c.repaired
	}
	if d.take(ctx, x.schema, list, x.o); d.Validation.Success && len(d.Coercions) == 0 {
		return d
	}
	return nil
}

// scalar takes a text for the scalar that the schema wants: not for any string.
func (x *Decoder) scalar(ctx context.Context, text string) *Decoded {
	trimmed := strings.TrimSpace(text)
	if x.schema == nil || trimmed == "" || len(trimmed) > maxScalarBytes || x.o.NoRepairs && !json.Valid([]byte(trimmed)) {
		return nil
	}
	d := &Decoded{JSONRepaired: !json.Valid([]byte(trimmed))}
	d.take(ctx, x.schema, lenient.Text(trimmed), x.o)
	_, isString := d.StructuredData.(string)
	if !d.Validation.Success || isString && x.o.Schema["enum"] == nil && x.o.Schema["const"] == nil {
		return nil
	}
	return d
}

// maxScalarBytes bounds a text that may be a scalar.
const maxScalarBytes = 1 << 10

// take validates a value and writes it.
func (d *Decoded) take(ctx context.Context, tool *registry.Tool, value any, o DecodeOptions) {
	d.Validation.Success = true
	if tool != nil {
		var r validator.Result
		value, r = validator.ValidateValue(ctx, tool, value, o.Validation)
		d.Coercions, d.Defaults, d.Warnings = r.Coercions, r.Defaults, r.Warnings
		for i := range r.Errors {
			d.Validation.Success = false
			d.Validation.Errors = append(d.Validation.Errors, r.Errors[i].Error())
		}
	}
	d.StructuredData, d.Content = value, encode(value)
}

// found is one value that a text holds.
type found struct {
	value               any
	repaired, truncated bool
	rank, start         int
}

// valuesIn returns the values of a text, the likeliest first.
func valuesIn(ctx context.Context, text string, o DecodeOptions) ([]found, error) {
	check := ctx.Err
	all, reasoning := scan.Values(text, scan.Options{Table: builtin, Check: check})
	values := usable(all, o)
	if len(values) == 0 && strings.TrimSpace(reasoning) != "" {
		inner, _ := scan.Values(reasoning, scan.Options{Table: builtin, Check: check})
		values = usable(inner, o)
	}
	if len(values) == 0 && !o.NoRepairs {
		if a, err := repair.JSON(text); err == nil {
			values = append(values, found{value: a.Value, repaired: len(a.Fixes) > 0})
		}
	}
	return values, ctx.Err()
}

// usable sorts candidates by where they stand, and reads those that are broken.
func usable(all []*scan.Candidate, o DecodeOptions) []found {
	var out []found
	all = all[:min(len(all), DefaultMaxCandidates)]
	repairs := 0
	for i := range all {
		c := all[i]
		f := found{value: c.Value, repaired: c.Fixes.Any(), truncated: c.Truncated, start: c.Start}
		if c.Named {
			f.value = c.Arguments
		}
		if c.Err != nil {
			if repairs++; o.NoRepairs || repairs > DefaultMaxRepairAttempts {
				continue
			}
			a, err := repair.JSON(c.Raw)
			if err != nil {
				continue
			}
			f.value, f.repaired = a.Value, true
		}
		if o.NoRepairs && f.repaired {
			continue
		}
		switch {
		case c.Method == call.MethodFullJSON && len(all) == 1:
			f.rank = -1
		case c.Evidence.Fence != "":
			f.rank = len(all) - i // the last fence first
		default:
			f.rank = len(all) + 1 + i
		}
		if f.truncated {
			f.rank += 4 * len(all)
		}
		switch v := f.value.(type) {
		case map[string]any:
			if len(o.Keys) > 0 && !slices.ContainsFunc(o.Keys, func(k string) bool { _, ok := v[k]; return ok }) {
				f.rank += 8 * len(all)
			}
		case []any:
			if len(o.Keys) > 0 {
				f.rank += 8 * len(all)
			}
		default:
			continue
		}
		out = append(out, f)
	}
	slices.SortStableFunc(out, func(a, b found) int { return a.rank - b.rank })
	return out
}

// compileSchema compiles a schema behind the registry's guard, as that of a tool, whose
// validation and coercion then serve.
func compileSchema(schema map[string]any) (*registry.Tool, error) {
	if schema["$schema"] == nil { // a schema, not a tool's parameters by name
		schema = maps.Clone(schema)
		schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	}
	r, err := registry.NewWith(registry.Options{Strict: true}, registry.Tool{Name: "schema", Parameters: schema})
	if err != nil {
		return nil, fmt.Errorf("the schema cannot be used: %w", err)
	}
	return r.Get("schema"), nil
}
