package interceptor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/sync/singleflight"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/adapters/anthropic"
	"github.com/callwright/callwright/adapters/formats"
	"github.com/callwright/callwright/adapters/gemini"
	"github.com/callwright/callwright/adapters/ollama"
	"github.com/callwright/callwright/adapters/openai"
	"github.com/callwright/callwright/internal/wire"
)

// NOTE: What is learned of the upstream is learned from answers that can mean one thing
// only, never from an error, and is forgotten after learnedFor. No lock is held while the
// upstream is asked.

const (
	// learnedFor is how long what was learned counts.
	learnedFor = 5 * time.Minute
	// maxLearned is how many models are remembered.
	maxLearned = 256
	// probeTimeout bounds one question to the upstream.
	probeTimeout = 5 * time.Second
	// maxProbed bounds what is read of its answer, in bytes.
	maxProbed = 64 << 10
)

// learned is what was found out about the upstream.
type learned struct {
	flight singleflight.Group // one question at a time, for all who wait for the answer

	mu    sync.Mutex
	kind  string // as server.upstream_format names it; "" until it is known
	until time.Time

	// withoutTools are the models of which the upstream said that they do not support
	// tools, with the time until which that counts.
	withoutTools *lru.Cache[string, time.Time]
	// withoutSchema are those that cannot be held to a schema.
	withoutSchema *lru.Cache[string, time.Time]
	// needs is how requests for a model have to be written.
	needs *lru.Cache[string, learnedNeeds]
}

// learnedNeeds are needs with the time until which they count.
type learnedNeeds struct {
	need  need
	until time.Time
}

func newLearned() *learned {
	models := func() *lru.Cache[string, time.Time] {
		list, err := lru.New[string, time.Time](maxLearned)
		if err != nil {
			panic(err) // the size is positive
		}
		return list
	}
	needs, err := lru.New[string, learnedNeeds](maxLearned)
	if err != nil {
		panic(err) // the size is positive
	}
	return &learned{withoutTools: models(), withoutSchema: models(), needs: needs}
}

// known returns the upstream's kind, "" if it is not known.
func (l *learned) known() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if time.Now().After(l.until) {
		l.kind = ""
	}
	return l.kind
}

// learn remembers the upstream's kind.
func (l *learned) learn(kind string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.kind, l.until = kind, time.Now().Add(learnedFor)
}

// lacksTools reports whether the upstream said that a model does not support tools.
func (l *learned) lacksTools(model string) bool {
	until, ok := l.withoutTools.Get(model)
	return ok && time.Now().Before(until)
}

// noteWithoutTools remembers that a model does not support tools.
func (l *learned) noteWithoutTools(model string) {
	l.withoutTools.Add(model, time.Now().Add(learnedFor))
}

// noteWithoutSchema remembers that a model cannot be held to a schema.
func (l *learned) noteWithoutSchema(model string) {
	l.withoutSchema.Add(model, time.Now().Add(learnedFor))
}

// lacksSchema reports whether the upstream refused to hold a model to a schema.
func (l *learned) lacksSchema(model string) bool {
	until, ok := l.withoutSchema.Get(model)
	return ok && time.Now().Before(until)
}

// needsOf returns how requests for a model have to be written.
func (l *learned) needsOf(model string) need {
	n, ok := l.needs.Get(model)
	if !ok || time.Now().After(n.until) {
		return 0
	}
	return n.need
}

// noteNeeds remembers how requests for a model have to be written.
func (l *learned) noteNeeds(model string, n need) {
	l.needs.Add(model, learnedNeeds{n, time.Now().Add(learnedFor)})
}

// serverFormat returns the format in which the upstream is asked for a client's: the
// same one if the upstream speaks it, else the upstream's own. It says whether the
// upstream's kind is but guessed.
func (s *settings) serverFormat(ctx context.Context, client *adapters.Format) (f *adapters.Format, kind string, guessed bool, err error) {
	if kind, guessed, err = s.kind(ctx); err != nil {
		return nil, "", false, err
	}
	var own *adapters.Format
	for _, f := range formats.All() {
		if !slices.Contains(f.Servers, kind) || len(f.Hosts) > 0 && !slices.ContainsFunc(f.Hosts, s.isAt) {
			continue
		}
		if f == client {
			return f, kind, guessed, nil
		}
		if own == nil && f.Servers[0] == kind {
			own = f
		}
	}
	return own, kind, guessed, nil
}

// isAt reports whether the upstream is a host, or a name below it.
func (s *settings) isAt(host string) bool {
	name := s.upstream.Hostname()
	return name == host || strings.HasSuffix(name, "."+host)
}

// kind returns what kind of server the upstream is. If it is not known the upstream is
// asked, once for all who ask at a time; who stops waiting stops nobody else.
func (s *settings) kind(ctx context.Context) (kind string, guessed bool, err error) {
	if f := s.format; f != "auto" {
		return f, false, nil
	}
	if s.isAt("googleapis.com") && !strings.Contains(s.upstream.Path, "openai") {
		return gemini.Generate.Servers[0], false, nil
	}
	for _, f := range []*adapters.Format{anthropic.Messages, openai.Responses} {
		if kind := f.Servers[0]; s.isAt(kind + ".com") {
			return kind, false, nil
		}
	}
	if kind := s.learned.known(); kind != "" {
		return kind, false, nil
	}
	answer := s.learned.flight.DoChan("", func() (kind any, err error) {
		defer func() {
			if p := recover(); p != nil { // nobody above this goroutine would catch it
				err = fmt.Errorf("internal error: %v", p)
			}
		}()
		ctx, cancel := context.WithTimeout(s.closing, probeTimeout)
		defer cancel()
		found, err := s.probe(ctx)
		if err == nil && found != "" {
			s.learned.learn(found)
		}
		return found, err
	})
	select {
	case <-ctx.Done():
		return "", false, context.Cause(ctx)
	case r := <-answer:
		kind, _ := r.Val.(string)
		if kind == "" {
			return openai.Chat.Servers[0], true, r.Err // most servers speak it
		}
		return kind, false, r.Err
	}
}

// probe asks the upstream what it is; "" if its answers do not tell. The error is that of
// reaching it.
func (s *settings) probe(ctx context.Context) (string, error) {
	status, answer, err := s.get(ctx, "/api/version")
	switch {
	case err != nil:
		return "", err
	case isAnthropic(answer):
		return anthropic.Messages.Servers[0], nil
	case status == http.StatusOK && answer.String("version") != "":
		return ollama.Chat.Servers[0], nil
	case status != http.StatusNotFound && status != http.StatusMethodNotAllowed && status != http.StatusOK:
		return "", nil // it says nothing of what it is
	}
	status, answer, err = s.get(ctx, "/v1/models")
	switch {
	case err != nil:
		return "", err
	case isAnthropic(answer):
		return anthropic.Messages.Servers[0], nil
	case status == http.StatusOK && wire.AsList(answer.Get("data")) != nil:
		return openai.Chat.Servers[0], nil
	}
	return "", nil
}

// isAnthropic reports whether an answer is an error or a list of models as Anthropic
// writes them (its API reference, "Errors" and "List models").
func isAnthropic(o wire.Object) bool {
	if o.String("type") == "error" && o.Object("error").String("type") != "" {
		return true
	}
	for _, m := range wire.Objects(o.Get("data")) {
		return m.String("type") == "model" && o.String("object") == ""
	}
	return o.Has("data") && o.Has("has_more") && o.String("object") == ""
}

// get asks the upstream for a small JSON object. What is none is an empty one.
func (s *settings) get(ctx context.Context, path string) (status int, answer wire.Object, err error) {
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url(path).String(), nil)
	if err != nil {
		return 0, nil, err
	}
	q.Header.Set("Anthropic-Version", anthropic.Messages.Version)
	if s.upKey != "" {
		q.Header.Set("Authorization", "Bearer "+s.upKey)
		q.Header.Set("X-Api-Key", s.upKey)
	}
	r, err := s.client.Do(q)
	if err != nil {
		return 0, nil, err
	}
	defer r.Body.Close()
	body, err := io.ReadAll(io.LimitReader(r.Body, maxProbed))
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return 0, nil, err
	}
	answer, err = wire.ParseObject(body)
	if err != nil {
		return r.StatusCode, nil, nil //nolint:nilerr // it is none
	}
	return r.StatusCode, answer, nil
}
