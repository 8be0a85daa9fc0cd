package dialect

var linesRows = []Row{
	{
		Name: "react", Models: []string{"any, by ReAct prompts"},
		Body: BodyLines, Source: "ReAct prompts of LangChain and others",
		Options: Options{
			Label: "Action", Input: "Action Input", Stop: []string{"Observation", "Thought", "Final Answer", "Action Input"},
			None: []string{"Final Answer", "final_answer", "finish", "None", "none"},
		},
	},
	{
		Name: "action_json", Models: []string{"any, by prompt"}, Format: "custom_structured",
		Body: BodyLines, Source: "prompts of applications: Action: {…} within prose",
		Options: Options{Label: "Action"},
	},
	{
		Name: "command_r", Models: []string{"Command R", "Command R+"},
		Body: BodyLines, Source: "Cohere's prompt format of Command R: Action: and a fence",
		Options: Options{Label: "Action", None: []string{"directly_answer", "directly-answer"}, WithoutMarker: []Place{InFence}},
	},
	{
		Name: "yaml", Models: []string{"any, by prompt"},
		Open: []string{"<tool_call>"}, Close: []string{"</tool_call>"},
		Body: BodyLines, Source: "prompts that teach YAML; Granite 4",
		Options: Options{WithoutMarker: []Place{InFence}},
	},
	{
		Name: "continue_tool", Models: []string{"any, by Continue's prompt"},
		Body: BodyLines, Source: "Continue's prompt for models without tools: TOOL_NAME, BEGIN_ARG, END_ARG",
		Options: Options{Label: "TOOL_NAME", ArgLabels: []string{"BEGIN_ARG", "END_ARG"}, WithoutMarker: []Place{InFence}},
	},
	{
		Name: "vcp", Models: []string{"any, by VCP's prompt"},
		Open: []string{"<<<[TOOL_REQUEST]>>>"}, Close: []string{"<<<[END_TOOL_REQUEST]>>>"},
		Body: BodyLines, Source: "prompt of VCPToolBox",
		Options: Options{ValueQuotes: []string{"「始」", "「末」"}},
	},
}
