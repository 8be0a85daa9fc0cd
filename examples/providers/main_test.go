package main

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"
)

// TestRun holds that each provider gets the result in its own words.
func TestRun(t *testing.T) {
	for name, want := range map[string][]string{
		"openai":    {`"tool_call_id":"call_1"`, `"role":"tool"`, `"content":"3"`},
		"anthropic": {`"tool_use_id":"toolu_1"`, `"type":"tool_result"`, `"input_schema"`},
		"gemini":    {`"functionResponse"`, `"functionDeclarations"`, "3"},
	} {
		var out bytes.Buffer
		if err := run(context.Background(), []string{filepath.Join("testdata", name+".json")}, &out); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, w := range want {
			if !strings.Contains(strings.ReplaceAll(out.String(), `": `, `":`), w) {
				t.Errorf("%s: no %s in %s", name, w, &out)
			}
		}
	}
	if err := run(context.Background(), []string{"main.go"}, &bytes.Buffer{}); err == nil {
		t.Error("that is no reply")
	}
}
