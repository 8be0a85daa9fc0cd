package adapters

import (
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
)

// IDRule is a provider's rule for the ids of calls. The zero value allows letters, digits,
// "_" and "-" of any number.
type IDRule struct {
	// Prefix is the prefix of generated ids.
	Prefix string
	// Exact is the length of an id in bytes; 0 allows any.
	Exact int
	// Max is the maximum length of an id in bytes; 0 allows any.
	Max int
	// Letters allows letters and digits only.
	Letters bool
	// Any allows all characters.
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

// Fit returns the id itself if it follows the rule, else one that is derived from it: the
// same each time. An empty id stays empty.
func (r IDRule) Fit(id string) string {
	if id == "" || r.Fits(id) {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return r.make(sum[:])
}

// New returns a random id.
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

// FitOrNew is [IDRule.Fit], or [IDRule.New] for an empty id.
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
	var open pendingCalls
	used := map[string]int{} // ids, and how often each was wanted
	for i := range out.Messages {
		m := &out.Messages[i]
		m.Blocks = slices.Clone(m.Blocks)
		if m.Role == RoleAssistant {
			open = pendingCalls{byID: map[string][]int{}, byName: map[string][]int{}}
		}
		for j := range m.Blocks {
			switch b := &m.Blocks[j]; {
			case b.Call != nil:
				call, was := *b.Call, b.Call.ID
				if call.ID == "" {
					call.ID = fmt.Sprintf("call_%d_%d", i, j)
				}
				call.ID = rule.Fit(call.ID)
				for base := call.ID; used[call.ID] > 0; {
					used[base]++
					call.ID = rule.Fit(fmt.Sprintf("%s_%d", base, used[base]))
				}
				used[call.ID] = 1
				b.Call = &call
				open.add(was, &call)
			case b.Result != nil:
				result := *b.Result
				switch call := open.answer(&result); {
				case call != nil:
					result.CallID = call.ID
					if result.Name == "" {
						result.Name = call.Name
					}
				case result.CallID == "":
					result.CallID = rule.Fit(fmt.Sprintf("call_%d_%d", i, j))
				default:
					result.CallID = rule.Fit(result.CallID)
				}
				b.Result = &result
			}
		}
	}
	return &out
}

// pendingCalls are the calls of a turn whose results have not come yet.
type pendingCalls struct {
	calls        []*Call // nil where the result has come
	first        int     // the first of them that is not nil, or later
	byID, byName map[string][]int
}

func (a *pendingCalls) add(id string, c *Call) {
	if a.byID == nil { // a call that is not the assistant's
		return
	}
	a.byID[id] = append(a.byID[id], len(a.calls))
	a.byName[c.Name] = append(a.byName[c.Name], len(a.calls))
	a.calls = append(a.calls, c)
}

// answer returns the call that a result belongs to, and removes it: by the result's id, its
// tool's name, or the order. It is nil if no call is left.
func (a *pendingCalls) answer(r *ToolResult) *Call {
	switch {
	case r.CallID != "":
		return a.take(a.byID, r.CallID)
	case r.Name != "":
		return a.take(a.byName, r.Name)
	}
	for ; a.first < len(a.calls); a.first++ {
		if c := a.calls[a.first]; c != nil {
			a.calls[a.first] = nil
			return c
		}
	}
	return nil
}

func (a *pendingCalls) take(by map[string][]int, key string) *Call {
	for list := by[key]; len(list) > 0; list = by[key] {
		by[key] = list[1:]
		if c := a.calls[list[0]]; c != nil {
			a.calls[list[0]] = nil
			return c
		}
	}
	return nil
}
