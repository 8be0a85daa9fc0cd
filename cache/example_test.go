package cache_test

import (
	"context"
	"fmt"

	"github.com/callwright/callwright/cache"
)

// An expensive value is built once for a key.
func ExampleCache_Do() {
	c, err := cache.New[string](cache.Options{MaxEntries: 100})
	if err != nil {
		fmt.Println(err)
		return
	}
	key := cache.KeyOf("tenant", "some text")
	for range 3 {
		value, err := c.Do(context.Background(), key, func(context.Context) (string, int, error) {
			fmt.Println("built")
			return "parsed", len("parsed"), nil
		})
		fmt.Println(value, err)
	}
	fmt.Println(c.Stats().Hits, "hits")
	// Output:
	// built
	// parsed <nil>
	// parsed <nil>
	// parsed <nil>
	// 2 hits
}
