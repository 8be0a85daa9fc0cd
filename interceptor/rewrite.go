package interceptor

import (
	"context"
	"iter"
	"slices"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/parser"
)

// NOTE: Two kinds of events meet in this package. A wireEvent is a piece of a reply in
// some wire format: the upstream's answer comes as those, and the client's reply goes as
// those. A parsedEvent is what the parser makes of the upstream's. The way is
//
//	upstream ─wireEvent▶ answer.event ▶ parser ─parsedEvent▶ answer.parsed ─wireEvent▶ rewrite.emit ▶ client
//
// A rewrite lives as long as the reply, an answer as long as one answer of the upstream:
// where the model is asked again there are several answers, and the client gets one.
type (
	wireEvent   = adapters.Event
	parsedEvent = parser.Event
)

// rewrite turns the upstream's answers into the client's reply. What the model wrote is
// parsed, everything else is passed on. A whole reply is handled as its events.
type rewrite struct {
	x    *exchange
	ctx  context.Context
	emit func(wireEvent) error // writes to the client
	// beforeWait is called before a request is sent to the upstream; nil does nothing.
	beforeWait func()
	// closeFirst ends the first answer where it is not read to its end; nil does nothing.
	closeFirst func()
	live       bool       // the first answer comes piece by piece
	usage      *wireEvent // that of all answers, added up
	askedUsage bool       // for the client, who did not ask for it
	told       bool       // the client has some text
	rounds     int        // answers whose calls ran here
	// rejectedRounds are those at the end without a call that could be made.
	rejectedRounds int
}

// run handles the events of the first answer, asks the model again where that is needed,
// runs calls of tools that are not the client's, and sends one answer with its end: the one
// that it returns. The error is that of the
// events, or of writing to the client. What was certain before it has been sent.
func (w *rewrite) run(events iter.Seq2[wireEvent, error]) (*answer, error) {
	best, err := w.turn(w.newAnswer(), events)
	if err == nil {
		best, err = w.roundsOf(best)
	}
	if w.usage != nil {
		w.x.done.usage = w.usage.Usage
	}
	w.x.done.unmet = w.x.done.unmet || w.x.mustCall() && best.calls == 0
	if sent := best.commit(); sent != nil {
		return best, sent
	}
	if err == nil {
		err = w.runBeside(best)
	}
	if settled := best.settle(); settled != nil {
		return best, settled
	}
	if err == nil {
		if ended := w.endText(best); ended != nil {
			return best, ended
		}
	}
	if err != nil {
		return best, err
	}
	return best, best.conclude()
}

// turn reads an answer, and asks the model again where that is needed. It returns the
// answer that counts.
func (w *rewrite) turn(best *answer, events iter.Seq2[wireEvent, error]) (*answer, error) {
	err := best.read(events)
	for last := best; err == nil; {
		feedback, ok := w.wantsRetry(last)
		if !ok {
			break
		}
		var next *answer
		if next, err = w.askAgain(last, feedback); next == nil {
			break
		}
		if last = next; w.succeeded(next) {
			best = next
			break
		}
	}
	if next, sent := w.rescue(best, err); next != nil {
		best, err = next, sent
	} else if err == nil && best.lost() {
		err = errNoAnswer
	}
	return best, err
}

// addUsage adds the usage of an answer to that of the answers before it.
func (w *rewrite) addUsage(e *wireEvent) {
	if e == nil {
		return
	}
	if w.usage != nil && w.usage.Usage != nil && e.Usage != nil {
		sum := *w.usage.Usage
		sum.Add(e.Usage)
		sum.Extra = e.Usage.Extra
		e.Usage = &sum
	}
	w.usage = e
}

// custom reports whether a tool takes free text.
func (x *exchange) custom(tool string) bool {
	return slices.ContainsFunc(x.req.Tools, func(t adapters.Tool) bool { return t.Name == tool && t.Custom })
}

// single reports whether the client takes one call at most.
func (x *exchange) single() bool {
	return x.req.CallNativeName != "" || x.req.ParallelCalls != nil && !*x.req.ParallelCalls
}
