package parser

import (
	"crypto/rand"
	"fmt"
)

// giveID makes a call's id unique in the result. Where its beginning was sent it has
// the id that was sent.
func (c *collector) giveID(call *Call, t *teller) {
	if c.ids == nil {
		c.ids = make(map[string]bool)
	}
	switch {
	case t.started && !t.idLater:
		call.ID = t.id
	case call.ID == "":
		call.ID = c.p.newID()
		call.madeID = true
	}
	if original := call.ID; c.ids[original] {
		for n := 2; c.ids[call.ID]; n++ {
			call.ID = fmt.Sprintf("%s_%d", original, n)
		}
		call.Warnings = append(call.Warnings, "id: "+quote(original)+" stands twice in the text")
	}
	c.ids[call.ID] = true
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

// uniqueID returns the id that a call will have.
func (c *collector) uniqueID(id string) string {
	if id == "" || c.ids[id] {
		return c.p.newID()
	}
	return id
}
