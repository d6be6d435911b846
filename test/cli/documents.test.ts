import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import type { Origin } from '../../src/core/model/index.ts';
import { candidate, evidence, JUDGEMENT, judged, RUN } from '../core/reports/sample.ts';
import { memoryArtifacts, memoryStore } from '../world/memory-store.ts';
import { shellOver } from './shell.ts';

const SCHEMA = JSON.parse(
  readFileSync(new URL('../../docs/command-line.schema.json', import.meta.url), 'utf8'),
) as { readonly $defs: Readonly<Record<string, unknown>> };
const LOCAL: Origin = { kind: 'local', path: '/home/ada/tally' };

/** Validates as a program would that has nothing but the published schema. */
function validator(name: string) {
  const ajv = new Ajv2020({ strict: false, formats: { 'date-time': true } });
  return ajv.compile({ ...SCHEMA, $ref: `#/$defs/${name}` });
}

async function shellWithRun() {
  const store = memoryStore();
  await store.createRun({ id: RUN, origin: LOCAL, title: 'x', request: {}, at: 0 });
  for (const alias of ['A', 'B', 'C']) await store.putCandidate(candidate(alias));
  const { ranking, decision } = judged();
  const branches = { A: `runoff/${RUN}/A`, B: `runoff/${RUN}/B` };
  await store.updateRun(
    RUN,
    {
      evidence: [evidence('A'), evidence('B'), evidence('C')],
      ranking,
      judgement: JUDGEMENT,
      ...(decision ? { decision } : {}),
      outcome: { kind: 'branches', branches },
    },
    1,
  );
  for (const state of ['admitted', 'briefed', 'coded', 'examined', 'judged', 'published'] as const)
    await store.transition(RUN, state, 'test', 1);
  return shellOver(
    {
      store,
      artifacts: memoryArtifacts(),
      clock: { now: () => 9 },
      engine: { activeExecutors: async () => new Set<string>() },
    },
    { newRunId: () => 'r0000000009', cwd: '/home/ada' },
  );
}

test.each([
  ['runs', ['runs']],
  ['status', ['status', RUN]],
  ['show', ['show', RUN]],
  ['explain', ['explain', RUN, 'B']],
  ['pick', ['pick', RUN, 'B']],
  ['pick', ['pick', RUN, 'none']],
  ['error', ['show', 'r0000000000']],
  ['error', ['explain', RUN, 'Z']],
  ['error', ['runs', '--limit', 'abc']],
  ['error', ['rnus']],
  ['error', ['pick', RUN]],
] as const)('what `%s --json` prints is described by the published schema', async (name, argv) => {
  const { type, out } = await shellWithRun();
  await type(...argv, '--json');
  const document: unknown = JSON.parse(out());
  const validate = validator(name);
  expect([validate(document), validate.errors]).toEqual([true, null]);
});

const AT = Date.UTC(2026, 0, 2, 12);
const by = { id: 5, login: 'mona' };
const retired = {
  runs: 2,
  calls: 40,
  audit: 0,
  answers: 3,
  branches: 4,
  held: 1,
  flows: 2,
  artifacts: { files: 7, bytes: 1_500_000 },
};
const unused = { checkouts: 1, layers: 2, patches: 0, repositories: 0, tools: 3, bytes: 30_000_000, busy: 1 };

/** A machine with something of everything that its commands tell about it. */
async function machine() {
  const store = memoryStore();
  const write = { kind: 'write', what: 'comment', repository: 'acme/shop' } as const;
  const command = { kind: 'command', command: 'comment:1', by, text: '/auto-dev ci', thread: 7 } as const;
  for (const entry of [
    { ...write, thread: 7, outcome: 'done' },
    { ...write, branch: 'auto-dev/7/r1/A', outcome: 'failed', status: 502 },
    { ...command, outcome: { kind: 'done', note: 'CI was started' } },
    { ...command, token: '0123456789ab', outcome: { kind: 'ignored', why: 'no write access' } },
    { kind: 'transition', from: 'coded', to: 'cancelled', cause: 'the label was removed' },
    { kind: 'token', what: 'revoked', token: '0123456789ab', by: null },
  ] as const)
    await store.audit(entry, { at: AT, run: RUN, repositoryId: 42 });
  const price = { input: 3, output: 15 };
  const offers = [
    {
      kind: 'models',
      provider: 'anthropic',
      models: [
        { id: 'claude-sonnet-5', price },
        { id: 'x', price: null },
      ],
    },
    { kind: 'failed', provider: 'openai', why: '401' },
  ] as const;
  return shellOver(
    { store, gateway: { offers: async () => offers } },
    {
      doctor: async () => [
        { name: 'node', state: 'ok', detail: '24.21.0' },
        { name: 'sandbox', state: 'fault', detail: 'no bubblewrap', remedy: 'Install bubblewrap.' },
      ],
      prune: async (dryRun) => (dryRun ? { retired, sizes: { layers: 9 } } : { retired, unused }),
      agents: {
        list: async () => [
          {
            name: 'codex',
            from: 'npm',
            installed: null,
            tested: '0.169.0',
            missingFolder: null,
            protocols: ['openai-responses'],
            experimental: false,
          },
        ],
      },
    },
  );
}

test.each([
  ['doctor', ['doctor']],
  ['models', ['models']],
  ['agents', ['agents']],
  ['audit', ['audit']],
  ['prune', ['prune']],
  ['prune', ['prune', '--dry-run']],
] as const)('what `%s --json` prints about a machine is described, too', async (name, argv) => {
  const { type, out } = await machine();
  await type(...argv, '--json');
  const document: unknown = JSON.parse(out());
  const validate = validator(name);
  expect([validate(document), validate.errors]).toEqual([true, null]);
});

test('the schema refuses what it does not describe', () => {
  expect(validator('pick')({ run: RUN, picked: 'B', branch: null, merge: null, more: 1 })).toBe(false);
  expect(validator('cancel')({ run: RUN })).toBe(false);
  expect(validator('doctor')({ findings: [{ name: 'node', state: 'fine', detail: '' }] })).toBe(false);
  expect(validator('prune')({ dryRun: true })).toBe(false);
  expect(validator('audit')([{ at: 'yesterday', number: 1, entry: { kind: 'write' } }])).toBe(false);
});

test('the document of a run has scores, reasons and what each judge said', async () => {
  const { type, out } = await shellWithRun();
  expect(await type('status', RUN, '--json')).toBe(0);
  const { run } = JSON.parse(out());
  expect(run.candidates.find(({ alias }: { alias: string }) => alias === 'B').scores.because).not.toBe('');
  expect(run.judgement.pairs[0].byJudge[0].because).toBe(JUDGEMENT.pairs[0]?.byJudge[0]?.because);
});
