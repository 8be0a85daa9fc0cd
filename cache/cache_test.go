package cache

import (
	"errors"
	"testing"
)

func TestCache(t *testing.T) {
	c := New[int](2, 100)
	built := 0
	get := func(name string, size int) int {
		v, err := c.Get(KeyOf([]byte(name)), func() (int, int, error) { built++; return built, size, nil })
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	get("a", 10)
	if again := get("a", 10); again != 1 || get("b", 10) != 2 {
		t.Error("a value is made again")
	}
	get("c", 10)
	if c.Len() != 2 || get("a", 10) != 4 {
		t.Error("the oldest value is not the one that goes")
	}
	get("big", 95)
	if c.Len() != 1 {
		t.Errorf("%d values are kept beyond the bytes", c.Len())
	}
	get("too big", 101)
	if c.Len() != 1 {
		t.Error("a value larger than the cache is kept")
	}
	bad := errors.New("bad")
	if _, err := c.Get(KeyOf([]byte("x")), func() (int, int, error) { return 0, 0, bad }); !errors.Is(err, bad) {
		t.Errorf("%v", err)
	}
	if KeyOf([]byte("ab"), []byte("c")) == KeyOf([]byte("a"), []byte("bc")) {
		t.Error("parts run together")
	}
}
