package parser

import (
	"strings"

	"github.com/callwright/callwright/extractor"
)

// thoughtful are beginnings of texts that may be reasoning whose opening marker
// the prompt held.
var thoughtful = []string{
	"okay, ", "ok, ", "okay. ", "hmm", "the user", "so the user", "we need", "we have", "we should", "i need to", "i should", "i could", "i might", "let me think", "let's think", "let's see",
	"first, i", "alright", "wait", "maybe", "perhaps", "thinking", "need to", "need the", "looking at", "to answer", "so, ", "so i", "now, the user", "good, ", "right, ", "user ", "from the",
}

// mayDefer decides whether the events of a call have to wait: where the text
// before it may be reasoning without an opening marker, what closes it may yet
// come, and the call was a draft.
func (h *handler) mayDefer(c *extractor.Candidate) {
	if h.deferring || h.reasoned || h.salvaging || h.content.Len() == 0 {
		return
	}
	if c.Provenance != extractor.Bare && !h.looksThoughtful() {
		return
	}
	h.deferring = true
	h.deferred = len(h.res.Calls)
}

func (h *handler) looksThoughtful() bool {
	text := h.content.String()
	text = strings.ToLower(strings.TrimLeft(text[:min(len(text), 64)], " \n\r\t"))
	for _, t := range thoughtful {
		if strings.HasPrefix(text, t) {
			return true
		}
	}
	return false
}

// release sends the events that waited.
func (h *handler) release() {
	if !h.deferring {
		return
	}
	h.deferring = false
	waiting := h.waiting
	h.waiting = nil
	for _, e := range waiting {
		h.send(e)
	}
}
