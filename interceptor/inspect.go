package interceptor

import (
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/callwright/callwright/internal/text"
	"github.com/callwright/callwright/parser"
)

// Bounds of the inspector, in bytes.
const (
	maxRingBytes = 16 << 20
	maxKeptText  = 64 << 10
	redactedText = "[redacted]"
)

// inspected is an exchange as GET /callwright/requests shows it.
type inspected struct {
	ID         string          `json:"id"`
	Time       time.Time       `json:"time"`
	Model      string          `json:"model"`
	Client     string          `json:"client"` // the format in which the client speaks
	Server     string          `json:"server"` // the format in which the upstream is asked
	Front      string          `json:"front"`  // Client and Server by their former names,
	Target     string          `json:"target"` // for one release
	Mode       string          `json:"mode"`
	Stream     bool            `json:"stream"`
	DurationMS int64           `json:"duration_ms"`
	Calls      int             `json:"calls"`
	Retries    int             `json:"retries"`
	Dialects   []string        `json:"dialects"`
	Results    []result        `json:"results"`
	Request    json.RawMessage `json:"request,omitempty"`
	size       int
}

// result is the parser's result for one answer, with its candidates.
type result struct {
	Result     *parser.Result `json:"result"`
	Candidates []candidate    `json:"candidates"`
}

// candidate is a candidate for a call, as callwright explain shows it.
type candidate struct {
	Tool   string       `json:"tool"`
	Text   string       `json:"text"`
	Method string       `json:"method"`
	Format string       `json:"format"`
	Score  parser.Score `json:"score"`
	Reason string       `json:"reason,omitempty"` // why it is not a call
}

// ring keeps the last exchanges.
type ring struct {
	mu    sync.Mutex
	list  []*inspected
	bytes int
	open  map[*exchange][]*parser.Result
}

// note keeps a result until its exchange ends.
func (g *ring) note(x *exchange, r *parser.Result) {
	if x.s.c.Server.Inspect == 0 {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.open == nil {
		g.open = map[*exchange][]*parser.Result{}
	}
	g.open[x] = append(g.open[x], r)
}

// keep keeps an exchange that has ended.
func (g *ring) keep(x *exchange) {
	most := x.s.c.Server.Inspect
	if most == 0 || x.req == nil {
		return
	}
	g.mu.Lock()
	results := g.open[x]
	delete(g.open, x)
	g.mu.Unlock()
	k := &inspected{
		ID: x.w.Header().Get("Callwright-Request"), Time: x.start.UTC(), Model: x.req.Model, Client: x.client.Name, Front: x.client.Name,
		Mode: x.mode, Stream: x.req.Stream,
		DurationMS: time.Since(x.start).Milliseconds(), Calls: x.done.calls, Retries: x.done.retries, Dialects: x.done.dialects,
		Results: []result{},
	}
	if x.server != nil {
		k.Server, k.Target = x.server.Name, x.server.Name
	}
	for _, r := range results {
		k.Results = append(k.Results, explained(r, x.s.redact))
	}
	if body := x.body; len(body) <= maxKeptText && utf8.Valid(body) {
		if text := redact(string(body), x.s.redact); json.Valid([]byte(text)) {
			k.Request = json.RawMessage(text)
		}
	}
	b, err := json.Marshal(k)
	if err != nil || len(b) > maxRingBytes/4 {
		return
	}
	k.size = len(b)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.list = append(g.list, k)
	for g.bytes += k.size; len(g.list) > most || g.bytes > maxRingBytes; {
		g.bytes -= g.list[0].size
		g.list = slices.Delete(g.list, 0, 1)
	}
}

// explained lists the candidates of a result, redacted.
func explained(r *parser.Result, patterns []*regexp.Regexp) result {
	shown := *r
	shown.Calls, shown.Rejected = slices.Clone(r.Calls), slices.Clone(r.Rejected)
	shown.Content, shown.Reasoning = redact(text.Clip(r.Content, maxKeptText), patterns), redact(text.Clip(r.Reasoning, maxKeptText), patterns)
	out := result{Result: &shown, Candidates: []candidate{}}
	for i := range shown.Calls {
		c := &shown.Calls[i]
		c.Raw = redact(text.Clip(c.Raw, maxKeptText), patterns)
		c.Parameters = redactValue(c.Parameters, patterns)
		c.Coercions = nil // they hold values
		out.Candidates = append(
			out.Candidates,
			candidate{Tool: c.Tool, Text: c.Raw, Method: string(c.Metadata.ParsingMethod), Format: string(c.SourceFormat), Score: c.Score},
		)
	}
	for i := range shown.Rejected {
		x := &shown.Rejected[i]
		x.Raw = redact(text.Clip(x.Raw, maxKeptText), patterns)
		x.Parameters = redactValue(x.Parameters, patterns)
		reason := ""
		if len(x.Errors) > 0 {
			reason = redact(x.Errors[0].Error(), patterns)
			x.Errors = slices.Clone(x.Errors)
			for j := range x.Errors {
				x.Errors[j].Message = redact(x.Errors[j].Message, patterns)
			}
		}
		out.Candidates = append(out.Candidates, candidate{Tool: x.Tool, Text: x.Raw, Format: string(x.Format), Score: x.Score, Reason: reason})
	}
	return out
}

// secrets matches what looks like a key. It is always redacted.
var secrets = regexp.MustCompile(
	`(?i)\b(?:sk|pk|rk|ghp|gho|xox[abp])[-_][A-Za-z0-9_-]{12,}|\bAKIA[0-9A-Z]{16}\b|\bBearer\s+[A-Za-z0-9._~+/-]{12,}=*|` +
		`\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+`,
)

func redact(s string, patterns []*regexp.Regexp) string {
	s = secrets.ReplaceAllString(s, redactedText)
	for _, p := range patterns {
		s = p.ReplaceAllString(s, redactedText)
	}
	return s
}

// redactValue redacts parameters. They are left out if that makes them invalid JSON.
func redactValue(p map[string]any, patterns []*regexp.Regexp) map[string]any {
	if p == nil {
		return nil
	}
	var out map[string]any
	if json.Unmarshal([]byte(redact(arguments(p), patterns)), &out) != nil {
		return map[string]any{}
	}
	return out
}

// inspectHeader is the request header with the inspector's token. A page of the same site
// can send it, a link cannot.
const inspectHeader = "Callwright-Inspector-Token"

// serveRequests shows the last exchanges, newest first.
func (h *Handler) serveRequests(w http.ResponseWriter, r *http.Request) {
	if h.settings.Load().c.Server.Inspect == 0 {
		http.NotFound(w, r)
		return
	}
	if !sameSecret(r.Header.Get(inspectHeader), h.inspectToken) {
		writeError(w, formatOf(r), http.StatusUnauthorized, "", "the inspector takes its token in the header "+inspectHeader)
		return
	}
	h.ring.mu.Lock()
	list := slices.Clone(h.ring.list)
	h.ring.mu.Unlock()
	slices.Reverse(list)
	if list == nil {
		list = []*inspected{}
	}
	w.Header().Set("Cache-Control", "no-store")
	writeJSON(w, http.StatusOK, map[string]any{"requests": list})
}
