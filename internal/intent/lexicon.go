package intent

import (
	"embed"
	"fmt"
	"io/fs"
	"math/bits"
	"slices"
	"strings"
	"sync"
)

// Cue is a class of words by which a text says what a call in it is.
type Cue uint8

// The classes of cues. A lexicon's section has the name of one.
const (
	Negation Cue = iota
	Prohibition
	Refusal
	Inability
	Example
	Documentation
	Asking
	Permission
	Offer
	Condition
	Modality
	Hypothetical
	Later
	Proposal
	Past
	Done
	Attribution
	Attack
	Correction
	Retraction
	Alternatives
	Listing
	Announcement
	Progressive
	Now
	Step
	Waiting
	Apology
	Agreement
	Advice
	Teaching
	Cause
	Contrast
	Self
	User
	Others
	Unneeded
	Failure
	Idiom
	ActVerb
	Result
	Common
	cues
)

var cueNames = [cues]string{
	"negation", "prohibition", "refusal", "inability", "example", "documentation", "asking", "permission", "offer", "condition", "modality",
	"hypothetical", "later", "proposal", "past", "done", "attribution", "attack", "correction", "retraction", "alternatives", "listing",
	"announcement", "progressive", "now", "step", "waiting", "apology", "agreement", "advice", "teaching", "reason", "contrast", "self",
	"user", "others", "unneeded", "failure", "idiom", "verb", "result", "common",
}

func (c Cue) String() string { return cueNames[c] }

//go:embed lexicon/*.txt
var lexiconFiles embed.FS

// lexicon holds the cues of all languages. An entry is found by the hash of its folded
// runes; the first two runes tell how long the entries are that begin with them.
type lexicon struct {
	languages []string
	keys      []uint64 // hashes of entries and of pairs of runes, 0 where free
	heads     []int32  // the last entry with a key's runes, -1 for none
	lengths   []uint64 // of the entries that begin with a key's pair of runes: bit n for n runes
	entries   []entry
	mask      uint64
}

// maxEntry is the length of the longest entry, in runes.
const maxEntry = 63

type entry struct {
	next  int32 // of those with the same runes, -1 at the end
	lang  uint8
	open  bool // the word may go on: "example*"
	words bool // it has several words
	cues  uint64
}

// inner begins the prefix of an entry that stands within a word: "*madım".
const inner = '*'

var loadLexicon = sync.OnceValue(func() *lexicon {
	l, err := newLexicon(lexiconFiles)
	if err != nil {
		panic(err) // the embedded files are checked by a test
	}
	return l
})

// newLexicon reads the lexicons of a file system: a file a language, a section a class
// of cues, entries divided by commas or lines.
func newLexicon(files fs.FS) (*lexicon, error) {
	names, err := fs.Glob(files, "lexicon/*.txt")
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	if len(names) > 64 {
		return nil, fmt.Errorf("%d lexicons: at most 64 fit", len(names))
	}
	l := &lexicon{}
	l.grow(1 << 17)
	for i, name := range names {
		data, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		l.languages = append(l.languages, strings.TrimSuffix(strings.TrimPrefix(name, "lexicon/"), ".txt"))
		if err := l.parse(string(data), uint8(i)); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return l, nil
}

// parse adds a language's entries.
func (l *lexicon) parse(text string, lang uint8) error {
	cue := -1
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || line[0] == '#':
		case line[0] == '[' && line[len(line)-1] == ']':
			if cue = slices.Index(cueNames[:], line[1:len(line)-1]); cue < 0 {
				return fmt.Errorf("%s is no class of cues", line)
			}
		case cue < 0:
			return fmt.Errorf("%q stands before the first section", line)
		default:
			for e := range strings.SplitSeq(line, ",") {
				if e = strings.TrimSpace(e); e != "" {
					l.add(e, lang, Cue(cue))
				}
			}
		}
	}
	return nil
}

// add adds an entry, and once more without its accents.
func (l *lexicon) add(text string, lang uint8, c Cue) {
	var buf [128]rune
	folded := foldEntry(buf[:0], text)
	l.insert(folded, lang, c)
	if l.languages[lang] == "vi" {
		return
	}
	plain, changed := folded, false
	for i, r := range plain {
		if p := withoutAccent(r); p != r {
			plain[i], changed = p, true
		}
	}
	if changed {
		l.insert(plain, lang, c)
	}
}

// foldEntry folds an entry's text as a context's is folded; a star stays.
func foldEntry(dst []rune, text string) []rune {
	for _, r := range text {
		if r == '*' {
			dst = append(dst, '*')
			continue
		}
		if f := fold(r); f != 0 && (f != ' ' || len(dst) == 0 || dst[len(dst)-1] != ' ') {
			dst = append(dst, f)
		}
	}
	return dst
}

func (l *lexicon) insert(e []rune, lang uint8, c Cue) {
	open := e[len(e)-1] == '*'
	if open {
		e = e[:len(e)-1]
	}
	body := e
	if len(e) > 0 && e[0] == inner {
		body = e[1:]
	}
	if len(body) == 0 || len(e) > maxEntry {
		return
	}
	h := uint64(prefixSeed)
	if len(body) < len(e) {
		h = prefixHash(h, inner)
	}
	for i, r := range body {
		h = prefixHash(h, r)
		if i == 1 {
			l.lengths[l.place(h)] |= 1 << len(body)
		}
	}
	at := l.place(h)
	dense := isDense(e[len(e)-1])
	words := slices.Contains(e, ' ') || dense && len(e) > 2
	for i := l.heads[at]; i >= 0; i = l.entries[i].next {
		if x := &l.entries[i]; x.lang == lang && x.open == open {
			x.cues |= 1 << c
			return
		}
	}
	l.entries = append(l.entries, entry{next: l.heads[at], lang: lang, open: open || dense, words: words, cues: 1 << c})
	l.heads[at] = int32(len(l.entries) - 1)
}

// place returns where a hash stands, and makes a place for it.
func (l *lexicon) place(h uint64) int {
	at := l.find(h)
	if l.keys[at] == 0 {
		l.keys[at], l.heads[at] = h, -1
	}
	return at
}

const prefixSeed = 0x9E3779B97F4A7C15

func prefixHash(h uint64, r rune) uint64 {
	h = (h ^ uint64(r)) * 0xFF51AFD7ED558CCD
	return h ^ h>>32 | 1
}

func (l *lexicon) grow(n int) {
	l.keys, l.heads, l.lengths, l.mask = make([]uint64, n), make([]int32, n), make([]uint64, n), uint64(n-1)
}

// find returns where a prefix's hash stands, or a free place for it.
func (l *lexicon) find(h uint64) int {
	i := h >> 7 & l.mask
	for l.keys[i] != 0 && l.keys[i] != h {
		i = (i + 1) & l.mask
	}
	return int(i)
}

// match is a cue in a reading.
type match struct {
	from, to int16
	cues     uint64
	lang     uint8
	words    bool
	inner    bool
}

const maxMatches = 400

// matches finds the entries in a reading's text, in its order.
func (l *lexicon) matches(r *reading, dst []match) []match {
	var score [64]int
	for i := range r.n {
		c := r.runes[i]
		if c == ' ' || c == '\n' {
			continue
		}
		word := isWordRune(c)
		start := i == 0 || i == r.slot || !isWordRune(r.runes[i-1]) || isDense(c) || isDense(r.runes[i-1])
		h := uint64(prefixSeed)
		if !start {
			if !word {
				continue
			}
			h = prefixHash(h, inner)
		}
		end := r.n
		if i < r.slot {
			end = r.slot
		}
		var lengths uint64 = 1 << 1
		for j := i; j < end && lengths>>(j-i) > 0; j++ {
			h = prefixHash(h, r.runes[j])
			n := j - i + 1
			if n == 2 {
				lengths = l.lengths[l.find(h)] &^ 3
			}
			if lengths&(1<<n) == 0 {
				if n == 1 {
					lengths = 1 << 2 // look at the pair
				}
				continue
			}
			at := l.find(h)
			if l.keys[at] == 0 {
				if n == 1 {
					lengths = 1 << 2
				}
				continue
			}
			for e := l.heads[at]; e >= 0; e = l.entries[e].next {
				x := &l.entries[e]
				if !x.open && j+1 < end && isWordRune(r.runes[j+1]) && word && isWordRune(r.runes[j]) {
					continue
				}
				if len(dst) < maxMatches {
					dst = append(dst, match{from: int16(i), to: int16(j + 1), cues: x.cues, lang: x.lang, words: x.words, inner: !start})
				}
				if start {
					weight := n
					if c > 0x2E80 {
						weight *= 3
					}
					score[x.lang] += weight
				}
			}
			if n == 1 {
				lengths = 1 << 2
			}
		}
	}
	return l.choose(dst, &score)
}

// choose keeps the matches of the text's language: the longest at each place, and none
// within a phrase of several words.
func (l *lexicon) choose(all []match, score *[64]int) []match {
	best := 0
	for _, s := range score {
		best = max(best, s)
	}
	var langs uint64
	for i, s := range score {
		if s > 0 && s*20 >= best*17 {
			langs |= 1 << i
		}
	}
	n := 0
	until := int16(-1)
	for i := 0; i < len(all); {
		j := i
		pick := match{}
		for ; j < len(all) && all[j].from == all[i].from; j++ {
			m := &all[j]
			if langs&(1<<m.lang) == 0 {
				continue
			}
			switch {
			case m.to > pick.to:
				pick = *m
			case m.to == pick.to:
				pick.cues |= m.cues
			}
		}
		i = j
		if pick.cues == 0 || pick.from < until {
			continue
		}
		if pick.words {
			until = pick.to
		}
		all[n] = pick
		n++
	}
	return all[:n]
}

// first returns the class of a set's lowest bit.
func first(set uint64) Cue { return Cue(bits.TrailingZeros64(set)) }

// withoutAccent returns the plain letter of a small Latin or Greek letter.
func withoutAccent(r rune) rune {
	if r < 0xC0 || r > 0x3D0 {
		return r
	}
	for _, row := range accents {
		for _, a := range row.accented {
			if a == r {
				return row.plain
			}
		}
	}
	return r
}

var accents = []struct {
	plain    rune
	accented string
}{
	{'a', "áàâäãåăą"},
	{'c', "čćç"},
	{'d', "ď"},
	{'e', "éèêëěę"},
	{'g', "ğ"},
	{'i', "íìîïı"},
	{'l', "ł"},
	{'n', "ñńň"},
	{'o', "óòôöõő"},
	{'r', "ř"},
	{'s', "šśșş"},
	{'t', "ťțţ"},
	{'u', "úùûüůű"},
	{'y', "ý"},
	{'z', "žźż"},
	{'α', "ά"},
	{'ε', "έ"},
	{'η', "ή"},
	{'ι', "ίϊΐ"},
	{'ο', "ό"},
	{'υ', "ύϋΰ"},
	{'ω', "ώ"},
}
