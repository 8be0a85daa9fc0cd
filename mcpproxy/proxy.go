package mcpproxy

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"

	"github.com/callwright/callwright/validator"
)

// Options say how a proxy mends. The zero value mends without loss, and refuses what cannot
// be mended.
type Options struct {
	// OnInvalid says what becomes of a call that cannot be mended: "refuse", the default,
	// answers it with an error result; "pass" sends it to the server as it came.
	OnInvalid string
	// Lossy allows lossy coercions too; see validator.Options.
	Lossy bool
	// AllDefaults fills in the defaults of optional members too. Else only those are filled
	// in without which the server would refuse the call.
	AllDefaults bool
	// Strict keeps lines of a server that cannot be JSON, such as banners, from the client.
	// They go to the server's standard error. It concerns [Proxy.Stdio] only.
	Strict bool
	// Log is told of each change, with its path and its rule, and of each refusal; nil
	// tells nobody. LogValues tells the values too.
	Log       *slog.Logger
	LogValues bool
}

// The values of [Options.OnInvalid].
const (
	Refuse = "refuse"
	Pass   = "pass"
)

// ErrOption says that an option has no such value.
var ErrOption = errors.New("bad option")

// MaxMessage is how large a message may be that is looked at, in bytes. Larger ones pass
// unread.
const MaxMessage = 16 << 20

// Proxy mends calls on their way to a server. It is safe for concurrent use.
type Proxy struct {
	o     Options
	stats struct{ messages, calls, mended, refused, lists atomic.Int64 }
}

// New returns a proxy. The error is [ErrOption].
func New(o Options) (*Proxy, error) {
	switch o.OnInvalid {
	case "":
		o.OnInvalid = Refuse
	case Refuse, Pass:
	default:
		return nil, fmt.Errorf("%w: OnInvalid is %q: it must be %q or %q", ErrOption, o.OnInvalid, Refuse, Pass)
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Proxy{o: o}, nil
}

// Stats counts what a proxy did.
type Stats struct {
	Messages int64 `json:"messages"` // of clients
	Calls    int64 `json:"calls"`    // of tools that are known
	Mended   int64 `json:"mended"`
	Refused  int64 `json:"refused"`
	Lists    int64 `json:"lists"` // pages of tools that were learned
}

// Stats returns what the proxy did so far.
func (p *Proxy) Stats() Stats {
	s := &p.stats
	return Stats{s.messages.Load(), s.calls.Load(), s.mended.Load(), s.refused.Load(), s.lists.Load()}
}

// logMended logs the changes of a call.
func (p *Proxy) logMended(name string, m *mended) {
	ctx := context.Background()
	if !p.o.Log.Enabled(ctx, slog.LevelInfo) {
		return
	}
	var changes []any
	for _, c := range m.changes {
		attributes := []any{slog.String("rule", c.Rule)}
		if p.o.LogValues {
			attributes = append(attributes, slog.Any("from", c.From), slog.Any("to", c.To))
		}
		changes = append(changes, slog.Group(c.Path, attributes...))
	}
	for _, path := range m.defaults {
		changes = append(changes, slog.Group(path, slog.String("rule", "default")))
	}
	p.o.Log.Info("call mended", "tool", name, slog.Group("changes", changes...))
}

// logRefused logs why a call was refused. The messages of errors may hold values.
func (p *Proxy) logRefused(name string, errs []validator.Error, passed bool) {
	var list []any
	for _, e := range errs {
		attributes := []any{slog.String("code", string(e.Code))}
		if p.o.LogValues {
			attributes = append(attributes, slog.String("message", e.Message))
		}
		list = append(list, slog.Group(e.Path, attributes...))
	}
	p.o.Log.Warn("call cannot be mended", "tool", name, "passed", passed, slog.Group("errors", list...))
}
