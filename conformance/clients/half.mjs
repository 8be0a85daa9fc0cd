// Has an unmodified client read one reply of each model, whole and streamed, and prints
// what an agent would run and see: [{"model", "how", "text", "calls", "finish", "error"}].
// Calls are the arguments as JSON, or as the client has them where it does not parse them.
// usage: node half.mjs CLIENT BASE_URL MODEL...
const [client, base, ...models] = process.argv.slice(2);
const question = "Write the file.";
const name = "write_file";
const description = "Writes a file";
const schema = {
  type: "object",
  properties: { path: { type: "string" }, content: { type: "string" } },
  required: ["path", "content"],
};
const functionTool = { type: "function", function: { name, description, parameters: schema } };
const messages = [{ role: "user", content: question }];

async function langchain(model, stream, out, useResponsesApi) {
  const { ChatOpenAI } = await import("@langchain/openai");
  const api = new ChatOpenAI({ model, apiKey: "none", maxRetries: 0, useResponsesApi, configuration: { baseURL: base + "/v1" } });
  const bound = api.bindTools([functionTool]);
  let m;
  if (stream) {
    for await (const chunk of await bound.stream(question)) m = m ? m.concat(chunk) : chunk;
  } else {
    m = await bound.invoke(question);
  }
  out.text = m.text;
  out.calls = (m.tool_calls ?? []).map((c) => JSON.stringify(c.args));
  out.finish = m.response_metadata.finish_reason ?? m.response_metadata.status;
}

const asks = {
  async openai(model, stream, out) {
    const { default: OpenAI } = await import("openai");
    const api = new OpenAI({ baseURL: base + "/v1", apiKey: "none", maxRetries: 0 });
    const params = { model, messages, tools: [functionTool] };
    const c = stream ? await api.chat.completions.stream(params).finalChatCompletion() : await api.chat.completions.create(params);
    const choice = c.choices[0];
    out.text = choice.message.content ?? "";
    out.calls = (choice.message.tool_calls ?? []).map((c) => c.function.arguments);
    out.finish = choice.finish_reason;
  },
  async responses(model, stream, out) {
    const { default: OpenAI } = await import("openai");
    const api = new OpenAI({ baseURL: base + "/v1", apiKey: "none", maxRetries: 0 });
    const params = { model, input: question, tools: [{ type: "function", name, description, parameters: schema, strict: false }] };
    const r = stream ? await api.responses.stream(params).finalResponse() : await api.responses.create(params);
    out.text = r.output_text ?? "";
    out.calls = r.output.filter((i) => i.type === "function_call").map((i) => i.arguments);
    out.finish = r.status;
    if (r.status === "failed") out.error = r.error.message;
  },
  async anthropic(model, stream, out) {
    const { default: Anthropic } = await import("@anthropic-ai/sdk");
    const api = new Anthropic({ baseURL: base, apiKey: "none", maxRetries: 0 });
    const params = { model, messages, tools: [{ name, description, input_schema: schema }], max_tokens: 500 };
    const m = stream ? await api.messages.stream(params).finalMessage() : await api.messages.create(params);
    out.text = m.content.filter((b) => b.type === "text").map((b) => b.text).join("");
    out.calls = m.content.filter((b) => b.type === "tool_use").map((b) => JSON.stringify(b.input));
    out.finish = m.stop_reason;
  },
  async ollama(model, stream, out) {
    const { Ollama } = await import("ollama");
    const api = new Ollama({ host: base });
    const params = { model, messages, tools: [functionTool] };
    const parts = stream ? await api.chat({ ...params, stream: true }) : [await api.chat(params)];
    for await (const part of parts) {
      out.text += part.message.content;
      out.calls.push(...(part.message.tool_calls ?? []).map((c) => JSON.stringify(c.function.arguments)));
      out.finish = part.done_reason;
    }
  },
  async ai(model, stream, out) {
    const { generateText, streamText, tool, stepCountIs } = await import("ai");
    const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
    const { z } = await import("zod");
    const params = {
      model: createOpenAICompatible({ name: "callwright", baseURL: base + "/v1", apiKey: "none" })(model),
      prompt: question,
      maxRetries: 0,
      stopWhen: stepCountIs(1),
      tools: {
        [name]: tool({
          description,
          inputSchema: z.object({ path: z.string(), content: z.string() }),
          execute: async (args) => (out.calls.push(JSON.stringify(args)), "written"),
        }),
      },
    };
    let steps;
    if (stream) {
      const s = streamText({ ...params, onError() {} });
      for await (const part of s.fullStream) if (part.type === "error") throw part.error;
      steps = await s.steps;
    } else {
      steps = (await generateText(params)).steps;
    }
    out.text = steps[0].text;
    out.finish = steps[0].finishReason;
  },
  langchain: (model, stream, out) => langchain(model, stream, out, false),
  "langchain-responses": (model, stream, out) => langchain(model, stream, out, true),
};

const all = [];
for (const model of models) {
  for (const how of ["whole", "stream"]) {
    const out = { model, how, text: "", calls: [], finish: "", error: "" };
    try {
      await asks[client](model, how === "stream", out);
    } catch (e) {
      out.error = e.message ?? JSON.stringify(e);
    }
    all.push(out);
  }
}
console.log(JSON.stringify(all));
