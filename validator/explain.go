package validator

import (
	"errors"
	"fmt"
	"math/big"
	"strings"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/callwright/callwright/internal/lenient"
	"github.com/callwright/callwright/internal/text"
)

// step is one step of the way to a value: the text of a path is only made where something
// is to be said.
type step struct {
	up    *step
	key   string
	index int // of an item, if key is unset
	item  bool
}

func (s *step) member(key string) step { return step{up: s, key: key} }
func (s *step) at(i int) step          { return step{up: s, index: i, item: true} }

// String returns the JSON pointer to the value.
func (s *step) String() string {
	if s == nil {
		return ""
	}
	if s.item {
		return fmt.Sprintf("%s/%d", s.up, s.index)
	}
	return text.Pointer(s.up.String(), s.key)
}

// depth is how many steps there are.
func (s *step) depth() (n int) {
	for ; s != nil; s = s.up {
		n++
	}
	return n
}

// explainer says what is wrong with a value that does not fit.
type explainer struct {
	*walk
	known map[pair][]Error
}

// explain returns what is wrong with a value, nil if nothing is. Of the branches of anyOf
// and oneOf it takes the one that nearly fits.
func (x *explainer) explain(n *node, value any, at *step, depth int) []Error {
	if n.always || x.fits(n, value, depth) == fitting || x.err != nil {
		return nil
	}
	key, compound := pairOf(n, value)
	if compound && n.shared {
		if errs, ok := x.known[key]; ok {
			return errs
		}
	}
	errs := x.own(n, value, at, depth)
	if compound && n.shared {
		if x.known == nil {
			x.known = make(map[pair][]Error)
		}
		x.known[key] = errs
	}
	return errs
}

// own says what is wrong with a value by a node's own keywords, and by those of the nodes
// that apply to the same value.
func (x *explainer) own(n *node, value any, at *step, depth int) (errs []Error) {
	one := func(code Code, fix, format string, args ...any) {
		errs = append(errs, Error{Path: at.String(), Code: code, Message: fmt.Sprintf(format, args...), SuggestedFix: fix})
	}
	if n.never {
		one(SchemaViolation, "", "nothing is allowed here")
		return errs
	}
	if !hasType(n.types, value) {
		return []Error{wrongType(at, n.types, value)}
	}
	if n.constant != nil && !equal(value, *n.constant) {
		one(InvalidEnumValue, quote(*n.constant), "must be %s", quote(*n.constant))
		return errs
	}
	if n.enum != nil && !x.listed(n, value) {
		one(InvalidEnumValue, list(n.enum), "%s is not one of the allowed values", quote(value))
		return errs
	}
	if n.format != nil && n.format.Validate(value) != nil {
		one(InvalidFormat, "", "%s is no valid %s", quote(value), n.format.Name)
		return errs
	}
	for _, ref := range n.refs {
		errs = append(errs, x.explain(ref, value, at, depth)...)
	}
	if n.refOnly {
		return errs
	}
	switch v := value.(type) {
	case map[string]any:
		errs = append(errs, x.object(n, v, at, depth)...)
	case []any:
		errs = append(errs, x.array(n, v, at, depth)...)
	case string:
		errs = append(errs, x.text(n, v, at)...)
	default:
		if number, ok := numberText(value); ok {
			errs = append(errs, n.number(number, at)...)
		}
	}
	errs = append(errs, x.inPlace(n, value, at, depth)...)
	return errs[:min(len(errs), maxErrors)]
}

// hasType reports whether a value is of one of the types.
func hasType(types int, value any) bool {
	have := typeBits[kindOf(value)]
	switch have {
	case tInteger:
		return types&(tInteger|tNumber) != 0
	case tNumber:
		n, _ := numberText(value)
		return types&tNumber != 0 || types&tInteger != 0 && isWhole(n)
	}
	return types&have != 0
}

// wrongType says that a value is of another type than those wanted.
func wrongType(at *step, types int, value any) Error {
	if s, ok := value.(string); ok && types&(tInteger|tNumber) != 0 && types&tString == 0 {
		if n := strings.TrimSpace(s); lenient.IsNumber(n) && text.HugeNumber(n) {
			return tooManyDigits(at)
		}
	}
	var names []string
	for _, t := range typeOrder {
		if types&typeBits[t] != 0 {
			names = append(names, t)
		}
	}
	want := strings.Join(names, " or ")
	return Error{
		Path: at.String(), Code: InvalidType, Message: fmt.Sprintf("must be %s, not %s %s", want, kindOf(value), quote(value)),
		SuggestedFix: "give " + article(want),
	}
}

// tooManyDigits says that a number is not calculated with.
func tooManyDigits(at *step) Error {
	return Error{
		Path: at.String(), Code: NumberOutOfRange, Message: "the number has too many digits or too large an exponent",
		SuggestedFix: fmt.Sprintf("give a number of at most %d digits", text.MaxNumber),
	}
}

// missing says that a member is missing.
func missing(at *step, name string) Error {
	short := text.Clip(name, maxQuoteBytes)
	return Error{
		Path: text.Pointer(at.String(), name), Code: RequiredParameterMissing, Message: fmt.Sprintf("parameter %q is required", short),
		SuggestedFix: fmt.Sprintf("add %q", short),
	}
}

// unknown says that there is no member of the name that a path ends with.
func unknown(path, name string) Error {
	short := text.Clip(name, maxQuoteBytes)
	return Error{
		Path: path, Code: UnknownParameter, Message: fmt.Sprintf("there is no parameter %q", short),
		SuggestedFix: fmt.Sprintf("leave out %q", short),
	}
}

func (x *explainer) object(n *node, m map[string]any, at *step, depth int) (errs []Error) {
	if len(m) < n.minMembers || n.maxMembers != unbounded && len(m) > n.maxMembers {
		fix := amount(n.minMembers, n.maxMembers, "member")
		errs = append(errs, Error{at.String(), SchemaViolation, fmt.Sprintf("must have %s, not %d", fix, len(m)), "give " + fix})
	}
	for _, name := range n.schema.Required {
		if _, ok := m[name]; !ok && len(errs) < maxErrors {
			errs = append(errs, missing(at, name))
		}
	}
	for _, k := range text.SortedKeys(m) {
		if len(errs) >= maxErrors || x.err != nil {
			break
		}
		here := at.member(k)
		sub := n.member(k)
		known := sub != nil
		if known {
			errs = append(errs, x.explain(sub, m[k], &here, depth+1)...)
		}
		for i := range n.patterns {
			if p := &n.patterns[i]; p.pattern.MatchString(k) {
				known = true
				errs = append(errs, x.explain(p.node, m[k], &here, depth+1)...)
			}
		}
		switch {
		case known:
		case n.closed:
			errs = append(errs, unknown(here.String(), k))
		case n.additional != nil:
			errs = append(errs, x.explain(n.additional, m[k], &here, depth+1)...)
		}
		if n.names != nil {
			for _, e := range x.explain(n.names, k, &here, depth+1) {
				e.Message = "the name " + e.Message
				errs = append(errs, e)
			}
		}
	}
	for i := range n.dependents {
		d := &n.dependents[i]
		if _, ok := m[d.key]; !ok {
			continue
		}
		var lacks []string
		for _, name := range d.required {
			if _, ok := m[name]; !ok {
				lacks = append(lacks, name)
			}
		}
		if lacks != nil {
			names := text.Clip(strings.Join(lacks, ", "), 2*maxQuoteBytes)
			errs = append(errs, Error{at.String(), RequiredParameterMissing, fmt.Sprintf("%q also needs %s", d.key, names), "add " + names})
		}
		if d.node != nil {
			errs = append(errs, x.explain(d.node, m, at, depth)...)
		}
	}
	return errs
}

// amount words how many there must be: "1 to 3 items", "at least 1 item".
func amount(least, most int, what string) string {
	if least != 1 && most != 1 {
		what += "s"
	}
	switch {
	case most == unbounded:
		return fmt.Sprintf("at least %d %s", least, what)
	case least == unbounded || least == 0:
		return fmt.Sprintf("at most %d %s", most, what)
	case least == most:
		return fmt.Sprintf("%d %s", least, what)
	}
	return fmt.Sprintf("%d to %d %s", least, most, what)
}

func (x *explainer) array(n *node, list []any, at *step, depth int) (errs []Error) {
	one := func(code Code, fix, format string, args ...any) {
		errs = append(errs, Error{Path: at.String(), Code: code, Message: fmt.Sprintf(format, args...), SuggestedFix: fix})
	}
	fix := "give " + amount(n.minItems, n.maxItems, "item")
	if len(list) < n.minItems {
		one(ArrayLength, fix, "must have at least %d items, not %d", n.minItems, len(list))
	}
	if n.maxItems != unbounded && len(list) > n.maxItems {
		one(ArrayLength, fix, "must have at most %d items, not %d", n.maxItems, len(list))
	}
	if n.closedItems && len(list) > len(n.prefix) {
		one(ArrayLength, fmt.Sprintf("give at most %d items", len(n.prefix)), "must have at most %d items, not %d", len(n.prefix), len(list))
	}
	for i, e := range list {
		sub := n.item(i)
		if sub == nil || len(errs) >= maxErrors || x.err != nil {
			break
		}
		here := at.at(i)
		errs = append(errs, x.explain(sub, e, &here, depth+1)...)
	}
	if n.unique && len(list) > 1 {
		if i, j := x.duplicates(list); i >= 0 {
			one(ItemsNotUnique, "give each item once", "items %d and %d are equal", i, j)
		}
	}
	if n.contains != nil && x.fitsContains(n, list, depth) != fitting {
		least := 1
		if n.minContains != unbounded {
			least = n.minContains
		}
		one(SchemaViolation, "", "must have %s of the kind that the schema asks for", amount(least, n.maxContains, "item"))
	}
	return errs
}

func (x *explainer) text(n *node, s string, at *step) (errs []Error) {
	length := utf8.RuneCountInString(s)
	fix := "give " + amount(n.minLength, n.maxLength, "character")
	if length < n.minLength {
		errs = append(errs, Error{at.String(), StringLength, fmt.Sprintf("must have at least %d characters, not %d", n.minLength, length), fix})
	}
	if n.maxLength != unbounded && length > n.maxLength {
		errs = append(errs, Error{at.String(), StringLength, fmt.Sprintf("must have at most %d characters, not %d", n.maxLength, length), fix})
	}
	if n.pattern != nil && !x.matches(n.pattern, n.patternSize, s) && x.err == nil {
		pattern := text.Clip(n.pattern.String(), 2*maxQuoteBytes)
		message := fmt.Sprintf("%s does not match the pattern %s", quote(s), pattern)
		errs = append(errs, Error{at.String(), StringPatternMismatch, message, "give a text that matches " + pattern})
	}
	return errs
}

func (n *node) number(number string, at *step) (errs []Error) {
	outOfRange := func(wrong bool, words string, b *bound) {
		if wrong {
			errs = append(errs, Error{at.String(), NumberOutOfRange, "must be " + words + decimal(b.exact), n.span()})
		}
	}
	outOfRange(n.minimum != nil && n.minimum.compare(number) < 0, "at least ", n.minimum)
	outOfRange(n.maximum != nil && n.maximum.compare(number) > 0, "at most ", n.maximum)
	outOfRange(n.aboveMinimum != nil && n.aboveMinimum.compare(number) <= 0, "more than ", n.aboveMinimum)
	outOfRange(n.belowMaximum != nil && n.belowMaximum.compare(number) >= 0, "less than ", n.belowMaximum)
	if n.multipleOf != nil && !n.multipleOf.divides(number) {
		multiple := decimal(n.multipleOf.exact)
		errs = append(errs, Error{at.String(), NumberNotMultiple, "must be a multiple of " + multiple, "give a multiple of " + multiple})
	}
	return errs
}

// span words which numbers a node takes: "give a number of at least 1 and at most 7".
func (n *node) span() string {
	var parts []string
	for _, x := range []struct {
		words string
		b     *bound
	}{{"at least ", n.minimum}, {"more than ", n.aboveMinimum}, {"at most ", n.maximum}, {"less than ", n.belowMaximum}} {
		if x.b != nil {
			parts = append(parts, x.words+decimal(x.b.exact))
		}
	}
	return "give a number of " + strings.Join(parts, " and ")
}

// decimal writes a number of a schema: as a decimal if it is one, else as a fraction.
func decimal(r *big.Rat) string {
	if r.IsInt() {
		return text.Clip(r.RatString(), maxQuoteBytes)
	}
	if digits, exact := r.FloatPrec(); exact && digits <= maxQuoteBytes {
		return r.FloatString(digits)
	}
	return text.Clip(r.RatString(), maxQuoteBytes)
}

// inPlace says what is wrong by the nodes that apply to the same value.
func (x *explainer) inPlace(n *node, value any, at *step, depth int) (errs []Error) {
	for _, sub := range n.all {
		errs = append(errs, x.explain(sub, value, at, depth)...)
	}
	if n.any != nil {
		errs = append(errs, x.nearest(n.any, value, at, depth)...)
	}
	if n.one != nil {
		fits := 0
		for _, sub := range n.one {
			if x.fits(sub, value, depth) == fitting {
				fits++
			}
		}
		switch {
		case fits > 1:
			errs = append(errs, Error{Path: at.String(), Code: AmbiguousVariant, Message: "fits more than one of the variants"})
		case fits == 0:
			errs = append(errs, x.nearest(n.one, value, at, depth)...)
		}
	}
	if n.not != nil && x.fits(n.not, value, depth) == fitting {
		errs = append(errs, Error{Path: at.String(), Code: SchemaViolation, Message: quote(value) + " is what the schema excludes"})
	}
	if n.cond != nil {
		branch := n.no
		if x.fits(n.cond, value, depth) == fitting {
			branch = n.yes
		}
		if branch != nil {
			errs = append(errs, x.explain(branch, value, at, depth)...)
		}
	}
	return errs
}

// nearest says what is wrong by the one of several nodes that nearly fits.
func (x *explainer) nearest(nodes []*node, value any, at *step, depth int) (best []Error) {
	for _, sub := range nodes {
		if x.fits(sub, value, depth) == fitting {
			return nil
		}
		errs := x.explain(sub, value, at, depth)
		if len(errs) > 0 && (best == nil || better(errs, best, at.depth())) {
			best = errs
		}
	}
	return best
}

// translate turns the errors of the schema library into ours, where only the library knows
// what is wrong: in members and items that no schema has looked at.
func translate(err error) (errs []Error) {
	var verr *jsonschema.ValidationError
	if !errors.As(err, &verr) {
		return []Error{{Code: SchemaViolation, Message: err.Error()}}
	}
	work := []*jsonschema.ValidationError{verr}
	for len(work) > 0 && len(errs) < maxErrors {
		e := work[len(work)-1]
		work = append(work[:len(work)-1], e.Causes...)
		if len(e.Causes) > 0 {
			continue
		}
		path, last := "", ""
		for _, last = range e.InstanceLocation {
			path = text.Pointer(path, last)
		}
		if _, ok := e.ErrorKind.(*kind.FalseSchema); ok {
			errs = append(errs, unknown(path, last))
			continue
		}
		message := strings.ReplaceAll(text.Clip(e.Error(), 4*maxQuoteBytes), "\n", " ")
		errs = append(errs, Error{Path: path, Code: SchemaViolation, Message: message})
	}
	return errs
}
