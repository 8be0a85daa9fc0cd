package call

// Candidate is a stretch of text that may be a call, or several, before any tool's
// schema is asked.
type Candidate struct {
	Method     Method
	Provenance Provenance
	// Dialect names the dialect by which it was read; empty for JSON without markers.
	Dialect string
	// Start and End are its offsets in the text, in bytes, markers included.
	Start, End int
	// Raw is the text from Start to End.
	Raw string

	// Value is the JSON that was read, where what the call says is inside it:
	// map[string]any, []any, string, json.Number, bool or nil.
	Value any
	// Name, ID and Arguments are what the dialect says outside of JSON; Named says that
	// they hold and Value does not. Arguments are a map[string]any, a []any, or a
	// string whose type the tool's schema tells.
	Named     bool
	Name, ID  string
	Arguments any
	// Positional are arguments without names, for the tool's parameter order.
	Positional []any

	// Repairs name the departures from the form that were read through, such as
	// "trailing_comma".
	Repairs []string
	// Truncated says that the text ended inside the call's arguments.
	Truncated bool
	// Err says why it could not be read.
	Err error

	Evidence Evidence
}
