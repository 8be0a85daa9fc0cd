package dialect

var elementsRows = []Row{
	{
		Name: "cline", Aliases: []string{"roo", "kilo"}, Models: []string{"any, by the prompts of Cline, Roo and Kilo"},
		Body: BodyElements, Source: "Cline's system prompt: the tool's name is the tag",
		Options: Options{WithoutMarker: []Place{AsTag}},
	},
	{
		Name: "morph_xml", Aliases: []string{"yaml_xml"}, Models: []string{"any, by prompt"},
		Body: BodyElements, Source: "protocols taught by prompt: repeated tags make arrays",
		Options: Options{WithoutMarker: []Place{OnLine}},
	},
	{
		Name: "mcp_xml", Models: []string{"MiroThinker", "any, by the prompts of Cline and Roo"},
		Open: []string{"<use_mcp_tool>"}, Close: []string{"</use_mcp_tool>"},
		Body: BodyElements, Source: "MiroThinker's chat template; Cline's system prompt",
		Options: Options{CallTags: []string{"use_mcp_tool"}},
	},
	{
		Name: "minimax_m3", Trained: true, Models: []string{"MiniMax M3"},
		Open: []string{"]<]minimax[>[<tool_call>"}, Close: []string{"]<]minimax[>[</tool_call>"},
		Body: BodyElements, Source: "chat template of MiniMax M3",
		Options: Options{Prefix: "]<]minimax[>["},
	},
}
