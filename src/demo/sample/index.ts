import { cp, mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { simpleGit } from 'simple-git';
import { stringify } from 'yaml';
import type { WrittenTests } from '../../core/independent-tests/index.ts';
import type { Brief } from '../../core/model/index.ts';
import type { Scripts } from '../scripted-models/index.ts';
import { HERON, MOLE, OTTER, say, WREN } from './contestants.ts';

/** The sample project: plain files, without git and without settings of ours. */
const SAMPLE_FILES = fileURLToPath(new URL('files', import.meta.url));

/** Copies the sample project into a folder, which is made when it is missing. */
export async function copySample(to: string): Promise<void> {
  await cp(SAMPLE_FILES, to, { recursive: true });
  // Without its dot in the package: npm packs no `.gitignore`, and would leave out what it names.
  await rename(join(to, 'gitignore'), join(to, '.gitignore'));
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

/** What the scripted planner makes of the issue. */
const BRIEF: Brief = {
  goal: 'Quoted CSV fields are read as RFC 4180 says, so that notes with commas, quotes and line breaks import.',
  definitionOfDone: [
    'A comma inside a quoted field belongs to the field.',
    'Two quotes inside a quoted field are read as one quote.',
    'A line break inside a quoted field belongs to the field.',
    'Files without quotes are read as before; a row with a wrong number of cells is still refused.',
  ],
  plan: [
    'Write failing tests for the three cases of the issue.',
    'Replace the splitting by lines and commas in src/csv.js with a parser that knows when it is inside quotes.',
    'Run the whole test suite and the build.',
  ],
  files: ['src/csv.js', 'test/csv.test.js'],
  assumptions: ['Spaces around unquoted cells are still trimmed; spaces inside quotes are kept.'],
  questions: [],
};

const file = (title: string, input: string, rows: string): string =>
  `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseCsv } from '../src/csv.js';

test('${title}', () => {
  assert.deepEqual(parseCsv(${input}), ${rows});
});
`;

/** What a scripted writer makes of the issue before it has seen a candidate. */
const INDEPENDENT_TESTS: WrittenTests = {
  tests: [
    {
      title: 'a comma in a quoted field',
      quote: 'a comma inside a quoted field belongs to the field',
      why: 'The quoted field is one cell, with its comma.',
      now: 'fails',
      file: file(
        'a comma in a quoted field',
        String.raw`'a,b\n"Lamp, bedroom",1\n'`,
        `[['a', 'b'], ['Lamp, bedroom', '1']]`,
      ),
    },
    {
      title: 'a doubled quote',
      quote: 'a quote inside a quoted field is written twice',
      why: 'Two quotes stand for one.',
      now: 'fails',
      file: file(
        'a doubled quote',
        String.raw`'a,b\n"""Left Hand"", used",1\n'`,
        `[['a', 'b'], ['"Left Hand", used', '1']]`,
      ),
    },
    {
      title: 'a line break in a quoted field',
      quote: 'a line break inside a quoted field belongs to the field too',
      why: 'The row goes on behind the line break.',
      now: 'fails',
      file: file(
        'a line break in a quoted field',
        String.raw`'a,b\n"for Ada\n(birthday)",1\n'`,
        String.raw`[['a', 'b'], ['for Ada\n(birthday)', '1']]`,
      ),
    },
    {
      title: 'a file without quotes',
      quote: 'Files without quotes should go on working as they do now.',
      why: 'Nothing about it may change.',
      now: 'passes',
      file: file('a file without quotes', String.raw`'a,b\n1, 2\n'`, `[['a', 'b'], ['1', '2']]`),
    },
  ],
  note: '',
};

/** What every one of them answers when it is asked as planner, or as writer of tests. */
const ANSWERS = {
  structured: BRIEF,
  answers: [{ holds: 'You write tests for a software task', structured: INDEPENDENT_TESTS }],
} as const;

/** How the scripted models behave on the sample's issue, by model name. Each of them can also be the planner. */
export const SCRIPTS = {
  'scripted-heron': { turns: HERON, ...ANSWERS },
  'scripted-otter': { turns: OTTER, ...ANSWERS },
  'scripted-mole': { turns: MOLE, ...ANSWERS },
  'scripted-wren': { turns: WREN, ...ANSWERS },
  /** Never answers, for limits of time. */
  'scripted-stork': { turns: [{ kind: 'hang' }], afterwards: 'repeat', ...ANSWERS },
  /** Changes nothing. */
  'scripted-idle': { turns: [say('There is nothing to do here.')], ...ANSWERS },
} as const satisfies Scripts;

/** The four contestants of the demo as `provider/model`, over both protocols; the first is also the planner. */
export const SAMPLE_MODELS = [
  'anthropic/scripted-heron',
  'openai/scripted-otter',
  'anthropic/scripted-mole',
  'openai/scripted-wren',
] as const;

/** US dollars for a million tokens: those of a model at a middling price, so that the demo shows costs like real ones. */
const PRICE = { input: 2, output: 10, cacheRead: 0.2, cacheWrite: 2.5 } as const;

/** For the gateway: every scripted model has the same price, with either provider. */
export const SCRIPTED_PRICES: Readonly<Record<string, typeof PRICE>> = Object.fromEntries(
  Object.keys(SCRIPTS).flatMap((name) => [
    [`anthropic/${name}`, PRICE],
    [`openai/${name}`, PRICE],
  ]),
);
