package interceptor

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"slices"

	"github.com/callwright/callwright/adapters"
)

// NOTE: Servers refuse a whole request for one tool whose name they do not like. Such a
// name is told to the server as another one: in the tools, the choice and the history. The
// client gets its own back with each call, in [answer.beginCall].

// plainName matches the names that every server takes (OpenAI's API reference, "name" of a
// function).
var plainName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// notPlain matches what no plain name has.
var notPlain = regexp.MustCompile(`[^A-Za-z0-9_-]+`)

// mendedNames is what the header says of names that were mapped.
const mendedNames = "tool_names"

// plain is a name that every server takes: the same each time, and another one for each
// name.
func plain(name string) string {
	if plainName.MatchString(name) || name == "" {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	short := notPlain.ReplaceAllString(name, "_")
	return short[:min(len(short), 51)] + "_" + hex.EncodeToString(sum[:6])
}

// mapNames maps the names of tools to such that every server takes.
func (x *exchange) mapNames() {
	odd := func(t adapters.Tool) bool { return !t.Other && plain(t.Name) != t.Name }
	if !slices.ContainsFunc(x.req.Tools, odd) {
		return
	}
	x.names = map[string]string{}
	req := *x.req
	req.Tools = slices.Clone(req.Tools)
	for i := range req.Tools {
		if t := &req.Tools[i]; odd(*t) {
			x.names[plain(t.Name)] = t.Name
			t.Name = plain(t.Name)
		}
	}
	rename := func(name *string) {
		if mapped := plain(*name); x.names[mapped] == *name {
			*name = mapped
		}
	}
	rename(&req.ToolChoice.Name)
	req.Messages = slices.Clone(req.Messages)
	for i := range req.Messages {
		m := &req.Messages[i]
		m.Blocks = slices.Clone(m.Blocks)
		for j := range m.Blocks {
			if b := &m.Blocks[j]; b.Call != nil {
				c := *b.Call
				rename(&c.Name)
				b.Call = &c
			} else if b.Result != nil {
				r := *b.Result
				rename(&r.Name)
				b.Result = &r
			}
		}
	}
	x.req, x.changed = &req, true
	x.w.Header().Set(mendedHeader, mendedNames)
}

// ownName is the client's name of a tool.
func (x *exchange) ownName(name string) string {
	if own, ok := x.names[name]; ok {
		return own
	}
	return name
}
