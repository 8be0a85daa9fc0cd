package dialects

import "github.com/callwright/callwright/extractor"

var braceCallRows = []extractor.Dialect{
	{
		Name: "functiongemma", Models: []string{"FunctionGemma"},
		Open: []string{"<start_function_call>"}, Close: []string{"<end_function_call>"},
		Body: extractor.BodyBraceCall, Source: "Google's model card of FunctionGemma",
		Options: extractor.BodyOptions{Quotes: []string{"<escape>"}},
	},
	{
		Name: "gemma4", Models: []string{"Gemma 4"},
		Open: []string{"<|tool_call>"}, Close: []string{"<tool_call|>"},
		Body: extractor.BodyBraceCall, Source: "chat template of Gemma 4",
		Options: extractor.BodyOptions{Quotes: []string{`<|"|>`}},
	},
}
