/**
 * An agent for tests, written with the agent's side of the SDK: `node acp-agent.ts HOW`. It says what it found, works in
 * its folder, and misbehaves as it is told.
 */
import { writeFileSync } from 'node:fs';
import { Readable, Writable } from 'node:stream';
import {
  type AgentContext,
  agent,
  methods,
  ndJsonStream,
  type PermissionOptionKind,
  PROTOCOL_VERSION,
  RequestError,
  type RequestPermissionRequest,
  type StopReason,
} from '@agentclientprotocol/sdk';

const how = process.argv[2] ?? 'works';
const session = { sessionId: 'session-1' };
const never = new Promise<never>(() => {});
const cancelled = Promise.withResolvers<void>();
let found = '';

const say = (client: AgentContext, text: string) =>
  client.notify(methods.client.session.update, {
    ...session,
    update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } },
  });

async function askAndWrite(client: AgentContext): Promise<void> {
  const toolCall = { toolCallId: 'call-1', title: 'Write hello.txt', kind: 'edit' } as const;
  await client.notify(methods.client.session.update, {
    ...session,
    update: { sessionUpdate: 'tool_call', ...toolCall },
  });
  const kinds: readonly PermissionOptionKind[] =
    how === 'only-rejects' ? ['reject_once'] : ['reject_once', 'allow_always', 'allow_once'];
  const question: RequestPermissionRequest = {
    ...session,
    toolCall,
    options: kinds.map((kind) => ({ kind, optionId: kind, name: kind })),
  };
  const { outcome } = await client.request(methods.client.session.requestPermission, question);
  const answer = outcome.outcome === 'selected' ? outcome.optionId : outcome.outcome;
  if (answer === 'allow_once') writeFileSync('hello.txt', 'hello\n');
  await say(client, `permission ${answer}. `);
}

/** Tries what we did not offer. */
async function reach(client: AgentContext): Promise<void> {
  const path = `${process.cwd()}/through-client.txt`;
  const tries = {
    write: () => client.request(methods.client.fs.writeTextFile, { ...session, path, content: 'x' }),
    read: () => client.request(methods.client.fs.readTextFile, { ...session, path: '/etc/hostname' }),
    terminal: () => client.request(methods.client.terminal.create, { ...session, command: 'id' }),
    odd: () => client.request('session/odd', {}),
  };
  for (const [name, attempt] of Object.entries(tries)) {
    const answer = await attempt().then(
      () => 'done',
      (error: RequestError) => String(error.code),
    );
    await say(client, `${name} ${answer}. `);
  }
}

const STOPS: Readonly<Record<string, StopReason>> = {
  'too-long': 'max_tokens',
  'too-often': 'max_turn_requests',
  refuses: 'refusal',
};

async function work(client: AgentContext, task: string): Promise<StopReason> {
  switch (how) {
    case 'dies':
      process.stderr.write('first words\nout of luck\n');
      return process.exit(3);
    case 'fails':
      throw new RequestError(-32_603, 'Internal error', { details: 'HTTP 402: the budget is used up' });
    case 'hangs':
      writeFileSync('hangs.txt', '');
      await cancelled.promise;
      writeFileSync('cancelled.txt', '');
      return 'cancelled';
    case 'deaf':
      writeFileSync('deaf.txt', '');
      return never;
    case 'floods':
      for (let at = 0; at < 5000; at += 1) await say(client, 'again and again \u001b[31m\n');
      break;
    case 'odd-updates':
      await client.notify('session/update', {
        ...session,
        update: { sessionUpdate: 'of-next-year', title: 7 },
      });
      await client.notify('session/update', { nothing: true });
      await client.notify('of/next/year', {});
  }
  await say(client, `${found} task of ${task.length}: ${task.slice(0, 11)}`);
  await askAndWrite(client);
  await reach(client);
  return STOPS[how] ?? 'end_turn';
}

if (how === 'greets') process.stdout.write('Welcome!\n\n[info] all is well\n');
if (how === 'garbage') {
  for (;;)
    if (!process.stdout.write('no protocol, no manners\n'))
      await new Promise((r) => process.stdout.once('drain', r));
}
if (how === 'half-json') process.stdout.write('{"jsonrpc": "2.0", "id"\n{"id":\n');
if (how === 'one-endless-line') {
  for (;;)
    if (!process.stdout.write('{'.repeat(65_536))) await new Promise((r) => process.stdout.once('drain', r));
}
if (how === 'silent') await new Promise((resolve) => setTimeout(resolve, 2 ** 30));
process.on('SIGTERM', () => {});

agent({ name: 'scripted' })
  .onRequest(methods.agent.initialize, ({ params }) => {
    found = `capabilities ${JSON.stringify(params.clientCapabilities)}`;
    return { protocolVersion: how === 'newer' ? 9 : PROTOCOL_VERSION, agentCapabilities: {} };
  })
  .onRequest(methods.agent.session.new, ({ params }) => {
    found += ` servers ${params.mcpServers.length} here ${params.cwd === process.cwd()}`;
    return session;
  })
  .onNotification(methods.agent.session.cancel, () => cancelled.resolve())
  .onRequest(methods.agent.session.prompt, async ({ params, client }) => {
    const text = params.prompt.map((block) => (block.type === 'text' ? block.text : '')).join('');
    return { stopReason: await work(client, text) };
  })
  .connect(
    ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>),
  );
