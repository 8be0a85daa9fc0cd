package adapters

import (
	"encoding/json"
	"testing"
)

func TestReadReply(t *testing.T) {
	for _, tt := range []struct {
		text string
		want Reply
	}{
		{`{"choices":[{"message":{"content":"a","reasoning_content":"r","tool_calls":[{}]}}]}`, Reply{"a", "r", true, true}},
		{`{"choices":[{"delta":{"content":"a"}}]}`, Reply{"a", "", false, true}},
		{`{"choices":[]}`, Reply{}},
		{`{"choices":null,"usage":{}}`, Reply{}},
		{`{"message":{"content":"a","thinking":"r"},"done":true}`, Reply{"a", "r", false, true}},
		{`{"response":"a"}`, Reply{"a", "", false, true}},
		{`{"content":[{"type":"text","text":"a"},{"type":"tool_use"},{"type":"thinking","thinking":"r"}]}`, Reply{"a", "r", true, true}},
		{`{"candidates":[{"content":{"parts":[{"text":"a"},{"text":"r","thought":true},{"functionCall":{}}]}}]}`, Reply{"a", "r", true, true}},
		{`{"output":[{"type":"message","content":[{"type":"output_text","text":"a"}]},{"type":"function_call"}]}`, Reply{"a", "", true, true}},
		{`{"type":"content_block_delta","delta":{"type":"text_delta","text":"a"}}`, Reply{"a", "", false, true}},
		{`{"type":"response.output_text.delta","delta":"a"}`, Reply{"a", "", false, true}},
		{`{"type":"ping"}`, Reply{"", "", false, true}},
		{`{"a":1}`, Reply{}},
		{`[1]`, Reply{}},
		{`"x"`, Reply{}},
		{`{"choices":[null,3,{"message":7}]}`, Reply{Known: true}},
	} {
		var v any
		if err := json.Unmarshal([]byte(tt.text), &v); err != nil {
			t.Fatal(err)
		}
		if got := ReadReply(v); got != tt.want {
			t.Errorf("%s: %+v", tt.text, got)
		}
	}
}
