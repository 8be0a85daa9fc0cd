package conformance

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"google.golang.org/genai"

	"github.com/callwright/callwright/adapters"
	adapter "github.com/callwright/callwright/adapters/gemini"
)

func TestGemini(t *testing.T) {
	url, ask := server(t, adapter.Generate, func(
		path string, _ *adapters.Request,
	) bool {
		return strings.Contains(path, "streamGenerateContent")
	})
	ctx := context.Background()
	client, err := genai.NewClient(
		ctx, &genai.ClientConfig{APIKey: "key", Backend: genai.BackendGeminiAPI, HTTPOptions: genai.HTTPOptions{BaseURL: url}},
	)
	if err != nil {
		t.Fatal(err)
	}
	contents := []*genai.Content{
		genai.NewContentFromText("Weather?", genai.RoleUser),
		{
			Role:  genai.RoleModel,
			Parts: []*genai.Part{{FunctionCall: &genai.FunctionCall{ID: "c1", Name: "get_weather", Args: map[string]any{"city": "Rome"}}}},
		},
		{Role: genai.RoleUser, Parts: []*genai.Part{{FunctionResponse: &genai.FunctionResponse{
			ID: "c1", Name: "get_weather", Response: map[string]any{"result": "sunny"},
		}}}},
	}
	config := &genai.GenerateContentConfig{
		SystemInstruction: genai.NewContentFromText("Be brief.", genai.RoleUser),
		Tools: []*genai.Tool{{FunctionDeclarations: []*genai.FunctionDeclaration{{
			Name: "get_weather", Description: "The weather.", ParametersJsonSchema: parameters(t),
		}}}},
	}
	check := func(parts []*genai.Part) {
		t.Helper()
		var text, thought string
		var arguments, names []string
		for _, p := range parts {
			switch {
			case p.FunctionCall != nil:
				args, _ := json.Marshal(p.FunctionCall.Args)
				if p.FunctionCall.Args == nil {
					args = []byte("{}")
				}
				arguments = append(arguments, string(args))
				names = append(names, p.FunctionCall.Name)
			case p.Thought:
				thought += p.Text
			default:
				text += p.Text
			}
		}
		if len(names) != 2 {
			t.Fatalf("parts: %+v", parts)
		}
		said(t, text, arguments[0], arguments[1], names...)
		if thought != "Two cities." {
			t.Errorf("thought %q", thought)
		}
	}
	whole, err := client.Models.GenerateContent(ctx, "gemini-x", contents, config)
	if err != nil {
		t.Fatal(err)
	}
	asked(t, <-ask, "")
	check(whole.Candidates[0].Content.Parts)
	if whole.UsageMetadata.TotalTokenCount != 150 || whole.Candidates[0].FinishReason != genai.FinishReasonStop ||
		whole.ResponseID != "reply_1" {
		t.Errorf("%+v %q", whole.UsageMetadata, whole.ResponseID)
	}
	var parts []*genai.Part
	var finish genai.FinishReason
	for r, err := range client.Models.GenerateContentStream(ctx, "gemini-x", contents, config) {
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, r.Candidates[0].Content.Parts...)
		finish = r.Candidates[0].FinishReason
	}
	asked(t, <-ask, "")
	check(parts)
	if finish != genai.FinishReasonStop {
		t.Errorf("finish %q", finish)
	}
}
