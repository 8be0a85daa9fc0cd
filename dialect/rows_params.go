package dialect

var paramsRows = []Row{
	{
		Name: "qwen3_coder", Trained: true, Aliases: []string{"qwen3_xml", "step3p5", "nemotron_3", "mimo", "openhands", "qwen35"},
		Models: []string{"Qwen3-Coder", "Qwen 3.5", "Nemotron 3 Nano", "Step 3.5", "MiMo 2", "OpenHands' prompt"},
		Open:   []string{"<tool_call>"}, Close: []string{"</tool_call>"},
		Body: BodyParams, Source: "chat template and parser of Qwen3-Coder",
		Options: Options{Tags: []string{"<function="}},
		Write:   Templates{Call: "<tool_call>\n<function={name}>\n{parameters}</function>\n</tool_call>", Parameter: "<parameter={key}>\n{value}\n</parameter>\n", Result: "<tool_response>\n{content_json}\n</tool_response>"},
	},
	{
		Name: "seed_oss", Trained: true, Models: []string{"Seed-OSS"},
		Open: []string{"<seed:tool_call>"}, Close: []string{"</seed:tool_call>"},
		Body: BodyParams, Source: "chat template of Seed-OSS",
		Write: Templates{Call: "<seed:tool_call>\n<function={name}>\n{parameters}</function>\n</seed:tool_call>", Parameter: "<parameter={key}>{value}</parameter>\n"},
	},
	{
		Name: "claude_xml", Trained: true, Aliases: []string{"claude", "poolside_v1"}, Models: []string{"Claude 2 and 3 by prompt", "models distilled from it"},
		Open: []string{"<function_calls>"}, Close: []string{"</function_calls>"},
		Body: BodyParams, Source: "Anthropic's prompt format of Claude 2 and 3",
		Options: Options{Tags: []string{"<invoke"}},
		Write:   Templates{Call: "<function_calls>\n<invoke name=\"{name}\">\n{parameters}</invoke>\n</function_calls>", Parameter: "<parameter name=\"{key}\">{value}</parameter>\n", Result: "<function_results>\n<result>\n<tool_name>{name}</tool_name>\n<stdout>{content_json}</stdout>\n</result>\n</function_results>"},
	},
	{
		Name: "claude_antml", Trained: true, Models: []string{"Claude"},
		Open: []string{"<" + "antml:function_calls>"}, Close: []string{"</" + "antml:function_calls>"},
		Body: BodyParams, Source: "recorded leaks: the same with a namespace on every tag",
	},
	{
		Name: "minimax_m2", Trained: true, Models: []string{"MiniMax M2"},
		Open: []string{"<minimax:tool_call>", "<minimax:toolcall>"}, Close: []string{"</minimax:tool_call>", "</minimax:toolcall>"},
		Body: BodyParams, Source: "MiniMax-M2's tool calling guide",
		Write: Templates{Call: "<minimax:tool_call>\n<invoke name=\"{name}\">\n{parameters}</invoke>\n</minimax:tool_call>", Parameter: "<parameter name=\"{key}\">{value}</parameter>\n"},
	},
	{
		Name: "glimmer", Trained: true, Models: []string{"Muse Glimmer"},
		Open: []string{"<atem:function_calls>"}, Close: []string{"</atem:function_calls>", "<|eot|>", "<|eom|>"},
		Body: BodyParams, Source: "chat template of Muse Glimmer",
		Options: Options{Tags: []string{"<atem:invoke"}},
	},
	{
		Name: "deepseek_dsml", Trained: true, Aliases: []string{"deepseek_v32", "deepseek_v4"}, Models: []string{"DeepSeek V3.2", "DeepSeek V4"},
		Open:  []string{"<｜DSML｜function_calls>", "<｜DSML｜tool_calls>", "<｜DSML｜tool_use>", "<｜DSML｜calls>", "<｜DSML｜toolcall>"},
		Close: []string{"</｜DSML｜function_calls>", "</｜DSML｜tool_calls>", "</｜DSML｜tool_use>", "</｜DSML｜calls>", "</｜DSML｜toolcall>"},
		Body:  BodyParams, Source: "DeepSeek-V3.2's encoding notes",
		Options: Options{Tags: []string{"<｜DSML｜invoke"}},
	},
	{
		Name: "gigachat_gcml", Trained: true, Aliases: []string{"gigachat35"}, Models: []string{"GigaChat 3.5"},
		Open: []string{"<｜GCML｜tool_calls>", "<｜GCML｜function_calls>"}, Close: []string{"</｜GCML｜tool_calls>", "</｜GCML｜function_calls>"},
		Body: BodyParams, Source: "chat template of GigaChat 3.5",
	},
	{
		Name: "step3", Trained: true, Models: []string{"Step 3"},
		Open: []string{"<｜tool▁calls▁begin｜>", "<｜tool▁call▁begin｜>"}, Close: []string{"<｜tool▁call▁end｜>", "<｜tool▁calls▁end｜>", "<｜tool▁sep｜>"},
		Body: BodyParams, Source: "chat template of Step-3",
		Options: Options{Lead: []string{"function<｜tool▁sep｜>", "function"}, Between: []string{"<｜tool▁sep｜>"}, Tags: []string{"<steptml:invoke"}},
	},
	{
		Name: "minicpm", Trained: true, Aliases: []string{"minicpm5", "minicpm4"}, Models: []string{"MiniCPM 4", "MiniCPM 5"},
		Body: BodyParams, Source: "chat template of MiniCPM 5: <function name=…><param name=…>",
		Options: Options{WithoutMarker: []Place{AsTag}, Tags: []string{"<function name="}},
	},
	{
		Name: "dots", Trained: true, Models: []string{"dots.llm"},
		Open: []string{"<dots_function_call>"}, Close: []string{"</dots_function_call>"},
		Body: BodyParams, Source: "chat template of dots",
		Options: Options{WrapTags: []string{"dots_function_call"}},
	},
	{
		Name: "kimi_k3", Trained: true, Models: []string{"Kimi K3"},
		Open: []string{"<|open|>tools<|sep|>"}, Close: []string{"<|close|>tools<|sep|>"},
		Body: BodyParams, Source: "chat template of Kimi K3",
		Options: Options{TagOpen: "<|open|>", TagClose: "<|close|>", TagEnd: "<|sep|>"},
	},
}
