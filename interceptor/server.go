package interceptor

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"time"

	"github.com/callwright/callwright/config"
)

// ErrOpen says that the server would be reachable by other machines without a key.
var ErrOpen = errors.New("other machines can reach this address: name a key in server.key_env, or set server.insecure_listen")

// Server serves a [Handler], with the timeouts and limits of the configuration.
type Server struct {
	handler *Handler
	server  *http.Server
	c       *config.Server
	log     *slog.Logger
}

// NewServer returns a server of a handler. The error is [ErrOpen] if the address is not
// a loopback address and no key is configured. A nil log logs nothing.
func NewServer(h *Handler, c *config.Server, log *slog.Logger) (*Server, error) {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	if !loopback(c.Listen) && c.KeyEnv == "" && !c.InsecureListen {
		return nil, fmt.Errorf("%w: %s", ErrOpen, c.Listen)
	}
	s := &Server{handler: h, c: c, log: log}
	s.server = &http.Server{
		Handler: h, ReadHeaderTimeout: time.Duration(c.ReadTimeoutMS) * time.Millisecond,
		IdleTimeout: 2 * time.Minute, MaxHeaderBytes: c.MaxHeaderBytes, ErrorLog: slogLogger(log),
		HTTP2:     &http.HTTP2Config{MaxConcurrentStreams: 100},
		TLSConfig: &tls.Config{MinVersion: tls.VersionTLS12}, ConnContext: withConn,
		DisableGeneralOptionsHandler: true, // nothing is answered before it is checked
	}
	return s, nil
}

// loopback reports whether an address is reachable from this machine only.
func loopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}

// Run listens and serves until the context is done. Then it shuts down: it accepts no
// more requests, waits shutdown_timeout_ms for those that it has, and ends the streams
// that are left with an error and their terminators.
func (s *Server) Run(ctx context.Context) error {
	var listen net.ListenConfig
	l, err := listen.Listen(ctx, "tcp", s.c.Listen)
	if err != nil {
		return err
	}
	return s.Serve(ctx, l)
}

// Serve is [Server.Run] on a listener of the caller's.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	go s.handler.warnIfDown(ctx)
	s.log.Info("listening", "address", l.Addr().String(), "tls", s.c.TLSCert != "")
	failed := make(chan error, 1)
	go func() {
		if s.c.TLSCert != "" {
			failed <- s.server.ServeTLS(l, s.c.TLSCert, s.c.TLSKey)
			return
		}
		failed <- s.server.Serve(headListener{l})
	}()
	select {
	case err := <-failed:
		s.handler.Close()
		return err
	case <-ctx.Done():
	}
	s.log.Info("shutting down", "timeout_ms", s.c.ShutdownTimeoutMS)
	waiting, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Duration(s.c.ShutdownTimeoutMS)*time.Millisecond)
	defer cancel()
	err := s.server.Shutdown(waiting)
	s.handler.Close() // what is left ends with its terminator
	if err != nil {
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
		defer cancel()
		if err = s.server.Shutdown(last); err != nil {
			err = s.server.Close()
		}
	}
	if serving := <-failed; !errors.Is(serving, http.ErrServerClosed) {
		err = errors.Join(err, serving)
	}
	return err
}

// slogLogger returns a logger for the messages of net/http.
func slogLogger(l *slog.Logger) *log.Logger { return slog.NewLogLogger(l.Handler(), slog.LevelDebug) }
