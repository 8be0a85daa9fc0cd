package dialect

var braceCallRows = []Row{
	{
		Name: "functiongemma", Trained: true, Models: []string{"FunctionGemma"},
		Open: []string{"<start_function_call>"}, Close: []string{"<end_function_call>"},
		Body: BodyBraceCall, Source: "Google's model card of FunctionGemma",
		Options: Options{Quotes: []string{"<escape>"}},
	},
	{
		Name: "gemma4", Trained: true, Models: []string{"Gemma 4"},
		Open: []string{"<|tool_call>"}, Close: []string{"<tool_call|>"},
		Body: BodyBraceCall, Source: "chat template of Gemma 4",
		Options: Options{Quotes: []string{`<|"|>`}, WithoutMarker: []Place{OnLine}},
	},
}
