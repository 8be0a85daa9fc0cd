package dialects

import "github.com/callwright/callwright/extractor"

var jsonRows = []extractor.Dialect{
	{
		Name: "hermes", Aliases: []string{"qwen", "qwen25", "qwen3", "arch", "trinity", "falcon3", "bielik"},
		Models: []string{"Hermes 2 and 3", "Qwen 2.5", "Qwen 3", "QwQ", "Falcon 3", "SmolLM3", "Granite 4", "many fine-tunes"},
		Open:   []string{"<tool_call>", "<toolcall>", "<toolCall>", "<tool-call>"}, Close: []string{"</tool_call>", "</toolcall>", "</toolCall>", "</tool-call>"},
		Body: extractor.BodyJSON, Source: "NousResearch Hermes-Function-Calling README; chat templates of Qwen 2.5 and 3",
		Write: extractor.Templates{Call: "<tool_call>\n{\"name\": {name_json}, \"arguments\": {arguments}}\n</tool_call>", Result: "<tool_response>\n{\"name\": {name_json}, \"content\": {content_json}}\n</tool_response>"},
	},
	{
		Name: "tool_calls_tag", Aliases: []string{"jamba", "hunyuan_a13b", "minimax_m1", "minimax", "apriel", "tool_calls_array"},
		Models: []string{"Jamba", "MiniMax M1", "Hunyuan A13B", "Apriel"},
		Open:   []string{"<tool_calls>"}, Close: []string{"</tool_calls>"},
		Body: extractor.BodyJSON, Source: "chat templates of Jamba 1.5 and MiniMax-M1",
		Write: extractor.Templates{Call: "<tool_calls>\n{\"name\": {name_json}, \"arguments\": {arguments}}\n</tool_calls>"},
	},
	{
		Name: "nemotron", Aliases: []string{"nemotron_toolcall"}, Models: []string{"Nemotron", "Nemotron Nano 2", "Nemotron Mini"},
		Open: []string{"<TOOLCALL>", "<toolcall>"}, Close: []string{"</TOOLCALL>", "</toolcall>"},
		Body: extractor.BodyJSON, Source: "chat template of NVIDIA Nemotron Nano v2",
		Write: extractor.Templates{Call: `<TOOLCALL>[{"name": {name_json}, "arguments": {arguments}}]</TOOLCALL>`, Result: "<TOOL_RESPONSE>[{content_json}]</TOOL_RESPONSE>"},
	},
	{
		Name: "granite", Aliases: []string{"granite_3", "granite4"}, Models: []string{"Granite 3"},
		Open: []string{"<|tool_call|>"}, Close: []string{"<|/tool_call|>", "</tool_call>"},
		Body: extractor.BodyJSON, Source: "chat template of IBM Granite 3",
		Write: extractor.Templates{Call: `<|tool_call|>[{"name": {name_json}, "arguments": {arguments}}]`},
	},
	{
		Name: "granite_20b", Aliases: []string{"granite-20b-fc", "granite_20b_fc"}, Models: []string{"Granite 20B FC"},
		Open: []string{"<function_call>"}, Close: []string{"</function_call>"},
		Body: extractor.BodyJSON, Source: "model card of Granite 20B Function Calling",
		Options: extractor.BodyOptions{None: []string{"no_function"}},
	},
	{
		Name: "llama3_json", Aliases: []string{"llama4_json", "llama3"}, Models: []string{"Llama 3.1", "Llama 3.2", "Llama 3.3"},
		Open: []string{"<|python_tag|>"}, Close: []string{"<|eom_id|>", "<|eot_id|>"},
		Body: extractor.BodyJSON, Source: "Meta's prompt format of Llama 3.1",
		Options: extractor.BodyOptions{Code: []string{"python", "code_interpreter", "ipython"}},
		Write:   extractor.Templates{Call: `<|python_tag|>{"name": {name_json}, "parameters": {arguments}}`, Result: "{\"output\": {content_json}}"},
	},
	{
		Name: "internlm2", Aliases: []string{"internlm"}, Models: []string{"InternLM 2.5", "Intern-S1"},
		Open: []string{"<|action_start|><|plugin|>", "<|action_start|> <|plugin|>"}, Close: []string{"<|action_end|>"},
		Body: extractor.BodyJSON, Source: "chat format of InternLM 2",
		Write: extractor.Templates{Call: "<|action_start|><|plugin|>\n{\"name\": {name_json}, \"parameters\": {arguments}}<|action_end|>"},
	},
	{
		Name: "mistral", Aliases: []string{"mistral_pre_v11"}, Models: []string{"Mistral 7B v0.3", "Mistral Nemo", "Mistral Small 2409", "Mistral Large 2"},
		Open: []string{"[TOOL_CALLS]"}, Close: []string{"[/TOOL_CALLS]", "</s>"},
		Body: extractor.BodyJSON, Source: "mistral-common, tokenizers v3 to v7",
		Write: extractor.Templates{Call: `[TOOL_CALLS][{"name": {name_json}, "arguments": {arguments}}]`, Result: "[TOOL_RESULTS]{\"content\": {content_json}}[/TOOL_RESULTS]"},
	},
	{
		Name: "phi4_mini", Aliases: []string{"phi4_mini_json", "phi4_functools", "firefunction"}, Models: []string{"Phi-4-mini", "FireFunction v2"},
		Open: []string{"^functools", "<|tool_calls|>"}, Close: []string{"<|/tool_calls|>"},
		Body: extractor.BodyJSON, Source: "model card of Phi-4-mini-instruct",
		Write: extractor.Templates{Call: `<|tool_call|>[{"name": {name_json}, "arguments": {arguments}}]<|/tool_call|>`},
	},
	{
		Name: "xlam", Models: []string{"xLAM 1 and 2", "Hammer"},
		Open: []string{"### Response:", "<tool_call>", "[TOOL_CALLS]"}, Close: []string{"</tool_call>"},
		Body: extractor.BodyJSON, Source: "model cards of Salesforce xLAM",
	},
	{
		Name: "cohere", Aliases: []string{"cohere_command3", "cohere_command4", "command_a"}, Models: []string{"Command R7B", "Command A"},
		Open: []string{"<|START_ACTION|>"}, Close: []string{"<|END_ACTION|>"},
		Body: extractor.BodyJSON, Source: "Cohere's prompt format of Command R7B and A",
		Write: extractor.Templates{Call: `<|START_ACTION|>[{"tool_call_id": "0", "tool_name": {name_json}, "parameters": {arguments}}]<|END_ACTION|>`},
	},
	{
		Name: "apertus", Models: []string{"Apertus"},
		Open: []string{"<|tools_prefix|>"}, Close: []string{"<|tools_suffix|>"},
		Body: extractor.BodyJSON, Source: "chat template of Apertus",
		Options: extractor.BodyOptions{InReasoning: true},
	},
	{
		Name: "ernie", Aliases: []string{"ernie45"}, Models: []string{"ERNIE 4.5"},
		Open: []string{"<tool_call>"}, Close: []string{"</tool_call>"},
		Body: extractor.BodyJSON, Source: "chat template of ERNIE 4.5",
		Write: extractor.Templates{Call: "<tool_call>\n{\"name\": {name_json}, \"arguments\": {arguments}}\n</tool_call>"},
	},
	{
		Name: "longcat", Models: []string{"LongCat Flash"},
		Open: []string{"<longcat_tool_call>"}, Close: []string{"</longcat_tool_call>"},
		Body: extractor.BodyJSON, Source: "chat template of LongCat-Flash-Chat",
		Write: extractor.Templates{Call: "<longcat_tool_call>\n{\"name\": {name_json}, \"arguments\": {arguments}}\n</longcat_tool_call>"},
	},
	{
		Name: "exaone", Models: []string{"EXAONE 4"},
		Open: []string{"<tool_call>"}, Close: []string{"</tool_call>"},
		Body: extractor.BodyJSON, Source: "chat template of EXAONE 4",
		Write: extractor.Templates{Call: `<tool_call>{"name": {name_json}, "arguments": {arguments}}</tool_call>`},
	},
	{
		Name: "arctic_strings", Models: []string{"Snowflake Arctic"},
		Body: extractor.BodyJSON, Source: "recorded outputs: a list of strings that each hold a Python call",
		Options: extractor.BodyOptions{Known: true},
	},
	{
		Name: "inkling", Models: []string{"Inkling"},
		Open: []string{"<|message_model|>", "<|content_invoke_tool_json|>"}, Close: []string{"<|end_message|>"},
		Body: extractor.BodyJSON, Source: "chat template of Inkling",
		Options: extractor.BodyOptions{Section: []string{"<|message_model|>"}},
	},
	{
		Name: "gigachat3", Aliases: []string{"gigachat"}, Models: []string{"GigaChat 3"},
		Open: []string{"<|function_call|>", "^function call<|role_sep|>", "^function call"}, Close: []string{"<|message_sep|>", "</s>"},
		Body: extractor.BodyJSON, Source: "chat template of GigaChat 3",
	},
	{
		Name: "laguna_json", Models: []string{"Poolside Laguna"},
		Open: []string{"<user>"}, Close: []string{"</user>"},
		Body: extractor.BodyJSON, Source: "recorded outputs of Laguna",
	},
	{
		Name: "hyperclovax", Models: []string{"HyperCLOVA X SEED"},
		Open: []string{"^-> tool/function_call"}, Close: []string{"<|im_end|>"},
		Body: extractor.BodyJSON, Source: "chat template of HyperCLOVA X SEED 14B",
	},
	{
		Name: "pangu", Models: []string{"openPangu"},
		Open: []string{"[unused11]"}, Close: []string{"[unused12]"},
		Body: extractor.BodyJSON, Source: "chat template of openPangu",
	},
	{
		Name: "lmstudio", Models: []string{"models without a template for tools, in LM Studio"},
		Open: []string{"[TOOL_REQUEST]"}, Close: []string{"[END_TOOL_REQUEST]", "[/TOOL_REQUEST]"},
		Body: extractor.BodyJSON, Source: "LM Studio's documentation of tool use",
		Write: extractor.Templates{Call: `[TOOL_REQUEST]{"name": {name_json}, "arguments": {arguments}}[END_TOOL_REQUEST]`},
	},
	{
		Name: "tool_call_bracket", Models: []string{"MiniMax M2", "small models"},
		Open: []string{"[TOOL_CALL]", "^TOOL_CALL"}, Close: []string{"[/TOOL_CALL]", "/TOOL_CALL"},
		Body: extractor.BodyJSON, Source: "recorded outputs",
		Options: extractor.BodyOptions{Hash: true},
	},
	{
		Name: "qwen25_coder", Models: []string{"Qwen 2.5 Coder"},
		Open: []string{"<tools>"}, Close: []string{"</tools>"},
		Body: extractor.BodyJSON, Source: "recorded outputs: the tag of the declarations around a call",
	},
}
