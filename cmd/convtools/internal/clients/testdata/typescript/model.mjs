// One request of a vendor's own SDK to a provider of models: it prints what the SDK
// finds in the streamed response as JSON, and judges nothing.
//
//   node model.mjs '{"api": "responses", "url": "http://127.0.0.1:8080/v1", "key": "…", "body": {…}}'
const plan = JSON.parse(process.argv[2])

async function responses() {
  const { default: OpenAI } = await import('openai')
  const client = new OpenAI({ baseURL: plan.url, apiKey: plan.key, maxRetries: 0 })
  const response = await client.responses.stream(plan.body).finalResponse()
  const calls = response.output.filter((item) => item.type === 'function_call')
  return {
    text: response.output_text,
    calls: calls.map((c) => ({ id: c.call_id, name: c.namespace ? `${c.namespace}.${c.name}` : c.name, arguments: c.arguments })),
    thinks: response.output.some((item) => item.type === 'reasoning'),
    usage: { input: response.usage.input_tokens, output: response.usage.output_tokens },
  }
}

async function chat() {
  const { default: OpenAI } = await import('openai')
  const client = new OpenAI({ baseURL: plan.url, apiKey: plan.key, maxRetries: 0 })
  const seen = { text: '', calls: [], thinks: false }
  let usage
  for await (const chunk of await client.chat.completions.create(plan.body)) {
    usage = chunk.usage ?? usage
    const choice = chunk.choices[0]
    if (!choice) continue
    seen.text += choice.delta.content ?? ''
    seen.thinks ||= Boolean(choice.delta.reasoning_content)
    for (const piece of choice.delta.tool_calls ?? []) {
      const call = (seen.calls[piece.index] ??= { id: '', name: '', arguments: '' })
      call.id += piece.id ?? ''
      call.name += piece.function.name ?? ''
      call.arguments += piece.function.arguments ?? ''
    }
  }
  seen.usage = { input: usage.prompt_tokens, output: usage.completion_tokens }
  return seen
}

async function messages() {
  const { default: Anthropic } = await import('@anthropic-ai/sdk')
  const client = new Anthropic({ baseURL: plan.url.replace(/\/v1$/, ''), apiKey: plan.key, maxRetries: 0 })
  const { stream, ...body } = plan.body
  const message = await client.messages.stream(body).finalMessage()
  const of = (type) => message.content.filter((block) => block.type === type)
  const { usage } = message
  return {
    text: of('text').map((block) => block.text).join(''),
    calls: of('tool_use').map((c) => ({ id: c.id, name: c.name, arguments: JSON.stringify(c.input) })),
    thinks: of('thinking').length > 0,
    usage: {
      input: usage.input_tokens + usage.cache_read_input_tokens + usage.cache_creation_input_tokens, output: usage.output_tokens,
    },
  }
}

console.log(JSON.stringify(await { responses, chat, messages }[plan.api]()))
