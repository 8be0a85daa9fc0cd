// Package callwright is about tool calls: it reads them from whatever a language model
// wrote, checks them against the tools, and gives typed calls that can be run.
//
// Text goes in:
//
//	One moment. <tool_call>{"name": "get_weather", "arguments": {"city": "Rome", "days": "3",}}</tool_call>
//
// A call comes out, with everything that was changed to get there:
//
//	get_weather {"city": "Rome", "days": 3}   trailing_comma repaired, "3" became 3
//
// The example below is the whole program. The work is done in these packages:
//
//   - parser reads texts, streams and provider replies, and returns calls, content and
//     reasoning. Start here.
//   - registry holds the tools that may be called and their JSON Schemas.
//   - validator makes parameters fit a schema and says what is wrong with them.
//   - fallback recovers calls that reading alone did not give.
//   - adapters and adapters/formats read and write the providers' wire formats.
//   - dialect says, as data, how models write calls; add your own in YAML.
//   - extractor finds JSON and calls in a text without knowing any tools.
//   - dispatch runs the calls: typed functions, MCP servers, OpenAPI operations.
//   - interceptor and cmd/callwright do all this in front of a model server.
package callwright
