package interceptor

import (
	"context"
	"time"
)

// warnIfDown logs a warning for each model server that does not answer. Any answer will
// do.
func (h *Handler) warnIfDown(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	defer context.AfterFunc(h.closing, cancel)()
	s := h.settings.Load()
	list := s.upstreams
	if s.c.Server.Upstream != "" || len(list) == 0 {
		list = append([]*settings{s}, list...)
	}
	for _, s := range list {
		start := time.Now()
		if _, _, err := s.get(ctx, "/"); err != nil && h.closing.Err() == nil && ctx.Err() == nil {
			h.log.Warn(
				"the model server does not answer yet: start it, or name another address", "address", s.upstream.Host, "cause", cause(err),
				"duration_ms", time.Since(start).Milliseconds(),
			)
		}
	}
}
