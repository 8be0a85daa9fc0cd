package lenient

// FixKind names one way in which a text departed from strict JSON. The names are
// reported to users as the repairs of a call.
type FixKind uint8

// The departures that the reader knows.
const (
	TrailingComma FixKind = iota
	MissingComma
	ExtraComma
	MissingColon
	OtherColon       // "=", "=>" or a full-width colon in place of ":"
	SingleQuotes     // a string in single quotes or back quotes
	SmartQuotes      // a string in typographic quotes
	TripleQuotes     // a Python string in three quotes
	EscapedQuotes    // a string delimited by \" as if the document were quoted
	UnquotedKey      // a key without quotes
	UnquotedValue    // a value without quotes that is no literal
	UnescapedQuote   // a quotation mark within a string
	RawControl       // a newline, tab or other control character within a string
	InvalidEscape    // a backslash before a character that JSON does not escape
	PythonLiteral    // True, False, None, undefined
	OddNumber        // .5, 1., +3, 0x1F, 1_000
	Thousands        // 1,000
	Comment          // //, /* */ or #
	Concatenation    // "a" + "b", or two Python strings side by side
	StringPrefix     // r"…", f"…", b"…", u"…"
	MissingClose     // a bracket that something else closed
	MismatchedClose  // a bracket of the other kind
	ExtraClose       // a bracket too many
	ExtraOpen        // an opening brace too many
	UnclosedString   // a string that a closing marker ended
	Truncated        // the text ended inside the value
	InvalidUTF8      // bytes that are no UTF-8, read as U+FFFD
	LoneSurrogate    // half of a surrogate pair, read as U+FFFD
	DuplicateKey     // a key that occurs twice: the last one counts
	WidePunctuation  // full-width comma, colon or brackets
	Expression       // a value that is an expression, kept as its text
	MissingQuote     // a string or key of which a quotation mark is missing
	MismatchedQuotes // a string or key that another kind of quotation mark ends
	DoubledQuotes    // a string or key in doubled quotation marks
	OddSpace         // white space that JSON does not know, or "\n" between two tokens
	StrayText        // words between two members that belong to neither
	Ellipsis         // "..." in the place of members
	Tuple            // a Python tuple or set, read as a list
	Constructor      // NumberLong(5), ISODate("…"): read as the argument
	MissingOpen      // a brace that is missing before a member
	ClosedEarly      // a brace that stands before the object's last members
	Wrapper          // a value as the argument of a call, as in JSONP
	numberOfFixKinds // not a kind
)

var fixNames = [numberOfFixKinds]string{
	"trailing_comma", "missing_comma", "extra_comma", "missing_colon", "other_colon", "single_quotes", "smart_quotes",
	"triple_quotes", "escaped_quotes", "unquoted_key", "unquoted_value", "unescaped_quote", "raw_control_character",
	"invalid_escape", "python_literal", "odd_number", "thousands_separator", "comment", "concatenation", "string_prefix",
	"missing_close", "mismatched_close", "extra_close", "extra_open", "unclosed_string", "truncated", "invalid_utf8",
	"lone_surrogate", "duplicate_key", "wide_punctuation", "expression", "missing_quote", "mismatched_quotes", "doubled_quotes",
	"odd_space", "stray_text", "ellipsis", "tuple", "constructor", "missing_open", "closed_early", "wrapper",
}

// String returns the kind's name, such as "trailing_comma".
func (k FixKind) String() string { return fixNames[k] }

// Fix is one departure from strict JSON that the reader read through.
type Fix struct {
	Offset int // in bytes, where it stands in the text
	Kind   FixKind
}

// maxFixes bounds how many fixes a reader remembers one by one; their kinds are
// always remembered.
const maxFixes = 64

// Fixes is what a reader had to read through.
type Fixes struct {
	List  []Fix // the first 64, in the order of the text
	kinds uint64
}

// Add records a departure.
func (f *Fixes) Add(off int, kind FixKind) {
	f.kinds |= 1 << kind
	if len(f.List) < maxFixes {
		f.List = append(f.List, Fix{off, kind})
	}
}

// Has reports whether a departure of the kind was met.
func (f *Fixes) Has(kind FixKind) bool { return f.kinds&(1<<kind) != 0 }

// Any reports whether there was any departure.
func (f *Fixes) Any() bool { return f.kinds != 0 }

// Merge adds the departures of g.
func (f *Fixes) Merge(g *Fixes) {
	f.kinds |= g.kinds
	if room := maxFixes - len(f.List); room > 0 {
		f.List = append(f.List, g.List[:min(room, len(g.List))]...)
	}
}

// Kinds returns the kinds met, each once, in the order in which they are declared.
func (f *Fixes) Kinds() []FixKind {
	var kinds []FixKind
	for k := FixKind(0); k < numberOfFixKinds; k++ {
		if f.Has(k) {
			kinds = append(kinds, k)
		}
	}
	return kinds
}

// Names returns the names of the kinds met.
func (f *Fixes) Names() []string {
	var names []string
	for _, k := range f.Kinds() {
		names = append(names, k.String())
	}
	return names
}
