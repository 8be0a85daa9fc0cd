package parser

import (
	"crypto/rand"
	"fmt"
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
	if original := call.ID; c.ids[original] {
		for n := 2; c.ids[call.ID]; n++ {
			call.ID = fmt.Sprintf("%s_%d", original, n)
		}
		call.Warnings = append(call.Warnings, "id: "+quote(original)+" stands twice in the text")
	}
	c.takeID(call.ID)
}

// takeID keeps an id from being given again.
func (c *collector) takeID(id string) {
	if c.ids == nil {
		c.ids = make(map[string]bool)
	}
	c.ids[id] = true
}

// freeID lets the id that was sent of a call, which is none, be given again.
func (c *collector) freeID(t *teller) {
	if t.started && !t.idLater {
		delete(c.ids, t.id)
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
	if id == "" || c.ids[id] {
		id = c.p.newID()
	}
	c.takeID(id)
	return id
}
