// Package cache keeps what is costly to make again, such as compiled schemas.
package cache

import (
	"crypto/sha256"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// Key identifies what is cached: a hash of all that it is made from.
type Key [sha256.Size]byte

// KeyOf hashes parts, each with its length, so that no two lists of parts have
// the same key.
func KeyOf(parts ...[]byte) Key {
	h := sha256.New()
	var length [8]byte
	for _, p := range parts {
		for i, n := 0, uint64(len(p)); i < 8; i++ {
			length[i] = byte(n >> (8 * i))
		}
		h.Write(length[:])
		h.Write(p)
	}
	return Key(h.Sum(nil))
}

// Cache keeps the values used last, bounded by their number and by their bytes.
// It is safe for concurrent use.
type Cache[V any] struct {
	mu       sync.Mutex
	lru      *simplelru.LRU[Key, entry[V]]
	bytes    int
	maxBytes int
}

type entry[V any] struct {
	value V
	size  int
}

// New returns a cache of at most so many entries and bytes, both at least 1.
func New[V any](entries, maxBytes int) *Cache[V] {
	c := &Cache[V]{maxBytes: maxBytes}
	lru, err := simplelru.NewLRU(max(entries, 1), func(_ Key, e entry[V]) { c.bytes -= e.size })
	if err != nil {
		panic(err) // the size is positive
	}
	c.lru = lru
	return c
}

// Get returns the value of a key, made by build if it is not there. size is about
// how many bytes the value takes; a value larger than the cache is not kept. An
// error of build is returned and nothing is kept.
func (c *Cache[V]) Get(k Key, build func() (v V, size int, err error)) (V, error) {
	c.mu.Lock()
	e, ok := c.lru.Get(k)
	c.mu.Unlock()
	if ok {
		return e.value, nil
	}
	v, size, err := build()
	if err != nil || size > c.maxBytes {
		return v, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if old, ok := c.lru.Get(k); ok {
		return old.value, nil
	}
	c.lru.Add(k, entry[V]{v, size})
	for c.bytes += size; c.bytes > c.maxBytes && c.lru.Len() > 1; {
		c.lru.RemoveOldest()
	}
	return v, nil
}

// Len is how many values are kept.
func (c *Cache[V]) Len() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lru.Len()
}
