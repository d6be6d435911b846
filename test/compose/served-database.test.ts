import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { pruneByHand } from '../../src/compose/maintenance.ts';
import { recordServedDatabase, requireServedDatabase } from '../../src/compose/served-database.ts';
import { parseEnvironment } from '../../src/core/settings/index.ts';
import { retire, type World } from '../../src/runs/index.ts';
import { memoryArtifacts, memoryStore } from '../world/memory-store.ts';
import { githubOrigin } from '../world/origin.ts';
import { partial } from '../world/partial.ts';
import { silent } from '../world/silent-log.ts';

const DAY = 86_400_000;

function operatorOf(data: string, env: Readonly<Record<string, string>> = {}) {
  const parsed = parseEnvironment({ RUNOFF_DATA: data, LOG_LEVEL: 'silent', ...env });
  if (parsed.kind === 'invalid') throw new Error(JSON.stringify(parsed.problems));
  return parsed.operator;
}

test('only the database of the App may prune its data folder', async () => {
  const data = await mkdtemp(join(tmpdir(), 'runoff-served-'));
  const app = operatorOf(data, { DATABASE_URL: 'postgres://runoff:secret@db.test:5432/runoff' });
  const shell = operatorOf(data);
  // Nobody has served here yet.
  await requireServedDatabase(shell);

  await recordServedDatabase(app, silent);
  await expect(pruneByHand(shell, false)).rejects.toMatchObject({
    code: 'ENVIRONMENT_INVALID',
    message: expect.stringMatching(/last used db\.test:5432\/runoff here, and .* the embedded database/),
  });
  await expect(requireServedDatabase(shell)).rejects.not.toThrow('secret');
  await requireServedDatabase(operatorOf(data, { DATABASE_URL: 'postgres://other@db.test:5432/runoff' }));

  // The App was moved back.
  await recordServedDatabase(shell, silent);
  await requireServedDatabase(shell);
  await expect(requireServedDatabase(app)).rejects.toThrow('last used the embedded database');
  await rm(data, { recursive: true });
});

test('machines with one place for artifacts and a database each do not delete what the others need', async () => {
  const artifacts = memoryArtifacts();
  const machine = () => ({
    ...{ store: memoryStore(), artifacts, log: silent },
    engine: partial<World['engine']>({ forget: async () => 0 }),
    clock: { now: () => Date.now() + 2 * DAY, elapsed: () => 0, sleep: async () => {} },
  });
  const [app, other] = [machine(), machine()];
  const patch = await artifacts.put('a patch');
  await app.store.createRun({
    id: 'r0000000001',
    origin: githubOrigin(),
    title: 'x',
    request: { patch },
    at: 2 * DAY + Date.now(),
  });
  const keep = { runs: DAY, ledger: DAY };
  expect(await retire(app, keep)).toMatchObject({ artifacts: { files: 0 } });

  await expect(retire(other, keep)).rejects.toMatchObject({ code: 'ENVIRONMENT_INVALID' });
  expect(await artifacts.get(patch)).toBe('a patch');
  // What would be removed can be counted everywhere.
  await retire(other, keep, true);
});
