package dialect

var pythonicRows = []Row{
	{
		Name: "pythonic", Trained: true, Aliases: []string{"llama4_pythonic", "toolace"}, Models: []string{"Llama 3.2", "Llama 4", "ToolACE", "Gorilla", "most chat models by prompt"},
		Open: []string{"<|python_start|>", "<|python_tag|>", "<<function>>"}, Close: []string{"<|python_end|>", "<|eom_id|>", "<|eot_id|>"},
		Body: BodyPythonic, Source: "Meta's prompt formats of Llama 3.2 and 4; BFCL's prompt mode",
		Options: Options{WithoutMarker: []Place{OnLine, InList}},
		Write:   Templates{Call: `[{name}({keywords})]`, Result: "{\"output\": {content_json}}"},
	},
	{
		Name: "olmo3", Trained: true, Models: []string{"OLMo 3"},
		Open: []string{"<function_calls>"}, Close: []string{"</function_calls>"},
		Body: BodyPythonic, Source: "chat template of OLMo 3",
		Write: Templates{Call: `<function_calls>{name}({keywords})</function_calls>`},
	},
	{
		Name: "lfm2", Trained: true, Aliases: []string{"minicpm3"}, Models: []string{"LFM2", "LFM2.5", "MiniCPM3"},
		Open: []string{"<|tool_call_start|>"}, Close: []string{"<|tool_call_end|>"},
		Body: BodyPythonic, Source: "chat template of LFM2",
		Write: Templates{Call: `<|tool_call_start|>[{name}({keywords})]<|tool_call_end|>`, Result: "<|tool_response_start|>{content_json}<|tool_response_end|>"},
	},
	{
		Name: "raven", Aliases: []string{"nexusraven"}, Models: []string{"NexusRaven"},
		Open: []string{"^Call:"}, Close: []string{"<bot_end>"},
		Body: BodyPythonic, Source: "model card of NexusRaven V2",
	},
	{
		Name: "gemma_tool_code", Aliases: []string{"gemini_tool_code", "smolagents"}, Models: []string{"Gemma 2", "Gemma 3", "Gemini by prompt"},
		Open: []string{"<tool_code>"}, Close: []string{"</tool_code>"},
		Body: BodyPythonic, Source: "Google's guide to function calling with Gemma: a tool_code fence",
		Options: Options{WithoutMarker: []Place{InFence}},
		Write:   Templates{Call: "```tool_code\n{name}({keywords})\n```", Result: "```tool_output\n{content_json}\n```"},
	},
	{
		Name: "xml_pythonic", Models: []string{"variants of Granite 4"},
		Open: []string{"<tool_call>", "<TOOLCALL>"}, Close: []string{"</tool_call>", "</TOOLCALL>"},
		Body: BodyPythonic, Source: "recorded outputs",
	},
}
