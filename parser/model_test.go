package parser_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/parser"
)

func TestModelSpecificParser(t *testing.T) {
	p := bareCases(t)[0].Parser()
	models, err := adapters.ParseModels([]byte(`[{model: acme, dialects: [hermes], known_issues: [{issue: writes CALL for the tag, pattern: 'CALL\((\{.*\})\)', replacement: '<tool_call>$1</tool_call>', frequency: 1}]}]`))
	if err != nil {
		t.Fatal(err)
	}
	m := p.ForModel(models.Capabilities("", "acme"))
	text := `CALL({"name": "get_weather", "arguments": {"city": "Rome"}})`
	r, err := m.Parse(context.Background(), "I say: "+text, parser.Context{})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Calls) != 1 || r.Strategy != "known_issue" || !r.Repaired || !slices.Contains(r.Warnings, "known_issue: writes CALL for the tag") {
		t.Errorf("%+v", r)
	}
	// What can be read as it stands is not touched.
	r, err = m.Parse(context.Background(), `<tool_call>{"name": "get_weather", "arguments": {"city": "CALL({})"}}</tool_call>`, parser.Context{})
	if err != nil || len(r.Calls) != 1 || r.Calls[0].Parameters["city"] != "CALL({})" || r.Strategy != "" {
		t.Errorf("%+v %v", r, err)
	}
	reply := &adapters.Reply{Format: "openai_chat", Choices: []adapters.Choice{{Blocks: []adapters.Block{{Type: adapters.BlockText, Text: text}}}}}
	m.Postprocess = func(r *parser.Result, reply *adapters.Reply) *parser.Result {
		r.ID = reply.Format
		return r
	}
	if r, err = m.ParseReply(context.Background(), reply, parser.Context{}); err != nil || len(r.Calls) != 1 || r.ID != "openai_chat" || r.Reply == nil {
		t.Errorf("%+v %v", r, err)
	}
	m.Preprocess = func(s string) string { return strings.ReplaceAll(s, "CALL", "") }
	if r, err = m.ParseReply(context.Background(), reply, parser.Context{}); err != nil || r.Strategy == "known_issue" || reply.Text() != text {
		t.Errorf("%+v %v", r, err)
	}
}

// TestModelSpecificParserSharesContext checks that concurrent parses may share one
// context: what is known of the model is not written into the caller's slice.
func TestModelSpecificParserSharesContext(t *testing.T) {
	p := bareCases(t)[0].Parser()
	formats := append(make([]string, 0, 8), "qwen3_coder") // has room for more
	c := parser.Context{Formats: formats}
	var wg sync.WaitGroup
	for _, format := range []string{"hermes", "glm45"} {
		m := p.ForModel(adapters.ModelCapabilities{KnownFormats: []string{format}})
		wg.Go(func() {
			for range 100 {
				if _, err := m.Parse(context.Background(), "hello", c); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if room := formats[:2][1]; room != "" {
		t.Errorf("%q was written into the caller's slice", room)
	}
}
