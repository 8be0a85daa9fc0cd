package fallback

import (
	"strings"
	"unicode"
)

// stopWords are words that do not help to find a tool.
var stopWords = map[string]bool{
	"a": true, "an": true, "the": true, "of": true, "to": true, "in": true, "on": true, "at": true, "for": true, "and": true, "or": true,
	"with": true, "by": true, "is": true,
	"it": true, "its": true, "this": true, "that": true, "be": true, "are": true, "i": true, "you": true, "we": true, "me": true, "my": true,
	"your": true, "will": true,
	"ll": true, "please": true, "can": true, "could": true, "would": true, "let": true, "as": true, "from": true, "use": true, "tool": true,
	"function": true, "given": true,
}

// synonyms maps words to the one that stands for their group: "draw" to "create".
var synonyms = map[string]string{
	"make": "create", "draw": "create", "add": "create", "insert": "create", "build": "create", "new": "create", "place": "create",
	"remove": "delete", "erase": "delete", "drop": "delete", "destroy": "delete",
	"find": "search", "look": "search", "lookup": "search", "query": "search",
	"show": "get", "fetch": "get", "read": "get", "retrieve": "get", "display": "get", "list": "get", "check": "get", "tell": "get",
	"change": "set", "update": "set", "modify": "set", "edit": "set", "put": "set",
	"rect": "rectangle", "box": "rectangle", "square": "rectangle", "colour": "color", "picture": "image", "photo": "image", "mail": "email",
	"send": "send", "write": "write", "save": "write", "run": "run", "execute": "run", "wide": "width", "high": "height", "tall": "height",
	"forecast": "weather", "temperature": "weather",
}

// terms cuts a text or a name into terms that can be compared: words in lower case, cut
// at capitals too, without endings and stop words, synonyms by one word.
//
//	terms("drawRectangles") // ["create", "rectangl"]
func terms(text string) []string {
	var out []string
	var b strings.Builder
	end := func() {
		if b.Len() > 0 {
			if w := stem(b.String()); !stopWords[w] {
				out = append(out, w)
			}
			b.Reset()
		}
	}
	lower := false
	for _, r := range text {
		switch {
		case unicode.IsLetter(r):
			if unicode.IsUpper(r) && lower {
				end()
			}
			lower = unicode.IsLower(r)
			b.WriteRune(unicode.ToLower(r))
		case unicode.IsDigit(r) && b.Len() > 0:
			b.WriteRune(r)
			lower = false
		default:
			end()
			lower = false
		}
	}
	end()
	return out
}

// stem takes the most common English endings off a word.
func stem(w string) string {
	if s, ok := synonyms[w]; ok {
		return s
	}
	for _, e := range []struct{ ending, instead string }{
		{"ies", "y"}, {"ing", ""}, {"sses", "ss"}, {"xes", "x"}, {"es", "e"}, {"ed", ""}, {"s", ""},
	} {
		if s, ok := strings.CutSuffix(w, e.ending); ok && len(s) >= 3 && !strings.HasSuffix(w, "ss") {
			if len(s) > 3 && e.instead == "" && e.ending != "s" && s[len(s)-1] == s[len(s)-2] && s[len(s)-1] != 'l' && s[len(s)-1] != 's' {
				s = s[:len(s)-1] // setting, dropped
			}
			w = s + e.instead
			break
		}
	}
	if s, ok := synonyms[w]; ok {
		return s
	}
	w = strings.TrimSuffix(w, "e")
	if s, ok := synonyms[w+"e"]; ok {
		return s
	}
	if s, ok := synonymStems[w]; ok {
		return s
	}
	return w
}

// isVerb are the terms of verbs that stand for a group of synonyms, and looksUp those that
// may ask a tool for something whose name has no verb: "check the weather".
var (
	isVerb = map[string]bool{
		"create": true, "delete": true, "search": true, "get": true, "set": true, "send": true, "write": true, "run": true,
	}
	looksUp = map[string]bool{"get": true, "search": true}
)

// synonymStems maps the stems of those words.
var synonymStems = func() map[string]string {
	m := map[string]string{}
	for from, to := range synonyms {
		m[strings.TrimSuffix(from, "e")] = to
		m[strings.TrimSuffix(to, "e")] = to
	}
	return m
}()
