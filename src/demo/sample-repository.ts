import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { simpleGit } from 'simple-git';
import { stringify } from 'yaml';
import { copySample } from './sample/index.ts';

/** The four contestants of the demo, two families of models; what each will do is in `sample/scripts`. */
export const DEMO_SETTINGS = stringify({
  candidates: 4,
  coders: [
    { agent: 'builtin', model: 'anthropic/scripted-heron', prompt: 'test-first' },
    { agent: 'builtin', model: 'openai/scripted-otter', prompt: 'plain' },
    { agent: 'builtin', model: 'anthropic/scripted-mole', prompt: 'careful' },
    { agent: 'builtin', model: 'openai/scripted-wren', prompt: 'root-cause' },
  ],
  budget: { run: 2, candidate: 0.5 },
});

/** Makes the sample project a git repository of one commit on `main`. */
export async function makeSampleRepository(
  folder: string,
  settings = DEMO_SETTINGS,
  furnish: (folder: string) => Promise<void> = async () => {},
): Promise<void> {
  await copySample(folder);
  await furnish(folder);
  await mkdir(join(folder, '.github'), { recursive: true });
  await writeFile(join(folder, '.github', 'auto-dev.yml'), settings);
  const git = simpleGit(folder);
  await git.init(['--initial-branch=main']);
  await git.add(['--all']);
  await git
    .addConfig('user.name', 'Alice')
    .addConfig('user.email', 'alice@example.com')
    .commit('Tally: totals by category from an expenses file');
}
