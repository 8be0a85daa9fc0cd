package mcptools

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/dispatch"
	"github.com/callwright/callwright/parser"
	"github.com/callwright/callwright/registry"
)

// Service runs the tools of a set for a server that offers them to models beside its
// clients' own: those of a proxy, for instance. It asks nobody, so it offers only what the
// rules allow. It is safe for concurrent use.
//
//	offer := service.Offer(isClientTool)         // for each request
//	tools = append(tools, offer.Tools...)        // what the model is told of
//	if offer.Has(call.Tool) { … }                // is it the client's call, or ours?
//	report, err := offer.Run(ctx, calls)         // ours, in the text's order
//	messages = append(messages, report.Messages()...)
type Service struct {
	d     *dispatch.Dispatcher
	tools []registry.Tool
}

// NewService returns a service. The dispatcher must have no tools and must not be in use;
// its fields say how calls run. The set's rules are put behind those of its policy, and
// nobody is asked. Tools that no rule allows are left out.
func NewService(set *Set, d *dispatch.Dispatcher) (*Service, error) {
	d.Policy.Rules = slices.Concat(d.Policy.Rules, set.Rules)
	d.Policy.Ask = nil
	if err := d.Policy.Check(); err != nil {
		return nil, err
	}
	s := &Service{d: d}
	for i := range set.Tools {
		t := &set.Tools[i]
		if !allowed(d.Policy.Rules, t.Name) {
			continue
		}
		var schema *registry.SchemaError // it is usable without its schema
		if err := d.Add(*t); err != nil && !errors.As(err, &schema) {
			return nil, err
		}
		s.tools = append(s.tools, t.Tool)
	}
	return s, nil
}

// allowed reports whether some call of a tool may run: a rule allows it, and none before
// that one denies all calls of it.
func allowed(rules []dispatch.Rule, tool string) bool {
	for i := range rules {
		r := &rules[i]
		if r.Tool != "" && !adapters.Matches(r.Tool, tool) {
			continue
		}
		if r.Do == dispatch.Allow {
			return true
		}
		if r.Do == dispatch.Deny && len(r.Arguments) == 0 && len(r.When) == 0 && r.Below == 0 {
			return false
		}
	}
	return false
}

// Offer is the tools that one request is given.
type Offer struct {
	// Tools are for the request and for its parser. One whose name the client has taken
	// has another.
	Tools []registry.Tool

	service *Service
	own     map[string]string // the service's names, by the offered ones
}

// Offer returns the tools for a request. taken reports whether the client has a tool of a
// name; nil means that it has none.
func (s *Service) Offer(taken func(name string) bool) *Offer {
	o := &Offer{service: s, own: make(map[string]string, len(s.tools))}
	for _, t := range s.tools {
		name := t.Name
		for n := 2; taken != nil && taken(name) || o.own[name] != ""; n++ {
			end := "_" + strconv.Itoa(n)
			name = t.Name[:min(len(t.Name), maxName-len(end))] + end
		}
		o.own[name], t.Name = t.Name, name
		o.Tools = append(o.Tools, t)
	}
	return o
}

// Has reports whether a call of this name is the service's: all others are the client's.
func (o *Offer) Has(name string) bool { return o.own[name] != "" }

// Run runs calls of offered tools, which a parser made with them: as a Dispatcher does, by
// the policy, parallel, with references among them. There is a result for each call, under
// the offered name, in their order. The error is that of ctx.
func (o *Offer) Run(ctx context.Context, calls []parser.Call) (*dispatch.Report, error) {
	r := &parser.Result{Calls: slices.Clone(calls)}
	for i := range r.Calls {
		r.Calls[i].Tool = o.own[r.Calls[i].Tool]
	}
	report, err := o.service.d.Run(ctx, r, nil)
	names := make(map[string]string, len(o.own))
	for offered, own := range o.own {
		names[own] = offered
	}
	for i := range report.Results {
		if c := report.Results[i].Call; names[c.Tool] != "" {
			c.Tool = names[c.Tool]
		}
	}
	return report, err
}
