package registry

import (
	"regexp"
	"sort"
	"strings"
	"unicode"

	"github.com/agnivade/levenshtein"
)

// Match is a tool found by a name.
type Match struct {
	Tool *Tool
	// Rule says how the name was matched: "exact"; "prefix" if a namespace or an index was
	// removed, as in "functions.f:0"; "folded" if case and separators differ; "last_part"
	// if the namespace is missing or another, as in "f" for "server.f".
	Rule string
}

// Exact reports whether the name is the tool's own.
func (m Match) Exact() bool { return m.Rule == "exact" }

// Get returns the tool of exactly this name, or nil.
func (r *Registry) Get(name string) *Tool {
	if t := r.now.Load().byName[name]; t != nil {
		return t.ready()
	}
	return nil
}

// BeginsWith reports whether some tool's name begins with two bytes. It is far cheaper
// than [Registry.HasPrefix].
func (r *Registry) BeginsWith(first, second byte) bool { return r.now.Load().begins.Has(first, second) }

// HasPrefix reports whether some tool's name begins with p.
func (r *Registry) HasPrefix(p string) bool {
	sorted := r.now.Load().sorted
	i := sort.SearchStrings(sorted, p)
	return i < len(sorted) && strings.HasPrefix(sorted[i], p)
}

// namespaces are prefixes of names that models know from other APIs.
var namespaces = []string{
	"functions.", "function.", "tools.", "tool.", "default_api.", "default_api:", "api.", "functions_", "functions:", "assistant.", "$",
}

// index is the number that Kimi and others put behind a name, and the brackets
// of a call without arguments.
var index = regexp.MustCompile(`(?:[:.]\d{1,6}|\(\))$`)

// Lookup returns the tool that a model means by a name: the one of exactly that name, or
// else the only one that a rule of [Match] leads to. Tools that require a marker are found
// by their exact name or behind a namespace only.
func (r *Registry) Lookup(name string) (Match, bool) {
	m, ok := r.lookup(name)
	if ok {
		m.Tool.ready()
	}
	return m, ok
}

func (r *Registry) lookup(name string) (Match, bool) {
	s := r.now.Load()
	if t := s.byName[name]; t != nil {
		return Match{t, "exact"}, true
	}
	if !validName(name) {
		return Match{}, false
	}
	bare := strings.ReplaceAll(strings.Trim(name, " \t\r\n\"'`*[]<>"), `\_`, "_")
	for range 4 {
		if t := s.byName[bare]; t != nil {
			return Match{t, "prefix"}, true
		}
		cut := bare
		if loc := index.FindStringIndex(cut); loc != nil {
			cut = cut[:loc[0]]
		} else if rest, ok := cutNamespace(cut); ok {
			cut = rest
		}
		if cut == bare || cut == "" {
			break
		}
		bare = cut
	}
	if t, ok := only(s.folded[fold(bare)]); ok {
		return Match{t, "folded"}, true
	}
	if i := lastSeparator(bare); i >= 0 {
		last := bare[i:]
		if t := s.byName[last]; t != nil && !t.RequireMarker {
			return Match{t, "last_part"}, true
		}
		if t, ok := only(s.folded[fold(last)]); ok {
			return Match{t, "last_part"}, true
		}
	}
	if t, ok := only(s.last[fold(bare)]); ok {
		return Match{t, "last_part"}, true
	}
	return Match{}, false
}

// BareName removes from a name what models put around it: a namespace such as
// "functions.", an index, quotation marks.
func BareName(name string) string {
	bare := strings.ReplaceAll(strings.Trim(name, " \t\r\n\"'`*[]<>"), `\_`, "_")
	if rest, ok := cutNamespace(bare); ok && rest != "" && !strings.HasPrefix(bare, "api.") && !strings.HasPrefix(bare, "$") {
		bare = rest
	}
	if loc := index.FindStringIndex(bare); loc != nil && loc[0] > 0 && bare[loc[0]] != '.' {
		bare = bare[:loc[0]]
	}
	return bare
}

func cutNamespace(name string) (string, bool) {
	for _, p := range namespaces {
		if len(name) > len(p) && strings.EqualFold(name[:len(p)], p) {
			return name[len(p):], true
		}
	}
	if rest, ok := strings.CutPrefix(name, "mcp__"); ok {
		if _, tool, ok := strings.Cut(rest, "__"); ok && tool != "" {
			return tool, true
		}
	}
	if _, rest, ok := strings.Cut(name, "::"); ok && rest != "" {
		return rest, true
	}
	return name, false
}

// only returns the one tool of a list that may be found by a near name.
func only(tools []*Tool) (*Tool, bool) {
	if len(tools) == 1 && !tools[0].RequireMarker {
		return tools[0], true
	}
	return nil, false
}

// fold takes case and separators off a name.
func fold(name string) string {
	return strings.Map(func(r rune) rune {
		switch r {
		case '_', '-', '.', '/', ':', ' ':
			return -1
		}
		return unicode.ToLower(r)
	}, name)
}

// lastSeparator returns where the last part of a dotted name begins, or -1.
func lastSeparator(name string) int {
	i := max(strings.LastIndexAny(name, "./:"), strings.LastIndex(name, "__")+1)
	if i <= 0 || i+1 >= len(name) {
		return -1
	}
	return i + 1
}

// maxEdits is how many edits a suggestion may be away from a name, and
// maxSuggestBytes how long a name may be to be compared.
const (
	maxEdits        = 2
	maxSuggestBytes = 128
)

// Suggest returns the most similar tool name within two edits, or the only one that begins
// with the name; "" if there is none. It is for messages, never for calling.
func (r *Registry) Suggest(name string) string {
	if m, ok := r.lookup(name); ok {
		return m.Tool.Name
	}
	if len(name) > maxSuggestBytes || !validName(name) {
		return ""
	}
	want := fold(name)
	best, distance := "", maxEdits+1
	letters := letterSet(want)
	for _, t := range r.now.Load().tools {
		have := fold(t.Name)
		if len(have) > len(want)+maxEdits || len(have)+maxEdits < len(want) || len(have) > maxSuggestBytes {
			continue
		}
		if differ := letters ^ letterSet(have); differ&(differ-1) != 0 && bitCount(differ) > 2*maxEdits {
			continue
		}
		if d := levenshtein.ComputeDistance(want, have); d < distance && d*3 <= len(want) {
			best, distance = t.Name, d
		}
	}
	if best == "" && len(want) >= 4 {
		best = r.completes(want)
	}
	return best
}

// completes returns the only tool whose name begins with a prefix.
func (r *Registry) completes(want string) string {
	found := ""
	for _, t := range r.now.Load().tools {
		if strings.HasPrefix(fold(t.Name), want) {
			if found != "" {
				return ""
			}
			found = t.Name
		}
	}
	return found
}

func letterSet(s string) (set uint64) {
	for i := range len(s) {
		set |= 1 << (s[i] & 63)
	}
	return set
}

func bitCount(x uint64) (n int) {
	for ; x != 0; x &= x - 1 {
		n++
	}
	return n
}
