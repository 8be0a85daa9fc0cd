package console

import (
	"cmp"
	"slices"
	"strings"

	"github.com/callwright/callwright/parser"
)

// Kind says what a stretch of a text is.
type Kind string

// The kinds of segments.
const (
	Content   Kind = "content"   // text for the user
	Reasoning Kind = "reasoning" // the model's reasoning
	Called    Kind = "called"    // a candidate that is a call
	Rejected  Kind = "rejected"  // a candidate that is none
	Dropped   Kind = "dropped"   // a marker, or what else is neither content nor a call
)

// Segment is a stretch of a text. The texts of all segments add up to the whole text.
type Segment struct {
	Kind Kind `json:"kind"`
	// Candidates are indexes into the list of candidates: those that begin here. A list of
	// calls is one stretch of several candidates.
	Candidates []int `json:"candidates,omitempty"`
	// Why says as what text was dropped.
	Why parser.DropReason `json:"why,omitempty"`
	// Start is its offset in the text, in bytes.
	Start int    `json:"start"`
	Text  string `json:"text"`
}

// mark is a span of a text that is a candidate's, or was dropped.
type mark struct {
	start, end int
	kind       Kind
	candidate  int
	why        parser.DropReason
}

// Segments cuts a text into what it is made of, by the result and the candidates of a parse
// of it. Spans that are not within the text are left out. Where spans overlap, the one that begins first has the text, and of those that
// begin together the candidate.
func Segments(text string, r *parser.Result, all []Candidate) []Segment {
	var marks []mark
	for i := range all {
		kind := Rejected
		if all[i].Called {
			kind = Called
		}
		marks = append(marks, mark{start: all[i].Span[0], end: all[i].Span[1], kind: kind, candidate: i})
	}
	for _, d := range r.Dropped {
		marks = append(marks, mark{start: d.Span[0], end: d.Span[1], kind: Dropped, candidate: -1, why: d.Why})
	}
	marks = slices.DeleteFunc(marks, func(m mark) bool { return m.start < 0 || m.start >= m.end || m.end > len(text) })
	slices.SortStableFunc(marks, func(a, b mark) int { return cmp.Compare(a.start, b.start) })
	s := segmenter{text: text, content: r.Content, reasoning: r.Reasoning}
	for _, m := range marks {
		s.mark(m)
	}
	s.plain(len(text))
	return s.list
}

// segmenter cuts a text from its beginning to its end.
type segmenter struct {
	text               string
	at                 int    // what is before it is cut
	content, reasoning string // what of the result has not been met yet
	thinking           bool   // the text before was reasoning
	list               []Segment
}

// mark adds the segment of a mark, and what is before it.
func (s *segmenter) mark(m mark) {
	if m.start < s.at || m.end <= s.at { // it overlaps what is cut
		if last := len(s.list) - 1; m.candidate >= 0 && last >= 0 {
			s.list[last].Candidates = append(s.list[last].Candidates, m.candidate)
			if m.kind == Called && s.list[last].Kind == Rejected {
				s.list[last].Kind = Called
			}
		}
		if m.end <= s.at {
			return
		}
		m.candidate, m.start = -1, s.at
	}
	s.plain(m.start)
	x := Segment{Kind: m.kind, Why: m.why, Start: m.start, Text: s.text[m.start:m.end]}
	if m.candidate >= 0 {
		x.Candidates = []int{m.candidate}
	}
	if m.kind == Rejected { // its text may have stayed what it was
		s.kindOf(x.Text)
	}
	s.list = append(s.list, x)
	s.at = m.end
}

// plain adds what no mark covers, up to an offset.
func (s *segmenter) plain(end int) {
	if s.at >= end {
		return
	}
	t := s.text[s.at:end]
	kind, known := s.kindOf(t)
	if last := len(s.list) - 1; !known && last >= 0 && len(s.list[last].Candidates) > 0 {
		// A closing marker is no part of a candidate's span. Text may follow it.
		n := s.resumes(t)
		s.list = append(s.list, Segment{Kind: Dropped, Why: parser.DroppedClosingMarker, Start: s.at, Text: t[:n]})
		s.at += n
		s.plain(end)
		return
	}
	s.list = append(s.list, Segment{Kind: kind, Start: s.at, Text: t})
	s.at = end
}

// resumes is where in a stretch the content or the reasoning goes on; its length if nowhere.
func (s *segmenter) resumes(t string) int {
	const compared = 64 // bytes, so that the time stays linear
	trimmed := strings.TrimRight(t, space)
	n := len(t)
	for _, left := range []string{strings.TrimLeft(s.content, space), strings.TrimLeft(s.reasoning, space)} {
		for i := range min(n, len(trimmed)) {
			k := min(len(trimmed)-i, len(left), compared)
			if k > 0 && trimmed[i:i+k] == left[:k] {
				n = i
				break
			}
		}
	}
	return max(n, 1)
}

const space = " \t\r\n"

// kindOf tells whether a stretch is content or reasoning, by which of them goes on with it,
// and whether that is known.
func (s *segmenter) kindOf(t string) (kind Kind, known bool) {
	trimmed := strings.Trim(t, space)
	switch {
	case trimmed == "":
		known = true
	case take(&s.content, trimmed):
		s.thinking, known = false, true
	case take(&s.reasoning, trimmed):
		s.thinking, known = true, true
	}
	if s.thinking {
		return Reasoning, known
	}
	return Content, known
}

// take cuts a text off the beginning of what is left, and reports whether it was there.
func take(left *string, t string) bool {
	rest, ok := strings.CutPrefix(strings.TrimLeft(*left, space), t)
	if ok {
		*left = rest
	}
	return ok
}
