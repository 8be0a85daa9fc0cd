package dialects

import "github.com/callwright/callwright/extractor"

var elementsRows = []extractor.Dialect{
	{
		Name: "cline", Aliases: []string{"roo", "kilo"}, Models: []string{"any, by the prompts of Cline, Roo and Kilo"},
		Body: extractor.BodyElements, Source: "Cline's system prompt: the tool's name is the tag",
		Options: extractor.BodyOptions{Known: true},
	},
	{
		Name: "morph_xml", Aliases: []string{"yaml_xml"}, Models: []string{"any, by prompt"},
		Body: extractor.BodyElements, Source: "protocols taught by prompt: repeated tags make arrays",
		Options: extractor.BodyOptions{Known: true},
	},
	{
		Name: "mcp_xml", Models: []string{"MiroThinker", "any, by the prompts of Cline and Roo"},
		Open: []string{"<use_mcp_tool>"}, Close: []string{"</use_mcp_tool>"},
		Body: extractor.BodyElements, Source: "MiroThinker's chat template; Cline's system prompt",
	},
	{
		Name: "minimax_m3", Models: []string{"MiniMax M3"},
		Open: []string{"]<]minimax[>[<tool_call>"}, Close: []string{"]<]minimax[>[</tool_call>"},
		Body: extractor.BodyElements, Source: "chat template of MiniMax M3",
		Options: extractor.BodyOptions{Prefix: "]<]minimax[>["},
	},
}
