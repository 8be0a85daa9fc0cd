package parser

import (
	"crypto/rand"
	"fmt"
	"slices"
)

// giveID makes a call's id unique in the result. Where its beginning was sent it has
// the id that was sent, which is its own already.
func (c *collector) giveID(call *Call, t *teller) {
	if t.started && !t.idLater {
		call.ID = t.id
		return
	}
	if call.ID == "" {
		call.ID = c.p.newID()
		call.madeID = true
	}
	if original := call.ID; c.ids.has(original) {
		for n := 2; c.ids.has(call.ID); n++ {
			call.ID = fmt.Sprintf("%s_%d", original, n)
		}
		call.Warnings = append(call.Warnings, "id: "+quote(original)+" stands twice in the text")
	}
	c.ids.add(call.ID)
}

// freeID lets the id that was sent of a call, which is none, be given again.
func (c *collector) freeID(t *teller) {
	if t.started && !t.idLater {
		c.ids.remove(t.id)
	}
}

const idLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

func (p *Parser) newID() string {
	if p.o.NewID != nil {
		return p.o.NewID()
	}
	var b [24]byte
	rand.Read(b[:]) // never fails: crypto/rand
	for i := range b {
		b[i] = idLetters[int(b[i])%len(idLetters)]
	}
	return "call_" + string(b[:])
}

// uniqueID returns the id that a call which begins will have.
func (c *collector) uniqueID(id string) string {
	if id == "" || c.ids.has(id) {
		id = c.p.newID()
	}
	c.ids.add(id)
	return id
}

// idSet is the ids of a result: the first few in an array, as most have no more.
type idSet struct {
	few  [4]string // "" where there is none
	many map[string]bool
}

func (s *idSet) has(id string) bool {
	return id != "" && slices.Contains(s.few[:], id) || s.many[id]
}

func (s *idSet) add(id string) {
	if s.has(id) {
		return
	}
	if i := slices.Index(s.few[:], ""); i >= 0 && id != "" {
		s.few[i] = id
		return
	}
	if s.many == nil {
		s.many = make(map[string]bool)
	}
	s.many[id] = true
}

func (s *idSet) remove(id string) {
	if i := slices.Index(s.few[:], id); i >= 0 && id != "" {
		s.few[i] = ""
	}
	delete(s.many, id)
}
