import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { openRuntime } from '../../src/compose/runtime.ts';
import { parseEnvironment } from '../../src/core/settings/index.ts';
import { freshDatabase } from '../world/database.ts';

const undo: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).toReversed()) await step();
});

/** The address that texts on GitHub link to, with these settings. */
async function linkedAddress(env: Readonly<Record<string, string>>): Promise<string | undefined> {
  const database = await freshDatabase();
  undo.push(() => database.drop());
  const data = await mkdtemp(join(tmpdir(), 'runoff-links-'));
  undo.push(() => rm(data, { recursive: true, force: true, maxRetries: 5 }));
  const given = { RUNOFF_DATA: data, LOG_LEVEL: 'silent', DATABASE_URL: database.url, ...env };
  const parsed = parseEnvironment(given);
  if (parsed.kind === 'invalid') throw new Error(JSON.stringify(parsed.problems));
  const runtime = await openRuntime(parsed.operator, { role: 'reader' });
  undo.push(runtime.close);
  return runtime.world.publicUrl;
}

test('texts link to pages only if somebody can sign in to them', async () => {
  const PUBLIC_URL = 'https://runoff.example.com';
  expect(await linkedAddress({ PUBLIC_URL })).toBeUndefined();
  const signIn = { GITHUB_CLIENT_ID: 'Iv1.0123456789abcdef', GITHUB_CLIENT_SECRET: '0'.repeat(40) };
  expect(await linkedAddress({ PUBLIC_URL, ...signIn })).toBe(PUBLIC_URL);
});
