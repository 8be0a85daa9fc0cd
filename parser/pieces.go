package parser

import "strings"

// pieces is a text that is put together. One piece alone is not copied.
type pieces struct {
	first string
	rest  strings.Builder
}

// WriteString adds a piece.
func (p *pieces) WriteString(s string) {
	switch {
	case p.first == "" && p.rest.Len() == 0:
		p.first = s
	default:
		if p.rest.Len() == 0 {
			p.rest.WriteString(p.first)
		}
		p.rest.WriteString(s)
	}
}

// String returns the text so far.
func (p *pieces) String() string {
	if p.rest.Len() == 0 {
		return p.first
	}
	return p.rest.String()
}

// Len is the length of the text so far, in bytes.
func (p *pieces) Len() int { return max(len(p.first), p.rest.Len()) }

// Reset empties the text.
func (p *pieces) Reset() { *p = pieces{} }
