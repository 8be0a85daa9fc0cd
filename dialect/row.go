package dialect

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Body names what stands between a dialect's markers.
type Body string

// The eight bodies.
const (
	BodyJSON      Body = "json"
	BodyNameJSON  Body = "name_json"
	BodyParams    Body = "params"
	BodyKeyValue  Body = "key_value"
	BodyElements  Body = "elements"
	BodyPythonic  Body = "pythonic"
	BodyBraceCall Body = "brace_call"
	BodyLines     Body = "lines"
)

// Bodies returns the bodies, each with what it is in a few words.
func Bodies() []BodyInfo { return slices.Clone(bodies) }

// BodyInfo says what a body is.
type BodyInfo struct {
	Body Body
	What string
}

var bodies = []BodyInfo{
	{BodyJSON, `JSON that holds the name and the arguments: {"name": …, "arguments": {…}}, a list of those, or several`},
	{BodyNameJSON, "a name, then its arguments in JSON"},
	{BodyParams, "one tag per parameter, raw text inside"},
	{BodyKeyValue, "a tag for each key and each value"},
	{BodyElements, "the parameter's name is the tag"},
	{BodyPythonic, "Python call syntax"},
	{BodyBraceCall, "call:name{key:value}"},
	{BodyLines, "labels at the beginnings of lines"},
}

// Row is one way in which models write tool calls: a dialect, as data. It has markers
// around one of the eight bodies. A zero field means that the body's usual form
// holds.
//
// In markers a fullwidth bar also stands for "|", one or two of either, a lower
// block (U+2581) for "_" and space, and ":*" for an optional suffix of letters
// and digits behind a colon. A marker that begins with "^" counts only at the
// beginning of a line.
type Row struct {
	// Name identifies the dialect in results; letters, digits and "_".
	Name string `yaml:"name" json:"name"`
	// Aliases are names that other parsers give it.
	Aliases []string `yaml:"aliases,omitempty" json:"aliases,omitempty"`
	// Models are families known to write it.
	Models []string `yaml:"models,omitempty" json:"models,omitempty"`
	// Source says where the form is known from.
	Source string `yaml:"source,omitempty" json:"source,omitempty"`
	// Open are the markers, any of which opens a call or a section of calls.
	Open []string `yaml:"open,omitempty" json:"open,omitempty"`
	// Close are the markers that may close them.
	Close []string `yaml:"close,omitempty" json:"close,omitempty"`
	// Body is what stands between the markers.
	Body Body `yaml:"body" json:"body"`
	// Trained says that models are trained to emit its opening markers, so that they are
	// as good as a provider's own field for tools that ask for a marker. Markers that
	// begin with "^" are plain words and never count so.
	Trained bool `yaml:"trained,omitempty" json:"trained,omitempty"`
	// Format is what its calls report as their source format; empty means Name.
	Format string `yaml:"format,omitempty" json:"format,omitempty"`
	// Options are the switches of the body.
	Options Options `yaml:"options,omitempty" json:"options,omitzero"`
	// Write is how it is written; a dialect without is only read.
	Write Templates `yaml:"write,omitempty" json:"write,omitzero"`
}

// Place is where in a text a body is read though no marker of its dialect announces
// it, if it names a known tool.
type Place string

// The places.
const (
	// OnLine is the beginning of a line, behind the tool's name or what is left of the
	// dialect's markers when its special tokens were taken out.
	OnLine Place = "line"
	// InFence is a Markdown code fence.
	InFence Place = "fence"
	// AsTag is a tag of a call or of the tool's name.
	AsTag Place = "tag"
	// InList is a list in brackets, or a name in brackets.
	InList Place = "list"
)

var places = []Place{OnLine, InFence, AsTag, InList}

// Options are the switches of a dialect's body. Behind each stand the bodies that it
// is for.
type Options struct {
	// Lead are texts before the name that say nothing (name_json, params).
	Lead []string `yaml:"lead,omitempty" json:"lead,omitempty"`
	// Between are markers that may stand between the name and the arguments
	// (name_json), between the name and the first key (key_value), or between tags
	// (params).
	Between []string `yaml:"between,omitempty" json:"between,omitempty"`
	// ID is the marker behind which the call's id stands (name_json).
	ID string `yaml:"id,omitempty" json:"id,omitempty"`
	// IDFirst says that the id stands before the name, ended by this marker
	// (name_json).
	IDFirst string `yaml:"id_first,omitempty" json:"id_first,omitempty"`
	// NameIsID says that the text that holds the name is the call's id as well
	// (name_json).
	NameIsID bool `yaml:"name_is_id,omitempty" json:"name_is_id,omitempty"`
	// Prefix leads every tag of the body (params, elements).
	Prefix string `yaml:"prefix,omitempty" json:"prefix,omitempty"`
	// CallTags, ParamTags and WrapTags are the words of tags of a call, of a parameter,
	// and of what stands around calls, besides the usual ones: "do" of
	// <do name="f"> (params, elements).
	CallTags  []string `yaml:"call_tags,omitempty" json:"call_tags,omitempty"`
	ParamTags []string `yaml:"param_tags,omitempty" json:"param_tags,omitempty"`
	WrapTags  []string `yaml:"wrap_tags,omitempty" json:"wrap_tags,omitempty"`
	// TagOpen, TagClose and TagEnd are special tokens in the place of "<", "</" and ">"
	// (params).
	TagOpen  string `yaml:"tag_open,omitempty" json:"tag_open,omitempty"`
	TagClose string `yaml:"tag_close,omitempty" json:"tag_close,omitempty"`
	TagEnd   string `yaml:"tag_end,omitempty" json:"tag_end,omitempty"`
	// KeyOpen, KeyClose, ValueOpen and ValueClose are the tags of key_value.
	KeyOpen    []string `yaml:"key_open,omitempty" json:"key_open,omitempty"`
	KeyClose   []string `yaml:"key_close,omitempty" json:"key_close,omitempty"`
	ValueOpen  []string `yaml:"value_open,omitempty" json:"value_open,omitempty"`
	ValueClose []string `yaml:"value_close,omitempty" json:"value_close,omitempty"`
	// TypeOpen and TypeClose stand around a type between a key and its value
	// (key_value).
	TypeOpen  string `yaml:"type_open,omitempty" json:"type_open,omitempty"`
	TypeClose string `yaml:"type_close,omitempty" json:"type_close,omitempty"`
	// Tags are beginnings of a call's own tag by which the dialect is known where its
	// markers are missing (params).
	Tags []string `yaml:"tags,omitempty" json:"tags,omitempty"`
	// Quotes delimit strings in which all is literal (brace_call).
	Quotes []string `yaml:"quotes,omitempty" json:"quotes,omitempty"`
	// FirstWins keeps the first of repeated keys; else the last one counts.
	FirstWins bool `yaml:"first_wins,omitempty" json:"first_wins,omitempty"`
	// Entities decodes &lt;, &gt;, &amp;, &quot; and &#39; in values.
	Entities bool `yaml:"entities,omitempty" json:"entities,omitempty"`
	// WithoutMarker are the places where a known tool's name is the only mark that the
	// dialect needs.
	WithoutMarker []Place `yaml:"without_marker,omitempty" json:"without_marker,omitempty"`
	// Section are opening markers behind which text up to the next call is noise.
	Section []string `yaml:"section,omitempty" json:"section,omitempty"`
	// Label is the word for the call's line, such as "Action" (lines).
	Label string `yaml:"label,omitempty" json:"label,omitempty"`
	// Input is the word for the line of its arguments (lines).
	Input string `yaml:"input,omitempty" json:"input,omitempty"`
	// Stop are words whose line ends the call (lines).
	Stop []string `yaml:"stop,omitempty" json:"stop,omitempty"`
	// ArgLabels are a pair of words for the lines around each argument (lines).
	ArgLabels []string `yaml:"arg_labels,omitempty" json:"arg_labels,omitempty"`
	// ValueQuotes are a pair of delimiters around each value (lines).
	ValueQuotes []string `yaml:"value_quotes,omitempty" json:"value_quotes,omitempty"`
	// Header is the marker that ends a message's header (name_json); the header says
	// by "to=" whom the message is for.
	Header string `yaml:"header,omitempty" json:"header,omitempty"`
	// HeaderReasoning are words of a header that make the message reasoning, HeaderText
	// those that make it text for the user, in which nothing is a call.
	HeaderReasoning []string `yaml:"header_reasoning,omitempty" json:"header_reasoning,omitempty"`
	HeaderText      []string `yaml:"header_text,omitempty" json:"header_text,omitempty"`
	// InReasoning says that a call inside closed reasoning counts.
	InReasoning bool `yaml:"in_reasoning,omitempty" json:"in_reasoning,omitempty"`
	// Hash reads {tool => "f", args => { --key "value" }} (json).
	Hash bool `yaml:"hash,omitempty" json:"hash,omitempty"`
	// Code are names of tools that take code: where one of them is known, code may
	// stand behind the marker in the place of a call.
	Code []string `yaml:"code,omitempty" json:"code,omitempty"`
	// None are names that mean that no tool is called.
	None []string `yaml:"none,omitempty" json:"none,omitempty"`
}

// Error says what is wrong with a row of a [Set].
type Error struct {
	// Dialect is the name of the dialect; empty for other rows.
	Dialect string
	// Field is the field as YAML names it.
	Field string
	// Line is the line in the file, 0 where the row came from code.
	Line int
	Err  error
}

func (e *Error) Error() string {
	at := ""
	if e.Line > 0 {
		at = fmt.Sprintf("line %d: ", e.Line)
	}
	if e.Dialect != "" {
		at += fmt.Sprintf("dialect %q: ", e.Dialect)
	}
	return fmt.Sprintf("%sfield %q: %v", at, e.Field, e.Err)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Causes of an [Error].
var (
	ErrBadName     = errors.New("must be lower case letters, digits and underscores")
	ErrNoMarker    = errors.New("needs at least one opening marker")
	ErrShortMarker = errors.New("a marker must have at least two bytes, and no more than 64")
	ErrBadBody     = errors.New("must be one of the eight bodies")
	ErrTwice       = errors.New("stands for two dialects")
)

// maxMarkerBytes is how long a marker may be.
const maxMarkerBytes = 64

// Check reports what is wrong with a dialect, as an [*Error].
func (d *Row) Check() error {
	fail := func(field string, err error) error { return &Error{Dialect: d.Name, Field: field, Err: err} }
	o := &d.Options
	if d.Name == "" || strings.Trim(d.Name, "abcdefghijklmnopqrstuvwxyz0123456789_") != "" {
		return fail("name", ErrBadName)
	}
	if !slices.ContainsFunc(bodies, func(b BodyInfo) bool { return b.Body == d.Body }) {
		return fail("body", fmt.Errorf("%w, not %q", ErrBadBody, d.Body))
	}
	if len(d.Open) == 0 && o.Label == "" && len(o.WithoutMarker) == 0 {
		return fail("open", ErrNoMarker)
	}
	for _, p := range o.WithoutMarker {
		if !slices.Contains(places, p) {
			return fail("options.without_marker", fmt.Errorf("must be line, fence, tag or list, not %q", p))
		}
	}
	for field, pair := range map[string][]string{"options.value_quotes": o.ValueQuotes, "options.arg_labels": o.ArgLabels} {
		if n := len(pair); n != 0 && n != 2 {
			return fail(field, errors.New("must be a pair"))
		}
	}
	for field, markers := range map[string][]string{"open": d.Open, "close": d.Close, "options.between": o.Between} {
		if err := checkMarkers(field, markers); err != nil {
			return fail(field, errors.Unwrap(err))
		}
	}
	if len(o.KeyOpen) > 0 && (len(o.ValueOpen) == 0 || len(o.ValueClose) == 0) {
		return fail("options.value_open", errors.New("own tags for keys need own tags for values"))
	}
	if (o.TagOpen == "") != (o.TagEnd == "") || (o.TagOpen == "") != (o.TagClose == "") {
		return fail("options.tag_open", errors.New("tag_open, tag_close and tag_end must stand together"))
	}
	return nil
}

func checkMarkers(field string, markers []string) error {
	for _, m := range markers {
		if n := len(strings.TrimPrefix(m, "^")); n < 2 || n > maxMarkerBytes {
			return &Error{Field: field, Err: fmt.Errorf("%w: %q", ErrShortMarker, m)}
		}
	}
	return nil
}
