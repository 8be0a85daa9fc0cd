package intent_test

import (
	"testing"

	"github.com/callwright/callwright/internal/intent"
)

// long is about as long as a context gets.
var long = intent.Context{
	Before: "I checked the weather for you yesterday and it was fine. Then I looked at the calendar: there were no entries at all, so I think we " +
		"should go ahead. You asked for something else as well, namely a list of the shops nearby. That is not a problem for me, of course.\n\n" +
		"Let me see what I can do here, and I will tell you what the result is. Never send this to prod without asking: ",
	After: " to prod. It is a bad idea, because no one has a backup of it, and nobody would find out in time.",
}

func BenchmarkJudge(b *testing.B) {
	b.Run("long", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			intent.Judge(&long)
		}
	})
	b.Run("alone", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			intent.Judge(&intent.Context{Begins: true, Ends: true})
		}
	})
}
