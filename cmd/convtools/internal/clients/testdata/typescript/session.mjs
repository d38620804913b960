// One session of the TypeScript SDK with a server: what a client of it does from
// connecting to closing. It prints what it saw as JSON and judges nothing.
//
//   node session.mjs '{"sdk": "v1", "era": "legacy", "url": "", "command": […], …}'
//
// sdk is "v1" (@modelcontextprotocol/sdk) or "v2" (@modelcontextprotocol/client).
const plan = JSON.parse(process.argv[2])

let doing = 'starting'
process.on('uncaughtException', (error) => {
  console.error(`${doing}: ${error.message}`)
  process.exit(1)
})

async function library() {
  if (plan.sdk === 'v1') {
    const { Client } = await import('@modelcontextprotocol/sdk/client/index.js')
    const { StdioClientTransport } = await import('@modelcontextprotocol/sdk/client/stdio.js')
    const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/sdk/client/streamableHttp.js')
    return { Client, StdioClientTransport, StreamableHTTPClientTransport, options: {} }
  }
  const { Client, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client')
  const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio')
  const mode = plan.era === 'modern' ? { pin: '2026-07-28' } : 'legacy'
  return { Client, StdioClientTransport, StreamableHTTPClientTransport, options: { versionNegotiation: { mode } } }
}

// pages follows the cursor of a list to its end.
async function pages(list, key) {
  const all = []
  let cursor
  do {
    const page = await list(cursor === undefined ? undefined : { cursor })
    all.push(...page[key])
    cursor = page.nextCursor
  } while (cursor !== undefined)
  return all
}

const text = (content) => content.map((block) => block.text ?? `[${block.type}]`).join('\n')

const { Client, StdioClientTransport, StreamableHTTPClientTransport, options } = await library()
const transport = plan.url
  ? new StreamableHTTPClientTransport(new URL(plan.url))
  : new StdioClientTransport({ command: plan.command[0], args: plan.command.slice(1), env: process.env, stderr: 'inherit' })
doing = 'connecting'
const client = new Client({ name: 'clients', version: '1.0.0' }, options)
await client.connect(transport)

doing = 'listing'
const seen = {
  instructions: client.getInstructions() ?? '',
  tools: await pages((p) => client.listTools(p), 'tools'),
  calls: [],
  templates: (await pages((p) => client.listResourceTemplates(p), 'resourceTemplates')).map((t) => t.uriTemplate),
  resources: (await pages((p) => client.listResources(p), 'resources')).map((r) => r.uri),
  completions: [],
  texts: [],
  prompts: [],
}
for (const call of plan.calls) {
  doing = `calling ${call.tool}`
  const result = await client.callTool({ name: call.tool, arguments: call.arguments })
  seen.calls.push({
    text: text(result.content),
    isError: result.isError === true,
    structured: result.structuredContent !== undefined,
  })
}
for (const { template, name, value, others } of plan.completions) {
  doing = `completing ${name}`
  const completed = await client.complete({
    ref: { type: 'ref/resource', uri: template },
    argument: { name, value },
    ...(others && { context: { arguments: others } }),
  })
  seen.completions.push(completed.completion.values)
}
for (const uri of plan.reads) {
  doing = `reading ${uri}`
  seen.texts.push(text((await client.readResource({ uri })).contents))
}
doing = 'listing prompts'
for (const prompt of await pages((p) => client.listPrompts(p), 'prompts')) {
  const given = Object.fromEntries(
    (prompt.arguments ?? []).map(({ name }) => [name, plan.promptArguments[name] ?? plan.promptArguments['']]),
  )
  doing = `getting the prompt ${prompt.name}`
  const got = await client.getPrompt({ name: prompt.name, arguments: given })
  seen.prompts.push({ name: prompt.name, arguments: given, text: text(got.messages.map((m) => m.content)) })
}
doing = 'closing'
await client.close()
console.log(JSON.stringify(seen))
