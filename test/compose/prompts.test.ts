import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { promptsOf } from '../../src/compose/data-folder.ts';
import type { Operator } from '../../src/core/settings/index.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'runoff-prompts-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** The prompts of an operator who put these files in the place of ours. */
async function prompts(files: Readonly<Record<string, string>> = {}) {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
  return promptsOf({ prompts: folder } as Operator);
}

describe('personas', () => {
  test('are five by default, each with instructions for specs and for diffs', async () => {
    const { personas } = await prompts();
    expect([...personas.keys()]).toEqual(['oncall', 'performance', 'product', 'qa', 'security']);
    for (const { spec, code } of personas.values()) {
      expect(spec).not.toBe(code);
      expect(Math.min(spec.length, code.length)).toBeGreaterThan(200);
      expect(spec + code).not.toMatch(/^## /m);
    }
  });

  test('can be replaced or added by files of the operator', async () => {
    const { personas } = await prompts({
      'personas/qa.md': '## Spec\n\nOurs.\n\n## Code\n\nOurs too.',
      'personas/data.md': 'Migrations.',
      'personas/readme.txt': 'no prompt',
    });
    expect(personas.size).toBe(6);
    expect(personas.get('qa')).toEqual({ spec: 'Ours.', code: 'Ours too.' });
    expect(personas.get('data')).toEqual({ spec: 'Migrations.', code: 'Migrations.' });
  });

  test('are a fault of the environment if they have an invalid name or no text', async () => {
    await expect(prompts({ 'personas/Data Team.md': 'x' })).rejects.toMatchObject({
      code: 'ENVIRONMENT_INVALID',
      message: expect.stringContaining('"Data Team"'),
    });
    await rm(join(folder, 'personas'), { recursive: true });
    await expect(prompts({ 'personas/data.md': '\n' })).rejects.toMatchObject({
      code: 'ENVIRONMENT_INVALID',
      message: 'The persona data in RUNOFF_PROMPTS is empty.',
    });
  });
});
