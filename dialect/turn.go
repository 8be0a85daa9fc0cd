package dialect

import "errors"

// Turn is a marker at which a turn, or a part of one, begins or ends. It is never
// content.
type Turn struct {
	// Marker is the marker, written like a dialect's.
	Marker string `yaml:"marker" json:"marker"`
	// AfterCall says that it counts only behind something that is not content: before
	// that it is text.
	AfterCall bool `yaml:"after_call,omitempty" json:"after_call,omitempty"`
}

// Check reports what is wrong with a turn's marker, as an [*Error].
func (t *Turn) Check() error { return checkMarkers("turns.marker", []string{t.Marker}) }

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
var turnRows = append(plainTurns(
	"<|im_end|>", "<|im_start|>assistant\n", "<|im_start|>assistant", "<|im_start|>", "<|eot_id|>", "<|eom_id|>", "<|eot|>", "<|eom|>",
	"</s>", "<|end|>", "<|return|>", "<|call|>", "<|endoftext|>", "<|end_of_text|>", "<｜end▁of▁sentence｜>", "<|END_OF_TURN_TOKEN|>",
	"<|START_OF_TURN_TOKEN|>", "<|CHATBOT_TOKEN|>", "<end_of_turn>", "<start_of_turn>model\n", "<start_of_turn>",
	"<|observation|>", "<|user|>", "<|assistant|>", "[e~[", "<bot_end>", "<end_code>", "<|START_RESPONSE|>", "<|END_RESPONSE|>",
	"<|START_TEXT|>", "<|END_TEXT|>", "<|message_sep|>", "<|role_sep|>", "[END FINAL RESPONSE]", "[BEGIN FINAL RESPONSE]",
	"<|start_header_id|>assistant<|end_header_id|>", "<turn|>", "<|turn>model\n", "<|flush|>", "<|content|>", "<|begin|>assistant",
	"<|begin_of_text|>", "<|content_text|>", "<|end_message|>", "<|content_model_end_sampling|>", "<|message_model|>", "<|stop|>",
	"<|from|>assistant", "<|calls|>", "<|open|>response<|sep|>", "<|close|>response<|sep|>", "<|close|>message<|sep|>",
	"<|start|>assistant", "<seed:bos>", "<seed:eos>", "<seed:cot_budget_reflect>", "</seed:cot_budget_reflect>", "[EOS]", "<eos>", "<pad>",
	"<|python_start|>", "<|python_end|>",
), Turn{Marker: "Grounded answer:", AfterCall: true})

func plainTurns(markers ...string) []Turn {
	turns := make([]Turn, len(markers))
	for i, m := range markers {
		turns[i].Marker = m
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
	{Kind: Wrapper, Open: "<answer>", Close: "</answer>"},
	{Kind: Wrapper, Open: "<response>", Close: "</response>"},
}
