package extractor_test

import (
	"encoding/json"
	"testing"

	"github.com/callwright/callwright/call"
	"github.com/callwright/callwright/extractor"
)

// TestRepairs reads the broken values that the specification names, and texts
// around values.
func TestRepairs(t *testing.T) {
	tests := []struct {
		name, text, want string
		method           call.Method
		fails            bool
	}{
		{"missing comma", `{"x":100 "y":200}`, `{"x":100,"y":200}`, call.MethodPartial, false},
		{"unquoted keys", `{x:100, y:200}`, `{"x":100,"y":200}`, call.MethodPartial, false},
		{"trailing comma", `{"x":100, "y":200,}`, `{"x":100,"y":200}`, call.MethodPartial, false},
		{"mismatched quotes", `{"text": "It's "quoted""}`, `{"text":"It's \"quoted\""}`, call.MethodPartial, false},
		{"incomplete object", `{"tool": "create_rect"`, `{"tool":"create_rect"}`, call.MethodPartial, true},
		{"incomplete string", `{"tool": "create_rect`, `{"tool":"create_rect"}`, call.MethodPartial, true},
		{"mixed content", `Text {"a": 1} more text`, `{"a":1}`, call.MethodBalanced, false},
		{"fence", "```json\n{\"a\": 1}\n```", `{"a":1}`, call.MethodCodeblock, false},
		{"whole", ` {"a": [1, 2]} `, `{"a":[1,2]}`, call.MethodFullJSON, false},
		{"nested brace in a string", `noise {"a":{"b":"}"},"c":1} trailing`, `{"a":{"b":"}"},"c":1}`, call.MethodBalanced, false},
		{"prose before", "Here is your result:\n{\"summary\":\"ok\",\"attachment\":null}", `{"attachment":null,"summary":"ok"}`, call.MethodBalanced, false},
		{"raw newline", "{\"a\": \"line one\nline two\"}", `{"a":"line one\nline two"}`, call.MethodPartial, false},
		{"fence within prose", "Here is your data:\n```json\n{\"name\":\"John\",\"age\":30}\n```\nThank you!", `{"age":30,"name":"John"}`, call.MethodCodeblock, false},
		{"fence before bare", "Inline: {\"a\":1}\n```json\n{\"b\":2}\n```", `{"b":2}`, call.MethodCodeblock, false},
		{"last of several fences", "```json\n{\"v\":1}\n```\nNo, better:\n```json\n{\"v\":2}\n```", `{"v":2}`, call.MethodCodeblock, false},
		{"last good fence", "```json\n{\"v\":1}\n```\nNo, better:\n```json\n{\"v\":2, \"w\": [1", `{"v":1}`, call.MethodCodeblock, false},
		{"unclosed fence", "```json\n{\"v\":1}", `{"v":1}`, call.MethodCodeblock, false},
		{"fence without language", "```\n[1, 2]\n```", `[1,2]`, call.MethodCodeblock, false},
		{"after reasoning", "<think>{\"not\": 1}</think>{\"a\": 1}", `{"a":1}`, call.MethodFullJSON, false},
		{"escaped document", `{\"a\": \"b\"}`, `{"a":"b"}`, call.MethodPartial, false},
		{"list", "[1, 2, 3]", `[1,2,3]`, call.MethodFullJSON, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			all := extractor.ExtractAll(tt.text, extractor.Options{})
			best, ok := extractor.SelectBest(all)
			if !ok {
				t.Fatal("nothing found")
			}
			got, err := json.Marshal(best.Value)
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != tt.want || best.Method != tt.method || (len(best.Errors) > 0) != tt.fails {
				t.Errorf("%s\n got %s by %s, errors %v\nwant %s by %s", tt.text, got, best.Method, best.Errors, tt.want, tt.method)
			}
			if tt.text[best.Start:best.End] != best.Raw || best.Confidence <= 0 || best.Confidence > 1 {
				t.Errorf("span %d to %d, raw %q, confidence %g", best.Start, best.End, best.Raw, best.Confidence)
			}
		})
	}
}

func TestNothingToExtract(t *testing.T) {
	for _, text := range []string{"", "This is just plain text.", "a { b } c", "[citation needed]", "{", "}{", "I cannot do that."} {
		if all := extractor.ExtractAll(text, extractor.Options{}); len(all) != 0 {
			t.Errorf("%q holds %v", text, all[0].Value)
		}
	}
	if _, ok := extractor.SelectBest(nil); ok {
		t.Error("the best of nothing is something")
	}
}
