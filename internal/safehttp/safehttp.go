// Package safehttp makes HTTP clients for servers that the configuration names: they
// follow no redirects, and reach no address from which a cloud hands out credentials.
package safehttp

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"syscall"
	"time"
)

// ErrAddress says that a configuration may not name an address.
var ErrAddress = errors.New("the address is not allowed")

// ParseURL reads the base URL of a server. It is http or https, has a host, and holds
// no password.
func ParseURL(s string) (*url.URL, error) {
	u, err := url.Parse(s)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: %q is no URL", ErrAddress, s)
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, fmt.Errorf("%w: %q must begin with http:// or https://", ErrAddress, s)
	case u.Host == "":
		return nil, fmt.Errorf("%w: %q has no host", ErrAddress, s)
	case u.User != nil:
		return nil, fmt.Errorf("%w: the URL of %s holds a password: put it into the environment", ErrAddress, u.Hostname())
	case u.RawQuery != "" || u.Fragment != "":
		return nil, fmt.Errorf("%w: %q has a query or a fragment", ErrAddress, s)
	}
	if ip, err := netip.ParseAddr(u.Hostname()); err == nil && forbidden(ip) {
		return nil, fmt.Errorf("%w: %s is link-local", ErrAddress, ip)
	}
	return u, nil
}

// forbidden reports whether an address is link-local, or one at which AWS serves the
// metadata of an instance.
func forbidden(ip netip.Addr) bool {
	ip = ip.Unmap()
	return ip.IsLinkLocalUnicast() || netip.MustParsePrefix("fd00:ec2::/32").Contains(ip)
}

// Transport returns a transport with a timeout for dialing and one for the first byte of
// a response. Host names are checked by the addresses that they resolve to.
func Transport(dial, firstByte time.Duration) *http.Transport {
	d := &net.Dialer{Timeout: dial, KeepAlive: 30 * time.Second, Control: func(_, address string, _ syscall.RawConn) error {
		if ap, err := netip.ParseAddrPort(address); err == nil && forbidden(ap.Addr()) {
			return fmt.Errorf("%w: %s is link-local", ErrAddress, ap.Addr())
		}
		return nil
	}}
	return &http.Transport{
		Proxy: http.ProxyFromEnvironment, DialContext: d.DialContext, ForceAttemptHTTP2: true, MaxIdleConns: 1024, MaxIdleConnsPerHost: 256,
		IdleConnTimeout: 90 * time.Second, TLSHandshakeTimeout: 10 * time.Second, ResponseHeaderTimeout: firstByte,
		ExpectContinueTimeout: time.Second,
		DisableCompression:    true,
	}
}

// Client returns a client that follows no redirects, so that credentials are sent to the
// configured origin and to no other.
func Client(t http.RoundTripper) *http.Client {
	return &http.Client{Transport: t, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}
