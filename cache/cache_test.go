package cache

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func mustNew(t testing.TB, o Options) *Cache[int] {
	t.Helper()
	c, err := New[int](o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func key(i int) Key { return KeyOf(fmt.Sprint(i)) }

func TestKeys(t *testing.T) {
	if KeyOf("ab", "c") == KeyOf("a", "bc") || KeyOf("") == KeyOf("", "") {
		t.Error("parts run together")
	}
	if KeyOf("a", "b") != KeyOf([]byte("a"), []byte("b")) {
		t.Error("bytes and strings differ")
	}
}

func TestBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := Options{MaxEntries: rapid.IntRange(1, 300).Draw(t, "entries"), MaxBytes: rapid.IntRange(100, 20000).Draw(t, "bytes")}
		c, err := New[int](o)
		if err != nil {
			t.Fatal(err)
		}
		for i := range rapid.IntRange(0, 600).Draw(t, "adds") {
			k := key(rapid.IntRange(0, 400).Draw(t, "key"))
			if v, ok := c.Get(k); ok && key(v) != k {
				t.Fatalf("a key has another's value %d", v)
			}
			n := rapid.IntRange(0, 400).Draw(t, "of")
			c.Add(key(n), n, rapid.IntRange(0, 400).Draw(t, "size"))
			if s := c.Stats(); s.Bytes > int64(o.MaxBytes) || s.Entries > int64(o.MaxEntries) || s.Bytes < 0 {
				t.Fatalf("after %d: %+v of %+v", i, s, o)
			}
		}
	})
	for _, bad := range []Options{{MaxEntries: -1}, {MaxBytes: -1}} {
		if _, err := New[int](bad); !errors.Is(err, ErrOptions) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}

func TestExpiry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := mustNew(t, Options{TTL: time.Minute})
		c.Add(key(1), 1, 10)
		time.Sleep(59 * time.Second)
		if _, ok := c.Get(key(1)); !ok {
			t.Error("it went too early")
		}
		time.Sleep(time.Second)
		if _, ok := c.Get(key(1)); ok || c.Stats().Entries != 0 || c.Stats().Expired != 1 || c.Stats().Bytes != 0 {
			t.Errorf("it stays: %+v", c.Stats())
		}
		forever := mustNew(t, Options{TTL: -1})
		forever.Add(key(1), 1, 10)
		time.Sleep(1000 * time.Hour)
		if _, ok := forever.Get(key(1)); !ok {
			t.Error("it went")
		}
	})
}

// TestOnce checks that what several ask for at once is made once, and that one who
// goes away takes nothing from the others.
func TestOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := mustNew(t, Options{})
		made := 0
		build := func(ctx context.Context) (int, int, error) {
			time.Sleep(time.Second)
			made++
			return 7, 1, ctx.Err()
		}
		first, cancel := context.WithCancel(context.Background())
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := c.Do(first, key(1), build); !errors.Is(err, context.Canceled) {
				t.Errorf("the first: %v", err)
			}
		})
		synctest.Wait()
		for range 15 {
			wg.Go(func() {
				if v, err := c.Do(context.Background(), key(1), build); v != 7 || err != nil {
					t.Errorf("%d, %v", v, err)
				}
			})
		}
		synctest.Wait()
		cancel()
		wg.Wait()
		if made != 1 {
			t.Errorf("it was made %d times", made)
		}
		if v, ok := c.Get(key(1)); !ok || v != 7 {
			t.Error("it is not kept")
		}
	})
}

func TestNotKept(t *testing.T) {
	c := mustNew(t, Options{})
	bad := errors.New("bad")
	if _, err := c.Do(context.Background(), key(1), func(context.Context) (int, int, error) { return 1, 1, bad }); !errors.Is(err, bad) {
		t.Error(err)
	}
	if v, err := c.Do(context.Background(), key(1), func(context.Context) (int, int, error) { return 2, -1, nil }); v != 2 || err != nil {
		t.Error(v, err)
	}
	if _, err := c.Do(context.Background(), key(1), func(context.Context) (int, int, error) { panic("no") }); err == nil {
		t.Error("a panic gives no error")
	}
	if n := c.Stats().Entries; n != 0 {
		t.Errorf("%d are kept", n)
	}
}

func TestPatterns(t *testing.T) {
	p, err := NewPatterns(2)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		p.Learn("a", "qwen", KindDialect, "hermes", true)
		p.Learn("a", "qwen", KindDialect, "mistral", false)
	}
	p.Learn("a", "qwen", KindDialect, "react", true)
	p.Learn("a", "qwen", KindDialect, "react", false)
	p.Learn("a", "qwen", KindRepair, "trailing_comma", true)
	var names []string
	for _, x := range p.Likeliest("a", "qwen", KindDialect) {
		names = append(names, x.Name)
	}
	if fmt.Sprint(names) != "[hermes react]" {
		t.Errorf("%v", names)
	}
	if len(p.Likeliest("b", "qwen", KindDialect)) != 0 {
		t.Error("one tenant learns from another")
	}
	for i := range 2 * maxTried {
		p.Learn("a", "qwen", KindRepair, fmt.Sprint(i), true)
		p.Learn("a", "qwen", KindDialect, "hermes", true)
	}
	if n := len(p.Likeliest("a", "qwen", KindRepair)); n > maxNames {
		t.Errorf("%d names", n)
	}
	if x := p.Likeliest("a", "qwen", KindDialect)[0]; x.Name != "hermes" || x.Tried > maxTried || x.SuccessRate() > 1 {
		t.Errorf("%+v", x)
	}
	p.Learn("a", "m2", KindDialect, "x", true)
	p.Learn("a", "m3", KindDialect, "x", true)
	if len(p.Likeliest("a", "qwen", KindDialect)) != 0 {
		t.Error("the model used least stays")
	}
}

// TestKeysTellListsApart holds that lists of parts have the same key only if they are the
// same: a tenant's name cannot be made to run into a text.
func TestKeysTellListsApart(t *testing.T) {
	part := rapid.OneOf(rapid.SampledFrom([]string{"", "a", "b", "ab", "\x00", "\x01\x00\x00\x00\x00\x00\x00\x00a"}), rapid.StringN(0, 12, -1))
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.SliceOfN(part, 0, 5).Draw(t, "a"), rapid.SliceOfN(part, 0, 5).Draw(t, "b")
		if (KeyOf(a...) == KeyOf(b...)) != slices.Equal(a, b) {
			t.Fatalf("%q and %q", a, b)
		}
	})
}

// TestDefaults holds how much is kept, and for how long, if nothing is said.
func TestDefaults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := mustNew(t, Options{})
		for i := range 5000 {
			c.Add(key(i), i, 1)
		}
		if n := c.Stats().Entries; n > 1000 || n < 500 {
			t.Errorf("%d entries", n)
		}
		for i := range 5000 {
			c.Add(key(i), i, 200<<10)
		}
		if n := c.Stats().Bytes; n > 64<<20 {
			t.Errorf("%d bytes", n)
		}
		c.Add(key(1), 1, 1)
		time.Sleep(time.Hour)
		if _, ok := c.Get(key(1)); ok {
			t.Error("a value stays for more than an hour")
		}
	})
}

// grower is a value that grows as it is used.
type grower struct{ bytes int }

func (g *grower) Bytes() int { return g.bytes }

// TestGrowingValues holds that a value which grows is weighed by what it is now.
func TestGrowingValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const most = 10_000
		c, err := New[*grower](Options{MaxEntries: 8, MaxBytes: most})
		if err != nil {
			t.Fatal(err)
		}
		values := map[Key]*grower{}
		for range rapid.IntRange(0, 60).Draw(t, "steps") {
			k := key(rapid.IntRange(0, 12).Draw(t, "key"))
			switch g, ok := c.Get(k); {
			case ok && g != values[k]:
				t.Fatal("a key has another's value")
			case ok:
				g.bytes += rapid.IntRange(0, most/2).Draw(t, "growth")
				c.Get(k)
			default:
				g = &grower{rapid.IntRange(0, most/2).Draw(t, "bytes")}
				values[k] = g
				c.Add(k, g, g.bytes)
			}
			held := 0
			for _, k := range c.shards[0].queue.Keys() {
				e, _ := c.shards[0].queue.Peek(k)
				if held += e.size; e.size != max(e.value.bytes, 1)+len(k) {
					t.Fatalf("a value of %d bytes counts as %d", e.value.bytes, e.size)
				}
			}
			if s := c.Stats(); s.Bytes != int64(held) || held > most || s.Entries > 8 {
				t.Fatalf("%+v, and %d bytes", s, held)
			}
		}
	})
}
