package dispatch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	lru "github.com/hashicorp/golang-lru/v2"
)

// Memory remembers what calls came to, by key, so that a repeated call runs once. It must
// be safe for concurrent use: of several calls with one key, at the same time too, one
// runs, and the others get its result.
//
// Keys of a tool that runs once are its calls' idempotency keys; other calls are
// remembered by their id and key, so that the same reply, run again, does nothing twice.
type Memory interface {
	// Do returns the remembered result of a key, or that of run. Errors of run are not
	// remembered, but for ErrUnknown.
	Do(ctx context.Context, key string, run func() (Result, error)) (r Result, repeated bool, err error)
}

// ErrUnknown says that a call that is to run once was begun, and that nobody knows whether
// it happened: it took too long, or the program ended in it. It is remembered.
var ErrUnknown = errors.New("it is not known whether the call happened: look before calling it again")

// NewMemory returns a memory of the last n results.
func NewMemory(n int) Memory {
	kept, err := lru.New[string, outcome](max(n, 1))
	if err != nil { // only for a size below one
		panic(err)
	}
	return &memory{kept: kept}
}

// outcome is what a call came to.
type outcome struct {
	result Result
	err    error
}

// memory remembers results in a cache, and runs a key's call once at a time.
type memory struct {
	mu      sync.Mutex
	kept    *lru.Cache[string, outcome]
	running map[string]chan struct{}
	write   func(key string, o *outcome) error // nil keeps nothing beyond the cache
}

// Do runs a call once; see [Memory].
func (m *memory) Do(ctx context.Context, key string, run func() (Result, error)) (Result, bool, error) {
	for {
		m.mu.Lock()
		if o, ok := m.kept.Get(key); ok {
			m.mu.Unlock()
			return o.result, true, o.err
		}
		wait, busy := m.running[key]
		if !busy {
			break
		}
		m.mu.Unlock()
		select {
		case <-wait: // its result is remembered, or it failed and this one may try
		case <-ctx.Done():
			return Result{}, false, ctx.Err()
		}
	}
	if m.running == nil {
		m.running = map[string]chan struct{}{}
	}
	done := make(chan struct{})
	m.running[key] = done
	m.mu.Unlock()
	var o outcome
	finished := false
	defer func() {
		m.mu.Lock()
		if finished && (o.err == nil || errors.Is(o.err, ErrUnknown)) {
			m.kept.Add(key, o)
		}
		delete(m.running, key)
		m.mu.Unlock()
		close(done)
	}()
	if m.write != nil {
		if err := m.write(key, nil); err != nil {
			return Result{}, false, err
		}
	}
	o.result, o.err = run()
	finished = true
	if m.write != nil {
		if err := m.write(key, &o); err != nil {
			return o.result, false, errors.Join(o.err, err)
		}
	}
	return o.result, false, o.err
}

// FileMemory remembers results in a file, so that a program that is started again does
// nothing twice. It must be closed. One program may have it open at a time.
type FileMemory struct {
	memory
	file *os.File
}

// maxRemembered is how many results a file memory knows of.
const maxRemembered = 100_000

// record is a line of the file: a call that began, or what it came to.
type record struct {
	Key    string          `json:"key"`
	State  string          `json:"state"` // began, done, failed or unknown
	Text   string          `json:"text,omitempty"`
	Value  json.RawMessage `json:"value,omitempty"`
	Reason string          `json:"reason,omitempty"`
}

// The states of a record.
const (
	stateBegan   = "began"
	stateDone    = "done"
	stateFailed  = "failed"
	stateUnknown = "unknown"
)

// OpenMemory opens a file memory, and makes the file, readable by its owner only, if
// there is none. Of a call that was begun when the program ended, the memory gives
// ErrUnknown. Media of results are not remembered.
func OpenMemory(name string) (*FileMemory, error) {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	kept, err := lru.New[string, outcome](maxRemembered)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	m := &FileMemory{memory: memory{kept: kept}, file: f}
	if err := m.load(); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", name, err), f.Close())
	}
	m.write = m.append
	return m, nil
}

// load reads the file. A last line that is cut off is taken away: the program ended in it.
func (m *FileMemory) load() error {
	d := json.NewDecoder(m.file)
	for {
		var r record
		if err := d.Decode(&r); err != nil {
			var syntax *json.SyntaxError
			if errors.As(err, &syntax) {
				return fmt.Errorf("not a file of results: %w", err)
			}
			return m.file.Truncate(d.InputOffset()) // what is appended goes to the end
		}
		switch r.State {
		case stateBegan, stateUnknown:
			m.kept.Add(r.Key, outcome{err: ErrUnknown})
		case stateDone:
			v, err := parseJSON(string(r.Value))
			if err != nil {
				v = r.Text
			}
			m.kept.Add(r.Key, outcome{result: Result{Text: r.Text, Value: v}})
		case stateFailed:
			m.kept.Remove(r.Key)
		}
	}
}

// append writes that a call began, or what it came to.
func (m *FileMemory) append(key string, o *outcome) error {
	r := record{Key: key, State: stateBegan}
	switch {
	case o == nil:
	case errors.Is(o.err, ErrUnknown):
		r.State = stateUnknown
	case o.err != nil:
		r.State, r.Reason = stateFailed, o.err.Error()
	default:
		r.State, r.Text = stateDone, o.result.Text
		if data, err := appendJSON(nil, o.result.Value, asWritten, 0); err == nil {
			r.Value = data
		}
	}
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, err := m.file.Write(append(line, '\n')); err != nil {
		return err
	}
	return m.file.Sync()
}

// Close closes the file.
func (m *FileMemory) Close() error { return m.file.Close() }
