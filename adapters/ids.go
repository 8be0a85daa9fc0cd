package adapters

import (
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
)

// IDRule is what a provider asks of the ids of calls.
type IDRule struct {
	// Prefix begins the ids that are made.
	Prefix string
	// Exact is how long an id must be, in bytes; 0 where that does not matter.
	Exact int
	// Max is how long an id may be; 0 where that does not matter.
	Max int
	// Letters says that only letters and digits may be in it; else "_" and "-" too.
	Letters bool
	// Any says that every character may be in it.
	Any bool
}

const idLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

// Fits reports whether an id follows the rule.
func (r IDRule) Fits(id string) bool {
	if id == "" || r.Exact > 0 && len(id) != r.Exact || r.Max > 0 && len(id) > r.Max {
		return false
	}
	return r.Any || strings.Trim(id, r.alphabet()) == ""
}

func (r IDRule) alphabet() string {
	if r.Letters {
		return idLetters
	}
	return idLetters + "_-"
}

// Fit returns an id that follows the rule: the same one if it does, else one that
// is made of it, always the same.
func (r IDRule) Fit(id string) string {
	if id == "" || r.Fits(id) {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return r.make(sum[:])
}

// New makes a random id.
func (r IDRule) New() string {
	var b [32]byte
	rand.Read(b[:]) // never fails: crypto/rand
	return r.make(b[:])
}

func (r IDRule) make(seed []byte) string {
	n := 24
	switch {
	case r.Exact > 0:
		n = r.Exact - len(r.Prefix)
	case r.Max > 0:
		n = min(n, r.Max-len(r.Prefix))
	}
	out := []byte(r.Prefix)
	for _, b := range seed[:min(n, len(seed))] {
		out = append(out, idLetters[int(b)%len(idLetters)])
	}
	return string(out)
}

// FitOrNew fits an id, or makes one where there is none.
func (r IDRule) FitOrNew(id string) string {
	if id == "" {
		return r.New()
	}
	return r.Fit(id)
}

// withIDs returns the request with ids for all calls and results, following a
// rule. Where the conversation has none, results belong to the calls before them,
// by name and in order. The ids that are made depend only on the place.
func (r *Request) withIDs(rule IDRule) *Request {
	out := *r
	out.Messages = slices.Clone(r.Messages)
	type asked struct {
		was string // the id before the rule was applied
		*Call
	}
	var waiting []asked
	used := map[string]bool{}
	for i := range out.Messages {
		m := &out.Messages[i]
		m.Blocks = slices.Clone(m.Blocks)
		if m.Role == RoleAssistant {
			waiting = waiting[:0]
		}
		for j := range m.Blocks {
			switch b := &m.Blocks[j]; {
			case b.Call != nil:
				call, was := *b.Call, b.Call.ID
				if call.ID == "" {
					call.ID = fmt.Sprintf("call_%d_%d", i, j)
				}
				call.ID = rule.Fit(call.ID)
				for n := 2; used[call.ID]; n++ {
					call.ID = rule.Fit(fmt.Sprintf("%s_%d", call.ID, n))
				}
				used[call.ID] = true
				b.Call = &call
				waiting = append(waiting, asked{was, &call})
			case b.Result != nil:
				result := *b.Result
				at := -1
				for k, c := range waiting {
					if result.CallID != "" && result.CallID == c.was {
						at = k
						break
					}
					if result.CallID == "" && at < 0 && (result.Name == "" || result.Name == c.Name) {
						at = k
					}
				}
				if at >= 0 {
					result.CallID = waiting[at].ID
					if result.Name == "" {
						result.Name = waiting[at].Name
					}
					waiting = slices.Delete(waiting, at, at+1)
				} else if result.CallID == "" {
					result.CallID = rule.Fit(fmt.Sprintf("call_%d_%d", i, j))
				} else {
					result.CallID = rule.Fit(result.CallID)
				}
				b.Result = &result
			}
		}
	}
	return &out
}
