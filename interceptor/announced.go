package interceptor

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// maxAnnouncement bounds the last line of a text that announces a call, in bytes.
const maxAnnouncement = 300

// announcing matches a line in which the model says what it does next.
var announcing = regexp.MustCompile(`(?i)^(?:(?:ok(?:ay)?|sure|great|good|alright|now|next|first|then|so)[,.!]? )*` +
	`(?:i(?:'|’)ll|i will|i(?:'|’)m going to|i am going to|i need to|i should|let me|let(?:'|’)s) ` +
	`(?:now |first |next |then |also |start by |begin by )*(read|check|look|run|execute|create|write|open|list|search|find|update|edit|` +
	`modify|fix|call|use|examine|inspect|explore|view|fetch|` +
	`get|query|test|try|add|delete|remove|install|reading|checking|looking|running|creating|listing|searching)\b`)

// offering matches what is said to the user about later, and needs no call.
var offering = regexp.MustCompile(`(?i)\b(?:let me know|if you|would you|when you|once you|you can|do you)\b|\?\s*$`)

// announced reports whether a text ends by saying what the model does next, such as "Now
// I'll read the file:". Ending so without a call is a turn that stopped too early. A last
// line that ends in a colon counts in every language; one that ends in a full stop only if
// it is all that the text has, since reports and offers end like that too.
func announced(text string) bool {
	text = strings.TrimSpace(text)
	if text == "" || strings.HasSuffix(text, "```") {
		return false
	}
	last := text[strings.LastIndexByte(text, '\n')+1:]
	last = strings.Trim(last, "*_# ")
	if len(last) > maxAnnouncement || offering.MatchString(last) {
		return false
	}
	r, _ := utf8.DecodeLastRuneInString(last)
	switch {
	case r == ':' || r == '：':
		return true
	case strings.HasSuffix(last, "...") || r == '…':
		return announcing.MatchString(lastSentence(strings.TrimRight(last, ".…")))
	}
	return last == strings.Trim(text, "*_# ") && announcing.MatchString(lastSentence(strings.TrimRight(last, ".")))
}

// lastSentence is the last sentence of a line.
func lastSentence(line string) string {
	for _, end := range []string{". ", "! ", "; "} {
		if i := strings.LastIndex(line, end); i >= 0 {
			line = line[i+len(end):]
		}
	}
	return strings.TrimSpace(line)
}
