package validator

// Coercion is one change to a call's parameters. The changes, made one after the other,
// make the parameters that were validated of those that were given, but for defaults.
//
// A rule whose name ends in "_dropped" took the member at the path away. "key_renamed" gave
// the member beside the path, of the key From, the key To, with which the path ends. Every
// other rule set what is at the path, which was From, to To.
type Coercion struct {
	Path string `json:"path"` // JSON pointer into the parameters; "" is all of them
	From any    `json:"from"`
	To   any    `json:"to"`
	Rule string `json:"rule,omitempty"` // such as "string_to_number"
}

// change is a coercion, and the factor by which it lowers the call's confidence.
type change struct {
	Coercion
	factor float64
}

// record lists a coercion.
func (v *validation) record(at *step, from, to any, rule string, factor float64) {
	v.changes = append(v.changes, change{Coercion{at.String(), from, to, rule}, factor})
}

// recordAll lists changes that were tried before.
func (v *validation) recordAll(changes []change) { v.changes = append(v.changes, changes...) }

// mark is where the list of changes ends.
func (v *validation) mark() int { return len(v.changes) }

// grew reports whether anything was changed since a mark.
func (v *validation) grew(mark int) bool { return len(v.changes) > mark }

// undo takes back what was listed since a mark.
func (v *validation) undo(mark int) { v.changes = v.changes[:mark] }

// maxHabit is how often a rule lowers the confidence: a model that writes all of its
// numbers as strings is not the less sure of its call.
const maxHabit = 8

// factorOf returns by what factor changes lower the confidence.
func factorOf(changes []change) float64 {
	factor := 1.0
	var rules [32]struct {
		name string
		n    int
	}
	for i := range changes {
		c := &changes[i]
		for j := range rules {
			if rules[j].name == "" {
				rules[j].name = c.Rule
			}
			if rules[j].name == c.Rule {
				if rules[j].n++; rules[j].n <= maxHabit {
					factor *= c.factor
				}
				break
			}
		}
	}
	return factor
}
