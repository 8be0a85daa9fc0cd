// Package repair reads broken JSON by two readers, within bounds, and without losing
// what the text says plainly.
package repair

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/kaptinlin/jsonrepair"

	"github.com/callwright/callwright/internal/lenient"
)

// Bounds of what is given to the repairer, which is quadratic and recursive.
const (
	maxRepairBytes = 32 << 10
	maxRepairDepth = 512
)

// Errors of a repair.
var (
	ErrTooLarge     = errors.New("too large or too deep to repair")
	ErrNotJSON      = errors.New("the repaired text is not JSON")
	ErrStringLost   = errors.New("the repair would change a string that the text delimits properly")
	ErrNothingFound = errors.New("there is no object or list in the text")
)

// Repaired is what a repair came to.
type Repaired struct {
	// By names who repaired: "lenient_reader" or "jsonrepair".
	By    string
	Value any
	// Fixes names what was repaired.
	Fixes []string
}

// JSON reads broken JSON: first by the lenient reader, from the first bracket
// on; then by jsonrepair, within bounds, and only if its answer is JSON in which
// every string that the text delimits properly stands unchanged.
func JSON(text string) (Repaired, error) { return Shaped(text, nil) }

// Shaped is [JSON] where something is known of the value.
func Shaped(text string, shape *lenient.Shape) (Repaired, error) {
	start := strings.IndexAny(text, "{[")
	if start < 0 {
		return Repaired{}, ErrNothingFound
	}
	text = text[start:]
	v, r, err := lenient.Parse(text, lenient.Options{Shape: shape})
	if err == nil || errors.Is(err, lenient.ErrTrailing) {
		return Repaired{"lenient_reader", v, r.Fixes.Names()}, nil
	}
	return repairWithLibrary(text)
}

func repairWithLibrary(text string) (a Repaired, err error) {
	if len(text) > maxRepairBytes || depth(text) > maxRepairDepth {
		return a, ErrTooLarge
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("repairer: %v", p)
		}
	}()
	repaired, err := jsonrepair.Repair(text)
	if err != nil {
		return a, fmt.Errorf("repairer: %w", err)
	}
	if !json.Valid([]byte(repaired)) {
		return a, ErrNotJSON
	}
	v, _, err := lenient.Parse(repaired, lenient.Options{})
	if err != nil {
		return a, ErrNotJSON
	}
	switch v.(type) {
	case map[string]any, []any:
	default:
		return a, ErrNothingFound
	}
	have := map[string]bool{}
	collect(v, have)
	r := lenient.NewReader(lenient.NewCursor([]byte(text)), lenient.Options{})
	for {
		kind, err := r.Next()
		if err != nil || kind == lenient.End {
			break
		}
		if (kind == lenient.String || kind == lenient.Key) && !r.Fixes.Any() && !have[r.Text()] {
			return a, ErrStringLost
		}
	}
	return Repaired{"jsonrepair", v, []string{"jsonrepair"}}, nil
}

// depth counts how deep brackets nest at most, strings and all.
func depth(text string) (most int) {
	open := 0
	for i := range len(text) {
		switch text[i] {
		case '{', '[':
			open++
			most = max(most, open)
		case '}', ']':
			open--
		}
	}
	return most
}

// collect notes all keys and strings of a value whose depth is bounded.
func collect(v any, into map[string]bool) {
	switch x := v.(type) {
	case string:
		into[x] = true
	case map[string]any:
		for k, e := range x {
			into[k] = true
			collect(e, into)
		}
	case []any:
		for _, e := range x {
			collect(e, into)
		}
	}
}
