import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { drive } from '../../../src/adapters/coders/acp/drive.ts';
import { ACP_PATH, acpCoder, acpLaunch, bundleAcpCoder } from '../../../src/adapters/coders/acp/index.ts';
import type { CoderEvent } from '../../../src/core/model/index.ts';
import type { CoderInput } from '../../../src/ports/index.ts';
import { coderContract } from '../../contracts/coder.suite.ts';

const NODE = process.execPath;
const AGENT = fileURLToPath(new URL('acp-agent.ts', import.meta.url));
const coder = acpCoder();
const input: CoderInput = {
  model: 'some-model-1',
  protocol: 'anthropic',
  prompt: `Mend this: ${'é'.repeat(100_000)}`,
  wallSeconds: 120,
  gateway: { url: 'http://127.0.0.1:8123', key: 'gw-canary' },
  seed: 0,
};

coderContract('acp', () => ({
  coder,
  steps: ['{"type":"says","text":"allowed: Write hello.txt"}'],
  end: { line: '{"type":"end","ok":true,"text":"Done."}', ok: true },
  argv: ['/opt/tool/agent', '--acp', '--model=fixed'],
}));

let program = '';
beforeAll(async () => {
  program = join(await folder(), 'acp.mjs');
  await bundleAcpCoder(program);
});

const folders: string[] = [];
async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'acp-'));
  folders.push(path);
  return path;
}
afterAll(async () => {
  for (const path of folders) await rm(path, { recursive: true, force: true });
});

interface Outcome {
  readonly code: number | null;
  readonly events: readonly CoderEvent[];
  readonly end: CoderEvent | undefined;
  readonly cwd: string;
}

/** The bundled program and a real process of an agent: everything of the real thing but the sandbox. */
async function run(
  agent: readonly [string, ...string[]],
  options: { wallSeconds?: number; stopsOn?: string } = {},
): Promise<Outcome> {
  const { argv, stdin } = acpLaunch({ ...input, wallSeconds: options.wallSeconds ?? 120 }, agent);
  expect(argv[1]).toBe(ACP_PATH);
  const cwd = await folder();
  const child = spawn(NODE, [program, ...argv.slice(2)], { cwd, stdio: ['pipe', 'pipe', 'ignore'] });
  child.stdin.end(stdin);
  if (options.stopsOn !== undefined) {
    await waitFor(() => exists(join(cwd, options.stopsOn ?? '')));
    child.kill('SIGTERM');
  }
  const [stdout] = await Promise.all([text(child.stdout), once(child, 'close')]);
  const events = stdout.split('\n').flatMap((line) => coder.read(line));
  const end = events.at(-1);
  return { code: child.exitCode, events, end: end?.kind === 'end' ? end : undefined, cwd };
}
const scripted = (how: string) => [NODE, AGENT, how] as const;
const exists = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  );

describe('an agent that speaks the Agent Client Protocol', () => {
  test('gets the whole task, is allowed what it asks, and works in the repository', async () => {
    const { code, events, end, cwd } = await run(scripted('works'));
    expect({ code, end }).toMatchObject({ code: 0, end: { ok: true } });
    expect(events.map(({ text }) => text)).toEqual([
      expect.stringContaining(`task of ${input.prompt.length}: Mend this:`),
      'Write hello.txt',
      'allowed: Write hello.txt',
      expect.stringContaining('permission allow_once.'),
    ]);
    expect(await readFile(join(cwd, 'hello.txt'), 'utf8')).toBe('hello\n');
  });

  test('is offered no files, no terminal and no MCP servers of ours, and reaches none', async () => {
    const { events, end, cwd } = await run(scripted('works'));
    expect(events[0]?.text).toContain('"fs":{"readTextFile":false,"writeTextFile":false},"terminal":false');
    expect(events[0]?.text).toContain('servers 0 here true');
    expect(end?.text).toContain('write -32601. read -32601. terminal -32601. odd -32601.');
    expect(await exists(join(cwd, 'through-client.txt'))).toBe(false);
  });

  test('that offers no way to allow gets no permission', async () => {
    const { end, cwd } = await run(scripted('only-rejects'));
    expect(end?.text).toContain('permission cancelled.');
    expect(await exists(join(cwd, 'hello.txt'))).toBe(false);
  });

  test.each(['greets', 'odd-updates', 'half-json'])(
    'may do a little more than the protocol has: %s',
    async (how) => {
      const { end, cwd } = await run(scripted(how));
      expect(end).toMatchObject({ ok: true });
      expect(await exists(join(cwd, 'hello.txt'))).toBe(true);
    },
  );

  test('that writes a lot is shown in short lines', async () => {
    const { end, events } = await run(scripted('floods'));
    expect(end).toMatchObject({ ok: true });
    for (const { text } of events) expect(text.length).toBeLessThanOrEqual(300);
    expect(JSON.stringify(events)).not.toContain('\\u001b');
  });

  test.each([
    ['too-long', 'The agent stopped: the model’s answer became too long.'],
    ['too-often', 'The agent stopped: it made too many model calls.'],
    ['refuses', 'The agent refused to continue.'],
    ['fails', 'The agent broke off: Internal error ({"details":"HTTP 402: the budget is used up"})'],
    ['dies', 'The agent ended with exit code 3: out of luck.'],
    ['newer', 'The agent speaks version 9 of the Agent Client Protocol, not 1.'],
    ['garbage', 'The agent printed something that is not the Agent Client Protocol: no protocol, no manners'],
    ['one-endless-line', expect.stringContaining('The agent broke off: ')],
  ])('that fails ends with a clear message: %s', async (how, sentence) => {
    const { code, end } = await run(scripted(how));
    expect({ code, end }).toEqual({ code: 1, end: { kind: 'end', ok: false, text: sentence } });
  });

  test('that is not a program ends with a clear message', async () => {
    const { code, end } = await run(['/nowhere/agent']);
    expect(code).toBe(1);
    expect(end).toMatchObject({ ok: false, text: expect.stringContaining('could not be started') });
  });

  test('that does not speak the protocol ends with a clear message', async () => {
    const { end } = await run(['true', '--acp']);
    expect(end).toMatchObject({ ok: false, text: 'The agent ended with exit code 0.' });
  });
});

describe('an agent that does not come to an end', () => {
  test('is cancelled shortly before its time is over', async () => {
    const { code, end, cwd } = await run(scripted('hangs'), { wallSeconds: 10 });
    expect({ code, end }).toMatchObject({
      code: 124,
      end: { ok: false, text: 'Stopped shortly before the limit of 10 s.' },
    });
    expect(await exists(join(cwd, 'cancelled.txt'))).toBe(true);
  });

  test('is cancelled when we are told to stop', async () => {
    const { code, end, cwd } = await run(scripted('hangs'), { stopsOn: 'hangs.txt' });
    expect({ code, end }).toMatchObject({ code: 1, end: { ok: false, text: 'Stopped from outside.' } });
    expect(await exists(join(cwd, 'cancelled.txt'))).toBe(true);
  });

  test('is killed with everything it started when it ignores the cancellation', async () => {
    const cwd = await folder();
    const loud = ['bash', '-c', `sleep 1000 & echo $! > child.pid; exec ${NODE} ${AGENT} deaf`] as const;
    const stop = new AbortController();
    const driven = drive({
      agent: loud,
      cwd,
      task: 'x',
      startMs: 30_000,
      signal: stop.signal,
      emit: () => {},
    });
    await waitFor(() => exists(join(cwd, 'deaf.txt')));
    const pid = Number(await readFile(join(cwd, 'child.pid'), 'utf8'));
    expect(alive(pid)).toBe(true);
    stop.abort('Enough.');
    expect(await driven).toEqual({ type: 'end', ok: false, text: 'Enough.' });
    await waitFor(async () => !alive(pid));
  });

  test('is stopped when it does not open a session', async () => {
    const { signal } = new AbortController();
    const end = await drive({
      agent: scripted('silent'),
      cwd: await folder(),
      task: 'x',
      startMs: 1500,
      signal,
      emit: () => {},
    });
    expect(end).toEqual({ type: 'end', ok: false, text: 'The agent did not open a session within 2 s.' });
  });
});

async function waitFor(done: () => Promise<boolean>): Promise<void> {
  while (!(await done())) await new Promise((resolve) => setTimeout(resolve, 50));
}

function alive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

test('the program says from which sources it was made', async () => {
  const child = spawn(NODE, [program, '--version'], { stdio: ['ignore', 'pipe', 'inherit'] });
  expect((await text(child.stdout)).trim()).toBe(await coder.version());
});
