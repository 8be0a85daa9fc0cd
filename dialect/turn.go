package dialect

import (
	"errors"
	"slices"
)

// Speaker says whose turn a marker begins.
type Speaker string

// The speakers.
const (
	// Assistant is the model itself. Only its words are calls.
	Assistant Speaker = "assistant"
	// Other is everybody else: the user, the system, a tool. What stands in such a turn
	// is text that the model made up or repeats.
	Other Speaker = "other"
)

// Turn is a marker at which a turn, or a part of one, begins or ends. It is never
// content. With no field but Marker it says nothing of who speaks.
type Turn struct {
	// Marker is the marker, written like a dialect's.
	Marker string `yaml:"marker" json:"marker"`
	// Speaker is who speaks behind it.
	Speaker Speaker `yaml:"speaker,omitempty" json:"speaker,omitempty"`
	// Close is the marker at which the turn of another speaker ends; empty means that it
	// ends where the assistant's begins.
	Close string `yaml:"close,omitempty" json:"close,omitempty"`
	// RoleFollows says that a word behind the marker tells who speaks, up to a newline,
	// another marker, or RoleEnd. A word of AssistantRoles is the assistant, any other
	// word somebody else; without a word the marker says nothing of who speaks.
	RoleFollows bool `yaml:"role_follows,omitempty" json:"role_follows,omitempty"`
	// RoleEnd is the marker behind the word.
	RoleEnd string `yaml:"role_end,omitempty" json:"role_end,omitempty"`
	// AfterCall says that it counts only behind something that is not content: before
	// that it is text.
	AfterCall bool `yaml:"after_call,omitempty" json:"after_call,omitempty"`
}

// AssistantRoles are the words by which templates name the model's own turn.
var AssistantRoles = []string{"assistant", "model", "ai", "bot", "chatbot", "gpt"}

// Check reports what is wrong with a turn's marker, as an [*Error].
func (t *Turn) Check() error {
	switch t.Speaker {
	case "", Assistant, Other:
	default:
		return &Error{Field: "turns.speaker", Err: errors.New("must be assistant or other")}
	}
	if t.Close != "" {
		if err := checkMarkers("turns.close", []string{t.Close}); err != nil {
			return err
		}
	}
	return checkMarkers("turns.marker", []string{t.Marker})
}

// RegionKind says what a region holds.
type RegionKind string

// The kinds of regions.
const (
	// Result is what a model imagines that a tool answered.
	Result RegionKind = "result"
	// Quote is what is shown and not said, such as an HTML comment.
	Quote RegionKind = "quote"
	// Wrapper stands around the visible text behind reasoning; what it holds is
	// content.
	Wrapper RegionKind = "wrapper"
)

// Region is a stretch of text between two markers that is not the model's own word.
type Region struct {
	Kind  RegionKind `yaml:"kind" json:"kind"`
	Open  string     `yaml:"open" json:"open"`
	Close string     `yaml:"close" json:"close"`
	// AfterCall says that it counts only behind a call.
	AfterCall bool `yaml:"after_call,omitempty" json:"after_call,omitempty"`
}

// Check reports what is wrong with a region, as an [*Error].
func (r *Region) Check() error {
	switch r.Kind {
	case Result, Quote, Wrapper:
	default:
		return &Error{Field: "regions.kind", Err: errors.New("must be result, quote or wrapper")}
	}
	if err := checkMarkers("regions.open", []string{r.Open}); err != nil {
		return err
	}
	return checkMarkers("regions.close", []string{r.Close})
}

// turnRows are the markers of turns, from the chat templates of the models that
// write them.
var turnRows = slices.Concat(
	plainTurns(
		"<|im_end|>", "<|eot_id|>", "<|eom_id|>", "<|eot|>", "<|eom|>", "</s>", "<|end|>", "<|return|>", "<|call|>", "<|endoftext|>",
		"<|end_of_text|>", "<｜end▁of▁sentence｜>", "<|END_OF_TURN_TOKEN|>", "<|START_OF_TURN_TOKEN|>", "<end_of_turn>", "[e~[",
		"<bot_end>", "<end_code>", "<|START_RESPONSE|>", "<|END_RESPONSE|>", "<|START_TEXT|>", "<|END_TEXT|>", "<|message_sep|>",
		"<|role_sep|>", "[END FINAL RESPONSE]", "[BEGIN FINAL RESPONSE]", "<turn|>", "<|flush|>", "<|content|>", "<|begin_of_text|>",
		"<|content_text|>", "<|end_message|>", "<|content_model_end_sampling|>", "<|stop|>", "<|calls|>", "<|open|>response<|sep|>",
		"<|close|>response<|sep|>", "<|close|>message<|sep|>", "<seed:eos>", "<seed:cot_budget_reflect>", "</seed:cot_budget_reflect>",
		"[EOS]", "<eos>", "<pad>", "<|python_start|>", "<|python_end|>", "<|im_middle|>",
	),
	[]Turn{{Marker: "Grounded answer:", AfterCall: true}},
	turnsOf(Assistant,
		"<|assistant|>", "<|CHATBOT_TOKEN|>", "<|im_assistant|>assistant", "<|im_assistant|>", "<｜Assistant｜>", "<｜hy_Assistant｜>",
		"[|assistant|]", "<|assistant_start|>", "<|message_model|>", "<|start|>assistant",
	),
	turnsOf(Other,
		"<|user|>", "<|system|>", "<|tool|>", "<|observation|>", "<|USER_TOKEN|>", "<|SYSTEM_TOKEN|>", "<|im_user|>user", "<|im_user|>",
		"<|im_system|>system", "<|im_system|>", "<｜User｜>", "<｜System｜>", "<｜hy_User｜>", "[|user|]", "[|system|]", "[|tool|]",
		"<|message_user|>", "<|message_tool|>", "<|message_system|>", "<｜begin▁of▁sentence｜>User:", "<｜end▁of▁sentence｜>User:",
		"^user<|role_sep|>", "^function result<|role_sep|>",
	),
	[]Turn{
		{Marker: "<|im_start|>", RoleFollows: true},
		{Marker: "<|start_header_id|>", RoleFollows: true, RoleEnd: "<|end_header_id|>"},
		{Marker: "<|header_start|>", RoleFollows: true, RoleEnd: "<|header_end|>"},
		{Marker: "<|start_of_role|>", RoleFollows: true, RoleEnd: "<|end_of_role|>"},
		{Marker: "<start_of_turn>", RoleFollows: true},
		{Marker: "<|turn>", RoleFollows: true},
		{Marker: "<|start|>", RoleFollows: true, RoleEnd: "<|message|>"},
		{Marker: "<|begin|>", RoleFollows: true},
		{Marker: "<|from|>", RoleFollows: true},
		{Marker: "<seed:bos>", RoleFollows: true},
		{Marker: "]~b]", RoleFollows: true},
		{Marker: "<extra_id_1>", RoleFollows: true},
		{Marker: "<SPECIAL_11>", RoleFollows: true},
		{Marker: "[INST]", Speaker: Other, Close: "[/INST]"},
		{Marker: "<<SYS>>", Speaker: Other, Close: "<</SYS>>"},
		{Marker: "[SYSTEM_PROMPT]", Speaker: Other, Close: "[/SYSTEM_PROMPT]"},
		{Marker: "[AVAILABLE_TOOLS]", Speaker: Other, Close: "[/AVAILABLE_TOOLS]"},
		{Marker: "<|user_start|>", Speaker: Other, Close: "<|user_end|>"},
		{Marker: "<|system_start|>", Speaker: Other, Close: "<|system_end|>"},
		{Marker: "<|developer_start|>", Speaker: Other, Close: "<|developer_end|>"},
	},
)

func plainTurns(markers ...string) []Turn { return turnsOf("", markers...) }

func turnsOf(speaker Speaker, markers ...string) []Turn {
	turns := make([]Turn, len(markers))
	for i, m := range markers {
		turns[i] = Turn{Marker: m, Speaker: speaker}
	}
	return turns
}

// regionRows are the regions, from chat templates and recorded outputs.
var regionRows = []Region{
	{Kind: Result, Open: "<tool_response>", Close: "</tool_response>"},
	{Kind: Result, Open: "<tool_result>", Close: "</tool_result>"},
	{Kind: Result, Open: "<function_results>", Close: "</function_results>"},
	{Kind: Result, Open: "<function_response>", Close: "</function_response>"},
	{Kind: Result, Open: "<tool_output>", Close: "</tool_output>"},
	{Kind: Result, Open: "[TOOL_RESULTS]", Close: "[/TOOL_RESULTS]"},
	{Kind: Result, Open: "<｜tool▁output▁begin｜>", Close: "<｜tool▁output▁end｜>"},
	{Kind: Result, Open: "<｜tool▁outputs▁begin｜>", Close: "<｜tool▁outputs▁end｜>"},
	{Kind: Result, Open: "<|tool_response>", Close: "<tool_response|>"},
	{Kind: Result, Open: "<start_function_response>", Close: "<end_function_response>"},
	{Kind: Result, Open: "<tool_responses>", Close: "</tool_responses>"},
	{Kind: Result, Open: "<|START_TOOL_RESULT|>", Close: "<|END_TOOL_RESULT|>"},
	{Kind: Result, Open: "<|start|>functions.", Close: "<|end|>"},
	{Kind: Result, Open: "✿RESULT✿", Close: "✿RETURN✿", AfterCall: true},
	{Kind: Result, Open: "<ipython>", Close: "</ipython>"},
	{Kind: Quote, Open: "<!--", Close: "-->"},
	{Kind: Quote, Open: "<example>", Close: "</example>"},
	{Kind: Quote, Open: "<examples>", Close: "</examples>"},
	{Kind: Quote, Open: "<pre>", Close: "</pre>"},
	{Kind: Quote, Open: "<code>", Close: "</code>"},
	{Kind: Quote, Open: "<blockquote>", Close: "</blockquote>"},
	{Kind: Quote, Open: "<samp>", Close: "</samp>"},
	{Kind: Quote, Open: "<xmp>", Close: "</xmp>"},
	{Kind: Quote, Open: "<textarea>", Close: "</textarea>"},
	{Kind: Quote, Open: "<context>", Close: "</context>"},
	{Kind: Quote, Open: "<document>", Close: "</document>"},
	{Kind: Quote, Open: "<documents>", Close: "</documents>"},
	{Kind: Quote, Open: "<observation>", Close: "</observation>"},
	{Kind: Quote, Open: "<search_results>", Close: "</search_results>"},
	{Kind: Quote, Open: "<search_result>", Close: "</search_result>"},
	{Kind: Quote, Open: "<results>", Close: "</results>"},
	{Kind: Quote, Open: "<result>", Close: "</result>"},
	{Kind: Quote, Open: "<file_content>", Close: "</file_content>"},
	{Kind: Quote, Open: "<webpage>", Close: "</webpage>"},
	{Kind: Quote, Open: "<quote>", Close: "</quote>"},
	{Kind: Quote, Open: "\\begin{verbatim}", Close: "\\end{verbatim}"},
	{Kind: Quote, Open: "\\begin{lstlisting}", Close: "\\end{lstlisting}"},
	{Kind: Wrapper, Open: "<answer>", Close: "</answer>"},
	{Kind: Wrapper, Open: "<response>", Close: "</response>"},
}
