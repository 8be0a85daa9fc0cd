package extractor

// reasoning is one way in which models set their reasoning apart.
type reasoning struct {
	open  []string
	close []string
	// orphan says that the closing marker alone tells that all before it was
	// reasoning.
	orphan bool
	// callsCount says that calls inside it are meant.
	callsCount bool
	// start says that it opens only at the beginning of the text.
	start bool
	// glued says that a capital follows the opening marker at once: it is what is
	// left of a header whose special tokens were taken out.
	glued bool
}

// reasonings are the forms of reasoning, from the chat templates of the models
// that write them.
var reasonings = []reasoning{
	{open: []string{"<think:*>"}, close: []string{"</think:*>", "</thinking>"}, orphan: true},
	{open: []string{"<thinking>"}, close: []string{"</thinking>", "</think>"}, orphan: true},
	{open: []string{"<thought>"}, close: []string{"</thought>"}, orphan: true},
	{open: []string{"<reasoning>"}, close: []string{"</reasoning>"}, orphan: true},
	{open: []string{"<reflection>"}, close: []string{"</reflection>"}, orphan: true},
	{open: []string{"<scratchpad>"}, close: []string{"</scratchpad>"}, orphan: true},
	{open: []string{"<longcat_think>"}, close: []string{"</longcat_think>"}, orphan: true},
	{open: []string{"<seed:think>"}, close: []string{"</seed:think>"}, orphan: true},
	{open: []string{"<mm:think>"}, close: []string{"</mm:think>", "</thinking>"}, orphan: true},
	{open: []string{"<ifm|think>", "<ifm|think_fast>", "<ifm|think_faster>"}, close: []string{"</ifm|think>", "</ifm|think_fast>", "</ifm|think_faster>"}, orphan: true},
	{open: []string{"[THINK]"}, close: []string{"[/THINK]"}, orphan: true},
	{open: []string{"<|START_THINKING|>"}, close: []string{"<|END_THINKING|>"}, orphan: true},
	{open: []string{"<|channel>thought"}, close: []string{"<channel|>"}, orphan: true},
	{open: []string{"◁think▷"}, close: []string{"◁/think▷"}, orphan: true},
	{open: []string{"<|open|>think<|sep|>"}, close: []string{"<|close|>think<|sep|>"}, orphan: true},
	{open: []string{"<|inner_prefix|>"}, close: []string{"<|inner_suffix|>"}, orphan: true, callsCount: true},
	{open: []string{"<|thought_start|>"}, close: []string{"<|thought_end|>"}, orphan: true},
	{open: []string{"<|think|>"}, close: []string{"<|end|>"}},
	{open: []string{"<|content_thinking|>"}, close: []string{"<|content_text|>", "<|end_message|>"}},
	{open: []string{"[unused16]"}, close: []string{"[unused17]"}, orphan: true},
	{open: []string{"<unused94>thought", "<unused94>"}, close: []string{"<unused95>"}, orphan: true},
	{open: []string{"<|message_model|><|content_thinking|>"}, close: []string{"<|end_message|>"}},
	{open: []string{"Here is my thought process:", "Here's my thought process:"}, close: []string{"Here is my response:", "Here's my response:"}, start: true},
	{open: []string{"analysis"}, close: []string{"assistantfinal", "assistantcommentary"}, start: true, glued: true},
	{open: []string{"Here are my reasoning steps:"}, close: []string{"[BEGIN FINAL RESPONSE]"}, start: true},
}

// turnMarkers begin or end a turn, or part of one, and are never content.
var turnMarkers = []string{
	"<|im_end|>", "<|im_start|>assistant\n", "<|im_start|>assistant", "<|im_start|>", "<|eot_id|>", "<|eom_id|>", "<|eot|>", "<|eom|>", "</s>", "<|end|>", "<|return|>", "<|call|>",
	"<|endoftext|>", "<|end_of_text|>", "<｜end▁of▁sentence｜>", "<|END_OF_TURN_TOKEN|>", "<|START_OF_TURN_TOKEN|>", "<|CHATBOT_TOKEN|>", "<end_of_turn>", "<start_of_turn>model\n", "<start_of_turn>",
	"<|observation|>", "<|user|>", "<|assistant|>", "[e~[", "<bot_end>", "<end_code>", "<|START_RESPONSE|>", "<|END_RESPONSE|>", "<|START_TEXT|>", "<|END_TEXT|>",
	"<|message_sep|>", "<|role_sep|>", "[END FINAL RESPONSE]", "[BEGIN FINAL RESPONSE]", "<|start_header_id|>assistant<|end_header_id|>", "<turn|>", "<|turn>model\n", "<|flush|>", "<|content|>", "<|begin|>assistant",
	"<|begin_of_text|>", "<|content_text|>", "<|end_message|>", "<|content_model_end_sampling|>", "<|message_model|>", "<|stop|>", "<|from|>assistant", "<|calls|>", "<|open|>response<|sep|>", "<|close|>response<|sep|>",
	"<|close|>message<|sep|>", "<|start|>assistant", "<seed:bos>", "<seed:eos>", "<seed:cot_budget_reflect>", "</seed:cot_budget_reflect>", "[EOS]", "<eos>", "<pad>", "<|python_start|>", "<|python_end|>",
	"Grounded answer:",
}

// wrappers may stand around the visible text behind reasoning.
var wrappers = []region{{"<answer>", "</answer>"}, {"<response>", "</response>"}}

// region is a stretch of text that is not the model's own word.
type region struct {
	open, end string
}

// resultRegions hold what a model imagines that a tool answered.
var resultRegions = []region{
	{"<tool_response>", "</tool_response>"},
	{"<tool_result>", "</tool_result>"},
	{"<function_results>", "</function_results>"},
	{"<function_response>", "</function_response>"},
	{"<tool_output>", "</tool_output>"},
	{"[TOOL_RESULTS]", "[/TOOL_RESULTS]"},
	{"<｜tool▁output▁begin｜>", "<｜tool▁output▁end｜>"},
	{"<｜tool▁outputs▁begin｜>", "<｜tool▁outputs▁end｜>"},
	{"<|tool_response>", "<tool_response|>"},
	{"<start_function_response>", "<end_function_response>"},
	{"<tool_responses>", "</tool_responses>"},
	{"<|START_TOOL_RESULT|>", "<|END_TOOL_RESULT|>"},
	{"<|start|>functions.", "<|end|>"},
	{"✿RESULT✿", "✿RETURN✿"},
	{"<ipython>", "</ipython>"},
}

// quoteRegions hold what is shown and not said.
var quoteRegions = []region{{"<!--", "-->"}, {"<example>", "</example>"}, {"<examples>", "</examples>"}}
