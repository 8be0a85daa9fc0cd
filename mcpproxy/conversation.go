package mcpproxy

import (
	"bytes"
	"strconv"
	"sync"

	"github.com/callwright/callwright/internal/wire"
	"github.com/callwright/callwright/parser"
	"github.com/callwright/callwright/registry"
	"github.com/callwright/callwright/validator"
)

// conversation is one exchange of messages with a server: a connection over standard input
// and output, or one HTTP request and its answer.
type conversation struct {
	p       *Proxy
	catalog *catalog

	mu    sync.Mutex
	lists map[string]listing // requests for tools that have no answer yet, by id
	calls map[string]string  // calls that were looked at and have no answer yet: their tools
}

// listing is a request for tools.
type listing struct {
	first   bool // it is for the first page
	version int  // of the catalog when it was asked
}

// maxPending bounds how many requests are remembered.
const maxPending = 1024

func (p *Proxy) conversation(c *catalog) *conversation {
	return &conversation{p: p, catalog: c, lists: map[string]listing{}, calls: map[string]string{}}
}

// outcome says what becomes of a client's message.
type outcome struct {
	forward []byte // to the server: the message itself, or a changed one; nil if it is answered
	reply   []byte // to the client, in place of the server's answer
	changed bool
	tool    *registry.Tool // of a call that was changed
	// parameters are the arguments of a call that was changed, for headers that repeat them.
	parameters []byte
}

// fromClient decides what becomes of a client's message.
func (c *conversation) fromClient(message []byte) outcome {
	c.p.stats.messages.Add(1)
	pass := outcome{forward: message}
	if !concernsTools(message) || !isJSON(message) {
		return pass
	}
	message = message[:len(message):len(message)] // so that offsets can be told
	if elements := wire.AsList(message); elements != nil {
		if edits := c.batch(message, elements); edits != nil {
			return outcome{forward: apply(message, edits), changed: true}
		}
		return pass
	}
	whole, ok := split(message, message)
	if !ok || whole.twice {
		return pass
	}
	switch whole.text("method") {
	case "tools/list":
		c.asked(&whole)
	case "tools/call":
		if out, edits := c.call(message, &whole); out.reply != nil {
			return out
		} else if edits != nil {
			out.forward, out.changed = apply(message, edits), true
			return out
		}
	}
	return pass
}

// concernsTools reports whether a message may be about tools, whatever way its letters are
// written.
func concernsTools(message []byte) bool {
	return bytes.Contains(message, []byte("tools")) || bytes.Contains(message, []byte(`\u`))
}

// batch returns the changes that mend the calls of a batch. Those that cannot be mended pass, since a batch is
// answered as a whole.
func (c *conversation) batch(message []byte, elements [][]byte) []edit {
	var edits []edit
	for _, e := range elements {
		whole, ok := split(message, e)
		if !ok || whole.twice {
			continue
		}
		switch whole.text("method") {
		case "tools/list":
			c.asked(&whole)
		case "tools/call":
			_, more := c.call(message, &whole)
			edits = append(edits, more...)
		}
	}
	return edits
}

// asked remembers a request for tools.
func (c *conversation) asked(whole *parts) {
	id := idOf(whole.members["id"].raw)
	if id == "" {
		return
	}
	params, _ := wire.AsObject(whole.members["params"].raw)
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.lists) >= maxPending {
		clear(c.lists)
	}
	c.lists[id] = listing{first: !params.Has("cursor"), version: c.catalog.version()}
}

// call looks at a call: it returns the changes that mend it, or the answer that refuses it.
// Both are nil where it passes as it is.
func (c *conversation) call(message []byte, whole *parts) (outcome, []edit) {
	params, ok := split(message, whole.members["params"].raw)
	id := idOf(whole.members["id"].raw)
	if !ok || params.twice || id == "" {
		return outcome{}, nil
	}
	name := params.text("name")
	tool := c.catalog.find(name)
	if tool == nil {
		return outcome{}, nil
	}
	c.p.stats.calls.Add(1)
	arguments := params.members["arguments"]
	m := c.p.mend(tool, arguments.raw)
	if m.errors != nil {
		return c.invalid(whole, &params, tool, &m), nil
	}
	c.remember(id, tool.Name)
	var edits []edit
	if name != tool.Name {
		n := params.members["name"]
		edits = append(edits, edit{n.at, n.at + len(n.raw), wire.Quote(tool.Name)})
		m.changes = append(m.changes, validator.Coercion{Path: "name", From: name, To: tool.Name, Rule: "name"})
	}
	switch {
	case m.arguments == nil:
	case arguments.raw == nil:
		edits = append(edits, edit{params.end, params.end, append([]byte(`,"arguments":`), m.arguments...)})
	default:
		edits = append(edits, edit{arguments.at, arguments.at + len(arguments.raw), m.arguments})
	}
	if edits == nil {
		return outcome{}, nil
	}
	if len(edits) == 2 && edits[1].from < edits[0].from {
		edits[0], edits[1] = edits[1], edits[0]
	}
	c.p.stats.mended.Add(1)
	c.p.logMended(tool.Name, &m)
	out := outcome{tool: tool, parameters: m.arguments}
	if m.arguments == nil {
		out.parameters = arguments.raw
	}
	return out, edits
}

// invalid refuses a call, or lets it pass.
func (c *conversation) invalid(whole, params *parts, tool *registry.Tool, m *mended) outcome {
	passed := c.p.o.OnInvalid == Pass
	c.p.logRefused(tool.Name, m.errors, passed)
	if passed {
		return outcome{}
	}
	c.p.stats.refused.Add(1)
	r := parser.Result{Rejected: []parser.Rejected{{Tool: tool.Name, Errors: m.errors}}}
	text := r.Feedback() + "\nThe tool is called so: " + tool.Signature()
	result := wire.Object{}
	content := wire.Object{}
	content.SetString("type", "text")
	content.SetString("text", text)
	result.SetList("content", [][]byte{content.Bytes()})
	result.SetBool("isError", true)
	if meta, _ := wire.AsObject(params.members["_meta"].raw); meta.String(metaVersion) >= versionWithResultType {
		result.SetString("resultType", "complete")
	}
	reply := wire.Object{}
	reply.SetString("jsonrpc", "2.0")
	reply.Set("id", whole.members["id"].raw)
	reply.SetObject("result", result)
	return outcome{reply: reply.Bytes()}
}

// Where a request of protocol version 2026-07-28 says its version; from then on results say
// whether they are complete.
const (
	metaVersion           = "io.modelcontextprotocol/protocolVersion"
	versionWithResultType = "2026-07-28"
)

// remember remembers a call until its answer comes.
func (c *conversation) remember(id, tool string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.calls) >= maxPending {
		clear(c.calls)
	}
	c.calls[id] = tool
}

// codeInvalidParams is JSON-RPC's code of an error about parameters.
const codeInvalidParams = -32602

var invalidParams = []byte(strconv.Itoa(codeInvalidParams))

// fromServer looks at a message of the server's, which always passes as it is.
func (c *conversation) fromServer(message []byte) {
	if bytes.Contains(message, []byte("list_changed")) && isJSON(message) {
		c.eachOf(message, func(o wire.Object) {
			if o.String("method") == "notifications/tools/list_changed" {
				c.catalog.forget()
			}
		})
	}
	c.mu.Lock()
	lists, calls := len(c.lists), len(c.calls)
	c.mu.Unlock()
	if lists > 0 && bytes.Contains(message, []byte("tools")) || calls > 0 && bytes.Contains(message, invalidParams) {
		if isJSON(message) {
			c.eachOf(message, c.answered)
		}
	}
}

// eachOf calls f with a message, or with each of a batch.
func (c *conversation) eachOf(message []byte, f func(wire.Object)) {
	if list := wire.AsList(message); list != nil {
		for _, o := range wire.Objects(message) {
			f(o)
		}
		return
	}
	if o, ok := wire.AsObject(message); ok {
		f(o)
	}
}

// answered takes the answer to a request: a page of tools is learned, and a tool whose
// schema the server contradicts is left alone.
func (c *conversation) answered(o wire.Object) {
	id := idOf(o.Get("id"))
	if id == "" || o.Has("method") {
		return
	}
	c.mu.Lock()
	asked, isList := c.lists[id]
	tool, isCall := c.calls[id]
	delete(c.lists, id)
	delete(c.calls, id)
	c.mu.Unlock()
	if isList && c.catalog.learn(o.Get("result"), asked.first, asked.version) {
		c.p.stats.lists.Add(1)
	}
	if isCall && o.Object("error").Int("code") == codeInvalidParams {
		c.catalog.pass(tool)
		c.p.o.Log.Warn("the server refuses what its schema allows: calls of the tool pass from now on", "tool", tool)
	}
}
