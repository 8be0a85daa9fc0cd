package interceptor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/cache"
	"github.com/callwright/callwright/config"
	"github.com/callwright/callwright/internal/wire"
	"github.com/callwright/callwright/parser"
	"github.com/callwright/callwright/registry"
)

// errTooLarge says that a request is larger than it may be.
var errTooLarge = errors.New("the request is too large")

// readBody reads the body of a request, unpacked. The limit is that of what it holds.
func (s *settings) readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	limit := int64(s.c.Server.MaxBodyBytes)
	in, err := unpack(http.MaxBytesReader(w, r.Body, limit), strings.Join(r.Header.Values("Content-Encoding"), ","))
	if err != nil {
		w.Header().Set("Accept-Encoding", encodings)
		return nil, err
	}
	body, err := io.ReadAll(io.LimitReader(in, limit+1))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large), err == nil && int64(len(body)) > limit:
		return nil, fmt.Errorf("%w: at most %d bytes", errTooLarge, limit)
	case errors.Is(err, errRatio):
		return nil, fmt.Errorf("%w: %w", errTooLarge, err)
	case errors.Is(err, errPacked):
		return nil, err
	case err != nil:
		return nil, errors.New("the request cannot be read")
	}
	return body, nil
}

// mayCall reports whether the model may call a tool.
func (x *exchange) mayCall() bool {
	return len(x.req.Tools) > 0 && x.req.ToolChoice.Mode != adapters.ToolNone
}

// mustCall reports whether the model has to call a tool.
func (x *exchange) mustCall() bool {
	return x.req.ToolChoice.Mode == adapters.ToolRequired || x.req.ToolChoice.Mode == adapters.ToolNamed
}

// mustNotCall reports whether the client has tools and forbids to call one.
func (x *exchange) mustNotCall() bool {
	return len(x.req.Tools) > 0 && x.req.ToolChoice.Mode == adapters.ToolNone
}

// read reads the request and makes a parser with its tools.
func (x *exchange) read(model string, stream bool) error {
	var err error
	// The deadline is for the body alone: the reply may take longer.
	deadline := http.NewResponseController(x.w)
	if deadline.SetReadDeadline(time.Now().Add(time.Duration(x.s.c.Server.ReadTimeoutMS)*time.Millisecond)) == nil {
		defer func() { _ = deadline.SetReadDeadline(time.Time{}) }() // as it was set
	}
	if x.body, err = x.s.readBody(x.w, x.r); err != nil {
		return err
	}
	if x.req, err = x.client.DecodeRequest(x.body); err != nil {
		return fmt.Errorf("the request is not what %s wants: %w", x.client.Name, err)
	}
	if x.client.PathOf != nil {
		x.req.Model, x.req.Stream = model, stream
	}
	x.mapNames()
	x.s, x.standby = x.s.upstreamsFor(x.req.Model)
	x.caps = x.s.capabilities(x.req.Model)
	x.pc = parser.Context{Model: x.req.Model, Formats: x.caps.KnownFormats, Prompt: earlierTexts(x.req), Tenant: tenant(x.r)}
	x.offerTools()
	if x.parser, err = x.parserOf(x.r.Context()); err != nil {
		return err
	}
	return nil
}

// earlierTexts are the texts of users and tools, of at most 4 MB, the latest first. A
// call that stands there too may only be quoted by the model.
func earlierTexts(r *adapters.Request) (list []string) {
	size := 0
	for i := range slices.Backward(r.Messages) {
		m := &r.Messages[i]
		if m.Role != adapters.RoleUser && m.Role != adapters.RoleTool {
			continue
		}
		for j := range m.Blocks {
			text := m.Blocks[j].Text
			if m.Blocks[j].Result != nil {
				text = m.Blocks[j].Result.Text
			}
			if size += len(text); text != "" && size <= 4<<20 {
				list = append(list, text)
			}
		}
	}
	return list
}

// setFor returns a setting of server.model_modes for a model: that of the first row that
// matches and sets it.
func (s *settings) setFor(model string, of func(*config.ModelMode) string) string {
	for i := range s.c.Server.ModelModes {
		if m := &s.c.Server.ModelModes[i]; of(m) != "" && adapters.Matches(m.Model, model) {
			return of(m)
		}
	}
	return ""
}

// modeOf returns the mode for a model. auto says that it may change to "emulate".
func (s *settings) modeOf(model string) (mode string, auto bool) {
	mode = cmp.Or(s.setFor(model, func(m *config.ModelMode) string { return m.Mode }), s.c.Server.Mode)
	if mode != "auto" {
		return mode, false
	}
	if s.learned.lacksTools(model) {
		return "emulate", false
	}
	return "native", true
}

// parserOf returns a parser with the request's tools. Parsers are cached.
func (x *exchange) parserOf(ctx context.Context) (*parser.Parser, error) {
	s, r := x.s, x.req
	if len(r.Tools) == 0 {
		return s.own, nil
	}
	var list [][]byte
	for i := range r.Tools {
		t := &r.Tools[i]
		if t.Other || r.ToolChoice.Mode == adapters.ToolNamed && t.Name != r.ToolChoice.Name {
			continue
		}
		definition := definitionOf(t)
		list = append(list, definition.Bytes())
	}
	tools := wire.List(list)
	o := s.parts.Options
	// Calls need not be told of piece by piece where the client gets them whole, and must
	// not be where a wrong one is retried.
	o.Complete = !r.Stream || x.client.WholeCalls || s.c.Server.OnInvalid == "retry" || x.mayRetry()
	return s.parsers.Do(ctx, cache.KeyOf(string(tools), fmt.Sprint(o.Complete)), func(context.Context) (*parser.Parser, int, error) {
		parsed, err := registry.Parse(tools)
		if err != nil {
			return nil, 0, fmt.Errorf("tools: %w", err)
		}
		reg, err := registry.NewWith(registry.Options{Strict: s.c.Validation.StrictSchema}, parsed...)
		var bad *registry.SchemaError
		if err != nil && (s.c.Validation.StrictSchema || !errors.As(err, &bad)) {
			return nil, 0, fmt.Errorf("tools: %w", err)
		}
		p, err := parser.New(reg, o)
		return p, 16 * len(tools), err
	})
}

// definitionOf writes a tool's definition. A custom tool, which takes free text, gets it
// as its one parameter "input".
func definitionOf(t *adapters.Tool) (o wire.Object) {
	o.SetString("name", t.Name)
	o.SetText("description", t.Description)
	switch {
	case t.Custom:
		o.Set("parameters", []byte(`{"type":"object","properties":{"input":{"type":"string"}},"required":["input"]}`))
	case len(t.Parameters) > 0 && !wire.IsNull(t.Parameters):
		o.Set("parameters", t.Parameters)
	}
	return o
}
