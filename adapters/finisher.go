package adapters

// finisher sees to it that a stream ends as what it is. A call that has no end, or ends
// within its arguments, ends as one that was cut off, and its choice does not end as if
// it were complete; each choice has a reason of its end; after an error nothing comes but
// the end.
type finisher struct {
	next    Encoder
	choices []*choiceEnding // by choice; nil where nothing came
	failed  bool
}

// choiceEnding is what has to be known of a choice at its end.
type choiceEnding struct {
	open   map[int]*openCall // by index
	called bool
	cut    bool
	ended  bool // its reason was written
}

type openCall struct {
	custom    bool
	arguments []byte
}

// Event takes the next event.
func (f *finisher) Event(e Event) error {
	if f.failed || e.Choice < 0 || e.Choice >= MaxChoices {
		return nil
	}
	switch e.Type {
	case EventText, EventReasoning, EventRefusal, EventSignature, EventOther:
		f.choice(e.Choice)
	case EventCallStart:
		c := f.choice(e.Choice)
		c.called = true
		if c.open == nil {
			c.open = map[int]*openCall{}
		}
		c.open[e.Index] = &openCall{custom: e.Custom}
	case EventArguments:
		if call := f.choice(e.Choice).open[e.Index]; call != nil {
			call.arguments = append(call.arguments, e.Text...)
		}
	case EventCallEnd:
		c := f.choice(e.Choice)
		call := c.open[e.Index]
		if call == nil {
			break
		}
		delete(c.open, e.Index)
		e.Truncated = e.Truncated || !call.custom && cutArguments(string(call.arguments))
		c.cut = c.cut || e.Truncated
	case EventFinish:
		c := f.choice(e.Choice)
		if err := f.close(e.Choice, c); err != nil || c.ended { // some servers say it twice
			return err
		}
		c.ended = true
		if c.cut {
			e.Finish = cutFinish(e.Finish)
		}
	}
	return f.next.Event(e)
}

func (f *finisher) choice(i int) *choiceEnding {
	for len(f.choices) <= i {
		f.choices = append(f.choices, nil)
	}
	if f.choices[i] == nil {
		f.choices[i] = &choiceEnding{}
	}
	return f.choices[i]
}

// close ends the calls of a choice that have no end.
func (f *finisher) close(choice int, c *choiceEnding) error {
	for index := 0; len(c.open) > 0 && index < MaxCalls; index++ {
		if c.open[index] == nil {
			continue
		}
		delete(c.open, index)
		c.cut = true
		if err := f.next.Event(Event{Type: EventCallEnd, Choice: choice, Index: index, Truncated: true}); err != nil {
			return err
		}
	}
	return nil
}

// Fail writes that the reply failed, once.
func (f *finisher) Fail(e *ProviderError) error {
	if f.failed {
		return nil
	}
	f.failed = true
	return f.next.Fail(e)
}

// End gives each choice that has none a reason of its end, and ends the stream.
func (f *finisher) End() error {
	if !f.failed {
		f.choice(0)
		for i, c := range f.choices {
			if c == nil || c.ended {
				continue
			}
			finish := FinishStop
			if c.called {
				finish = FinishCalls
			}
			if err := f.Event(Event{Type: EventFinish, Choice: i, Finish: finish}); err != nil {
				return err
			}
		}
	}
	return f.next.End()
}
