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

test('the example of its README starts a run and reads it', async () => {
  const s = apiWorld();
  const folder = await mkdtemp(join(tmpdir(), 'runoff-client-'));
  const server = await served(s.fetch);
  try {
    const readme = await readFile(join(ROOT, 'packages/client/README.md'), 'utf8');
    await writeFile(join(folder, 'example.mjs'), /```js\n(.*?)```/s.exec(readme)?.[1] ?? '');
    await mkdir(join(folder, 'node_modules/@runoff'), { recursive: true });
    await symlink(join(ROOT, 'packages/client'), join(folder, 'node_modules/@runoff/client'));
    const env = { RUNOFF_URL: server.url, RUNOFF_TOKEN: await s.usual };
    const node = (): Promise<{ stdout: string }> =>
      run(process.execPath, [join(folder, 'example.mjs')], { env, cwd: folder });
    const first = await node();
    expect(first.stdout).toMatch(/^r\d{10} is queued\n$/);
    expect((await node()).stdout).toBe(first.stdout);
    expect(s.engine.started).toHaveLength(1);
    await expect(
      run(process.execPath, [join(folder, 'example.mjs')], {
        env: { ...env, RUNOFF_TOKEN: 'x' },
        cwd: folder,
      }),
    ).rejects.toThrow(/Sign in with a token\. This token does not exist/);
  } finally {
    server.close();
    await rm(folder, { recursive: true, force: true });
  }
});
