package registry

import (
	"errors"
	"regexp"
	"regexp/syntax"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Limits of the patterns of a tool's schema: of one, in bytes and instructions, and of all
// of a tool, in instructions.
const (
	maxPatternBytes  = 1 << 10
	maxPatternInstrs = 10_000
	maxToolInstrs    = 20_000
)

// instructions returns about how many instructions a pattern's program has, never fewer;
// ok is false if it is no RE2 pattern or too large. It does not build the program.
func instructions(pattern string) (n int, ok bool) {
	if len(pattern) > maxPatternBytes {
		return 0, false
	}
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return 0, false
	}
	n = programSize(re) + 4
	return n, n <= maxPatternInstrs
}

// programSize is how many instructions an expression compiles to, at most. The parser
// bounds how deep expressions nest.
func programSize(re *syntax.Regexp) int {
	sub := 0
	for _, s := range re.Sub {
		if sub += programSize(s); sub > maxPatternInstrs {
			return sub
		}
	}
	switch re.Op {
	case syntax.OpLiteral:
		return max(len(re.Rune), 1)
	case syntax.OpCharClass:
		return 1 + len(re.Rune)/8 // its ranges take memory too
	case syntax.OpRepeat:
		if re.Max < 0 {
			return (sub+1)*max(re.Min, 1) + 1
		}
		return (sub+1)*max(re.Max, 1) + 1
	case syntax.OpCapture:
		return sub + 2
	}
	return sub + len(re.Sub) + 1
}

// pattern is a pattern of a schema. It is compiled when it is first matched.
type pattern struct {
	text    string
	size    int
	compile func() *regexp.Regexp
}

// String returns the pattern's text.
func (p *pattern) String() string { return p.text }

// Instructions is about how many instructions the pattern's program has.
func (p *pattern) Instructions() int { return p.size }

// MatchString reports whether a text has a match of the pattern.
func (p *pattern) MatchString(s string) bool { return p.compile().MatchString(s) }

// errPattern says that a pattern cannot be checked in linear time and bounded space.
var errPattern = errors.New("not an RE2 pattern within the limits")

// patterns makes the patterns of one schema, each once.
type patterns struct {
	mu    sync.Mutex
	known map[string]*pattern
}

func newPatterns() *patterns { return &patterns{known: make(map[string]*pattern)} }

// compile is a [jsonschema.RegexpEngine]. It is asked for patterns only that a schema's
// cleaner let pass, or that stand where a cleaner does not look.
func (p *patterns) compile(text string) (jsonschema.Regexp, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if re := p.known[text]; re != nil {
		return re, nil
	}
	n, ok := instructions(text)
	if !ok {
		return nil, errPattern
	}
	re := &pattern{text: text, size: n, compile: sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })}
	p.known[text] = re
	return re, nil
}

// maxRegexpBytes is how long a value may be that is checked for being a regular expression.
const maxRegexpBytes = 64 << 10

// regexFormat is the format "regex": the value is parsed, never compiled.
var regexFormat = &jsonschema.Format{Name: "regex", Validate: func(v any) error {
	if s, ok := v.(string); ok && len(s) <= maxRegexpBytes {
		_, err := syntax.Parse(s, syntax.Perl)
		return err
	}
	return nil
}}
