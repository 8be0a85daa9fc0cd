package parser

import "strings"

// joined is a text that is put together of parts. One part alone is not copied.
type joined struct {
	first string
	rest  strings.Builder // of several parts all
}

// add appends a part.
func (j *joined) add(s string) {
	switch {
	case j.first == "" && j.rest.Len() == 0:
		j.first = s
	default:
		if j.rest.Len() == 0 {
			j.rest.WriteString(j.first)
		}
		j.rest.WriteString(s)
	}
}

// String returns the text so far.
func (j *joined) String() string {
	if j.rest.Len() == 0 {
		return j.first
	}
	return j.rest.String()
}

// len is the length of the text so far, in bytes.
func (j *joined) len() int { return max(len(j.first), j.rest.Len()) }

// reset empties the text.
func (j *joined) reset() { *j = joined{} }
