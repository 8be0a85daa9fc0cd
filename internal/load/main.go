// Command load compares the interceptor with a plain reverse proxy in front of the same
// server, in one run on this machine: throughput, latency of each piece of a stream,
// allocations, and memory of an open stream.
//
//	go run ./internal/load [-quick]
package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"text/tabwriter"
	"time"

	"github.com/callwright/callwright/config"
	"github.com/callwright/callwright/interceptor"
)

func main() {
	quick := flag.Bool("quick", false, "run for a moment, to see that it works")
	flag.Parse()
	if err := run(*quick); err != nil {
		log.Fatal(err)
	}
}

// requestBody has a tool, so that the reply is parsed.
const requestBody = `{"model":"m","stream":true,"messages":[{"role":"user","content":"Hello"}],"tools":[{"type":"function",` +
	`"function":{"name":"get_weather","parameters":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}}}]}`

// chunks is how many pieces a stream has.
const chunks = 64

// upstream streams pieces: as fast as it can, or one each few milliseconds, each with
// the time at which it was written, or it stops in the middle.
func upstream(stop <-chan struct{}) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // the request is always the same
		pace := 0
		for part := range strings.SplitSeq(r.Header.Get("X-Pace"), ",") {
			pace, _ = strconv.Atoi(part) // 0 if there is none
		}
		w.Header().Set("Content-Type", "text/event-stream")
		flush := http.NewResponseController(w)
		for i := range chunks {
			fmt.Fprintf(
				w,
				"data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":[{\"index\":0,"+
					"\"delta\":{\"content\":\" t%d\"},\"finish_reason\":null}]}\n\n",
				time.Now().UnixNano(),
			)
			if flush.Flush() != nil {
				return
			}
			switch {
			case pace > 0:
				time.Sleep(time.Duration(pace) * time.Millisecond)
			case pace < 0 && i == chunks/2:
				select {
				case <-stop:
				case <-r.Context().Done():
				}
				return
			}
		}
		_, _ = io.WriteString(
			w,
			"data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{},"+
				"\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n",
		)
	})
}

// listen serves a handler on a port of its own.
func listen(h http.Handler) (string, func(), error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	s := &http.Server{Handler: h, ReadHeaderTimeout: time.Minute}
	go func() { _ = s.Serve(l) }() // until it is closed
	return "http://" + l.Addr().String(), func() { _ = s.Close() }, nil
}

type measured struct {
	perSecond  float64 // streams
	p50, p99   time.Duration
	allocs     float64 // a stream, of all that runs here
	bytes      float64 // allocated a stream
	openMemory float64 // bytes that an open stream holds
}

func run(quick bool) error {
	stop := make(chan struct{})
	server := httptest.NewServer(upstream(stop))
	defer server.Close()
	defer close(stop)
	u, err := url.Parse(server.URL)
	if err != nil {
		return err
	}
	transport := &http.Transport{MaxIdleConnsPerHost: 1024, DisableCompression: true}
	proxy := &httputil.ReverseProxy{Rewrite: func(p *httputil.ProxyRequest) { p.SetURL(u) }, Transport: transport}
	c := config.Default()
	c.Server.Upstream, c.Server.UpstreamFormat = server.URL, "openai"
	h, err := interceptor.New(c, interceptor.Options{})
	if err != nil {
		return err
	}
	defer h.Close()
	streams, pacedRounds := 4096, 3
	levels := []int{1, 64, 512}
	if quick {
		streams, pacedRounds, levels = 64, 1, []int{1, 16}
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "streams\t\tper second\tp50 added\tp99 added\tallocations\tallocated\topen stream")
	for _, n := range levels {
		var results [2]measured
		for i, handler := range []http.Handler{proxy, h} {
			address, end, err := listen(handler)
			if err != nil {
				return err
			}
			m, err := measure(address, n, max(min(streams, 64*n), n), pacedRounds)
			end()
			transport.CloseIdleConnections()
			if err != nil {
				return err
			}
			results[i] = m
			name := []string{"proxy", "interceptor"}[i]
			fmt.Fprintf(
				w, "%d\t%s\t%.0f\t%v\t%v\t%.0f\t%.0f KB\t%.0f KB\n", n, name, m.perSecond, m.p50.Round(time.Microsecond), m.p99.Round(time.Microsecond),
				m.allocs, m.bytes/1024, m.openMemory/1024,
			)
		}
		a, b := results[0], results[1]
		fmt.Fprintf(
			w, "\tratio\t%.2f\t+%v\t+%v\t%.1f\t%.1f\t%.1f\n", b.perSecond/a.perSecond, (b.p50 - a.p50).Round(time.Microsecond),
			(b.p99 - a.p99).Round(time.Microsecond), b.allocs/a.allocs, b.bytes/a.bytes, b.openMemory/a.openMemory,
		)
	}
	return w.Flush()
}

// measure reads streams through an address, n at once.
func measure(address string, n, streams, rounds int) (m measured, err error) {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: n}}
	defer client.CloseIdleConnections()
	if _, err := burst(client, address, n, min(n, 64), 0); err != nil { // warm
		return m, err
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	start := time.Now()
	if _, err := burst(client, address, n, streams, 0); err != nil {
		return m, err
	}
	m.perSecond = float64(streams) / time.Since(start).Seconds()
	runtime.ReadMemStats(&after)
	m.allocs = float64(after.Mallocs-before.Mallocs) / float64(streams)
	m.bytes = float64(after.TotalAlloc-before.TotalAlloc) / float64(streams)
	var latencies []time.Duration
	for range rounds {
		l, err := burst(client, address, n, n, 20)
		if err != nil {
			return m, err
		}
		latencies = append(latencies, l...)
	}
	slices.Sort(latencies)
	m.p50, m.p99 = latencies[len(latencies)/2], latencies[len(latencies)*99/100]
	m.openMemory, err = open(client, address, n)
	return m, err
}

// burst reads streams, n at once, and returns the latency of each piece, from being
// written to being read, if the upstream paces them.
func burst(client *http.Client, address string, n, streams, pace int) (latencies []time.Duration, err error) {
	var wg sync.WaitGroup
	var mu sync.Mutex
	var failed atomic.Pointer[error]
	left := atomic.Int64{}
	left.Store(int64(streams))
	for range n {
		wg.Go(func() {
			for left.Add(-1) >= 0 {
				l, err := one(client, address, pace)
				if err != nil {
					failed.Store(&err)
					return
				}
				mu.Lock()
				latencies = append(latencies, l...)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if e := failed.Load(); e != nil {
		return nil, *e
	}
	return latencies, nil
}

func request(ctx context.Context, address string, pace int) (*http.Request, error) {
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, address+"/v1/chat/completions", strings.NewReader(requestBody))
	if err != nil {
		return nil, err
	}
	q.Header.Set("Content-Type", "application/json")
	q.Header.Set("X-Pace", strconv.Itoa(pace))
	return q, nil
}

// one reads one stream and returns the latencies of its pieces.
func one(client *http.Client, address string, pace int) (latencies []time.Duration, err error) {
	q, err := request(context.Background(), address, pace)
	if err != nil {
		return nil, err
	}
	r, err := client.Do(q)
	if err != nil {
		return nil, err
	}
	defer r.Body.Close()
	got := 0
	lines := bufio.NewScanner(r.Body)
	for lines.Scan() {
		_, rest, ok := bytes.Cut(lines.Bytes(), []byte(`"content":"`))
		rest, isPiece := bytes.CutPrefix(bytes.TrimLeft(rest, " "), []byte("t"))
		if !ok || !isPiece {
			continue
		}
		got++
		if pace > 0 {
			digits := rest[:len(rest)-len(bytes.TrimLeft(rest, "0123456789"))]
			written, err := strconv.ParseInt(string(digits), 10, 64)
			if err != nil {
				return nil, err
			}
			latencies = append(latencies, time.Duration(time.Now().UnixNano()-written))
		}
	}
	if got != chunks {
		return nil, errors.Join(fmt.Errorf("%d of %d pieces came", got, chunks), lines.Err())
	}
	return latencies, nil
}

// open returns how many bytes an open stream takes, with n streams open.
func open(client *http.Client, address string, n int) (float64, error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	used := func() float64 {
		var s runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&s)
		return float64(s.HeapAlloc + s.StackInuse)
	}
	before := used()
	for range n {
		q, err := request(ctx, address, -1)
		if err != nil {
			return 0, err
		}
		r, err := client.Do(q)
		if err != nil {
			return 0, err
		}
		defer r.Body.Close()
		if _, err := io.ReadFull(r.Body, make([]byte, 256)); err != nil {
			return 0, err
		}
	}
	time.Sleep(200 * time.Millisecond)
	return (used() - before) / float64(n), nil
}
