// Package mcpproxy stands between an MCP client and an MCP server, and mends the arguments
// of the client's calls:
//
//	{"method": "tools/call", "params": {"name": "read_file", "arguments": {"PATH": "a.txt", "lines": "3"}}}
//	{"method": "tools/call", "params": {"name": "read_file", "arguments": {"lines": 3,"path":"a.txt"}}}
//
// It learns the tools' schemas from the replies to tools/list that pass by, and forgets
// them when the server says that its list changed. Numbers, booleans, lists and objects
// that were sent as strings become what the schema wants, names that are nearly right are
// corrected, and required members get their defaults: package validator tells the rules.
// Where a call cannot be mended, the proxy answers in the server's place with an error
// result that tells the model what to correct.
//
// All else passes byte for byte: other messages, other members of the same message, ids,
// what is no JSON. Mending depends on the schema and the arguments alone, so the same call
// is always mended in the same way.
//
// [Proxy.Stdio] runs a server that is spoken to over standard input and output,
// [Proxy.Handler] serves the streamable HTTP of one behind a URL.
//
// NOTE: message.go finds the parts of a message, conversation.go decides what becomes of
// it, mend.go changes a call's parameters, catalog.go holds what is known of tools.
// stdio.go and http.go only carry bytes.
package mcpproxy
