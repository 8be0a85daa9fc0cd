package cue

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// act is a text whose only act is to draw.
var act = rapid.SampledFrom([]string{
	"I'll draw a line.", "I will now draw a line.", "Let me draw a line.", "I’m going to draw a line.", "Okay, so I'll draw a line.",
})

func TestActs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := act.Draw(t, "act")
		acts := Acts(text)
		if len(acts) != 1 || !acts[0].Announced || text[acts[0].Verb[0]:acts[0].Verb[1]] != "draw" {
			t.Fatalf("%q: %+v", text, acts)
		}
	})
	for text, want := range map[string]int{
		"Draw a line.": 1, "Draw a line. Then draw a box.": 2, "It is nice. Draw a line.": 0, "I'll draw a line, then draw a box and then fill it.": 3,
		"I'll do it:\n- Draw a line\n- Draw a box.": 3, "My plan\n- Draw a line": 0, "Note: fine.\nI'll draw a line.": 0, "": 0, "I'll": 0, "Sure!": 0,
	} {
		if got := Acts(text); len(got) != want {
			t.Errorf("%q: %+v, want %d", text, got, want)
		}
	}
}

// TestNoActs puts acts where they are not the speaker's own, or do not hold.
func TestNoActs(t *testing.T) {
	frames := []string{
		"%s Is that right?", "User: %s", "The user said: %s", "\"%s\"", "“%s”", "“Hello.\n\n%s\n\nBye.”", "> %s", "```\n%s\n```", "    %s",
		"{\"text\": \"%s\"}", "<p>%s</p>", "# Notes\n%s", "**Example**\n%s", "| %s |", "For example: %s", "%s No, wait.", "%s Actually, I can't.",
		"%s I have done it.", "If you like, %s", "Unless you object, %s", "Observation: %s", "Should I? %s", "%s That was wrong.", "Human:\n%s",
		"Steps:\n1. %s", "「%s」", "`%s`",
	}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Replace(rapid.SampledFrom(frames).Draw(t, "frame"), "%s", act.Draw(t, "act"), 1)
		if acts := Acts(text); len(acts) > 0 {
			t.Fatalf("%q: %+v", text, acts)
		}
	})
	words := []string{"not", "never", "if you agree", "once it is ready", "or a box", "maybe", "for example", "later", "unless told", "as the user said"}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.TrimSuffix(act.Draw(t, "act"), ".") + " " + rapid.SampledFrom(words).Draw(t, "word") + "."
		if acts := Acts(text); len(acts) > 0 {
			t.Fatalf("%q: %+v", text, acts)
		}
	})
}

// FuzzActs holds that no text makes the reader panic, and that what it returns lies in the
// text, in order, outside of quotations.
func FuzzActs(f *testing.F) {
	for _, s := range []string{"I'll draw a line.", "1. Draw\n- then\n> x", "“\xff’ I’ll 'a", "then then then then", "Let me\n\nknow: a:b", "**\n#\n|"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		outside := OutsideQuotes(text)
		if len(outside) != len(text) {
			t.Fatalf("%d bytes of %d", len(outside), len(text))
		}
		last := 0
		for _, a := range Acts(text) {
			if a.Span[0] < last || a.Verb[0] < a.Span[0] || a.Verb[1] > a.Span[1] || a.Span[1] > len(text) {
				t.Fatalf("%q: %+v", text, a)
			}
			if outside[a.Verb[0]:a.Verb[1]] != text[a.Verb[0]:a.Verb[1]] {
				t.Fatalf("%q: the verb is quoted: %+v", text, a)
			}
			last = a.Span[1]
		}
	})
}

// TestActsAreLinear holds that twice the text takes no more than about twice the
// allocations, and that a text beyond the bounds has no acts.
func TestActsAreLinear(t *testing.T) {
	for _, s := range []string{"I'll draw a line. ", "a\n", "- a\n", "'a ", "\"a", "then ", "a: b ", "e.g. "} {
		allocations := func(n int) float64 {
			text := strings.Repeat(s, n/len(s))
			return testing.AllocsPerRun(4, func() {
				for _, s := range sentencesOf(text, OutsideQuotes(text)) {
					wordsIn(text, s.span)
				}
			})
		}
		if a, b := allocations(4<<10), allocations(8<<10); b > 2.2*a+16 {
			t.Errorf("%q: %v allocations for 4 KB, %v for 8 KB", s, a, b)
		}
		if acts := Acts("I'll draw a line. " + strings.Repeat(s, maxActBytes)); len(acts) > 0 {
			t.Errorf("%q: %d acts", s, len(acts))
		}
	}
}
