// Records a session of GitHub Copilot CLI (npm: @github/copilot) on a fake model on loopback:
//
//	node record.mjs COPILOT EMPTY_DIRECTORY
//
// and writes it to session-state beside this file, without the paths of this machine and the system's texts.
import http from 'node:http'
import { spawn } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const [program, home] = process.argv.slice(2)
const project = join(home, 'harbour')
const session = '7cf44517-55ca-435c-893a-3fde1973a44e'
mkdirSync(project, { recursive: true })
writeFileSync(join(project, 'stations.txt'), 'Wick\nLerwick\n')

let calls = 0
const call = (name, args) => ({
  tool_calls: [{ index: 0, id: `call_${++calls}`, type: 'function', function: { name, arguments: JSON.stringify(args) } }],
})
const turns = [
  {
    args: ['--session-id', session, '-p', 'Which stations are in the list?'],
    answers: [
      { reasoning_content: 'The file has the list.', content: 'I look into the file.', ...call('view', { path: join(project, 'stations.txt') }) },
      { content: 'Two stations: Wick and Lerwick.' },
    ],
  },
  {
    args: [`--resume=${session}`, '-p', 'Add Kirkwall, and show the list.'],
    answers: [
      call('edit', { path: join(project, 'stations.txt'), old_str: 'Wick\n', new_str: 'Wick\nKirkwall\n' }),
      call('bash', { command: 'cat stations.txt; exit 3', description: 'Show the list' }),
      call('view', { path: join(project, 'missing.txt') }),
      call('create', { path: join(project, 'ports.txt'), file_text: 'Oban\n' }),
      call('task', { agent_type: 'general-purpose', name: 'count', description: 'Count stations', prompt: 'Count the stations in the list.', mode: 'sync' }),
      { content: 'The sub-agent counts three.' },
      { content: 'Done.' },
    ],
  },
]

let answers = []
const server = http.createServer((request, response) => {
  request.resume().on('end', () => {
    const delta = answers.shift() ?? { content: 'Nothing more.' }
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const choice of [
      { index: 0, delta: { role: 'assistant', ...delta } },
      { index: 0, delta: {}, finish_reason: delta.tool_calls ? 'tool_calls' : 'stop' },
    ]) {
      const chunk = { id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'fake', choices: [choice] }
      response.write(`data: ${JSON.stringify(chunk)}\n\n`)
    }
    response.end('data: [DONE]\n\n')
  })
})
await new Promise(ready => server.listen(0, '127.0.0.1', ready))
const env = {
  PATH: process.env.PATH, HOME: home, COPILOT_AUTO_UPDATE: 'false', COPILOT_OFFLINE: 'true', COPILOT_MODEL: 'gpt-4.1',
  COPILOT_PROVIDER_BASE_URL: `http://127.0.0.1:${server.address().port}/v1`,
}
for (const turn of turns) {
  answers = turn.answers
  const child = spawn(program, ['--allow-all-tools', '--disable-builtin-mcps', ...turn.args], { cwd: project, env, stdio: ['ignore', 'inherit', 'inherit'] })
  await new Promise(done => child.on('exit', done))
}
server.close()

const scrub = text => text.replaceAll(project, '/home/mina/harbour').replaceAll(project.slice(1), 'home/mina/harbour').replaceAll(home, '/home/mina')
const shorten = line => {
  const event = JSON.parse(line)
  if (event.type === 'system.message') event.data.content = 'You are the GitHub Copilot CLI.'
  return JSON.stringify(event)
}
const from = join(home, '.copilot', 'session-state', session), to = join(import.meta.dirname, 'session-state', session)
mkdirSync(to, { recursive: true })
const events = readFileSync(join(from, 'events.jsonl'), 'utf8').trimEnd().split('\n')
writeFileSync(join(to, 'events.jsonl'), scrub(events.map(shorten).join('\n') + '\n'))
writeFileSync(join(to, 'workspace.yaml'), scrub(readFileSync(join(from, 'workspace.yaml'), 'utf8')))
