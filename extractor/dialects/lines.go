package dialects

import "github.com/callwright/callwright/extractor"

var linesRows = []extractor.Dialect{
	{
		Name: "react", Models: []string{"any, by ReAct prompts"},
		Body: extractor.BodyLines, Source: "ReAct prompts of LangChain and others",
		Options: extractor.BodyOptions{
			Label: "Action", Input: "Action Input", Stop: []string{"Observation", "Thought", "Final Answer", "Action Input"},
			None: []string{"Final Answer", "final_answer", "finish", "None", "none"},
		},
	},
	{
		Name: "action_json", Models: []string{"any, by prompt"}, Format: "custom_structured",
		Body: extractor.BodyLines, Source: "prompts of applications: Action: {…} within prose",
		Options: extractor.BodyOptions{Label: "Action"},
	},
	{
		Name: "command_r", Models: []string{"Command R", "Command R+"},
		Body: extractor.BodyLines, Source: "Cohere's prompt format of Command R: Action: and a fence",
		Options: extractor.BodyOptions{Label: "Action", None: []string{"directly_answer", "directly-answer"}},
	},
	{
		Name: "yaml", Models: []string{"any, by prompt"},
		Open: []string{"<tool_call>"}, Close: []string{"</tool_call>"},
		Body: extractor.BodyLines, Source: "prompts that teach YAML; Granite 4",
	},
	{
		Name: "continue_tool", Models: []string{"any, by Continue's prompt"},
		Body: extractor.BodyLines, Source: "Continue's prompt for models without tools: TOOL_NAME, BEGIN_ARG, END_ARG",
		Options: extractor.BodyOptions{Label: "TOOL_NAME"},
	},
	{
		Name: "vcp", Models: []string{"any, by VCP's prompt"},
		Open: []string{"<<<[TOOL_REQUEST]>>>"}, Close: []string{"<<<[END_TOOL_REQUEST]>>>"},
		Body: extractor.BodyLines, Source: "prompt of VCPToolBox",
		Options: extractor.BodyOptions{ValueQuotes: []string{"「始」", "「末」"}},
	},
}
