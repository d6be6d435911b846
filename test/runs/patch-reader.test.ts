import { expect, test } from 'vitest';
import { Fault } from '../../src/core/model/index.ts';
import { patchReader } from '../../src/runs/context.ts';
import { patchBetween } from '../core/git.ts';
import { memoryArtifacts } from '../world/memory-store.ts';

test('a patch is read once, and again only where reading it failed', async () => {
  const artifacts = memoryArtifacts();
  const { text } = patchBetween({ 'src/a.js': 'one\n' }, { 'src/a.js': 'two\n' });
  const [, old = '', now = ''] = /^index (\w+)\.\.(\w+)/m.exec(text) ?? [];
  const patch = {
    text: await artifacts.put(text),
    raw: await artifacts.put(`:100644 100644 ${old} ${now} M\0src/a.js\0`),
  };
  let reads = 0;
  let damaged = true;
  const read = patchReader({
    get: (ref) => {
      reads += 1;
      return damaged
        ? Promise.reject(new Fault('STORED_DATA_DAMAGED', 'It is damaged.'))
        : artifacts.get(ref);
    },
  });
  await expect(read(patch)).rejects.toMatchObject({ code: 'STORED_DATA_DAMAGED' });
  damaged = false;
  reads = 0;
  const [first, second] = await Promise.all([read(patch), read({ ...patch })]);
  expect(first).toMatchObject({ kind: 'patch', patch: { files: [{ path: 'src/a.js' }] } });
  expect(second).toBe(first);
  expect(await read(patch)).toBe(first);
  expect(reads).toBe(2);
});
