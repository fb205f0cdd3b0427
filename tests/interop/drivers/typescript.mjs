// Driver for the official TypeScript SDK 2.x (`@modelcontextprotocol/client`); what it reads and prints: steps.py.
// Called as `node typescript.mjs FOLDER_OF_NODE_MODULES < plan.json`: a driver lies elsewhere than what it drives.

import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const packages = createRequire(`${process.argv[2]}/driver.cjs`);
const load = async (name) => import(pathToFileURL(packages.resolve(name)).href);
const { Client, StreamableHTTPClientTransport, SSEClientTransport } = await load('@modelcontextprotocol/client');
const { StdioClientTransport } = await load('@modelcontextprotocol/client/stdio');

const STEP_LIMIT = 60_000; // milliseconds for one step

async function stdin() {
  const pieces = [];
  for await (const piece of process.stdin) pieces.push(piece);
  return JSON.parse(Buffer.concat(pieces).toString());
}

function reached(plan) {
  if (plan.way === 'stdio') return new StdioClientTransport({ command: plan.command[0], args: plan.command.slice(1) });
  const Way = plan.way === 'sse' ? SSEClientTransport : StreamableHTTPClientTransport;
  return new Way(new URL(plan.url), { requestInit: { headers: plan.headers } });
}

/** Answers what the server asks during the running step, and keeps what was asked. */
const person = {
  answer: {},
  asked: [],
  begin(answer) {
    this.answer = answer ?? {};
    this.asked = [];
  },
  elicit({ message, requestedSchema: schema }) {
    this.asked.push({ method: 'elicitation/create', message, schema });
    const answer = this.answer.elicit ?? 'cancel';
    return typeof answer === 'string' ? { action: answer } : { action: 'accept', content: answer };
  },
  sample({ messages }) {
    this.asked.push({ method: 'sampling/createMessage', messages });
    const content = { type: 'text', text: this.answer.sample ?? 'nothing' };
    return { role: 'assistant', content, model: 'script', stopReason: 'endTurn' };
  },
  roots() {
    this.asked.push({ method: 'roots/list' });
    return { roots: [{ uri: 'file:///project', name: 'project' }] };
  },
};

async function play(client, step) {
  const options = { timeout: STEP_LIMIT };
  switch (step.do) {
    case 'tools':
      return { items: (await client.listTools({}, options)).tools.map((tool) => tool.name) };
    case 'resources':
      return { items: (await client.listResources({}, options)).resources.map((item) => item.uri) };
    case 'templates': {
      const listed = await client.listResourceTemplates({}, options);
      return { items: listed.resourceTemplates.map((item) => item.uriTemplate) };
    }
    case 'prompts':
      return { items: (await client.listPrompts({}, options)).prompts.map((prompt) => prompt.name) };
    case 'call': {
      const progress = [];
      const onprogress = ({ progress: done, total, message }) => progress.push([done, total ?? null, message ?? null]);
      const request = { name: step.name, arguments: step.arguments ?? {} };
      const result = await client.callTool(request, { ...options, onprogress });
      return { result, asked: person.asked, progress };
    }
    case 'read':
      return { result: await client.readResource({ uri: step.uri }, options) };
    case 'prompt':
      return { result: await client.getPrompt({ name: step.name, arguments: step.arguments ?? {} }, options) };
    case 'complete': {
      const argument = { name: step.argument, value: step.value };
      return { result: await client.complete({ ref: step.ref, argument }, options) };
    }
    default:
      throw new Error(`no such step: ${step.do}`);
  }
}

const plan = await stdin();
const client = new Client(
  { name: 'typescript', version: '0' },
  {
    capabilities: { elicitation: { form: {} }, sampling: {}, roots: {} },
    versionNegotiation: { mode: plan.mode },
  },
);
client.setRequestHandler('elicitation/create', async ({ params }) => person.elicit(params));
client.setRequestHandler('sampling/createMessage', async ({ params }) => person.sample(params));
client.setRequestHandler('roots/list', async () => person.roots());
await client.connect(reached(plan));
const steps = [];
for (const step of plan.steps) {
  person.begin(step.answer);
  try {
    steps.push(await play(client, step));
  } catch (error) {
    steps.push({ error: `${error.name}: ${error.message}`, code: error.code ?? null, asked: person.asked });
  }
}
const server = client.getServerVersion()?.name;
console.log(JSON.stringify({ revision: client.getNegotiatedProtocolVersion(), server, steps }));
await client.close();
process.exit(0);
