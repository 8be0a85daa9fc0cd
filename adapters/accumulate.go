package adapters

import "github.com/callwright/callwright/internal/wire"

// Accumulator builds a [Reply] of the events of a stream, in linear time. The zero value
// is ready to use.
type Accumulator struct {
	reply    Reply
	envelope extras
	choices  []*choiceState
}

type choiceState struct {
	Choice
	calls     map[int]int // the block of a call, by index
	arguments map[int][]byte
	text      []byte // of the block that is open
	signature []byte
	open      int // the block that grows, -1 if none does
	extra     extras
}

// Add adds the next event. It keeps none of the event's memory.
func (a *Accumulator) Add(e Event) {
	a.envelope.add(e.Envelope)
	switch e.Type {
	case EventStart:
		if e.ID != "" {
			a.reply.ID = e.ID
		}
		if e.Model != "" {
			a.reply.Model = e.Model
		}
		if !e.Created.IsZero() {
			a.reply.Created = e.Created
		}
		a.choice(0)
		return
	case EventUsage:
		if e.Usage != nil {
			u := *e.Usage
			u.Extra = u.Extra.Clone()
			a.reply.Usage = &u
		}
		return
	case EventPing:
		return
	}
	if e.Choice < 0 || e.Choice >= MaxChoices {
		return
	}
	c := a.choice(e.Choice)
	switch e.Type {
	case EventText:
		c.grow(BlockText, e)
	case EventReasoning:
		c.grow(BlockReasoning, e)
	case EventRefusal:
		c.grow(BlockRefusal, e)
	case EventSignature:
		c.sign(e)
	case EventCallStart:
		c.startCall(e)
	case EventArguments:
		if _, ok := c.calls[e.Index]; ok {
			c.arguments[e.Index] = append(c.arguments[e.Index], e.Text...)
		}
		c.extra.add(e.Extra)
	case EventCallEnd:
		if i, ok := c.calls[e.Index]; ok {
			c.Blocks[i].addExtra(e.Extra)
			c.Blocks[i].Call.Truncated = e.Truncated
			if e.Text != "" {
				c.Blocks[i].Signature = e.Text
			}
		}
	case EventOther:
		c.close()
		c.Blocks = append(c.Blocks, Block{Type: BlockOther})
		c.Blocks[len(c.Blocks)-1].addExtra(e.Extra)
	case EventFinish:
		c.Finish, c.StopSequence = e.Finish, e.StopSequence
		c.extra.add(e.Extra)
	case EventExtra:
		c.extra.add(e.Extra)
	}
}

func (a *Accumulator) choice(i int) *choiceState {
	for len(a.choices) <= i {
		a.choices = append(a.choices, &choiceState{calls: map[int]int{}, arguments: map[int][]byte{}, open: -1})
	}
	return a.choices[i]
}

// addExtra adds members to a block's own.
func (b *Block) addExtra(e Extra) {
	if len(e.Members) == 0 {
		return
	}
	var x extras
	x.add(b.Extra)
	x.add(e)
	b.Extra = x.merged()
}

// grow adds text to the block that is open, or begins one.
func (c *choiceState) grow(t BlockType, e Event) {
	if e.Text == "" && e.NativeName != "" && c.open >= 0 {
		c.Blocks[c.open].addExtra(e.Extra)
		return
	}
	if e.New || c.open < 0 || c.Blocks[c.open].Type != t {
		if e.Text == "" && !e.New {
			c.extra.add(e.Extra)
			return
		}
		c.begin(Block{Type: t, NativeName: e.NativeName})
		if e.New {
			c.Blocks[c.open].addExtra(e.Extra)
			e.Extra = Extra{}
		}
	}
	c.extra.add(e.Extra)
	c.text = append(c.text, e.Text...)
}

func (c *choiceState) begin(b Block) {
	c.close()
	c.open = len(c.Blocks)
	c.Blocks = append(c.Blocks, b)
}

// close ends the block that is open.
func (c *choiceState) close() {
	if c.open >= 0 {
		c.flush()
		c.text, c.signature, c.open = c.text[:0], c.signature[:0], -1
	}
}

// flush gives the open block the text that has come for it.
func (c *choiceState) flush() {
	c.Blocks[c.open].Text, c.Blocks[c.open].Signature = string(c.text), string(c.signature)
}

// sign adds a signature to the reasoning that is open, or to a block of its own.
func (c *choiceState) sign(e Event) {
	if c.open < 0 || e.New || c.Blocks[c.open].Type != BlockReasoning {
		c.begin(Block{Type: BlockReasoning})
	}
	c.signature = append(c.signature, e.Text...)
	c.Blocks[c.open].addExtra(e.Extra)
}

func (c *choiceState) startCall(e Event) {
	if _, twice := c.calls[e.Index]; twice || len(c.calls) >= MaxCalls {
		return
	}
	c.close()
	c.calls[e.Index] = len(c.Blocks)
	c.Blocks = append(c.Blocks, Block{Type: BlockCall, Call: &Call{ID: e.ID, Name: e.Name, Custom: e.Custom}, NativeName: e.NativeName})
	c.Blocks[len(c.Blocks)-1].addExtra(e.Extra)
}

// Reply returns the reply that the events so far make.
func (a *Accumulator) Reply() *Reply {
	r := a.reply
	r.Extra = a.envelope.merged()
	r.Choices = make([]Choice, len(a.choices))
	for i, c := range a.choices {
		if c.open >= 0 {
			c.flush()
		}
		r.Choices[i] = c.Choice
		r.Choices[i].Extra = c.extra.merged()
		r.Choices[i].Blocks = append([]Block(nil), c.Blocks...)
		for index, at := range c.calls {
			call := *c.Blocks[at].Call
			call.Arguments = string(c.arguments[index])
			r.Choices[i].Blocks[at].Call = &call
		}
	}
	return r.Normalize()
}

// extras gathers the members that the pieces of a stream bring.
type extras struct {
	format string
	pieces []wire.Object
}

func (x *extras) add(e Extra) {
	if len(e.Members) == 0 {
		return
	}
	if x.format != e.Format {
		*x = extras{format: e.Format}
	}
	x.pieces = append(x.pieces, wire.Object(e.Members).Clone())
}

// merged puts the pieces together: arrays grow, objects are merged, of all else
// the last one counts.
func (x *extras) merged() Extra {
	if len(x.pieces) == 0 {
		return Extra{}
	}
	return Extra{x.format, mergeObjects(x.pieces, 0)}
}

// maxMergeDepth is how deep members of pieces are merged; deeper the last counts.
const maxMergeDepth = 8

func mergeObjects(pieces []wire.Object, depth int) wire.Object {
	if len(pieces) == 1 {
		return pieces[0]
	}
	var keys []string
	values := map[string][][]byte{}
	for _, p := range pieces {
		for _, m := range p {
			if values[m.Key] == nil {
				keys = append(keys, m.Key)
			}
			values[m.Key] = append(values[m.Key], m.Value)
		}
	}
	out := make(wire.Object, 0, len(keys))
	for _, k := range keys {
		out = append(out, wire.Member{Key: k, Value: mergeValues(values[k], depth)})
	}
	return out
}

func mergeValues(values [][]byte, depth int) []byte {
	last := values[len(values)-1]
	if len(values) == 1 || depth >= maxMergeDepth {
		return last
	}
	var objects []wire.Object
	var list [][]byte
	lists := 0
	for _, v := range values {
		if wire.IsNull(v) {
			continue
		}
		last = v
		if o, ok := wire.AsObject(v); ok {
			objects = append(objects, o)
		} else if l := wire.AsList(v); l != nil {
			list = append(list, l...)
			lists++
		}
	}
	switch {
	case len(objects) > 1 && lists == 0:
		return mergeObjects(objects, depth+1).Bytes()
	case lists > 1 && len(objects) == 0:
		return wire.List(list)
	}
	return last
}
