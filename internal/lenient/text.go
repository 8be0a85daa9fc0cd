package lenient

// Text is the untyped text of a parameter, as dialects write it that put a
// parameter's value between tags. Its type is for the tool's schema to say.
type Text string

// Parse reads a text that is one value from its first byte to its last, but for
// white space around it.
func Parse(text string, o Options) (any, *Reader, error) {
	c := NewText(text)
	r := NewReader(c, o)
	v, err := r.Value()
	if err != nil {
		return nil, r, err
	}
	c.SkipSpace()
	if !c.EOF() {
		return v, r, ErrTrailing
	}
	return v, r, nil
}
