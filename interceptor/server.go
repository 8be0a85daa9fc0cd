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

// ErrOpen says that others could reach the server without giving a key.
var ErrOpen = errors.New("others can reach this address: name a key in server.key_env, or set server.insecure_listen")

// Server serves a handler. Its limits are those of the configuration.
type Server struct {
	handler *Handler
	server  *http.Server
	c       *config.Server
	log     *slog.Logger
}

// NewServer returns a server of a handler. It is an error to listen, without a key, on
// an address that others reach.
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
		TLSConfig: &tls.Config{MinVersion: tls.VersionTLS12},
	}
	return s, nil
}

// loopback reports whether only this machine reaches an address.
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

// Run listens and serves until the context ends. Then it takes no more requests, lets
// those that it has end within the time for that, and ends what is left of them with
// their terminators.
func (s *Server) Run(ctx context.Context) error {
	var listen net.ListenConfig
	l, err := listen.Listen(ctx, "tcp", s.c.Listen)
	if err != nil {
		return err
	}
	return s.Serve(ctx, l)
}

// Serve is [Server.Run] on a listener.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	s.log.Info("listening", "address", l.Addr().String(), "tls", s.c.TLSCert != "")
	failed := make(chan error, 1)
	go func() {
		if s.c.TLSCert != "" {
			failed <- s.server.ServeTLS(l, s.c.TLSCert, s.c.TLSKey)
			return
		}
		failed <- s.server.Serve(l)
	}()
	select {
	case err := <-failed:
		s.handler.Close()
		return err
	case <-ctx.Done():
	}
	s.log.Info("ending", "timeout_ms", s.c.ShutdownTimeoutMS)
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

// slogLogger hands what net/http complains of to a log.
func slogLogger(l *slog.Logger) *log.Logger { return slog.NewLogLogger(l.Handler(), slog.LevelDebug) }
