package mcpproxy

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/callwright/callwright/internal/wire"
)

// tools is a reply to tools/list.
const tools = `{"jsonrpc":"2.0","id":1,"result":{"tools":[
	{"name":"read_file","description":"Reads","inputSchema":{"type":"object","properties":{
		"path":{"type":"string"},"lines":{"type":"integer","minimum":1},"tags":{"type":"array","items":{"type":"string"}},
		"deep":{"type":"boolean"},"mode":{"type":"string","enum":["text","binary"],"default":"text"},
		"where":{"type":"object","properties":{"x":{"type":"number"}},"required":["x"]}},
		"required":["path"],"additionalProperties":false}},
	{"name":"set_size","inputSchema":{"type":"object","properties":{"width":{"type":"number"},"unit":{"type":"string","default":"px"}},"required":["width","unit"]}},
	{"name":"delete_file","annotations":{"destructiveHint":true},"inputSchema":{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}},
	{"name":"now","inputSchema":{"type":"object"}},
	{"name":"broken","inputSchema":{"type":"objekt"}}]}}`

func newProxy(t testing.TB, o Options) *Proxy {
	t.Helper()
	p, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// knows returns a conversation that has seen the tools.
func knows(t testing.TB, o Options) *conversation {
	t.Helper()
	c := newProxy(t, o).conversation(&catalog{})
	list(t, c, tools)
	return c
}

// list has the client ask for the tools, with id 1, and the server answer.
func list(t testing.TB, c *conversation, answer string) {
	t.Helper()
	const ask = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	if o := c.fromClient([]byte(ask)); string(o.forward) != ask || o.reply != nil {
		t.Fatalf("%s, %s", o.forward, o.reply)
	}
	c.fromServer([]byte(answer))
}

func callOf(name, arguments string) string {
	return fmt.Sprintf(`{ "method":"tools/call","params" : {"_meta":{"progressToken":7}, "name":%q, "arguments": %s , "x":1e0},"id":9007199254740993 ,"y" : null, "jsonrpc":"2.0"}`, name, arguments)
}

func TestMend(t *testing.T) {
	for _, tt := range []struct{ name, tool, arguments, want, wantTool string }{
		{"right", "read_file", `{ "path" : "a" , "lines":3}`, ``, ""},
		{"number", "read_file", `{"path":"a", "lines":"3"}`, `{"path":"a","lines":3}`, ""},
		{"digits stay", "set_size", `{"width":1.50, "unit": "px", "z": "1"}`, ``, ""},
		{"other digits stay", "set_size", `{"unit":"\u0070x", "width":"1.50"}`, `{"unit":"\u0070x","width":1.50}`, ""},
		{"list", "read_file", `{"path":"a","tags":"[\"x\"]"}`, `{"path":"a","tags":["x"]}`, ""},
		{"boolean", "read_file", `{"path":"a","deep":"true"}`, `{"path":"a","deep":true}`, ""},
		{"object", "read_file", `{"path":"a","where":"{\"x\": 2}"}`, `{"path":"a","where":{"x":2}}`, ""},
		{"key", "read_file", `{"PATH":"a"}`, `{"path":"a"}`, ""},
		{"unknown member", "read_file", `{"path":"a","color":"red"}`, `{"path":"a"}`, ""},
		{"wrapped", "read_file", `{"arguments":{"path":"a"}}`, `{"path":"a"}`, ""},
		{"a string", "read_file", `"{\"path\": \"a\", \"lines\": \"2\",}"`, `{"lines":2,"path":"a"}`, ""},
		{"null", "now", `null`, `{}`, ""},
		{"an optional default is the server's", "read_file", `{"path":"a"}`, ``, ""},
		{"a required default is filled in", "set_size", `{"width":1}`, `{"width":1,"unit":"px"}`, ""},
		{"name", "ReadFile", `{"path":"a"}`, ``, "read_file"},
		{"name and arguments", "files.read_file", `{"path":"a","lines":"3"}`, `{"path":"a","lines":3}`, "read_file"},
		{"a destructive one by its name only", "DeleteFile", `{"path":5}`, ``, ""},
		{"unknown tool", "nothing", `{"path":5}`, ``, ""},
		{"no schema", "broken", `{"path":"5"}`, ``, ""},
		{"twice", "read_file", `{"path":"a","path":"b","lines":"3"}`, ``, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := knows(t, Options{})
			message := callOf(tt.tool, tt.arguments)
			want := message
			if tt.want != "" {
				want = strings.Replace(want, tt.arguments, tt.want, 1)
			}
			if tt.wantTool != "" {
				want = strings.Replace(want, tt.tool, tt.wantTool, 1)
			}
			o := c.fromClient([]byte(message))
			if string(o.forward) != want || o.reply != nil || o.changed != (want != message) {
				t.Errorf("got  %s %s\nwant %s", o.forward, o.reply, want)
			}
			if again := c.fromClient(o.forward); string(again.forward) != want || again.changed {
				t.Errorf("what was mended is mended again: %s", again.forward)
			}
			if s := c.p.Stats(); (s.Mended == 1) != (want != message) || s.Lists != 1 {
				t.Errorf("%+v", s)
			}
		})
	}
}

func TestNoArguments(t *testing.T) {
	c := knows(t, Options{AllDefaults: true})
	list(t, c, `{"id":1,"result":{"tools":[{"name":"f","inputSchema":{"properties":{"a":{"type":"integer","default":5}},"required":["a"]}}]}}`)
	o := c.fromClient([]byte(`{"id":"x","method":"tools/call","params":{"name":"f" }}`))
	if want := `{"id":"x","method":"tools/call","params":{"name":"f" ,"arguments":{"a":5}}}`; string(o.forward) != want {
		t.Errorf("%s, want %s", o.forward, want)
	}
}

func TestRefuse(t *testing.T) {
	message := callOf("read_file", `{"lines":"many"}`)
	c := knows(t, Options{})
	o := c.fromClient([]byte(message))
	if o.forward != nil || !json.Valid(o.reply) || bytes.ContainsRune(o.reply, '\n') {
		t.Fatalf("%s %s", o.forward, o.reply)
	}
	for _, want := range []string{`"id":9007199254740993`, `"isError":true`, "/lines", "/path", "read_file(path: string"} {
		if !strings.Contains(string(o.reply), want) {
			t.Errorf("no %s in %s", want, o.reply)
		}
	}
	if strings.Contains(string(o.reply), "resultType") {
		t.Error("an older client is not told of complete results")
	}
	newer := strings.Replace(message, `"_meta":{`, `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",`, 1)
	if o := c.fromClient([]byte(newer)); !strings.Contains(string(o.reply), `"resultType":"complete"`) {
		t.Errorf("%s", o.reply)
	}
	if o := knows(t, Options{OnInvalid: Pass}).fromClient([]byte(message)); string(o.forward) != message || o.reply != nil {
		t.Errorf("%s %s", o.forward, o.reply)
	}
	if _, err := New(Options{OnInvalid: "maybe"}); !errors.Is(err, ErrOption) {
		t.Error(err)
	}
}

// TestList holds when tools are known.
func TestList(t *testing.T) {
	wrong := []byte(callOf("read_file", `{"path":"a","lines":"3"}`))
	mends := func(c *conversation) bool { return c.fromClient(wrong).changed }
	c := newProxy(t, Options{}).conversation(&catalog{})
	if mends(c) {
		t.Error("nothing is known")
	}
	c.fromServer([]byte(tools))
	if mends(c) {
		t.Error("nobody asked for the tools")
	}
	list(t, c, tools)
	if !mends(c) {
		t.Error("the tools are known")
	}
	c.fromServer([]byte(`{"method":"x","params":"notifications/tools/list_changed"}`))
	if !mends(c) {
		t.Error("nothing has changed")
	}
	c.fromClient([]byte(`{"id":5,"method":"tools/list"}`))
	c.fromServer([]byte(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`))
	if mends(c) {
		t.Error("the list has changed")
	}
	c.fromServer([]byte(strings.Replace(tools, `"id":1`, `"id":5`, 1)))
	if mends(c) {
		t.Error("the answer may be older than the change")
	}
	list(t, c, strings.Replace(tools, `"id":1`, `"id":1.0`, 1))
	if !mends(c) {
		t.Error("the tools are known again, though the id is written in another way")
	}
	c.fromServer([]byte(`{"id":9007199254740993,"error":{"code":-32602,"message":"no"}}`))
	if mends(c) {
		t.Error("the server contradicts its schema")
	}
	list(t, c, tools)
	if !mends(c) {
		t.Error("the tools were listed again")
	}
	list(t, c, `{"id":1,"error":{"code":1,"message":"no tools"}}`)
	list(t, c, `{"id":1,"result":{"tools":5}}`)
	if !mends(c) {
		t.Error("an error says nothing of the tools")
	}
}

// TestPages holds that near names count once all pages are known.
func TestPages(t *testing.T) {
	c := newProxy(t, Options{}).conversation(&catalog{})
	near := []byte(callOf("files.read", `{}`))
	list(t, c, `{"id":1,"result":{"nextCursor":"2","tools":[{"name":"read","inputSchema":{"type":"object"}}]}}`)
	if c.fromClient(near).changed {
		t.Error("the name may be on another page")
	}
	c.fromClient([]byte(`{"id":"p2","method":"tools/list","params":{"cursor":"2"}}`))
	c.fromServer([]byte(`[{"id":"p2","result":{"tools":[{"name":"write","inputSchema":{"type":"object"}}, {"odd":1}]}}]`))
	if o := c.fromClient(near); !o.changed || o.tool.Name != "read" {
		t.Error("all pages are known")
	}
	if c.catalog.find("write") == nil {
		t.Error("the second page is not known")
	}
}

func TestBatch(t *testing.T) {
	c := knows(t, Options{})
	good, bad, never := callOf("read_file", `{"path":"a","lines":"3"}`), callOf("read_file", `{"lines":{}}`), `{"id":{},"method":"tools/call","params":{"name":"read_file"}}`
	batch := "[" + good + ",  " + bad + "," + never + `,5, {"id":3,"method":"tools/list"} ]`
	o := c.fromClient([]byte(batch))
	if want := strings.Replace(batch, `"lines":"3"`, `"lines":3`, 1); strings.ReplaceAll(string(o.forward), ",", "") != strings.ReplaceAll(want, ",", "") || o.reply != nil {
		t.Errorf("%s\n%s", o.forward, want)
	}
	if same := "[" + bad + "]"; string(c.fromClient([]byte(same)).forward) != same {
		t.Error("a batch is not refused")
	}
}

// TestUntouched holds that what is no call of a known tool passes byte for byte.
func TestUntouched(t *testing.T) {
	c := knows(t, Options{})
	for _, s := range []string{
		"", " ", "{", "tools", `{"method":"tools/call"`, `"tools/call"`, "[]", "[[]]", "null", `{"method":"tools/call"}`, `{"method":"tools/call","id":1}`,
		`{"method":"tools/call","id":1,"params":5}`, `{"method":"tools/call","id":1,"params":[]}`, `{"method":"tools/call","id":1,"params":{}}`,
		`{"method":"tools/call","id":null,"params":{"name":"read_file","arguments":{"lines":"3","path":"a"}}}`,
		`{"method":"tools/call","id":true,"params":{"name":"read_file","arguments":{"lines":"3","path":"a"}}}`,
		`{"method":"tools/call","params":{"name":"read_file","arguments":{"lines":"3","path":"a"}}}`,
		`{"method":"tools/call","id":1,"id":2,"params":{"name":"read_file","arguments":{"lines":"3","path":"a"}}}`,
		`{"method":"tools/call","id":1,"params":{"name":"now","name":"read_file","arguments":{"lines":"3","path":"a"}}}`,
		`{"method":"tools/call","id":1,"params":{"name":"read_file","arguments":{"path":"` + "\xff" + `","lines":"3"}}}`,
		`{"method":"prompts/get","id":1,"params":{"name":"read_file","arguments":{"lines":"3"}}}`,
		`{"method":"tools/call","id":1,"params":{"name":"read_file","arguments":` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) + `}}`,
	} {
		o := c.fromClient([]byte(s))
		if string(o.forward) != s || o.reply != nil || o.changed {
			t.Errorf("%.80s became %.80s %.80s", s, o.forward, o.reply)
		}
		c.fromServer([]byte(s))
	}
	escaped := `{"method":"\u0074ools\/call","id":"\u0061","params":{"name":"read\u005ffile","arguments":{"lines":"3","path":"a"}}}`
	if o := c.fromClient([]byte(escaped)); string(o.forward) != strings.Replace(escaped, `"3"`, `3`, 1) {
		t.Errorf("%s", o.forward)
	}
}

func TestLog(t *testing.T) {
	var b bytes.Buffer
	log := slog.New(slog.NewJSONHandler(&b, nil))
	c := knows(t, Options{Log: log})
	c.fromClient([]byte(callOf("read_file", `{"path":"secret","lines":"37"}`)))
	c.fromClient([]byte(callOf("read_file", `{"path":"secret","lines":"secret"}`)))
	if s := b.String(); !strings.Contains(s, "string_to_number") || !strings.Contains(s, "/lines") || !strings.Contains(s, "invalid_type") ||
		strings.Contains(s, "secret") || strings.Contains(s, "from") {
		t.Error(s)
	}
	b.Reset()
	c = knows(t, Options{Log: log, LogValues: true})
	c.fromClient([]byte(callOf("read_file", `{"path":"a","lines":"37"}`)))
	if !strings.Contains(b.String(), `"from":"37"`) {
		t.Error(b.String())
	}
}

// value draws JSON.
func value(depth int) *rapid.Generator[string] {
	scalars := []string{`null`, `true`, `"3"`, `"true"`, `""`, `3`, `-1.50`, `1e400`, `"[1,2]"`, `"{\"x\": 1}"`, `"é\u0000\ud800"`, `"text"`}
	if depth == 0 {
		return rapid.SampledFrom(scalars)
	}
	return rapid.OneOf(rapid.SampledFrom(scalars), rapid.Custom(func(t *rapid.T) string {
		return "[" + strings.Join(rapid.SliceOfN(value(depth-1), 0, 3).Draw(t, "list"), ", ") + "]"
	}), rapid.Custom(func(t *rapid.T) string {
		keys := rapid.SliceOfN(rapid.SampledFrom([]string{"path", "lines", "PATH", "tags", "deep", "where", "x", "a b", "width", "unit", "arguments"}), 0, 4).Draw(t, "keys")
		var members []string
		for _, k := range keys {
			members = append(members, fmt.Sprintf("%q : %s", k, value(depth-1).Draw(t, "value")))
		}
		return "{" + strings.Join(members, " ,") + "}"
	}))
}

// TestProperties holds that a mended message is the client's but for the name and the
// arguments, that it then stays as it is, and that mending depends on nothing else.
func TestProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, again := informed(), informed()
		id := rapid.SampledFrom([]string{`1`, `1.0`, `-5e3`, `"a"`, `"é"`, `null`, `[]`, `9007199254740993`}).Draw(t, "id")
		name := rapid.SampledFrom([]string{"read_file", "set_size", "now", "ReadFile", "broken", "x"}).Draw(t, "name")
		message := fmt.Sprintf(`{"id": %s,"method":"tools/call","params":{"arguments":%s, "name":%q,"_meta":{"k":1.0}},"rest":[1.0]}`, id, value(3).Draw(t, "arguments"), name)
		o := c.fromClient([]byte(message))
		if o.reply != nil {
			r, err := wire.ParseObject(o.reply)
			if err != nil || string(r.Get("id")) != id || !r.Object("result").Bool("isError") || o.forward != nil {
				t.Fatalf("%s for %s", o.reply, message)
			}
			return
		}
		if second := again.fromClient([]byte(message)); !bytes.Equal(second.forward, o.forward) {
			t.Fatalf("%s and %s", o.forward, second.forward)
		}
		if third := c.fromClient(o.forward); !bytes.Equal(third.forward, o.forward) {
			t.Fatalf("%s\nbecame %s\nbecame %s %s", message, o.forward, third.forward, third.reply)
		}
		before, err := wire.ParseObject([]byte(message))
		if err != nil {
			t.Fatal(err)
		}
		after, err := wire.ParseObject(o.forward)
		if err != nil || len(before) != len(after) {
			t.Fatalf("%s: %v", o.forward, err)
		}
		for i := range before {
			if before[i].Key != "params" && string(before[i].Value) != string(after[i].Value) {
				t.Fatalf("%s became %s", before[i].Value, after[i].Value)
			}
		}
		if a, b := before.Object("params"), after.Object("params"); string(a.Get("_meta")) != string(b.Get("_meta")) || len(a) != len(b) {
			t.Fatalf("%s", o.forward)
		}
	})
}

// informed is a conversation that knows the tools, for properties.
func informed() *conversation {
	p, err := New(Options{})
	if err != nil {
		panic(err)
	}
	c := p.conversation(&catalog{})
	c.fromClient([]byte(`{"id":1,"method":"tools/list"}`))
	c.fromServer([]byte(tools))
	return c
}

// FuzzConversation holds that hostile messages of either side change nothing but calls:
// what is forwarded is the message itself, or valid JSON.
func FuzzConversation(f *testing.F) {
	for _, s := range []string{
		callOf("read_file", `{"path":"a","lines":"3"}`), callOf("set_size", `{}`), tools, `{"id":1,"method":"tools/list"}`,
		`[{"id":1,"method":"tools/call","params":{"name":"now"}}]`, `{"method":"notifications/tools/list_changed"}`, `{"id":1,"error":{"code":-32602}}`,
	} {
		f.Add([]byte(s), []byte(tools))
		f.Add([]byte(s), []byte(s))
	}
	f.Fuzz(func(t *testing.T, client, server []byte) {
		c := informed()
		c.fromServer(server)
		before := bytes.Clone(client)
		o := c.fromClient(client)
		if !bytes.Equal(client, before) {
			t.Fatal("the message was changed in its place")
		}
		switch {
		case o.reply != nil:
			if !json.Valid(o.reply) || bytes.ContainsAny(o.reply, "\r\n") {
				t.Fatalf("%q", o.reply)
			}
		case o.changed:
			if !json.Valid(o.forward) {
				t.Fatalf("%q became %q", client, o.forward)
			}
		case !bytes.Equal(o.forward, client):
			t.Fatalf("%q became %q", client, o.forward)
		}
		c.fromServer(server)
		c.fromClient(client)
	})
}

func BenchmarkMessages(b *testing.B) {
	long := strings.Repeat("lorem ipsum ", 5400)
	for _, bb := range []struct{ name, message string }{
		{"other", `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"file:///x"}}`},
		{"right", callOf("read_file", `{"path":"a","lines":3}`)},
		{"mended", callOf("read_file", `{"path":"a","lines":"3","tags":"[\"x\"]"}`)},
		{"refused", callOf("read_file", `{"lines":"many"}`)},
		{"mended 64 KB", callOf("read_file", fmt.Sprintf(`{"path":%q,"lines":"3"}`, long))},
		{"right 1 MB", callOf("read_file", fmt.Sprintf(`{"path":%q}`, strings.Repeat(long, 16)))},
	} {
		b.Run(bb.name, func(b *testing.B) {
			c := informed()
			message := []byte(bb.message)
			b.ReportAllocs()
			b.SetBytes(int64(len(message)))
			for b.Loop() {
				c.fromClient(message)
			}
		})
	}
	b.Run("answer 64 KB", func(b *testing.B) {
		c := informed()
		message := []byte(fmt.Sprintf(`{"id":1,"result":{"content":[{"type":"text","text":%q}]}}`, long))
		b.SetBytes(int64(len(message)))
		for b.Loop() {
			c.fromServer(message)
		}
	})
}
