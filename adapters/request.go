package adapters

import "encoding/json"

// Request is what a client asks of a model, whatever the wire format.
type Request struct {
	Format string
	Model  string
	// Messages are the conversation; what the system says is among them.
	Messages []Message
	Tools    []Tool
	// ToolChoice says whether the model may, must or must not call.
	ToolChoice ToolChoice
	// ParallelCalls is nil where nothing is said of it.
	ParallelCalls *bool
	// CallNativeName is what the client calls a call, where its format has several names
	// for it: "function_call" if it declares functions and no tools, the older form of
	// OpenAI's chat. Such a client takes one call in a reply, of that NativeName.
	CallNativeName string
	Stream         bool
	// IncludeUsage asks a stream for its usage, where a format has to be asked.
	IncludeUsage bool
	// MaxTokens bounds the answer; 0 where nothing is said of it.
	MaxTokens int64
	// Numbers keep their digits; "" where nothing is said of them.
	Temperature, TopP, TopK, Seed, FrequencyPenalty, PresencePenalty json.Number
	// Choices is how many alternative answers are wanted; 0 means one.
	Choices  int64
	Stop     []string
	Response *ResponseFormat
	// Effort is how hard a model is to think: "none", "low", "medium", "high", or
	// "on" and "off" where only that can be said.
	Effort string
	// ReasoningTokens bounds the thinking; 0 where nothing is said of it.
	ReasoningTokens int64
	User            string
	Extra           Extra
}

// Role says whose message it is.
type Role string

// The roles.
const (
	RoleSystem    Role = "system"
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool"
)

// Message is one turn of a conversation. One of a tool holds one result.
type Message struct {
	Role   Role
	Name   string
	Blocks []Block
	// NativeName is the role's name in the format, where it has several.
	NativeName string
	Extra      Extra
}

// Text is the text of the message.
func (m *Message) Text() string { return JoinText(m.Blocks, BlockText) }

// Calls are the message's calls.
func (m *Message) Calls() []*Call { return calls(m.Blocks) }

// Tool declares a tool to a model.
type Tool struct {
	Name        string
	Description string
	// Parameters is the JSON Schema as it was written; nil if there is none.
	Parameters json.RawMessage
	// Strict asks the provider to hold the model to the schema.
	Strict *bool
	// Custom says that the tool takes free text.
	Custom bool
	// Other says that only its own format knows the tool: its Extra is all of it.
	Other bool
	Extra Extra
}

// ToolMode says how free a model is to call.
type ToolMode string

// The modes. The empty one says nothing of it.
const (
	ToolAuto     ToolMode = "auto"
	ToolNone     ToolMode = "none"
	ToolRequired ToolMode = "required"
	// ToolNamed wants a call of the tool ToolChoice.Name.
	ToolNamed ToolMode = "tool"
)

// ToolChoice is how free a model is to call.
type ToolChoice struct {
	Mode ToolMode
	Name string
}

// ResponseFormat asks for JSON as the answer.
type ResponseFormat struct {
	// Schema is the JSON Schema that the answer has to fit; nil for any object.
	Schema json.RawMessage
	Name   string
	Strict *bool
	Extra  Extra
}
