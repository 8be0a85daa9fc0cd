package interceptor

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/internal/text"
	"github.com/callwright/callwright/internal/wire"
)

// NOTE: Servers refuse requests that others take: for roles that do not alternate, for
// content that is a list, for schemas that their grammar does not know. Nothing is changed
// before a server says so. Then the request is written as it wants it and sent again, and
// for five minutes all requests for the model are written so.

// need is a set of what a server wants of a request.
type need uint8

const (
	needTurns   need = 1 << iota // users and assistants take turns, one system message stands before them
	needNoRole                   // there is no system message
	needStrings                  // content is a string
	needSchemas                  // schemas of tools have none but the plainest keywords
)

// needs are the needs by how servers speak of them, in lower case.
var needs = []struct {
	need    need
	name    string // in the header
	phrases []string
}{
	{needNoRole, "system_role", []string{
		"system role not supported", "system role is not supported", "only user and assistant roles are supported",
	}},
	{needTurns, "roles", []string{
		"roles must alternate", "must alternate between", "system message must be at the beginning", "system message must be the first",
		"expected last role", "after the optional system message",
	}},
	{needStrings, "content", []string{
		"content must be a string", "content should be a valid string", "input should be a valid string",
		"invalid type: sequence, expected a string", "cannot unmarshal array into go struct field",
		"can only concatenate str (not \"list\") to str",
	}},
	{needSchemas, "schemas", []string{
		"failed to parse grammar", "failed to initialize samplers", "json schema conversion failed", "unrecognized schema", "grammar error",
		"unsupported json schema", "invalid schema for function", "invalid grammar", "invalid json payload received. unknown name",
	}},
}

// adapt asks again where the server refused how a request is written. It returns the first
// response if that is not so.
func (x *exchange) adapt(ctx context.Context, r *http.Response) *http.Response {
	for range needs {
		if r.StatusCode < 400 {
			return r
		}
		said := strings.ToLower(string(peek(r)))
		known, wanted := x.s.learned.needsOf(x.req.Model), need(0)
		for _, n := range needs {
			if n.need == needSchemas && len(x.req.Tools) == 0 {
				continue
			}
			if slices.ContainsFunc(n.phrases, func(p string) bool { return strings.Contains(said, p) }) {
				wanted |= n.need
			}
		}
		if wanted&^known == 0 {
			return r
		}
		x.s.learned.noteNeeds(x.req.Model, wanted|known)
		x.h.log.Info(
			"the model server refuses how the request is written: it is written in another way", "model", text.Clip(x.req.Model, maxModelName),
		)
		next, err := x.ask(ctx, x.firstRequest())
		if err != nil {
			return r
		}
		r.Body.Close()
		r = next
	}
	return r
}

// adapted is a request as the server wants it.
func (x *exchange) adapted(r adapters.Request, n need) *adapters.Request {
	if n&(needTurns|needNoRole|needStrings) != 0 {
		r.Messages = plainContents(r.Messages)
	}
	if n&(needTurns|needNoRole) != 0 {
		r.Messages = inTurns(r.Messages, n&needNoRole != 0)
	}
	if n&needSchemas != 0 {
		r.Tools = slices.Clone(r.Tools)
		for i := range r.Tools {
			if t := &r.Tools[i]; !t.Other && len(t.Parameters) > 0 {
				t.Parameters, t.Strict = plainSchema(t.Parameters, 0), nil
			}
		}
	}
	for _, row := range needs {
		if n&row.need != 0 {
			x.noteMended(row.name)
		}
	}
	return &r
}

// noteMended adds to the header that says what was mended. Once the client has the head of
// the response, nothing more can be said.
func (x *exchange) noteMended(what string) {
	list := x.w.Header().Get(mendedHeader)
	if slices.Contains(strings.Split(list, ", "), what) {
		return
	}
	if list != "" {
		what = list + ", " + what
	}
	x.w.Header().Set(mendedHeader, what)
}

// plainContents makes one block of the text blocks that stand together, so that a message
// which has nothing but text is written as a string.
func plainContents(messages []adapters.Message) []adapters.Message {
	out := slices.Clone(messages)
	for i := range out {
		out[i].Blocks = joinTexts(nil, out[i].Blocks)
	}
	return out
}

// joinTexts appends blocks, texts to the text before them.
func joinTexts(to, blocks []adapters.Block) []adapters.Block {
	to = slices.Clone(to)
	for _, b := range blocks {
		if last := len(to) - 1; b.Type == adapters.BlockText && last >= 0 && to[last].Type == adapters.BlockText {
			to[last].Text += "\n\n" + b.Text
			continue
		}
		if b.Type == adapters.BlockText {
			b.Extra = adapters.Extra{} // such as a mark for a cache, which only a list can have
		}
		to = append(to, b)
	}
	return to
}

// inTurns makes users and assistants take turns, a user first. System messages become one
// at the beginning, or part of the first user's.
func inTurns(messages []adapters.Message, noSystem bool) []adapters.Message {
	var system []adapters.Block
	var out []adapters.Message
	for _, m := range messages {
		last := len(out) - 1
		switch {
		case m.Role == adapters.RoleSystem:
			system = joinTexts(system, m.Blocks)
		case last >= 0 && m.Role != adapters.RoleTool && out[last].Role == m.Role:
			out[last].Blocks = joinTexts(out[last].Blocks, m.Blocks)
		default:
			m.Extra = adapters.Extra{}
			out = append(out, m)
		}
	}
	if len(out) == 0 || out[0].Role != adapters.RoleUser {
		first := adapters.Message{Role: adapters.RoleUser, Blocks: []adapters.Block{{Type: adapters.BlockText, Text: "…"}}}
		out = append([]adapters.Message{first}, out...)
	}
	switch {
	case len(system) == 0:
	case noSystem:
		out[0].Blocks = joinTexts(system, out[0].Blocks)
	default:
		out = append([]adapters.Message{{Role: adapters.RoleSystem, Blocks: system}}, out...)
	}
	return out
}

// maxSchemaDepth is how deep schemas are told to a server that does not know much of them.
const maxSchemaDepth = 16

// plainSchema is a schema with the keywords that every server knows. Arguments are checked
// by the whole schema all the same.
func plainSchema(schema []byte, depth int) []byte {
	o, ok := wire.AsObject(schema)
	if !ok || depth > maxSchemaDepth {
		return []byte(`{}`)
	}
	var out wire.Object
	for _, m := range o {
		switch m.Key {
		case "type":
			if list := wire.AsList(m.Value); len(list) > 0 { // of several types the first that is not null
				m.Value = list[0]
				for _, t := range list {
					if string(t) != `"null"` {
						m.Value = t
						break
					}
				}
			}
			out.Set(m.Key, m.Value)
		case "description", "enum", "required":
			out.Set(m.Key, m.Value)
		case "items":
			out.Set(m.Key, plainSchema(m.Value, depth+1))
		case "properties":
			properties, _ := wire.AsObject(m.Value)
			var plain wire.Object
			for _, p := range properties {
				plain.Set(p.Key, plainSchema(p.Value, depth+1))
			}
			out.SetObject(m.Key, plain)
		}
	}
	if depth == 0 && !out.Has("type") {
		out.SetString("type", "object")
	}
	if depth == 0 && !out.Has("properties") {
		out.SetObject("properties", wire.Object{})
	}
	return out.Bytes()
}
