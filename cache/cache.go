// Package cache has a bounded cache for what is costly to make, such as compiled tools and
// results of parses, and statistics of which dialects and repairs work for a model.
package cache

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"sync"
	"sync/atomic"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/sync/singleflight"
)

// Key identifies a cached value: the SHA-256 of all that it depends on. See [KeyOf].
type Key [sha256.Size]byte

var keyBuffers = sync.Pool{New: func() any { b := make([]byte, 0, 4<<10); return &b }}

// maxKeyBuffer bounds the buffers that are kept for making keys, in bytes.
const maxKeyBuffer = 256 << 10

// KeyOf returns the key of a list of parts, such as a tenant and a text. Each part is
// hashed with its length, so that different lists have different keys.
func KeyOf[T ~string | ~[]byte](parts ...T) Key {
	buffer := keyBuffers.Get().(*[]byte)
	b := (*buffer)[:0]
	for _, p := range parts {
		b = binary.LittleEndian.AppendUint64(b, uint64(len(p)))
		b = append(b, p...)
	}
	k := Key(sha256.Sum256(b))
	if cap(b) <= maxKeyBuffer {
		*buffer = b
		keyBuffers.Put(buffer)
	}
	return k
}

// Options bound a cache. The zero value means the defaults.
type Options struct {
	// MaxEntries is the maximum number of values; 0 means [DefaultMaxEntries].
	MaxEntries int
	// MaxBytes is the maximum size of all values; 0 means [DefaultMaxBytes]. A value that
	// is larger than the share of its shard, MaxBytes by the number of shards, is not kept.
	MaxBytes int
	// TTL is how long a value is kept; 0 means [DefaultTTL], less than 0 forever.
	TTL time.Duration
}

// ErrOptions says that a bound is negative.
var ErrOptions = errors.New("bad cache options")

// Defaults of the options.
const (
	DefaultMaxEntries = 1000
	DefaultMaxBytes   = 64 << 20
	DefaultTTL        = time.Hour
)

// Cache is a 2Q cache: values that are used often stay, values that were used once are
// evicted first. It is bounded by number, size and time, and sharded. It is safe for
// concurrent use and starts no goroutines, except for the builds of [Cache.Do].
type Cache[V any] struct {
	shards []shard[V]
	ttl    time.Duration
	flight singleflight.Group

	hits, misses, shared, evictions, expired atomic.Int64
}

type shard[V any] struct {
	mu       sync.Mutex
	queue    *lru.TwoQueueCache[Key, entry[V]]
	bytes    int
	maxBytes int
	capacity int
}

type entry[V any] struct {
	value   V
	size    int
	expires int64 // in nanoseconds since 1970; 0: never
}

// perShard is about how many values a shard holds: few, since a shard counts its bytes
// anew when a value is evicted.
const perShard = 64

// New returns a cache. The error is [ErrOptions].
func New[V any](o Options) (*Cache[V], error) {
	if o.MaxEntries < 0 || o.MaxBytes < 0 {
		return nil, fmt.Errorf("%w: MaxEntries is %d and MaxBytes is %d, must be 0 or more", ErrOptions, o.MaxEntries, o.MaxBytes)
	}
	if o.MaxEntries == 0 {
		o.MaxEntries = DefaultMaxEntries
	}
	if o.MaxBytes == 0 {
		o.MaxBytes = DefaultMaxBytes
	}
	if o.TTL == 0 {
		o.TTL = DefaultTTL
	}
	n := 1
	if o.MaxEntries > perShard {
		n = 1 << bits.Len(uint(o.MaxEntries/perShard-1)) // a power of two
	}
	c := &Cache[V]{shards: make([]shard[V], n), ttl: o.TTL}
	for i := range c.shards {
		s := &c.shards[i]
		s.capacity = max(o.MaxEntries/n, 1)
		s.maxBytes = max(o.MaxBytes/n, 1)
		q, err := lru.New2Q[Key, entry[V]](max(s.capacity, 2)) // it cannot have one
		if err != nil {
			return nil, err
		}
		s.queue = q
	}
	return c, nil
}

func (c *Cache[V]) shard(k Key) *shard[V] {
	return &c.shards[int(binary.LittleEndian.Uint16(k[:]))&(len(c.shards)-1)]
}

// Sized is a value that knows how many bytes it takes by now: one that grows as it is used.
// A cache asks it each time that it is gotten, and evicts others, or it, if it has grown.
type Sized interface{ Bytes() int }

// Get returns the value of a key; ok is false if it is not cached. It is the value that
// was added: what it points to must not be changed, but see [Sized].
func (c *Cache[V]) Get(k Key) (v V, ok bool) {
	s := c.shard(k)
	s.mu.Lock()
	e, ok := s.queue.Get(k)
	if ok && e.expires != 0 && time.Now().UnixNano() >= e.expires {
		s.queue.Remove(k)
		s.bytes -= e.size
		c.expired.Add(1)
		ok = false
	}
	if sized, grows := any(e.value).(Sized); ok && grows {
		c.weigh(s, k, e, sized.Bytes())
	}
	s.mu.Unlock()
	if !ok {
		c.misses.Add(1)
		return v, false
	}
	c.hits.Add(1)
	return e.value, true
}

// Add caches a value. size is about how many bytes it takes.
func (c *Cache[V]) Add(k Key, v V, size int) {
	s := c.shard(k)
	e := entry[V]{v, max(size, 1) + len(k), 0}
	if e.size > s.maxBytes {
		return
	}
	if c.ttl > 0 {
		e.expires = time.Now().Add(c.ttl).UnixNano()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.queue.Len()
	if old, ok := s.queue.Peek(k); ok {
		s.bytes -= old.size
		before--
	}
	s.queue.Add(k, e)
	s.bytes += e.size
	if gone := before + 1 - s.queue.Len(); gone > 0 { // the queue does not say which ones
		c.evictions.Add(int64(gone))
		s.bytes = 0
		for _, e := range s.queue.Values() {
			s.bytes += e.size
		}
	}
	c.makeRoom(s, k)
}

// weigh notes the size of a value that is cached, and makes room for it. One that is too
// large by now is evicted.
func (c *Cache[V]) weigh(s *shard[V], k Key, e entry[V], size int) {
	if size = max(size, 1) + len(k); size == e.size {
		return
	}
	if size > s.maxBytes {
		s.queue.Remove(k)
		s.bytes -= e.size
		c.evictions.Add(1)
		return
	}
	s.bytes += size - e.size
	e.size = size
	s.queue.Add(k, e)
	c.makeRoom(s, k)
}

// makeRoom evicts values until a shard is within its bounds, but for one.
func (c *Cache[V]) makeRoom(s *shard[V], k Key) {
	if s.bytes <= s.maxBytes && s.queue.Len() <= s.capacity {
		return
	}
	for _, old := range s.queue.Keys() {
		if s.bytes <= s.maxBytes && s.queue.Len() <= s.capacity {
			break
		}
		if old == k {
			continue
		}
		if e, ok := s.queue.Peek(old); ok {
			s.queue.Remove(old)
			s.bytes -= e.size
			c.evictions.Add(1)
		}
	}
}

// Do returns the cached value of a key, or builds it. Concurrent calls for one key build it
// once. build returns about how many bytes the value takes; less than 0, or an error,
// keeps it out of the cache. The context of build is not canceled with ctx, since others
// may wait for the value, but Do returns when ctx is done.
func (c *Cache[V]) Do(ctx context.Context, k Key, build func(context.Context) (v V, size int, err error)) (V, error) {
	if v, ok := c.Get(k); ok {
		return v, nil
	}
	result := c.flight.DoChan(string(k[:]), func() (v any, err error) {
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("internal error: %v", p)
			}
		}()
		made, size, err := build(context.WithoutCancel(ctx))
		if err == nil && size >= 0 {
			c.Add(k, made, size)
		}
		return made, err
	})
	select {
	case r := <-result:
		if r.Shared {
			c.shared.Add(1)
		}
		v, _ := r.Val.(V)
		return v, r.Err
	case <-ctx.Done():
		var none V
		return none, ctx.Err()
	}
}

// Stats are the statistics of a cache since it was made.
type Stats struct {
	Hits    int64 `json:"hits"`
	Misses  int64 `json:"misses"`
	Entries int64 `json:"entries"`
	Bytes   int64 `json:"bytes"`
	// Evictions counts values that were evicted to make room, Expired values that were too
	// old, Shared the calls of [Cache.Do] that shared one build.
	Evictions int64 `json:"evictions"`
	Expired   int64 `json:"expired"`
	Shared    int64 `json:"shared"`
}

// Stats returns the statistics.
func (c *Cache[V]) Stats() Stats {
	s := Stats{Hits: c.hits.Load(), Misses: c.misses.Load(), Evictions: c.evictions.Load(), Expired: c.expired.Load(), Shared: c.shared.Load()}
	for i := range c.shards {
		x := &c.shards[i]
		x.mu.Lock()
		s.Entries += int64(x.queue.Len())
		s.Bytes += int64(x.bytes)
		x.mu.Unlock()
	}
	return s
}

// Purge empties the cache.
func (c *Cache[V]) Purge() {
	for i := range c.shards {
		s := &c.shards[i]
		s.mu.Lock()
		s.queue.Purge()
		s.bytes = 0
		s.mu.Unlock()
	}
}
