// Does one whole tool loop with an unmodified client: asks, runs the call, gives the
// result back, and prints what came: {"text", "calls", "finish", "answer"}.
// usage: node loop.mjs CLIENT BASE_URL MODEL whole|stream
const [client, base, model, how] = process.argv.slice(2);
const stream = how === "stream";
const question = "How is the weather in Rome?";
const schema = { type: "object", properties: { city: { type: "string" }, days: { type: "integer" } }, required: ["city"] };
const description = "The weather of a city";
const result = (args) => `sunny in ${args.city}`;

const loops = {
  async openai() {
    const { default: OpenAI } = await import("openai");
    const api = new OpenAI({ baseURL: base + "/v1", apiKey: "none", maxRetries: 0 });
    const tools = [{ type: "function", function: { name: "get_weather", description, parameters: schema } }];
    const messages = [{ role: "user", content: question }];
    const ask = async () => {
      if (!stream) return (await api.chat.completions.create({ model, messages, tools })).choices[0];
      const s = api.chat.completions.stream({ model, messages, tools });
      return (await s.finalChatCompletion()).choices[0];
    };
    const first = await ask();
    messages.push(first.message);
    const calls = [];
    for (const c of first.message.tool_calls ?? []) {
      const args = JSON.parse(c.function.arguments);
      calls.push({ name: c.function.name, args, id: !!c.id });
      messages.push({ role: "tool", tool_call_id: c.id, content: result(args) });
    }
    return { text: first.message.content, calls, finish: first.finish_reason, answer: (await ask()).message.content };
  },
  async responses() {
    const { default: OpenAI } = await import("openai");
    const api = new OpenAI({ baseURL: base + "/v1", apiKey: "none", maxRetries: 0 });
    const tools = [{ type: "function", name: "get_weather", description, parameters: schema, strict: false }];
    const input = [{ role: "user", content: question }];
    const ask = async () => {
      if (!stream) return api.responses.create({ model, input, tools });
      return api.responses.stream({ model, input, tools }).finalResponse();
    };
    const first = await ask();
    const calls = [];
    for (const item of first.output) {
      input.push(item);
      if (item.type !== "function_call") continue;
      const args = JSON.parse(item.arguments);
      calls.push({ name: item.name, args, id: !!item.call_id });
      input.push({ type: "function_call_output", call_id: item.call_id, output: result(args) });
    }
    return { text: first.output_text, calls, finish: first.status, answer: (await ask()).output_text };
  },
  async anthropic() {
    const { default: Anthropic } = await import("@anthropic-ai/sdk");
    const api = new Anthropic({ baseURL: base, apiKey: "none", maxRetries: 0 });
    const tools = [{ name: "get_weather", description, input_schema: schema }];
    const messages = [{ role: "user", content: question }];
    const ask = async () => {
      const params = { model, messages, tools, max_tokens: 500 };
      return stream ? api.messages.stream(params).finalMessage() : api.messages.create(params);
    };
    const text = (m) => m.content.filter((b) => b.type === "text").map((b) => b.text).join("");
    const first = await ask();
    messages.push({ role: "assistant", content: first.content });
    const calls = [];
    const results = [];
    for (const b of first.content) {
      if (b.type !== "tool_use") continue;
      calls.push({ name: b.name, args: b.input, id: !!b.id });
      results.push({ type: "tool_result", tool_use_id: b.id, content: result(b.input) });
    }
    messages.push({ role: "user", content: results });
    return { text: text(first), calls, finish: first.stop_reason, answer: text(await ask()) };
  },
  async ollama() {
    const { Ollama } = await import("ollama");
    const api = new Ollama({ host: base });
    const tools = [{ type: "function", function: { name: "get_weather", description, parameters: schema } }];
    const messages = [{ role: "user", content: question }];
    const ask = async () => {
      if (!stream) return api.chat({ model, messages, tools });
      const out = { message: { role: "assistant", content: "", tool_calls: [] } };
      for await (const part of await api.chat({ model, messages, tools, stream: true })) {
        out.message.content += part.message.content;
        out.message.tool_calls.push(...(part.message.tool_calls ?? []));
        out.done_reason = part.done_reason;
      }
      return out;
    };
    const first = await ask();
    messages.push(first.message);
    const calls = [];
    for (const c of first.message.tool_calls ?? []) {
      calls.push({ name: c.function.name, args: c.function.arguments, id: true });
      messages.push({ role: "tool", tool_name: c.function.name, content: result(c.function.arguments) });
    }
    return { text: first.message.content, calls, finish: first.done_reason, answer: (await ask()).message.content };
  },
  async ai() {
    const { generateText, streamText, tool, stepCountIs } = await import("ai");
    const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
    const { z } = await import("zod");
    const calls = [];
    const params = {
      model: createOpenAICompatible({ name: "callwright", baseURL: base + "/v1", apiKey: "none" })(model),
      prompt: question,
      maxRetries: 0,
      stopWhen: stepCountIs(4),
      tools: {
        get_weather: tool({
          description,
          inputSchema: z.object({ city: z.string(), days: z.number().optional() }),
          execute: async (args) => (calls.push({ name: "get_weather", args, id: true }), result(args)),
        }),
      },
    };
    let steps;
    if (stream) {
      const s = streamText(params);
      for await (const part of s.fullStream) if (part.type === "error") throw part.error;
      steps = await s.steps;
    } else {
      steps = (await generateText(params)).steps;
    }
    return { text: steps[0].text, calls, finish: steps[0].finishReason, answer: steps.at(-1).text };
  },
};

console.log(JSON.stringify(await loops[client]()));
