package interceptor

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/config"
	"github.com/callwright/callwright/internal/safehttp"
	"github.com/callwright/callwright/internal/text"
)

// NOTE: Each upstream has settings of its own: its address, format, key, bound and what was
// learned of it. They share everything else. A request goes to the first upstream for its
// model, and to the second one if the first does not answer; never to both for good.

// errBusy says that an upstream has as many requests as it may.
var errBusy = errors.New("the model server has as many requests as it may: try again later")

// withUpstreams makes the settings of server.upstreams. What was learned of an address is
// kept from the settings before.
func (s *settings) withUpstreams(h *Handler, getenv func(string) string) error {
	before := h.settings.Load()
	for i := range s.c.Server.Upstreams {
		u := &s.c.Server.Upstreams[i]
		t := *s
		t.upstreams, t.model, t.format, t.learned, t.upKey = nil, u.Model, u.Format, newLearned(), ""
		if t.format == "" {
			t.format = "auto"
		}
		var err error
		if t.upstream, err = safehttp.ParseURL(u.URL); err != nil {
			return err
		}
		if u.KeyEnv != "" {
			if t.upKey = getenv(u.KeyEnv); t.upKey == "" {
				return fmt.Errorf("the environment variable %s is empty", u.KeyEnv)
			}
		}
		if u.MaxInFlight > 0 {
			t.slots = make(chan struct{}, u.MaxInFlight)
		}
		if before != nil && i < len(before.upstreams) && before.upstreams[i].upstream.String() == t.upstream.String() {
			t.learned = before.upstreams[i].learned
		}
		t.proxy = h.newProxy(&t)
		s.upstreams = append(s.upstreams, &t)
	}
	return nil
}

// defaultUpstream is the upstream for all models that have none of their own.
func defaultUpstream(c *config.Server) config.Upstream {
	if c.Upstream == "" && len(c.Upstreams) > 0 {
		return c.Upstreams[0]
	}
	return config.Upstream{URL: c.Upstream, Format: c.UpstreamFormat, KeyEnv: c.UpstreamKeyEnv}
}

// upstreamsFor returns the settings of the upstream for a model, and of the one that stands
// by; nil if none does.
func (s *settings) upstreamsFor(model string) (first, standby *settings) {
	for _, u := range s.upstreams {
		switch {
		case !adapters.Matches(u.model, model):
		case first == nil:
			first = u
		default:
			return first, u
		}
	}
	if first == nil {
		return s, nil
	}
	return first, nil
}

// connect finds out how the upstream is to be asked.
func (x *exchange) connect(ctx context.Context) (err error) {
	if x.s.slots != nil {
		select {
		case x.s.slots <- struct{}{}:
			x.slot = x.s.slots
		default:
			return errBusy
		}
	}
	x.mode, x.auto = x.s.modeOf(x.req.Model)
	x.server, x.kind, x.guess, err = x.s.serverFormat(ctx, x.client)
	return err
}

// release gives back the place at the upstream.
func (x *exchange) release() {
	if x.slot != nil {
		<-x.slot
		x.slot = nil
	}
}

// failOver turns to the upstream that stands by, if there is one.
func (x *exchange) failOver(why string) bool {
	if x.standby == nil || x.r.Context().Err() != nil {
		return false
	}
	x.h.log.Warn(
		"the model server is not there: the next one is asked", "address", x.s.upstream.Host, "cause", why, "next", x.standby.upstream.Host,
		"model", text.Clip(x.req.Model, maxModelName),
	)
	x.release()
	x.s, x.standby = x.standby, nil
	x.extra++
	x.done.rescue, x.done.rescued = rescueFailover, true
	x.h.counts.rescues.WithLabelValues(rescueFailover, "saved").Inc()
	return true
}

// unavailable reports whether a status says that a server did not begin to answer.
func unavailable(status int) bool {
	switch status {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout, statusOverloaded:
		return true
	}
	return false
}

// statusOverloaded is Anthropic's status of an overloaded server.
const statusOverloaded = 529
