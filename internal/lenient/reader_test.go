package lenient

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

// read reads text whole and returns the value as JSON, with the repairs behind it.
func read(t *testing.T, text string, o Options) string {
	t.Helper()
	v, r, err := Parse(text, o)
	if err != nil && !errors.Is(err, ErrTrailing) {
		return "error: " + err.Error()
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	out := strings.TrimSuffix(b.String(), "\n")
	if names := r.Fixes.Names(); names != nil {
		out += " " + strings.Join(names, ",")
	}
	return out
}

func TestReader(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"strict", `{"a": [1, 2.50, -3e4, true, false, null, "x\n\u00e9\ud83d\ude00"], "b": {}}`, `{"a":[1,2.50,-3e4,true,false,null,"x\né😀"],"b":{}}`},
		{"digits", `[12345678901234567890, 1.10, 0]`, `[12345678901234567890,1.10,0]`},
		{"missing comma", `{"x":100 "y":200}`, `{"x":100,"y":200} missing_comma`},
		{"missing comma strings", `{"x":"a" "y":"b"}`, `{"x":"a","y":"b"} missing_comma`},
		{"missing comma newline", "{\"x\":\"a\"\n\"y\":\"b\"}", `{"x":"a","y":"b"} missing_comma`},
		{"unquoted keys", `{x:100, y:200}`, `{"x":100,"y":200} unquoted_key`},
		{"trailing comma", `{"x":100, "y":200,}`, `{"x":100,"y":200} trailing_comma`},
		{"trailing comma array", `[1,2,]`, `[1,2] trailing_comma`},
		{"doubled comma", `{"a":1,,"b":[1,,2]}`, `{"a":1,"b":[1,2]} extra_comma`},
		{"inner quotes", `{"text": "It's "quoted""}`, `{"text":"It's \"quoted\""} unescaped_quote`},
		{"inner quotes comma", `{"text": "say "hi", and "bye", ok", "n": 1}`, `{"n":1,"text":"say \"hi\", and \"bye\", ok"} unescaped_quote`},
		{"inner html", `{"content":"<p class="a">x</p>","n":1}`, `{"content":"<p class=\"a\">x</p>","n":1} unescaped_quote`},
		{"inner code", `{"content":"fmt.Println("a", "b")","n":1}`, `{"content":"fmt.Println(\"a\", \"b\")","n":1} unescaped_quote`},
		{"raw newline", "{\"a\":\"x\ny\tz\"}", `{"a":"x\ny\tz"} raw_control_character`},
		{"single quotes", `{'a': 'it\'s', 'b': 'x "y" z'}`, `{"a":"it's","b":"x \"y\" z"} single_quotes`},
		{"apostrophe", `{'a': 'it's', 'b': 1}`, `{"a":"it's","b":1} single_quotes,unescaped_quote`},
		{"python", `{'a': True, 'b': None, 'c': False}`, `{"a":true,"b":null,"c":false} single_quotes,python_literal`},
		{"smart", `{“a”: “x”}`, `{"a":"x"} smart_quotes`},
		{"wide", `{"a"：1，"b"：2}`, `{"a":1,"b":2} wide_punctuation`},
		{"unquoted value", `{"city": Oslo, "n": 1}`, `{"city":"Oslo","n":1} unquoted_value`},
		{"unquoted words", `{city: New York, unit: c}`, `{"city":"New York","unit":"c"} unquoted_key,unquoted_value`},
		{"unquoted with comma", `{city: Oslo, NO, unit: c}`, `{"city":"Oslo, NO","unit":"c"} unquoted_key,unquoted_value`},
		{"regex", `{"re": "\d+\.\w"}`, `{"re":"\\d+\\.\\w"} invalid_escape`},
		{"path", `{"p": "C:\Users\x"}`, `{"p":"C:\\Users\\x"} invalid_escape`},
		{"path with escapes", `{"p": "C:\Users\new\test.bat", "q": "a\nb"}`, `{"p":"C:\\Users\\new\\test.bat","q":"a\nb"} invalid_escape`},
		{"path, escape first", `{"p": "c:\new\qtest"}`, `{"p":"c:\\new\\qtest"} invalid_escape`},
		{"path with blanks", `{"p": "C:\Program Files\new app\bin"}`, `{"p":"C:\\Program Files\\new app\\bin"} invalid_escape`},
		{"path of a server", `{"p": "\\srv\share\new"}`, `{"p":"\\\\srv\\share\\new"} invalid_escape`},
		{"path in a text", `{"p": "cd C:\Users\new\\x"}`, `{"p":"cd C:\\Users\new\\x"} invalid_escape`},
		{"paths in a text", `{"p": "copy C:\Users\new D:\temp\west\n"}`, `{"p":"copy C:\\Users\\new D:\\temp\\west\\n"} invalid_escape`},
		{"path as JSON has it", `{"p": "C:\\Users\\new", "q": "C:\new\test"}`, `{"p":"C:\\Users\\new","q":"C:\new\test"}`},
		{"no path", `{"re": "a:\n\d+", "s": "x:\n"}`, `{"re":"a:\\n\\d+","s":"x:\n"} invalid_escape`},
		{"code", `{"p": "import re\nre.match('\d+')\n"}`, `{"p":"import re\nre.match('\\d+')\n"} invalid_escape`},
		{"shift", `{"a": 1<<10, "b": 1 << 3}`, `{"a":"1<<10","b":"1 << 3"} unquoted_value`},
		{"division", `{"a": 7 // 2, "b": 8//3}`, `{"a":"7 // 2","b":"8//3"} unquoted_value`},
		{"no division", "{\"a\": 7, // 2 of them\n \"b\": 8 // 3 more\n}", `{"a":7,"b":8} comment`},
		{"times", `{"a": "x"*10**12, "b": 1}`, `error: not a value: an expression, which is no value; write what it amounts to`},
		{"sum", `{"a": "a" + b, "b": 1}`, `error: not a value: an expression, which is no value; write what it amounts to`},
		{"method", `{"a": ["a".upper()]}`, `error: not a value: an expression, which is no value; write what it amounts to`},
		{"no method", `{"a": "see "x".upper() and "y""}`, `{"a":"see \"x\".upper() and \"y\""} unescaped_quote`},
		{"markdown escape", `{"a\_b": "c\_d"}`, `{"a_b":"c_d"} invalid_escape`},
		{"comments", "{// one\n\"a\": 1, /* two */ \"b\": 2 # three\n}", `{"a":1,"b":2} comment`},
		{"numbers", `{"a": .5, "b": 1., "c": +3, "d": 0x1F, "e": 1_000}`, `{"a":0.5,"b":1,"c":3,"d":31,"e":1000} odd_number`},
		{"thousands", `{"a": 1,000, "b": 12,345,678}`, `{"a":1000,"b":12345678} thousands_separator`},
		{"leading zero", `{"zip": 01234}`, `{"zip":"01234"} unquoted_value`},
		{"time", `{"t": 10:30}`, `{"t":"10:30"} unquoted_value`},
		{"missing close", `{"a": {"b": 1}`, `{"a":{"b":1}} truncated`},
		{"wrong order", `{"a": [1, 2}`, `{"a":[1,2]} missing_close`},
		{"mismatched", `{"a": 1]`, `{"a":1} mismatched_close`},
		{"cut string", `{"tool": "create_rect`, `{"tool":"create_rect"} truncated`},
		{"cut key", `{"a": 1, "b`, `{"a":1} truncated`},
		{"cut value", `{"a": 1, "b":`, `{"a":1} truncated`},
		{"missing colon", `{"a" 1, "b" "c"}`, `{"a":1,"b":"c"} missing_colon`},
		{"arrows", `{a => 1, "b" = 2}`, `{"a":1,"b":2} other_colon,unquoted_key`},
		{"concatenation", `{"a": "x" + "y"}`, `{"a":"xy"} concatenation`},
		{"lone surrogate", `{"a": "\ud800x"}`, "{\"a\":\"\ufffdx\"} lone_surrogate"},
		{"utf8", "{\"a\": \"\xe4\xb8x\"}", "{\"a\":\"\ufffdx\"} invalid_utf8"},
		{"duplicate", `{"a": 1, "a": 2}`, `{"a":2} duplicate_key`},
		{"escaped document", `{\"a\": \"x \\\"y\\\" z\", \"b\": 1}`, `{"a":"x \"y\" z","b":1} escaped_quotes`},
		{"doubled braces", `{{"a": 1}}`, `{"a":1} extra_open`},
		{"triple", `{"a": """x "y" z"""}`, `{"a":"x \"y\" z"} triple_quotes`},
		{"empty strings", `{"a": "", "b": "", "c": [""]}`, `{"a":"","b":"","c":[""]}`},
		{"null value", `{"a": , "b": 1}`, `{"a":null,"b":1} unquoted_value`},
		{"prose", `{see below}`, `error: not a value: no colon behind the key at byte 1`},
		{"nbsp", "\ufeff{\u00a0\"a\":\u3000\"x\"}", `{"a":"x"} odd_space`},
		{"json in string", `{"a": "{\"b\": \"c\"}"}`, `{"a":"{\"b\": \"c\"}"}`},
		{"code", `{"code": "if (x) { return \"}\"; }"}`, `{"code":"if (x) { return \"}\"; }"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := read(t, tt.text, Options{}); got != tt.want {
				t.Errorf("%s\n got %s\nwant %s", tt.text, got, tt.want)
			}
		})
	}
}
