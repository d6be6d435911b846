import { cp, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { simpleGit } from 'simple-git';
import { stringify } from 'yaml';

export { SAMPLE_MODELS, SCRIPTED_PRICES, SCRIPTS } from './scripts.ts';

/** The sample project: plain files, without git and without settings of ours. */
export const SAMPLE_FILES = fileURLToPath(new URL('files', import.meta.url));

/** Copies the sample project into a folder, which is made when it is missing. */
export async function copySample(to: string): Promise<void> {
  await cp(SAMPLE_FILES, to, { recursive: true });
}

/** An issue of the sample project, as one of its users would write it. */
export const ISSUE = {
  title: 'Notes with commas or quotes break the import',
  body: `I export my expenses from my bank, and since I started to use notes, tally does not read the file any more:

\`\`\`
date,category,amount,note
2024-03-03,household,129.00,"Lamp, bedroom"
2024-03-09,books,18.50,"""The Left Hand of Darkness"", used"
2024-03-15,gifts,45.00,"for Ada
(birthday)"
\`\`\`

\`\`\`
$ tally bank.csv
tally: row 2 has 5 cells, expected 4
\`\`\`

As far as I understand RFC 4180, all three are fine when the field is in quotes:

- a comma inside a quoted field belongs to the field,
- a quote inside a quoted field is written twice (\`""\`), and means one quote,
- a line break inside a quoted field belongs to the field too.

I would expect three expenses with the notes \`Lamp, bedroom\`, \`"The Left Hand of Darkness", used\` and the one with the line break. Files without quotes should go on working as they do now.
`,
} as const;

/** The four contestants of the demo, two families of models; what each will do is in `sample/scripts`. */
const DEMO_SETTINGS = stringify({
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
