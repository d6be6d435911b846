import { appendFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Journal } from '../../../src/adapters/probes/inside/journal.ts';

describe('what is unfinished in a journal', () => {
  let parent: string;
  let journal: Journal;
  beforeEach(async () => {
    parent = await mkdtemp(join(tmpdir(), 'runoff-journal-'));
    journal = await Journal.open(parent);
  });
  afterEach(() => rm(parent, { recursive: true, force: true }));

  const add = (...lines: readonly unknown[]) =>
    addText(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  const addText = (text: string) => appendFile(join(journal.folder, '1.jsonl'), text);
  const keys = async () => (await journal.unfinished()).map(({ key }) => key);

  test('is known while the file grows, also if a line was only half written', async () => {
    await add(['b', 'one', 1, 'check'], ['e', 'one', 'done', '']);
    await addText('["b","two",1,"ch');
    expect(await keys()).toEqual([]);
    await addText('eck"]\n');
    expect(await keys()).toEqual(['two']);
    await add(['e', 'two', 'done', ''], ['b', 'three', 1, 'check']);
    expect(await keys()).toEqual(['three']);
    expect(await keys()).toEqual(['three']);
  });

  test('is not what ended in a part that was too long to be read', async () => {
    await add(['b', 'one', 1, 'check']);
    expect(await keys()).toEqual(['one']);
    const much = Array.from({ length: 300 }, (_, i) => ['c', `${i}`, 'x'.repeat(1_000)]);
    await add(['e', 'one', 'done', ''], ...much, ['b', 'two', 1, 'check']);
    expect(await keys()).toEqual(['two']);
  });
});
