package dialect

import "errors"

// Reasoning is one way in which models set their reasoning apart.
type Reasoning struct {
	// Open and Close are the markers around it, written like a dialect's.
	Open  []string `yaml:"open" json:"open"`
	Close []string `yaml:"close" json:"close"`
	// CloseAlone says that a closing marker that nothing opened tells that all before
	// it was reasoning: the prompt held the opening marker.
	CloseAlone bool `yaml:"close_alone,omitempty" json:"close_alone,omitempty"`
	// CallsCount says that calls within it are made.
	CallsCount bool `yaml:"calls_count,omitempty" json:"calls_count,omitempty"`
	// AtStart says that it opens only at the beginning of the text.
	AtStart bool `yaml:"at_start,omitempty" json:"at_start,omitempty"`
	// BeforeCapital says that a capital letter follows the opening marker at once: it
	// is what is left of a header whose special tokens were taken out.
	BeforeCapital bool `yaml:"before_capital,omitempty" json:"before_capital,omitempty"`
}

// Check reports what is wrong with a form of reasoning, as an [*Error].
func (r *Reasoning) Check() error {
	if len(r.Open) == 0 || len(r.Close) == 0 {
		return &Error{Field: "reasoning", Err: errors.New("needs opening and closing markers")}
	}
	if err := checkMarkers("reasoning.open", r.Open); err != nil {
		return err
	}
	return checkMarkers("reasoning.close", r.Close)
}

// reasoningRows are the forms of reasoning, from the chat templates of the models
// that write them.
var reasoningRows = []Reasoning{
	{Open: []string{"<think:*>"}, Close: []string{"</think:*>", "</thinking>"}, CloseAlone: true},
	{Open: []string{"<thinking>"}, Close: []string{"</thinking>", "</think>"}, CloseAlone: true},
	{Open: []string{"<thought>"}, Close: []string{"</thought>"}, CloseAlone: true},
	{Open: []string{"<reasoning>"}, Close: []string{"</reasoning>"}, CloseAlone: true},
	{Open: []string{"<reflection>"}, Close: []string{"</reflection>"}, CloseAlone: true},
	{Open: []string{"<scratchpad>"}, Close: []string{"</scratchpad>"}, CloseAlone: true},
	{Open: []string{"<longcat_think>"}, Close: []string{"</longcat_think>"}, CloseAlone: true},
	{Open: []string{"<seed:think>"}, Close: []string{"</seed:think>"}, CloseAlone: true},
	{Open: []string{"<mm:think>"}, Close: []string{"</mm:think>", "</thinking>"}, CloseAlone: true},
	{
		Open:       []string{"<ifm|think>", "<ifm|think_fast>", "<ifm|think_faster>"},
		Close:      []string{"</ifm|think>", "</ifm|think_fast>", "</ifm|think_faster>"},
		CloseAlone: true,
	},
	{Open: []string{"[THINK]"}, Close: []string{"[/THINK]"}, CloseAlone: true},
	{Open: []string{"<|START_THINKING|>"}, Close: []string{"<|END_THINKING|>"}, CloseAlone: true},
	{Open: []string{"<|channel>thought"}, Close: []string{"<channel|>"}, CloseAlone: true},
	{Open: []string{"◁think▷"}, Close: []string{"◁/think▷"}, CloseAlone: true},
	{Open: []string{"<|open|>think<|sep|>"}, Close: []string{"<|close|>think<|sep|>", "<|open|>response<|sep|>"}, CloseAlone: true},
	{Open: []string{"<|inner_prefix|>"}, Close: []string{"<|inner_suffix|>"}, CloseAlone: true, CallsCount: true},
	{Open: []string{"<|thought_start|>"}, Close: []string{"<|thought_end|>"}, CloseAlone: true},
	{Open: []string{"<|think|>"}, Close: []string{"<|end|>"}},
	{Open: []string{"<|content_thinking|>"}, Close: []string{"<|content_text|>", "<|end_message|>"}},
	{Open: []string{"[unused16]"}, Close: []string{"[unused17]"}, CloseAlone: true},
	{Open: []string{"<unused94>thought", "<unused94>"}, Close: []string{"<unused95>"}, CloseAlone: true},
	{Open: []string{"<|message_model|><|content_thinking|>"}, Close: []string{"<|end_message|>"}},
	{
		Open:    []string{"Here is my thought process:", "Here's my thought process:"},
		Close:   []string{"Here is my response:", "Here's my response:"},
		AtStart: true,
	},
	{Open: []string{"analysis"}, Close: []string{"assistantfinal", "assistantcommentary"}, AtStart: true, BeforeCapital: true},
	{Open: []string{"Here are my reasoning steps:"}, Close: []string{"[BEGIN FINAL RESPONSE]"}, AtStart: true},
}
