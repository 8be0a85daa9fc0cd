package safehttp

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

func TestParseURL(t *testing.T) {
	for _, good := range []string{"http://127.0.0.1:11434", "https://api.example.com/v1", "http://[::1]:8080"} {
		if _, err := ParseURL(good); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
	for _, bad := range []string{
		"", "ftp://x", "http://", "file:///etc/passwd", "http://user:secret@host", "http://169.254.169.254", "http://[fe80::1]",
		"http://[fd00:ec2::254]", "http://[::ffff:169.254.1.1]", "http://x?y=1",
	} {
		if _, err := ParseURL(bad); !errors.Is(err, ErrAddress) {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

func TestClient(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a redirect was followed") }))
	defer elsewhere.Close()
	s := httptest.NewServer(http.RedirectHandler(elsewhere.URL, http.StatusFound))
	defer s.Close()
	transport := Transport(time.Second, time.Second)
	defer transport.CloseIdleConnections()
	r, err := Client(transport).Get(s.URL)
	if err != nil || r.StatusCode != http.StatusFound {
		t.Fatal(r, err)
	}
	r.Body.Close()
	q, err := http.NewRequestWithContext(context.Background(), http.MethodGet, "http://169.254.169.254/latest", nil)
	if err != nil {
		t.Fatal(err)
	}
	if r, err := Client(transport).Do(q); !errors.Is(err, ErrAddress) {
		if err == nil {
			r.Body.Close()
		}
		t.Error(err)
	}
}
