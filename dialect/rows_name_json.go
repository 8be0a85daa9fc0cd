package dialect

var nameJSONRows = []Row{
	{
		Name: "mistral_v11", Trained: true, Aliases: []string{"devstral", "magistral"}, Models: []string{"Mistral Small 3.2", "Magistral", "Devstral", "Ministral 3", "Mistral Large 3"},
		Open: []string{"[TOOL_CALLS]"}, Close: []string{"</s>"},
		Body: BodyNameJSON, Source: "mistral-common, tokenizers v11 and later",
		Options: Options{Between: []string{"[ARGS]"}, ID: "[CALL_ID]"},
		Write:   Templates{Call: `[TOOL_CALLS]{name}[ARGS]{arguments}`, Result: "[TOOL_RESULTS]{content_json}[/TOOL_RESULTS]"},
	},
	{
		Name: "deepseek_v3", Trained: true, Aliases: []string{"deepseek", "deepseek_r1"}, Models: []string{"DeepSeek V3", "DeepSeek R1", "Cogito"},
		Open: []string{"<｜tool▁calls▁begin｜>", "<｜tool▁calls｜>", "<｜tool▁call▁begin｜>"}, Close: []string{"<｜tool▁call▁end｜>", "<｜tool▁calls▁end｜>"},
		Body: BodyNameJSON, Source: "chat templates of DeepSeek V3-0324 and R1",
		Options: Options{
			Lead: []string{"<｜tool▁call▁begin｜>", "function<｜tool▁sep｜>"}, Between: []string{"<｜tool▁sep｜>"},
			Section:       []string{"<｜tool▁calls▁begin｜>", "<｜tool▁calls｜>"},
			WithoutMarker: []Place{OnLine},
		},
		Write: Templates{Call: "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>{name}\n```json\n{arguments}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>", Result: "<｜tool▁outputs▁begin｜><｜tool▁output▁begin｜>{content_json}<｜tool▁output▁end｜><｜tool▁outputs▁end｜>"},
	},
	{
		Name: "deepseek_v31", Trained: true, Aliases: []string{"deepseek_v3_1"}, Models: []string{"DeepSeek V3.1", "DeepSeek V3.1 Terminus", "DeepSeek V3.2 Exp"},
		Open: []string{"<｜tool▁call▁begin｜>"}, Close: []string{"<｜tool▁call▁end｜>", "<｜tool▁calls▁end｜>"},
		Body: BodyNameJSON, Source: "chat template of DeepSeek V3.1",
		Options: Options{Between: []string{"<｜tool▁sep｜>"}},
		Write:   Templates{Call: `<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>{name}<｜tool▁sep｜>{arguments}<｜tool▁call▁end｜><｜tool▁calls▁end｜>`, Result: "<｜tool▁output▁begin｜>{content_json}<｜tool▁output▁end｜>"},
	},
	{
		Name: "kimi_k2", Trained: true, Aliases: []string{"kimi"}, Models: []string{"Kimi K2", "Kimi K2 Thinking", "Kimi K2.5"},
		Open:  []string{"<|tool_calls_section_begin|>", "<|tool_call_section_begin|>", "<|tool_call_begin|>"},
		Close: []string{"<|tool_call_end|>", "<|tool_calls_section_end|>", "<|tool_call_section_end|>"},
		Body:  BodyNameJSON, Source: "Moonshot's tool calling guide of Kimi K2",
		Options: Options{
			Between: []string{"<|tool_call_argument_begin|>"}, NameIsID: true,
			Section:       []string{"<|tool_calls_section_begin|>", "<|tool_call_section_begin|>"},
			WithoutMarker: []Place{OnLine},
		},
		Write: Templates{Call: `<|tool_calls_section_begin|><|tool_call_begin|>functions.{name}:0<|tool_call_argument_begin|>{arguments}<|tool_call_end|><|tool_calls_section_end|>`},
	},
	{
		Name: "harmony", Trained: true, Aliases: []string{"openai", "gpt_oss", "gpt-oss"}, Models: []string{"gpt-oss", "llm-jp"},
		Open:  []string{"<|channel|>", "<|start|>assistant", "^to=", "^commentary to=", "^assistantcommentary to=", "^assistant to="},
		Close: []string{"<|call|>", "<|end|>", "<|return|>"},
		Body:  BodyNameJSON, Source: "OpenAI's harmony response format",
		Options: Options{Header: "<|message|>", HeaderReasoning: []string{"analysis", "to=self"}, HeaderText: []string{"final"}},
		Write:   Templates{Call: `<|channel|>commentary to=functions.{name} <|constrain|>json<|message|>{arguments}<|call|>`},
	},
	{
		Name: "llama_function_tag", Aliases: []string{"functionary_v31"}, Models: []string{"Llama 3.1 with custom tools", "Functionary v3.1"},
		Body: BodyNameJSON, Source: "Meta's prompt format of Llama 3.1: <function=name>{…}</function>",
		Options: Options{WithoutMarker: []Place{AsTag}}, Close: []string{"</function>"},
		Write: Templates{Call: `<function={name}>{arguments}</function>`},
	},
	{
		Name: "functionary_v32", Aliases: []string{"functionary_v3_2"}, Models: []string{"Functionary v3.2"},
		Open: []string{"^>>>", ">>>"}, Close: []string{"<|eot_id|>"},
		Body: BodyNameJSON, Source: "prompt template of Functionary v3.2",
		Options: Options{None: []string{"all"}},
	},
	{
		Name: "functionary_v2", Trained: true, Models: []string{"Functionary v2"},
		Open: []string{"<|recipient|>"}, Close: []string{"<|from|>assistant", "<|stop|>"},
		Body: BodyNameJSON, Source: "prompt template of Functionary v2",
		Options: Options{Between: []string{"<|content|>"}, None: []string{"all"}, WithoutMarker: []Place{OnLine}},
	},
	{
		Name: "glm4_9b", Aliases: []string{"glm4"}, Models: []string{"GLM-4-9B-chat", "models whose special tokens were taken out"},
		Body: BodyNameJSON, Source: "chat format of GLM-4-9B: the name on a line, the arguments behind it",
		Options: Options{WithoutMarker: []Place{OnLine}},
	},
	{
		Name: "solar_open", Trained: true, Models: []string{"Solar Open 100B"},
		Open: []string{"<|tool_calls|>", "<|tool_call:begin|>"}, Close: []string{"<|tool_call:end|>", "<|calls|>"},
		Body: BodyNameJSON, Source: "chat template of Solar Open",
		Options: Options{IDFirst: "<|tool_call:name|>", Between: []string{"<|tool_call:args|>"}, Section: []string{"<|tool_calls|>"}},
	},
	{
		Name: "qwen_agent", Models: []string{"Qwen 1.5 and 2 with Qwen-Agent"},
		Open: []string{"✿FUNCTION✿"}, Close: []string{"✿RESULT✿", "✿RETURN✿"},
		Body: BodyNameJSON, Source: "Qwen-Agent's prompts",
		Options: Options{Lead: []string{":"}, Between: []string{"✿ARGS✿:", "✿ARGS✿"}},
	},
	{
		Name: "bracket_named", Models: []string{"small models, by prompt"},
		Body: BodyNameJSON, Source: "recorded outputs: [name], the arguments, [/name]",
		Close:   []string{"[END_TOOL_REQUEST]", "[/TOOL_REQUEST]"},
		Options: Options{WithoutMarker: []Place{InList}},
	},
}
