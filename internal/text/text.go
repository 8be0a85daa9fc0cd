// Package text has small functions on text and on decoded JSON that several packages
// need, once.
package text

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Clip cuts a text to at most n bytes, at the end of a rune, and puts "…" behind what it
// cut. A shorter text is returned as it is.
//
//	Clip("größer", 3) // "gr…"
func Clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:WholeRunes(s[:n])], "") + "…"
}

// WholeRunes returns how many bytes of a text are left when the beginning of a rune at
// its end is cut off. Bytes that begin no rune stay.
//
//	WholeRunes("gr\xc3") // 2
func WholeRunes[T ~string | ~[]byte](s T) int {
	for i := len(s) - 1; i >= max(0, len(s)-utf8.UTFMax+1); i-- {
		if b := s[i]; utf8.RuneStart(b) {
			if b >= utf8.RuneSelf && !utf8.FullRuneInString(string(s[i:])) {
				return i
			}
			break
		}
	}
	return len(s)
}

var escapePointer, unescapePointer = strings.NewReplacer("~", "~0", "/", "~1"), strings.NewReplacer("~1", "/", "~0", "~")

// Pointer returns the JSON pointer (RFC 6901) to a member of what path points to.
//
//	Pointer("/items", "a/b") // "/items/a~1b"
func Pointer(path, key string) string {
	if strings.ContainsAny(key, "~/") {
		key = escapePointer.Replace(key)
	}
	return path + "/" + key
}

// Keys returns the keys of a JSON pointer, nil for the pointer to all.
//
//	Keys("/items/a~1b") // ["items", "a/b"]
func Keys(path string) []string {
	if path == "" {
		return nil
	}
	keys := strings.Split(strings.TrimPrefix(path, "/"), "/")
	for i, k := range keys {
		keys[i] = unescapePointer.Replace(k)
	}
	return keys
}

// SortedKeys returns the keys of a map in their order.
func SortedKeys[V any](m map[string]V) []string {
	if len(m) == 0 {
		return nil
	}
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// Clone copies a decoded JSON value with all that is in its objects and lists. The
// value's depth must be bounded.
func Clone(v any) any {
	switch v := v.(type) {
	case map[string]any:
		m := make(map[string]any, len(v))
		for k, e := range v {
			m[k] = Clone(e)
		}
		return m
	case []any:
		list := make([]any, len(v))
		for i, e := range v {
			list[i] = Clone(e)
		}
		return list
	}
	return v
}
