package lenient

import (
	"fmt"
	"reflect"
	"slices"
	"testing"
)

// broken are texts that stand for JSON, with what they are read as and the departures.
var broken = []struct{ text, want string }{
	// begin
	{`{tool": "a", "n": 1}`, `{"n":1,"tool":"a"} unquoted_key,missing_quote`},
	{`{"tool: "a", "n": 1}`, `{"n":1,"tool":"a"} missing_quote`},
	{`{"tool:"a", "n": 1}`, `{"n":1,"tool":"a"} missing_quote`},
	{`{'tool": "a", 'n": 1}`, `{"n":1,"tool":"a"} single_quotes,mismatched_quotes`},
	{`{"tool': "a", "n': 1}`, `{"n":1,"tool":"a"} mismatched_quotes`},
	{"{`tool`: `a`, `n`: 1}", `{"n":1,"tool":"a"} single_quotes`},
	{`{“tool”: “a”, “n”: 1}`, `{"n":1,"tool":"a"} smart_quotes`},
	{`{‘tool’: ‘a’, ‘n’: 1}`, `{"n":1,"tool":"a"} smart_quotes`},
	{`{"tool": 'a", "n": 1}`, `{"n":1,"tool":"a"} single_quotes,mismatched_quotes`},
	{`{"tool": "a', "n": 1}`, `{"n":1,"tool":"a"} missing_quote`},
	{`{"tool": “a", "n": 1}`, `{"n":1,"tool":"a"} smart_quotes`},
	{`{"tool": "a”, "n": 1}`, `{"n":1,"tool":"a"} missing_quote`},
	{`{"tool": a", "n": 1}`, `{"n":1,"tool":"a"} unquoted_value,missing_quote`},
	{`{"tool":: "a", "n" : : 1}`, `{"n":1,"tool":"a"} other_colon`},
	{`{""tool"": ""a"", ""n"": 1}`, `{"n":1,"tool":"a"} doubled_quotes`},
	{"{\u00a0\"tool\":\u00a0\"a\",\u00a0\"n\":\u00a01}", `{"n":1,"tool":"a"} odd_space`},
	{"{\u2003\"tool\":\u2003\"a\",\u2003\"n\":\u20031}", `{"n":1,"tool":"a"} odd_space`},
	{"{\u2003\"tool\"\u2003:\u2003\"a\"\u2003,\u2003\"n\"\u2003:\u20031\u2003}", `{"n":1,"tool":"a"} odd_space`},
	{`{\n  "tool": "a",\n  "n": 1\n}`, `{"n":1,"tool":"a"} odd_space`},
	{`{\n\t"tool":\t"a",\r\n "n": [1,\n2]\n}`, `{"n":[1,2],"tool":"a"} odd_space`},
	// colons and commas
	{`{"tool" "a", "n" 1}`, `{"n":1,"tool":"a"} missing_colon`},
	{`{"tool" true, "n" false}`, `{"n":false,"tool":true} missing_colon`},
	{`{"tool" 'a', "n" None}`, `{"n":null,"tool":"a"} missing_colon,single_quotes,python_literal`},
	{`{tool "a", n 1}`, `{"n":1,"tool":"a"} missing_colon,unquoted_key`},
	{`{"tool" - "a"}`, `{"tool":"a"} other_colon`},
	{`{"tool" -> "a"}`, `{"tool":"a"} other_colon`},
	{`{"a": 1;"b": 2}`, `{"a":1,"b":2} other_colon`},
	{`{"a": "x";"b": 2}`, `{"a":"x","b":2} other_colon`},
	{`{"a": 1 "b": "x" "c": [1 2 3] "d": {"e": 1} "f": null}`, `{"a":1,"b":"x","c":[1,2,3],"d":{"e":1},"f":null} missing_comma`},
	{`["a" "b" "c" 1]`, `["a","b","c",1] missing_comma`},
	{`["a" 2]`, `["a",2] missing_comma`},
	{"[\"a\"\n\"b\"\n3]", `["a","b",3] missing_comma`},
	{`[{"a": 1}{"b": 2}]`, `[{"a":1},{"b":2}] missing_comma`},
	{`[{"a": 1} {"b": 2} [3] [4]]`, `[{"a":1},{"b":2},[3],[4]] missing_comma`},
	{`[1,,2,,]`, `[1,2] trailing_comma,extra_comma`},
	{`[,1]`, `[1] extra_comma`},
	{`{,"a": 1}`, `{"a":1} extra_comma`},
	{`{"a": 1,,"b": 2,}`, `{"a":1,"b":2} trailing_comma,extra_comma`},
	{`{"a": [1, 2,], "b": {"c": 3,},}`, `{"a":[1,2],"b":{"c":3}} trailing_comma`},
	{`[1,2,3,],`, `[1,2,3] trailing_comma`},
	{`{"a": "x" "b": "y", "c": "z"}`, `{"a":"x","b":"y","c":"z"} missing_comma`},
	{"{\"a\": \"x\"\n\"b\": \"y\"}", `{"a":"x","b":"y"} missing_comma`},
	{`{"a": "x", "b": {"c": 1} "d": 2}`, `{"a":"x","b":{"c":1},"d":2} missing_comma`},
	// quotes
	{`{"a": "b}`, `{"a":"b"} unclosed_string`},
	{`{"a": "b, "c": 1}`, `{"a":"b","c":1} missing_quote`},
	{`{"a": "first, b: "second"}`, `{"a":"first","b":"second"} unquoted_key,missing_quote`},
	{`{"city": "Lyon, "days": 3}`, `{"city":"Lyon","days":3} missing_quote`},
	{`{"city": "Turin, "state": "NO"}`, `{"city":"Turin","state":"NO"} missing_quote`},
	{`{"key": "value} `, `{"key":"value"} unclosed_string`},
	{`{"a": "x", "b": ["c, "d"]}`, `{"a":"x","b":["c","d"]} missing_quote`},
	{`{"text": "an answer is {"x": "y"}, which is fine"}`, `{"text":"an answer is {\"x\": \"y\"}, which is fine"} unescaped_quote`},
	{`{"text": "say "hi" to her", "n": 1}`, `{"n":1,"text":"say \"hi\" to her"} unescaped_quote`},
	{`{"a": "the "best"", "b": 2}`, `{"a":"the \"best\"","b":2} unescaped_quote`},
	{`{"a": ""x"", "b": 2}`, `{"a":"x","b":2} doubled_quotes`},
	{`{""a"": "x"}`, `{"a":"x"} doubled_quotes`},
	{`{"a"": "x"}`, `{"a":"x"} doubled_quotes`},
	{`{"a": "x", "b"": 1}`, `{"a":"x","b":1} doubled_quotes`},
	{`{ "words": abcdef", "n": 12345" }`, `{"n":"12345","words":"abcdef"} unquoted_value,missing_quote`},
	{`{"a": b"}`, `{"a":"b"} unquoted_value,missing_quote`},
	{`{"a: 1}`, `{"a":1} missing_quote`},
	{`{"a: 1, "b: 2}`, `{"a":1,"b":2} missing_quote`},
	{`{a": 1, b": 2}`, `{"a":1,"b":2} unquoted_key,missing_quote`},
	{`{"a": "it's", 'b': 'he said "x"'}`, `{"a":"it's","b":"he said \"x\""} single_quotes`},
	{`{'a': 'it's'}`, `{"a":"it's"} single_quotes,unescaped_quote`},
	{`{"a": \"x\", "b": 1}`, `{"a":"x","b":1} escaped_quotes`},
	{`{\"a\": \"x\"}`, `{"a":"x"} escaped_quotes`},
	{"{\"a\": \"x\ny\"}", `{"a":"x\ny"} raw_control_character`},
	{"{\"a\": 'x\ny'}", `{"a":"x\ny"} single_quotes,raw_control_character`},
	{"{\"a\": \"x\\\ny\"}", `{"a":"x\\\ny"} raw_control_character,invalid_escape`},
	{`{"a": "it\'s"}`, `{"a":"it's"} invalid_escape`},
	{`{"a": "\x41\q"}`, `{"a":"\\x41\\q"} invalid_escape`},
	{`{"a": "\u12"}`, `{"a":"\\u12"} invalid_escape`},
	{`{"a": "\U0001F600"}`, `{"a":"😀"} invalid_escape`},
	{`{"a": «x»}`, `{"a":"x"} smart_quotes`},
	{`{"a": „x“}`, `{"a":"x"} smart_quotes`},
	{`{"a": 「x」}`, `{"a":"x"} smart_quotes`},
	{`{＂a＂: ＂x＂}`, `{"a":"x"} smart_quotes`},
	{`{"a": ´x´}`, `{"a":"x"} smart_quotes`},
	{`{"a": ''x''}`, `{"a":"x"} single_quotes,doubled_quotes`},
	{`{''a'': 1}`, `{"a":1} single_quotes,doubled_quotes`},
	// numbers
	{`[1.]`, `[1] odd_number`},
	{`[.5, -.5, +.5]`, `[0.5,-0.5,0.5] odd_number`},
	{`[-, 2]`, `["-",2] unquoted_value`},
	{`[1.2.3]`, `["1.2.3"] unquoted_value`},
	{`[1/3, 10-20]`, `["1/3","10-20"] unquoted_value`},
	{`[007]`, `["007"] unquoted_value`},
	{`[0x1F, 0b11, 0o7]`, `[31,3,7] odd_number`},
	{`[1_000]`, `[1000] odd_number`},
	{`[50%]`, `["50%"] unquoted_value`},
	{`[$5]`, `["$5"] unquoted_value`},
	{`[12abc]`, `["12abc"] unquoted_value`},
	{`[2024-01-05]`, `["2024-01-05"] unquoted_value`},
	{`[NaN, Infinity, -Infinity]`, `["NaN","Infinity","-Infinity"] unquoted_value`},
	{`[1n, 10n]`, `[1,10] odd_number`},
	{`[1f]`, `["1f"] unquoted_value`},
	{`{"a": 1.5f}`, `{"a":"1.5f"} unquoted_value`},
	{`{"a": 12345"}`, `{"a":"12345"} unquoted_value,missing_quote`},
	{`{"a": 1" , "b": 2}`, `{"a":"1","b":2} unquoted_value,missing_quote`},
	{`{"a": 1 000}`, `{"a":"1 000"} unquoted_value`},
	{`{"a": 5 km}`, `{"a":"5 km"} unquoted_value`},
	{`{"a": --5}`, `{"a":"--5"} unquoted_value`},
	// comments
	{"{\"a\": 1 // x\n, \"b\": 2}", `{"a":1,"b":2} comment`},
	{`{"a": 1, /* x */ "b": 2}`, `{"a":1,"b":2} comment`},
	{"{\"a\": 1, # x\n \"b\": 2}", `{"a":1,"b":2} comment`},
	{"{\"a\": \"x\" # c\n}", `{"a":"x"} comment`},
	{"{\"a\": \"x\" // c\n}", `{"a":"x"} comment`},
	{"{\"a\": \"x\", # c\n \"b\": \"y\"}", `{"a":"x","b":"y"} comment`},
	{`{"key": "value" # comment`, `{"key":"value"} comment,truncated`},
	{`{"a": 1, <!-- c --> "b": 2}`, `{"a":1,"b":2} comment`},
	{`{"v": true, NOTE "w": "x"}`, `{"v":true,"w":"x"} unquoted_key,stray_text`},
	{`/* x */ {"a": 1}`, `{"a":1} comment`},
	{"// x\n{\"a\": 1}", `{"a":1} comment`},
	{"{\"a\": 1 // x\r, \"b\": 2}", `{"a":1,"b":2} comment`},
	{`{"a": 1} // end`, `{"a":1}`},
	{`{"a": "http://x.y/z", "b": 1}`, `{"a":"http://x.y/z","b":1}`},
	{`{"a": http://x.y/z, "b": 1}`, `{"a":"http://x.y/z","b":1} unquoted_value`},
	// ellipses
	{`[1, 2, ...]`, `[1,2] ellipsis`},
	{`[1, 2, ..., 9]`, `[1,2,9] ellipsis`},
	{`[1,2,...]`, `[1,2] ellipsis`},
	{`[..., 1]`, `[1] ellipsis`},
	{`[...]`, `[] ellipsis`},
	{`{"a": 1, ...}`, `{"a":1} ellipsis`},
	{`{"a": 1, ..., "b": 2}`, `{"a":1,"b":2} extra_comma,ellipsis`},
	{`{...}`, `{} ellipsis`},
	{`{"a": [1, 2, …]}`, `{"a":[1,2]} ellipsis`},
	{`{"a": 1, …}`, `{"a":1} ellipsis`},
	{`["a", "b" ...]`, `["a","b"] ellipsis`},
	// joins
	{`["a" + "b", 1]`, `["ab",1] concatenation`},
	{"{\"a\": \"x\" +\n \"y\" + \"z\"}", `{"a":"xyz"} concatenation`},
	{`{"a": 'x' + "y"}`, `{"a":"xy"} single_quotes,concatenation`},
	{`{"a": "x" +}`, `{"a":"x"} concatenation`},
	// wraps
	{`callback({"a": 1});`, `{"a":1} wrapper`},
	{`cb({"a": 1})`, `{"a":1} wrapper`},
	{`/* x */ cb({"a": 1})`, `{"a":1} comment,wrapper`},
	{`({"a": 1})`, `{"a":1} wrapper`},
	{`{"a": ObjectId("5f1"), "b": NumberLong(5), "c": ISODate("2024-01-05T00:00:00Z")}`, `{"a":"5f1","b":5,"c":"2024-01-05T00:00:00Z"} constructor`},
	{`{"a": NumberLong("5"), "b": NumberDecimal("1.5")}`, `{"a":5,"b":1.5} constructor`},
	{`{"a": new Date("2024-01-05"), "b": Date("2024")}`, `{"a":"2024-01-05","b":"2024"} constructor`},
	{`{"a": datetime.date(2024, 1, 5), "b": 1}`, `{"a":"datetime.date(2024, 1, 5)","b":1} unquoted_value,expression`},
	{`{"a": Decimal('1.5'), "b": UUID("x")}`, `{"a":1.5,"b":"x"} constructor`},
	{`{"a": ISODate(), "b": 1}`, `{"a":"ISODate()","b":1} unquoted_value,expression`},
	{`{"a": f(1, "x)"), "b": 1}`, `{"a":"f(1, \"x)\")","b":1} unquoted_value,expression`},
	{`{"a": set([1, 2]), "b": dict(x=1)}`, `{"a":"set([1, 2])","b":"dict(x=1)"} unquoted_value,expression`},
	// literals
	{`{"a": None, "b": True, "c": undefined, "d": nil, "e": NULL, "f": FALSE}`, `{"a":null,"b":true,"c":null,"d":null,"e":null,"f":false} python_literal`},
	{`{"a": (1, 2), "b": ()}`, `{"a":[1,2],"b":[]} tuple`},
	{`{"coordinates": (40.7, -74.0)}`, `{"coordinates":[40.7,-74.0]} tuple`},
	{`{"a": (1,)}`, `{"a":[1]} tuple`},
	{`{"a": {1, 2, 3}}`, `{"a":[1,2,3]} unquoted_key,tuple`},
	{`{"a": {"x", "y"}}`, `{"a":["x","y"]} tuple`},
	{`{"x", "y"}`, `["x","y"] tuple`},
	{`{"a": b"x", "b": r"\d", "c": u"y", "d": f"z"}`, `{"a":"x","b":"\\d","c":"y","d":"z"} string_prefix`},
	{`{"a": """x "y" z""", "b": '''q'''}`, `{"a":"x \"y\" z","b":"q"} single_quotes,triple_quotes`},
	{`{"a": """""", "b": 1}`, `{"a":"","b":1} triple_quotes`},
	{`{'a': 'b', "c": ('d', 'e')}`, `{"a":"b","c":["d","e"]} single_quotes,tuple`},
	{`{1: "a", 2: "b"}`, `{"1":"a","2":"b"} unquoted_key`},
	{`{"a": yes, "b": no}`, `{"a":"yes","b":"no"} unquoted_value`},
	{`{True: 1, None: 2}`, `{"None":2,"True":1} unquoted_key`},
	{`{1.5: "a", -2: "b"}`, `{"-2":"b","1.5":"a"} unquoted_key`},
	{`{"a": /ab+c/g, "b": 1}`, `{"a":"/ab+c/g","b":1} unquoted_value`},
	{`{"a": <Enum.X: 1>, "b": 1}`, `{"a":"<Enum.X: 1>","b":1} unquoted_value`},
	{`{"a": lambda x: x, "b": 1}`, `{"a":"lambda x: x","b":1} unquoted_value`},
	{`{"a": 2 * 3, "b": 60 * 60 * 24}`, `{"a":"2 * 3","b":"60 * 60 * 24"} unquoted_value,expression`},
	{`{"a": x > 5, "b": 1}`, `{"a":"x > 5","b":1} unquoted_value`},
	{`{"a": [x for x in y], "b": 1}`, `{"a":["x for x in y"],"b":1} unquoted_value`},
	{`{"a": b.c[0], "d": 1}`, `{"a":"b.c[0]","d":1} unquoted_value,expression`},
	{`{"a": ${x}, "d": 1}`, `{"a":"${x}","d":1} unquoted_value,expression`},
	// brackets
	{`{"a": {"b": 1}, "c": [1, {"d": 2}`, `{"a":{"b":1},"c":[1,{"d":2}]} truncated`},
	{`{"a": [1, 2, "b": 3}`, `{"a":[1,2],"b":3} missing_close`},
	{`{"a": {"b": [1, 2}, "c": 3}`, `{"a":{"b":[1,2]},"c":3} missing_close`},
	{`[{"i":1{"i":2}]`, `[{"i":1},{"i":2}] missing_comma,odd_number,missing_close`},
	{`[{"i":1,{"i":2}]`, `[{"i":1},{"i":2}] missing_comma,missing_close`},
	{`{"key": "value"}, "next": 1}`, `{"key":"value","next":1} closed_early`},
	{`{"a": {"b": "x"}}, "c": 1}`, `{"a":{"b":"x"},"c":1} closed_early`},
	{`["key":"value"]`, `[{"key":"value"}] missing_close,missing_open`},
	{`["a": 1, "b": 2]`, `[{"a":1,"b":2}] missing_close,missing_open`},
	{`{"a": 1]`, `{"a":1} mismatched_close`},
	{`[1, 2}`, `[1,2] mismatched_close`},
	{`[1, 2)`, `[1,2] mismatched_close`},
	{`{"a": 1)`, `{"a":1} mismatched_close`},
	{`{"a": [1, 2}}`, `{"a":[1,2]} missing_close`},
	{`{"a": {"b": 1]}`, `{"a":{"b":1}} mismatched_close`},
	{`{"a": 1}}`, `{"a":1}`},
	{`{{"a": 1}}`, `{"a":1} extra_open`},
	{`{{"a": {"b": 1}}}`, `{"a":{"b":1}} extra_open`},
	{`[[1, 2], [3, 4]`, `[[1,2],[3,4]] truncated`},
	// ndjson
	{"{\"a\": 1}\n{\"b\": 2}", `{"a":1}`},
	// markdown
	{`{"a\_b": "c\_d", "e": \[1, 2\]}`, `{"a_b":"c_d","e":[1,2]} invalid_escape`},
	{`\{"a": 1\}`, `{"a":1} invalid_escape`},
	{`{"a": "\*x\*"}`, `{"a":"\\*x\\*"} invalid_escape`},
	{`{"a": *x*, "b": **y**}`, `{"a":"*x*","b":"**y**"} unquoted_value,expression`},
	// unquoted
	{`{city: Turin, unit: c}`, `{"city":"Turin","unit":"c"} unquoted_key,unquoted_value`},
	{`{"w": ghijkl"}`, `{"w":"ghijkl"} unquoted_value,missing_quote`},
	{`{"words": abc def", "n": 1}`, `{"n":1,"words":"abc def"} unquoted_value,missing_quote`},
	{`{"a": some {braced} words, "b": 1}`, `{"a":"some {braced} words","b":1} unquoted_value,expression`},
	{"{\"a\": line one\nline two, \"b\": 1}", `{"a":"line one\nline two","b":1} unquoted_value`},
	{"{a: x\nb: y}", `{"a":"x","b":"y"} missing_comma,unquoted_key,unquoted_value`},
	{"{a: x,\nb: y\n}", `{"a":"x","b":"y"} unquoted_key,unquoted_value`},
	{`{my key: 1, "b": 2}`, `{"b":2,"my key":1} unquoted_key`},
	{`[a, b c, d]`, `["a","b c","d"] unquoted_value`},
	{`[Turin, Lyon]`, `["Turin","Lyon"] unquoted_value`},
	{`{"a": C:\Users\x, "b": 1}`, `{"a":"C:\\Users\\x","b":1} unquoted_value`},
	{`{"a": me@x.org}`, `{"a":"me@x.org"} unquoted_value`},
	{`{"a": 10:30, "b": 1}`, `{"a":"10:30","b":1} unquoted_value`},
	{`{"a": don't, "b": 1}`, `{"a":"don't","b":1} unquoted_value`},
	{`{"a":}`, `{"a":null} unquoted_value`},
	{`{"a"}`, `["a"] tuple`},
}

func TestBroken(t *testing.T) {
	for _, tt := range broken {
		if got := read(t, tt.text, Options{}); got != tt.want {
			t.Errorf("%s\n got %s\nwant %s", tt.text, got, tt.want)
		}
	}
}

// TestCommentAndMarker reads comments with a closing marker in them.
func TestCommentAndMarker(t *testing.T) {
	o := Options{Close: []string{"</tool_call>"}}
	for _, tt := range []struct {
		text, want string
		rest       string
	}{
		{"{\"a\": 1, // so</tool_call>\n<tool_call>{\"b\": 2}", `map[a:1]`, "</tool_call>\n<tool_call>{\"b\": 2}"},
		{"{\"a\": 1, /* so</tool_call> and </tool_call>", `map[a:1]`, "</tool_call> and </tool_call>"},
		{"{\"a\": 1, // a </tool_call> within\n}</tool_call>", `map[a:1]`, "</tool_call>"},
		{"{\"a\": 1, /* a </tool_call> within */ \"b\": 2}</tool_call>", `map[a:1 b:2]`, "</tool_call>"},
	} {
		c := NewText(tt.text)
		v, err := NewReader(c, o).Value()
		if err != nil || fmt.Sprint(v) != tt.want || tt.text[c.Offset():] != tt.rest {
			t.Errorf("%q is %v, with %q behind it: %v", tt.text, v, tt.text[c.Offset():], err)
		}
	}
}

// TestBrokenCut reads every beginning of the texts whole and byte by byte.
func TestBrokenCut(t *testing.T) {
	for _, tt := range broken {
		for n := range len(tt.text) + 1 {
			text := tt.text[:n]
			whole := NewReader(NewText(text), Options{Alone: true})
			want, wantErr := whole.Value()
			got, fixes, err := readStream([]byte(text), 1, Options{Alone: true})
			if (err == nil) != (wantErr == nil) || err == nil && (!reflect.DeepEqual(got, want) || !slices.Equal(fixes, whole.Fixes.Names())) {
				t.Errorf("%q is %v %v %v, and byte by byte %v %v %v", text, want, whole.Fixes.Names(), wantErr, got, fixes, err)
			}
		}
	}
}
