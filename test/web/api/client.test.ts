import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { openRunoff } from '@runoff/client';
import { afterAll, expect, test } from 'vitest';
import { shown } from '../../commands/command-world.ts';
import { RUN } from '../../commands/dialogue-world.ts';
import { apiWorld, expectContract, served } from './api-world.ts';

const ROOT = join(import.meta.dirname, '../../..');
const run = promisify(execFile);

afterAll(expectContract);

test('a person picks through the client, and is told what is wrong', async () => {
  const s = apiWorld();
  await shown(s, 'choice');
  const runoff = openRunoff({ url: 'http://runoff.test/', token: await s.usual, fetch: s.fetch });
  const path = { owner: 'acme', repo: 'lists', id: RUN };
  const { data: run } = await runoff.GET('/api/repos/{owner}/{repo}/runs/{id}', { params: { path } });
  expect(run?.run.candidates.map(({ alias }) => alias)).toEqual(['A', 'B', 'C', 'D']);
  const pick = (candidate: string | null) =>
    runoff.POST('/api/repos/{owner}/{repo}/runs/{id}/pick', { params: { path }, body: { candidate } });
  expect((await pick('D')).error).toMatchObject({ status: 409, title: 'Runoff refused the command' });
  expect((await pick('C')).data).toMatchObject({ outcome: 'done', run: RUN });
  const task = { params: { path: { id: 'acme/lists#7' } }, body: { multiAgent: true, coderCount: 2 } };
  expect((await runoff.POST('/api/tasks/{id}/process', task)).data).toMatchObject({ note: 'started a run' });
});

/** The example of the README as a program, against this API. */
async function example(
  s: ReturnType<typeof apiWorld>,
  story: (node: (token?: string) => Promise<{ stdout: string }>) => Promise<void>,
) {
  const folder = await mkdtemp(join(tmpdir(), 'runoff-client-'));
  const server = await served(s.fetch);
  try {
    const readme = await readFile(join(ROOT, 'packages/client/README.md'), 'utf8');
    const text = /```js\n(.*?)```/s.exec(readme)?.[1] ?? '';
    await writeFile(join(folder, 'example.mjs'), text.replace('delay(5_000)', 'delay(10)'));
    await mkdir(join(folder, 'node_modules/@runoff'), { recursive: true });
    await symlink(join(ROOT, 'packages/client'), join(folder, 'node_modules/@runoff/client'));
    const usual = await s.usual;
    await story((token = usual) => {
      const env = { RUNOFF_URL: server.url, RUNOFF_TOKEN: token };
      return run(process.execPath, [join(folder, 'example.mjs')], { env, cwd: folder });
    });
  } finally {
    server.close();
    await rm(folder, { recursive: true, force: true });
  }
}

test('the example of its README starts a run and reads it', async () => {
  const s = apiWorld();
  await example(s, async (node) => {
    const first = await node();
    expect(first.stdout).toMatch(/^r\d{10} is queued\n$/);
    expect((await node()).stdout).toBe(first.stdout);
    expect(s.engine.started).toHaveLength(1);
    await expect(node('x')).rejects.toThrow(/Sign in with a token\. This token does not exist/);
  });
});

test('the example waits for a command that is accepted and not applied yet', async () => {
  const s = apiWorld();
  const { command } = s.store;
  let early = 2;
  s.store.command = async (id) => {
    const found = await command(id);
    if (!found?.outcome || early === 0) return found;
    early -= 1;
    const { outcome: _outcome, runId: _runId, ...pending } = found;
    return pending;
  };
  await example(s, async (node) => {
    expect((await node()).stdout).toMatch(/^r\d{10} is queued\n$/);
    expect(early).toBe(0);
  });
});
