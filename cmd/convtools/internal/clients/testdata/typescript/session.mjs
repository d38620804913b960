// One session of the TypeScript SDK with a server. It prints the results of the
// requests as JSON.
//
//   node session.mjs '{"sdk": "v1", "era": "legacy", "url": "", "command": […], "requests": […]}'
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

const { Client, StdioClientTransport, StreamableHTTPClientTransport, options } = await library()
const transport = plan.url
  ? new StreamableHTTPClientTransport(new URL(plan.url))
  : new StdioClientTransport({ command: plan.command[0], args: plan.command.slice(1), env: process.env, stderr: 'inherit' })
doing = 'connecting'
const client = new Client({ name: 'clients', version: '1.0.0' }, options)
await client.connect(transport)

const methods = {
  'initialize': () => ({ instructions: client.getInstructions() }),
  'tools/list': (params) => client.listTools(params),
  'tools/call': (params) => client.callTool(params),
  'resources/list': (params) => client.listResources(params),
  'resources/templates/list': (params) => client.listResourceTemplates(params),
  'resources/read': (params) => client.readResource(params),
  'completion/complete': (params) => client.complete(params),
  'prompts/list': (params) => client.listPrompts(params),
  'prompts/get': (params) => client.getPrompt(params),
}
const results = []
for (const { method, params } of plan.requests) {
  doing = `${method} ${JSON.stringify(params)}`
  results.push(await methods[method](params))
}
doing = 'closing'
await client.close()
console.log(JSON.stringify(results))
