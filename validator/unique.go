package validator

import (
	"fmt"
	"math/big"
	"strconv"

	"github.com/callwright/callwright/internal/text"
)

// fewItems is how many items are compared each with each.
const fewItems = 8

// duplicates returns the first item that is equal to one before it, and that one; -1 if
// there is none. Its time grows with the list, whatever stands in it.
func (w *walk) duplicates(list []any) (first, second int) {
	if len(list) <= fewItems {
		for j := range list {
			for i := range j {
				if w.step(1); equal(list[i], list[j]) {
					return i, j
				}
			}
		}
		return -1, -1
	}
	seen := make(map[string]int, len(list))
	var buffer []byte
	for j, e := range list {
		buffer = appendCanonical(buffer[:0], e)
		if !w.step(1 + len(buffer)/bytesPerStep) {
			return -1, -1
		}
		if i, ok := seen[string(buffer)]; ok {
			return i, j
		}
		seen[string(buffer)] = j
	}
	return -1, -1
}

// appendCanonical writes a value so that equal values are equal texts, and no others.
func appendCanonical(b []byte, v any) []byte {
	switch x := v.(type) {
	case nil:
		return append(b, 'n')
	case bool:
		return strconv.AppendBool(b, x)
	case string:
		b = strconv.AppendInt(append(b, 's'), int64(len(x)), 10)
		return append(append(b, ':'), x...)
	case []any:
		b = strconv.AppendInt(append(b, 'l'), int64(len(x)), 10)
		for _, e := range x {
			b = appendCanonical(append(b, ','), e)
		}
		return b
	case map[string]any:
		b = strconv.AppendInt(append(b, 'm'), int64(len(x)), 10)
		for _, k := range text.SortedKeys(x) {
			b = appendCanonical(append(b, ','), k)
			b = appendCanonical(append(b, ':'), x[k])
		}
		return b
	}
	n, ok := numberText(v)
	if !ok {
		n = fmt.Sprintf("%T %v", v, v)
	}
	return append(append(b, '#'), canonicalNumber(n)...)
}

// canonicalNumber writes a number so that equal numbers are equal texts.
func canonicalNumber(n string) string {
	if isInteger(n) {
		if n == "-0" {
			return "0"
		}
		return n
	}
	if text.HugeNumber(n) {
		return n
	}
	r, ok := new(big.Rat).SetString(n)
	if !ok {
		return n
	}
	return r.RatString()
}
