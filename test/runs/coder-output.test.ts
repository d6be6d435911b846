import { expect, test } from 'vitest';
import { coders } from '../../src/adapters/coders/index.ts';
import { redactor } from '../../src/core/secrets/index.ts';
import { noteTaker } from '../../src/runs/code/steps.ts';
import type { World } from '../../src/runs/index.ts';
import { found } from '../core/ranking/round-facts.ts';
import { newAppKey } from '../world/app-key.ts';
import { memoryEngine } from '../world/memory-engine.ts';
import { coderNamed } from '../world/stand-ins.ts';
import { codingWorld, flowsOf, played, RUN, type Script } from './coding-world.ts';

const KEY = 'gw-0123456789abcdefghijklmnop';
const TOKEN = `ghp_${'a1B2'.repeat(9)}`;
const PEM = newAppKey();
const KEY_LINES = PEM.trim().split('\n').slice(1, -1);

/** Lines as Claude Code prints them. */
const calls = (command: string) =>
  JSON.stringify({
    type: 'assistant',
    message: { content: [{ type: 'tool_use', name: 'Bash', input: { command } }] },
  });
const results = (content: string) =>
  JSON.stringify({
    type: 'user',
    message: { content: [{ type: 'tool_result', tool_use_id: 'c1', content }] },
  });

/** What a coder that prints these lines leaves: its steps, and every note that was shown meanwhile. */
const printed = (...lines: readonly string[]) => printedBy('claude-code', lines);

async function printedBy(
  agent: 'claude-code' | 'command',
  lines: readonly string[],
  patch: 'some' | 'empty' = 'some',
): Promise<{ readonly steps: string; readonly notes: string }> {
  const script: Script = {
    settings: { candidates: 1 },
    found: (alias) => found(alias, undefined),
    coders: {
      async A({ onLine }) {
        for (const line of lines) {
          onLine?.(line, 'stdout');
          // Notes are written one after the other.
          await new Promise((settle) => setImmediate(settle));
        }
        return 'done';
      },
    },
  };
  const { world } = await codingWorld(script);
  const notes: string[] = [];
  const read = coders({ agentsFolder: '/nowhere', commands: {} }).get(agent)?.read;
  const watched: World = {
    ...world,
    ...(read ? { coders: new Map([['builtin', { ...coderNamed('builtin'), read }]]) } : {}),
    ...(patch === 'empty'
      ? { workspaces: { ...world.workspaces, collect: async () => ({ kind: 'empty' }) as const } }
      : {}),
    gateway: {
      ...world.gateway,
      open: async (...given) => ({ ...(await world.gateway.open(...given)), key: KEY }),
    },
    store: {
      ...world.store,
      async putCandidate(candidate) {
        notes.push(candidate.note);
        await world.store.putCandidate(candidate);
      },
    },
  };
  await played(memoryEngine(), flowsOf(watched, script));
  const steps = await world.store.steps(RUN, { alias: 'A', limit: 999 });
  return { steps: JSON.stringify(steps), notes: notes.join('\n') };
}

test("a candidate's note holds no secret, however it is written", async () => {
  const base64 = Buffer.from(`x:${KEY}`).toString('base64');
  const escaped = [...KEY].map((one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');
  const { steps, notes } = await printed(
    calls(`curl -H 'x-api-key: ${KEY}'`),
    calls(`curl -u ${base64}`),
    calls(`curl --header ${TOKEN}`),
    calls('echo HERE').replace('HERE', escaped),
  );
  expect(notes.match(/curl|echo/g)).toHaveLength(4);
  for (const shown of [notes, steps]) {
    expect(shown).toMatch(/curl -u \S*\[redacted\]/);
    for (const secret of [KEY, base64.slice(4, -4), TOKEN]) expect(shown).not.toContain(secret);
  }
});

test('no line of a private key is shown that a command prints line by line', async () => {
  const { steps, notes } = await printedBy('command', ['$ cat key.pem', ...PEM.trim().split('\n'), 'ready']);
  expect(notes).toContain('ready');
  for (const shown of [notes, steps])
    for (const line of KEY_LINES) expect(shown).not.toContain(line.slice(0, 20));
});

test('nor one of a long key in the note, however many lines it has; what comes after it is shown', () => {
  const noteOf = noteTaker(redactor([]));
  const lines = Array.from({ length: 600 }, (_, index) => `${index}`.padStart(64, 'Ab9+/x'));
  const key = [
    '-----BEGIN PGP PRIVATE KEY BLOCK-----',
    ...lines,
    '-----END PGP PRIVATE KEY BLOCK-----',
    'ready',
  ];
  const notes = key.map((text) => noteOf([{ kind: 'output', text, piece: true }]) ?? '');
  expect(notes.slice(1, -2).filter((note) => note !== '[redacted]')).toEqual([]);
  expect(notes.at(-1)).toBe('ready');
  // A line that only looks like the first one of a key hides no more than a key would have.
  const endless = [
    '-----BEGIN X',
    ...Array.from({ length: 2_000 }, (_, index) => `step ${index} of a long log of a coder`),
  ];
  const shown = endless.map((text) => noteOf([{ kind: 'output', text, piece: true }]));
  expect(shown.at(-1)).toBe('step 1999 of a long log of a coder');
});

test('an output that is cut in the middle keeps no part of a secret in it', async () => {
  const noise = (characters: number) => 'words of a log\n'.repeat(400).slice(0, characters);
  // The end that is kept begins before, at several places within, and after the secret.
  const cuts = [0, 300, 600, 1_000, 1_500, 1_900, 1_980, 2_100].map((after) => noise(after));
  const { steps } = await printed(
    ...cuts.map((after) => results(`${noise(6_000)}${PEM}${after}`)),
    ...cuts.map((after) => results(`${noise(6_000)}${TOKEN} ${after}`)),
  );
  for (const part of [...KEY_LINES, TOKEN.slice(0, 12), TOKEN.slice(-12)]) expect(steps).not.toContain(part);
  expect(steps.match(/characters left out/g)).toHaveLength(2 * cuts.length);
});

test('a coder that changes no file is quoted, without secrets and on one line', async () => {
  const says = (text: string) =>
    JSON.stringify({ type: 'assistant', message: { content: [{ type: 'text', text }] } });
  const { notes } = await printedBy(
    'claude-code',
    [calls('ls'), says(`Nothing to do.\nThe key is ${TOKEN}.`)],
    'empty',
  );
  expect(notes.split('\n').at(-1)).toBe(
    'ended without changing a file; its last words: “Nothing to do. The key is [redacted].”',
  );
});
