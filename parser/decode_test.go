package parser_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/callwright/callwright/parser"
	"github.com/callwright/callwright/registry"
)

func schema(t *testing.T, text string) map[string]any {
	t.Helper()
	if text == "" {
		return nil
	}
	var m map[string]any
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		t.Fatal(err)
	}
	return m
}

const summary = `{"type":"object","properties":{"summary":{"type":"string","minLength":1},"attachment":{"anyOf":[{"type":"null"},{"type":"object","properties":{"extension":{"type":"string"},"content":{"type":"string"}},"required":["extension","content"]}]}},"required":["summary","attachment"]}`

func TestDecodeSchema(t *testing.T) {
	for _, tt := range []struct {
		name, text, schema string
		keys               []string
		want               string // canonical JSON; "" if there is none
		flags              string // of repaired, truncated, invalid
	}{
		{"whole", `{"summary": "ok", "attachment": null}`, summary, nil, `{"attachment":null,"summary":"ok"}`, ""},
		{"no schema", "The result is {\"status\":\"success\",\"value\":42} as requested.", "", nil, `{"status":"success","value":42}`, ""},
		{"prose around", `Sure! {"summary":"ok","attachment":null} hope that helps`, summary, nil, `{"attachment":null,"summary":"ok"}`, ""},
		{"inner quotes", `{"summary":"done","attachment":{"extension":"txt","content":"He said "hi""}}`, summary, nil, `{"attachment":{"content":"He said \"hi\"","extension":"txt"},"summary":"done"}`, "repaired"},
		{"raw newline", "{\"summary\":\"line1\nline2\",\"attachment\":null}", summary, nil, `{"attachment":null,"summary":"line1\nline2"}`, "repaired"},
		{"backslashes stay", `{"summary":"C:\\Users\\me \\d+","attachment":null}`, summary, nil, `{"attachment":null,"summary":"C:\\Users\\me \\d+"}`, ""},
		{"fence before bare", "Inline: {\"a\":1}\n```json\n{\"b\":2}\n```", "", nil, `{"b":2}`, ""},
		{"last fence first", "```json\n{\"v\":1}\n```\nBetter:\n```json\n{\"v\":2}\n```", "", nil, `{"v":2}`, ""},
		{"the one that fits", "```json\n{\"summary\":\"one\",\"attachment\":null}\n```\nor\n```json\n{\"other\":2}\n```", summary, nil, `{"attachment":null,"summary":"one"}`, ""},
		{"the first if none fits", `{"a":1} {"b":2}`, summary, nil, `{"a":1}`, "invalid"},
		{"wanted keys", `{"note":1} and {"categorizations":[{"id":"1"}]}`, "", []string{"categorizations", "merchants"}, `{"categorizations":[{"id":"1"}]}`, ""},
		{"keys in no candidate", `{"note":1}`, "", []string{"merchants"}, `{"note":1}`, ""},
		{"unclosed fence", "```json\n{\"v\":1}", "", nil, `{"v":1}`, ""},
		{"behind reasoning", "<think>{\"draft\":1}</think>{\"a\":1}", "", nil, `{"a":1}`, ""},
		{"only in reasoning", "<think>so the answer is {\"a\":1}", "", nil, `{"a":1}`, ""},
		{"cut off", `{"summary":"a long story", "attachment":{"extension":"sh","content":"#!/bin/`, summary, nil, `{"attachment":{"content":"#!/bin/","extension":"sh"},"summary":"a long story"}`, "truncated"},
		{"coerced", `{"n":"3"}`, `{"type":"object","properties":{"n":{"type":"integer"}}}`, nil, `{"n":3}`, ""},
		{"as it stands before coerced", `{"n":"3"} {"n":4}`, `{"type":"object","properties":{"n":{"type":"integer"}}}`, nil, `{"n":4}`, ""},
		{"array", "Here: [1, 2.50, 9007199254740993]", `{"type":"array","items":{"type":"number"}}`, nil, `[1,2.50,9007199254740993]`, ""},
		{"array by reference", `[{"a":1}]`, `{"type":"array","items":{"$ref":"#/$defs/x"},"$defs":{"x":{"type":"object","required":["a"]}}}`, nil, `[{"a":1}]`, ""},
		{"a call's shape is JSON too", `{"name":"get_weather","arguments":{"city":"Rome"}}`, "", nil, `{"arguments":{"city":"Rome"},"name":"get_weather"}`, ""},
		{"blank", " \n", "", nil, `{}`, ""},
		{"blank, and a schema", " \n", "{}", nil, "", ""},
		{"any schema", `{"a":1}`, "{}", nil, `{"a":1}`, ""},
		{"list of types", "so: [1]", `{"type":["object","array"]}`, nil, `[1]`, ""},
		{"list of types, an object", `{"a":1}`, `{"type":["object","array"],"properties":{"a":{"type":"integer"}}}`, nil, `{"a":1}`, ""},
		{"tuple", `["x",1]`, `{"type":"array","items":[{"type":"string"},{"type":"integer"}]}`, nil, `["x",1]`, ""},
		{"tuple that does not fit", `["x","y"]`, `{"type":"array","items":[{"type":"string"},{"type":"integer"}]}`, nil, `["x","y"]`, "invalid"},
		{"list behind a reference", `[{"a":1}]`, `{"$ref":"#/$defs/l","$defs":{"l":{"type":"array","items":{"type":"object"}}}}`, nil, `[{"a":1}]`, ""},
		{"list of itself", `[[],[[]]]`, `{"type":"array","items":{"$ref":"#"}}`, nil, `[[],[[]]]`, ""},
		{"items alone", `["a"]`, `{"items":{"type":"string"}}`, nil, `["a"]`, ""},
		{"one object for a list", `{"a":1}`, `{"type":"array","items":{"type":"object"}}`, nil, `[{"a":1}]`, ""},
		{"two objects for a list", "{\"a\":1}\nand {\"a\":2}", `{"type":"array","items":{"type":"object"}}`, nil, `[{"a":1},{"a":2}]`, ""},
		{"two objects in fences for a list", "```json\n{\"a\":1}\n```\n```json\n{\"a\":2}\n```", `{"type":"array","items":{"type":"object"}}`, nil, `[{"a":1},{"a":2}]`, ""},
		{"two lists for a list", `["a"] or ["b"]`, `{"type":"array","items":{"type":"string"}}`, nil, `["a"]`, ""},
		{"enum", " TWO\n", `{"enum":["ONE","TWO"]}`, nil, `"TWO"`, "repaired"},
		{"number", "12111", `{"type":"integer"}`, nil, `12111`, ""},
		{"boolean", "True", `{"type":"boolean"}`, nil, `true`, "repaired"},
		{"no string of any text", "hello", `{"type":"string"}`, nil, "", ""},
		{"no number in a text", "it is 12", `{"type":"integer"}`, nil, "", ""},
		{"none", "just a friendly hello, no json here", summary, nil, "", ""},
		{"not JSON in a fence", "```json\n{invalid json}\n```", "", nil, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d, err := parser.DecodeSchema(context.Background(), tt.text, parser.DecodeOptions{Schema: schema(t, tt.schema), Keys: tt.keys})
			if tt.want == "" {
				if !errors.Is(err, parser.ErrNoJSON) || !strings.Contains(err.Error(), "no JSON found") {
					t.Fatalf("error %v, %+v", err, d)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if d.Content != tt.want {
				t.Errorf("content %s", d.Content)
			}
			var flags []string
			if d.JSONRepaired && !d.JSONTruncated {
				flags = append(flags, "repaired")
			}
			if d.JSONTruncated {
				flags = append(flags, "truncated")
			}
			if !d.Validation.Success {
				flags = append(flags, "invalid")
				if len(d.Validation.Errors) == 0 {
					t.Error("no errors")
				}
			}
			if got := strings.Join(flags, " "); got != tt.flags {
				t.Errorf("flags %q", got)
			}
		})
	}
}

// TestDecodeWarns holds that a schema with an error in writing gives a warning, and one that
// refers to itself without end an error.
func TestDecodeWarns(t *testing.T) {
	d, err := parser.DecodeSchema(t.Context(), `{"a":1}`, parser.DecodeOptions{Schema: schema(t, `{"type":"objec"}`)})
	if err != nil || !d.Validation.Success || len(d.Warnings) != 1 || !strings.HasPrefix(d.Warnings[0], "type_ignored: /type") {
		t.Errorf("%+v, %v", d, err)
	}
	if _, err := parser.NewDecoder(parser.DecodeOptions{Schema: schema(t, `{"$ref":"#"}`)}); !errors.Is(err, registry.ErrSchemaCycle) {
		t.Error(err)
	}
}

func TestDecodeShowsTheText(t *testing.T) {
	_, err := parser.DecodeSchema(context.Background(), strings.Repeat("word ", 100), parser.DecodeOptions{})
	if !errors.Is(err, parser.ErrNoJSON) || len(err.Error()) > 250 || !strings.Contains(err.Error(), "word word") {
		t.Errorf("%v", err)
	}
	if _, err := parser.DecodeSchema(context.Background(), "{}", parser.DecodeOptions{Schema: map[string]any{"$ref": "file:///etc/passwd", "type": "object"}}); err == nil {
		t.Error("a schema that loads a file is taken")
	}
}

func TestDecodeType(t *testing.T) {
	type User struct {
		Name string   `json:"name"`
		Age  int      `json:"age"`
		Tags []string `json:"tags,omitempty"`
		Big  *int64   `json:"big,omitempty"`
	}
	u, d, err := parser.Decode[User](context.Background(), "```json\n{\"age\": \"30\", \"name\": \"John\", \"city\": \"NYC\", \"big\": 9007199254740993}\n```\nand {\"x\": 1}")
	if err != nil {
		t.Fatal(err)
	}
	if u.Name != "John" || u.Age != 30 || *u.Big != 9007199254740993 || !d.Validation.Success {
		t.Errorf("%+v %+v", u, d)
	}
	// Keys count in their exact case.
	u, d, err = parser.Decode[User](context.Background(), `{"name": "safe", "NAME": "other", "age": 1}`)
	if err != nil || u.Name != "safe" {
		t.Errorf("%+v %+v %v", u, d, err)
	}
	if _, _, err = parser.Decode[User](context.Background(), `{"name": {"first": "a"}, "age": 1}`); err == nil {
		t.Error("no error")
	}
	list, _, err := parser.Decode[[]User](context.Background(), `Users: [{"name": "a", "age": 1}, {"name": "b", "age": 2}]`)
	if err != nil || len(list) != 2 || list[1].Name != "b" {
		t.Errorf("%+v %v", list, err)
	}
	anything, _, err := parser.Decode[map[string]any](context.Background(), `{"a": [1, null]}`)
	if err != nil || len(anything) != 1 {
		t.Errorf("%+v %v", anything, err)
	}
}
