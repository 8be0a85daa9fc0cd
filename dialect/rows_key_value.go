package dialect

var keyValueRows = []Row{
	{
		Name: "glm45", Trained: true, Aliases: []string{"glm47", "glm_xml", "ling3", "spark"}, Models: []string{"GLM 4.5", "GLM 4.6", "GLM 4.7", "Ling 3", "Spark 2.5"},
		Open: []string{"<tool_call>"}, Close: []string{"</tool_call>"},
		Body: BodyKeyValue, Source: "chat template of GLM-4.5",
		Options: Options{WithoutMarker: []Place{OnLine}},
		Write:   Templates{Call: "<tool_call>{name}\n{parameters}</tool_call>", Parameter: "<arg_key>{key}</arg_key>\n<arg_value>{value}</arg_value>\n"},
	},
	{
		Name: "laguna", Models: []string{"Poolside Laguna"},
		Open: []string{"<user>"}, Close: []string{"</user>"},
		Body: BodyKeyValue, Source: "recorded outputs of Laguna",
	},
	{
		Name: "hunyuan_v3", Trained: true, Aliases: []string{"hy_v3"}, Models: []string{"Hunyuan V3", "Hunyuan V4"},
		Open: []string{"<tool_calls:*>", "<tool_call:*>"}, Close: []string{"</tool_call:*>", "</tool_calls:*>"},
		Body: BodyKeyValue, Source: "chat template of Hunyuan V3",
		Options: Options{Between: []string{"<tool_sep:*>"}, Section: []string{"<tool_calls:*>"}},
	},
	{
		Name: "k2_horizon", Trained: true, Models: []string{"K2 Horizon"},
		Open: []string{"<ifm|tool_calls>", "<ifm|tool_call>"}, Close: []string{"</ifm|tool_call>", "</ifm|tool_calls>"},
		Body: BodyKeyValue, Source: "chat template of K2 Horizon",
		Options: Options{
			Section: []string{"<ifm|tool_calls>"},
			KeyOpen: []string{"<ifm|arg_key>"}, KeyClose: []string{"</ifm|arg_key>"},
			ValueOpen: []string{"<ifm|arg_value>"}, ValueClose: []string{"</ifm|arg_value>"},
			TypeOpen: "<ifm|arg_type>", TypeClose: "</ifm|arg_type>",
		},
	},
	{
		Name: "solar_open2", Trained: true, Models: []string{"Solar Open 2"},
		Open: []string{"<|tool_call:start|>"}, Close: []string{"<|tool_call:end|>"},
		Body: BodyKeyValue, Source: "chat template of Solar Open 2",
		Options: Options{
			KeyOpen: []string{"<|tool_arg:start|>"}, ValueOpen: []string{"<|tool_arg:value|>"}, ValueClose: []string{"<|tool_arg:end|>"},
			FirstWins: true,
		},
	},
}
