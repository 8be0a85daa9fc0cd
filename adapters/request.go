package adapters

import "encoding/json"

// Request is a request to a model, independent of the wire format.
type Request struct {
	// Format is the name of the wire format that it was read from.
	Format string
	Model  string
	// Messages are the conversation, system messages included.
	Messages []Message
	Tools    []Tool
	// ToolChoice says whether the model may, must or must not call a tool.
	ToolChoice ToolChoice
	// ParallelCalls says whether a reply may have several calls; nil leaves it open.
	ParallelCalls *bool
	// CallNativeName is what the client calls a call, where its format has several names
	// for it: "function_call" if it declares functions and no tools, the older form of
	// OpenAI's chat. Such a client takes one call in a reply, of that NativeName.
	CallNativeName string
	Stream         bool
	// IncludeUsage asks for the usage in a stream, in formats that have to be asked.
	IncludeUsage bool
	// MaxTokens is the maximum number of tokens of the answer; 0 leaves it open.
	MaxTokens int64
	// These are numbers as they were written; "" leaves them open.
	Temperature, TopP, TopK, Seed, FrequencyPenalty, PresencePenalty json.Number
	// Choices is the number of alternative answers; 0 means one.
	Choices  int64
	Stop     []string
	Response *ResponseFormat
	// Effort is the reasoning effort: "none", "minimal", "low", "medium", "high", or "on"
	// and "off" in formats that have no levels.
	Effort string
	// ReasoningTokens is the maximum number of tokens of the reasoning; 0 leaves it open.
	ReasoningTokens int64
	User            string
	Extra           Extra
}

// Role is the role of a message.
type Role string

// The roles.
const (
	RoleSystem    Role = "system"
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool"
)

// Message is a message of a conversation. A message of RoleTool has one result.
type Message struct {
	Role   Role
	Name   string
	Blocks []Block
	// NativeName is the format's own name of the role, if it has several: "developer".
	NativeName string
	Extra      Extra
}

// Text is the text of the message.
func (m *Message) Text() string { return JoinText(m.Blocks, BlockText) }

// Calls are the message's calls.
func (m *Message) Calls() []*Call { return calls(m.Blocks) }

// Tool is the declaration of a tool.
type Tool struct {
	Name        string
	Description string
	// Parameters is the JSON Schema of the parameters as it was written; nil if there is
	// none.
	Parameters json.RawMessage
	// Namespace is the group that a tool was declared in, such as an MCP server: the Name
	// begins with it and "__". Formats without groups have the Name alone.
	Namespace string
	// Strict asks the provider to enforce the schema.
	Strict *bool
	// Custom says that the tool takes free text.
	Custom bool
	// Other says that only its own format knows the tool: its Extra is the whole tool.
	Other bool
	Extra Extra
}

// ToolMode says whether a model may call tools.
type ToolMode string

// The modes. The empty one leaves it open.
const (
	ToolAuto     ToolMode = "auto"
	ToolNone     ToolMode = "none"
	ToolRequired ToolMode = "required"
	// ToolNamed requires a call of the tool ToolChoice.Name.
	ToolNamed ToolMode = "tool"
)

// ToolChoice says whether, and which, tools a model may call.
type ToolChoice struct {
	Mode ToolMode
	Name string
}

// ResponseFormat asks for an answer in JSON.
type ResponseFormat struct {
	// Schema is the JSON Schema of the answer; nil allows any object.
	Schema json.RawMessage
	Name   string
	Strict *bool
	Extra  Extra
}
