package corpus

import (
	"regexp"
	"strings"
)

var (
	separator  = regexp.MustCompile(`, "`)
	member     = regexp.MustCompile(`"([a-zA-Z_]+)": ?`)
	closer     = regexp.MustCompile(`[}\]]`)
	bareNumber = regexp.MustCompile(`: ?(\d+)([,}])`)
)

// mutation is something that goes wrong when models write JSON.
type mutation struct {
	name string
	// apply makes it of a text, and reports whether it could. What is meant stays the
	// same.
	apply func(g *generator, text string) (string, bool)
}

// mutations are drawn from in this order: a seed always makes the same sample.
var mutations = []mutation{
	{"missing_comma", func(g *generator, s string) (string, bool) { return g.replaceOne(s, separator, ` "`) }},
	{"unquoted_keys", func(_ *generator, s string) (string, bool) {
		return member.ReplaceAllString(s, "$1: "), member.MatchString(s)
	}},
	{"trailing_comma", func(g *generator, s string) (string, bool) { return g.replaceOne(s, closer, ",$0") }},
	{"single_quotes", func(_ *generator, s string) (string, bool) {
		if strings.ContainsAny(s, `'\`) {
			return s, false
		}
		return strings.ReplaceAll(s, `"`, "'"), strings.Contains(s, `"`)
	}},
	{"missing_close", func(g *generator, s string) (string, bool) { return g.cutLast(s, "}") }},
	{"missing_marker", func(g *generator, s string) (string, bool) { return g.cutLast(s, ">") }},
	{"doubled_close", func(g *generator, s string) (string, bool) { return g.replaceOne(s, closer, "$0$0") }},
	{"string_numbers", func(g *generator, s string) (string, bool) { return g.replaceOne(s, bareNumber, `: "$1"$2`) }},
	{"raw_newlines", func(_ *generator, s string) (string, bool) {
		return strings.ReplaceAll(s, `\n`, "\n"), strings.Contains(s, `\n`)
	}},
	{"inner_quotes", func(_ *generator, s string) (string, bool) {
		return strings.ReplaceAll(s, `\"`, `"`), strings.Contains(s, `\"`)
	}},
	{"python_literals", func(_ *generator, s string) (string, bool) {
		python := strings.NewReplacer(": true", ": True", ":true", ":True", ":false", ":False").Replace(s)
		return python, strings.Contains(s, "true") || strings.Contains(s, "false")
	}},
	{"comment", func(g *generator, s string) (string, bool) { return g.replaceOne(s, separator, ", // note\n\"") }},
	{"dropped_quote", func(g *generator, s string) (string, bool) { return g.dropOne(s, '"') }},
	{"dropped_colon", func(g *generator, s string) (string, bool) { return g.dropOne(s, ':') }},
}

// mutate makes one of the mutations of a case.
func (g *generator) mutate(c *Case) bool {
	m := mutations[g.r.IntN(len(mutations))]
	text, ok := m.apply(g, c.Text)
	if !ok || text == c.Text {
		return false
	}
	c.Text = text
	c.Tags = append(c.Tags, m.name)
	return true
}

// replaceOne replaces one place that a pattern finds.
func (g *generator) replaceOne(s string, form *regexp.Regexp, with string) (string, bool) {
	all := form.FindAllStringSubmatchIndex(s, -1)
	if len(all) == 0 {
		return s, false
	}
	m := all[g.r.IntN(len(all))]
	return s[:m[0]] + string(form.ExpandString(nil, with, s, m)) + s[m[1]:], true
}

func (g *generator) dropOne(s string, b byte) (string, bool) {
	n := strings.Count(s, string(b))
	if n == 0 {
		return s, false
	}
	k := g.r.IntN(n)
	for i := range len(s) {
		if s[i] == b {
			if k == 0 {
				return s[:i] + s[i+1:], true
			}
			k--
		}
	}
	return s, false
}

func (g *generator) cutLast(s, what string) (string, bool) {
	i := strings.LastIndex(s, what)
	if i < 0 {
		return s, false
	}
	return s[:i] + s[i+len(what):], true
}
