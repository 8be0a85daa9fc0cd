package scan

import (
	"strings"

	"github.com/callwright/callwright/dialect"
	"github.com/callwright/callwright/internal/lenient"
)

// markerKind says what a marker does.
type markerKind uint8

const (
	opens     markerKind = iota // a call
	closes                      // a call
	thinks                      // begins reasoning
	concludes                   // ends reasoning
	noise                       // begins or ends a turn
	results                     // begins a tool's result
	quotes                      // begins what is only shown, such as an HTML comment
)

// marker is one text that the scanner stops at.
type marker struct {
	pattern string
	plain   bool // no rune of the pattern is loose
	kind    markerKind
	rows    []*dialect.Row     // that it opens
	form    *dialect.Reasoning // that it opens
	end     string             // of a region
	section bool
	turn    *dialect.Turn // that it begins or ends; nil if it does neither
	trained bool          // models are trained to emit it
	// afterCall says that it counts only behind something that is not content.
	afterCall bool
	element   bool // it is only the beginning of a tag with attributes
}

// isLoose reports whether a pattern has parts that match in several spellings.
func isLoose(p string) bool {
	for i := range len(p) {
		switch p[i] {
		case 0xEF:
			if strings.HasPrefix(p[i:], "｜") {
				return true
			}
		case 0xE2:
			if strings.HasPrefix(p[i:], "▁") {
				return true
			}
		case ':':
			if strings.HasPrefix(p[i:], ":*") {
				return true
			}
		}
	}
	return false
}

// match returns the offset behind the marker that stands at off, or -1. It waits
// only while what has come can still become the marker.
func (m *marker) match(c *lenient.Cursor, off int) int {
	if m.plain {
		if c.HasPrefixAt(off, m.pattern) {
			return off + len(m.pattern)
		}
		return -1
	}
	return matchLoose(c, off, m.pattern)
}

// matchLoose matches a pattern whose bars, blocks and suffixes have several spellings.
func matchLoose(c *lenient.Cursor, off int, pattern string) int {
	for i := 0; i < len(pattern); {
		rest := pattern[i:]
		switch {
		case strings.HasPrefix(rest, "｜"):
			i += len("｜")
			if off = looseBars(c, off, i < len(pattern) && pattern[i] != '>'); off < 0 {
				return -1
			}
		case strings.HasPrefix(rest, "▁"):
			i += len("▁")
			n := 0
			for _, s := range [...]string{"▁", "_", " ", `\_`} {
				if c.HasPrefixAt(off, s) {
					n = len(s)
					break
				}
			}
			if n == 0 {
				return -1
			}
			off += n
		case strings.HasPrefix(rest, ":*"):
			i += 2
			if b, _ := c.At(off); b == ':' {
				for off++; ; off++ {
					if b, _ := c.At(off); !isAlnum(b) {
						break
					}
				}
			}
		default:
			b, ok := c.At(off)
			if !ok || b != pattern[i] {
				return -1
			}
			off++
			i++
		}
	}
	return off
}

// looseBars matches one or two bars of any width. Inside a tag white space may
// stand around them.
func looseBars(c *lenient.Cursor, off int, spaced bool) int {
	bars := 0
	if b, _ := c.At(off); b == ' ' && spaced {
		off++
	}
	for bars < 2 {
		switch {
		case c.HasPrefixAt(off, "｜"), c.HasPrefixAt(off, "‖"):
			off += len("｜")
		case c.HasPrefixAt(off, "|"):
			off++
		default:
			if bars == 0 {
				return -1
			}
			return skipBlank(c, off, spaced)
		}
		bars++
	}
	return skipBlank(c, off, spaced)
}

func skipBlank(c *lenient.Cursor, off int, spaced bool) int {
	if b, _ := c.At(off); b == ' ' && spaced {
		return off + 1
	}
	return off
}

// matchAny returns the offset behind the longest of the patterns at off, or -1.
func matchAny(c *lenient.Cursor, off int, patterns []string) int {
	best := -1
	if len(patterns) == 0 {
		return best
	}
	b, _ := c.At(off)
	for _, p := range patterns {
		if p != "" && p[0] < 0x80 && p[0] != ':' && p[0] != b {
			continue
		}
		end := -1
		if isLoose(p) {
			end = matchLoose(c, off, p)
		} else if c.HasPrefixAt(off, p) {
			end = off + len(p)
		}
		best = max(best, end)
	}
	return best
}
