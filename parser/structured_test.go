package parser_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/parser"
)

func TestAskStructured(t *testing.T) {
	ctx := context.Background()
	want := &adapters.Request{Tools: []adapters.Tool{{Name: "f"}}, Response: &adapters.ResponseFormat{Schema: json.RawMessage(`{"type":"object","required":["a"]}`)}}
	say := func(text string, finish adapters.FinishReason) *adapters.Reply {
		return &adapters.Reply{Choices: []adapters.Choice{{Finish: finish, Blocks: []adapters.Block{{Type: adapters.BlockText, Text: text}}}}}
	}
	claude := adapters.DefaultModels().Capabilities("vertex", "claude-sonnet-4-6")
	gemini := adapters.DefaultModels().Capabilities("vertex", "gemini-2.5-pro")
	for _, tt := range []struct {
		name      string
		model     adapters.ModelCapabilities
		with, out func() (*adapters.Reply, error) // with and without a schema
		asked     string
		content   string
		truncated bool
		fails     bool
	}{
		{"held to it", claude, func() (*adapters.Reply, error) { return say(`{"a":1}`, adapters.FinishStop), nil }, nil, "with", `{"a":1}`, false, false},
		{"cannot with tools", gemini, nil, func() (*adapters.Reply, error) { return say("Sure: {\"a\": 1,}", adapters.FinishStop), nil }, "without", `{"a":1}`, false, false},
		{"refused, and asked again", claude, func() (*adapters.Reply, error) { return nil, errors.New("400") }, func() (*adapters.Reply, error) { return say("```json\n{\"a\":2}\n```", adapters.FinishStop), nil }, "with without", `{"a":2}`, false, false},
		{"no JSON, and asked again", claude, func() (*adapters.Reply, error) { return say("I would rather not.", adapters.FinishStop), nil }, func() (*adapters.Reply, error) { return say(`{"a":3}`, adapters.FinishStop), nil }, "with without", `{"a":3}`, false, false},
		{"cut off", gemini, nil, func() (*adapters.Reply, error) { return say(`{"a":"a long st`, adapters.FinishLength), nil }, "without", `{"a":"a long st"}`, true, false},
		{"neither", claude, func() (*adapters.Reply, error) { return nil, errors.New("500") }, func() (*adapters.Reply, error) { return nil, errors.New("503") }, "with without", "", false, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var asked []string
			d, _, err := parser.AskStructured(ctx, func(_ context.Context, r *adapters.Request) (*adapters.Reply, error) {
				if r.Response != nil {
					asked = append(asked, "with")
					return tt.with()
				}
				asked = append(asked, "without")
				return tt.out()
			}, want, tt.model)
			if got := strings.Join(asked, " "); got != tt.asked {
				t.Errorf("asked %q", got)
			}
			if tt.fails != (err != nil) {
				t.Fatal(err)
			}
			if err == nil && (d.Content != tt.content || d.JSONTruncated != tt.truncated) {
				t.Errorf("%+v", d)
			}
		})
	}
}
