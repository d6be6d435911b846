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
  const ajv = new Ajv2020({ strict: false });
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
    { store, artifacts: memoryArtifacts(), clock: { now: () => 9 } },
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
] as const)('what `%s --json` prints is described by the published schema', async (name, argv) => {
  const { type, out } = await shellWithRun();
  await type(...argv, '--json');
  const document: unknown = JSON.parse(out());
  const validate = validator(name);
  expect([validate(document), validate.errors]).toEqual([true, null]);
});

test('the schema refuses what it does not describe', () => {
  expect(validator('pick')({ run: RUN, picked: 'B', branch: null, merge: null, more: 1 })).toBe(false);
  expect(validator('cancel')({ run: RUN })).toBe(false);
});

test('the document of a run has scores, reasons and what each judge said', async () => {
  const { type, out } = await shellWithRun();
  expect(await type('status', RUN, '--json')).toBe(0);
  const { run } = JSON.parse(out());
  expect(run.candidates.find(({ alias }: { alias: string }) => alias === 'B').scores.because).not.toBe('');
  expect(run.judgement.pairs[0].byJudge[0].because).toBe(JUDGEMENT.pairs[0]?.byJudge[0]?.because);
});
