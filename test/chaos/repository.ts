import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { simpleGit } from 'simple-git';
import { stringify } from 'yaml';
import type { Brief } from '../../src/core/model/index.ts';
import type { Scripts, Turn } from '../../src/demo/scripted-models/index.ts';

/** A repository whose tests take as long as Node takes to start, so that what is left is Runoff's own work. */
export async function makeTinyRepository(folder: string): Promise<void> {
  const files = {
    'package.json': JSON.stringify({ name: 'tiny', type: 'module', scripts: { test: 'node --test' } }),
    'add.js': 'export const add = (a, b) => a - b;\n',
    'test/add.test.js': [
      "import assert from 'node:assert/strict';",
      "import { test } from 'node:test';",
      "import { add } from '../add.js';",
      "test('adds nothing', () => assert.equal(add(2, 0), 2));",
      '',
    ].join('\n'),
    '.gitignore': 'node_modules\n',
    '.github/auto-dev.yml': SETTINGS,
  };
  for (const [path, text] of Object.entries(files)) {
    await mkdir(join(folder, path, '..'), { recursive: true });
    await writeFile(join(folder, path), text);
  }
  const git = simpleGit(folder);
  await git.init(['--initial-branch=main']);
  await git.add(['--all']);
  await git.addConfig('user.name', 'Alice').addConfig('user.email', 'alice@example.com').commit('Tiny');
}

/** Reaches for nothing. It names npm, so that Runoff asks this machine's npm for its registry; packages and HOME get a layer. */
const SETUP = [
  'npm --version',
  'mkdir -p node_modules/tiny ~/.cache/tiny',
  'echo "export const zero = 0;" > node_modules/tiny/index.js',
  'for n in 1 2 3 4 5 6 7 8 9; do echo $n > ~/.cache/tiny/$n; done',
].join(' && ');

const SETTINGS = stringify({
  candidates: 2,
  coders: [
    { agent: 'builtin', model: 'anthropic/scripted-heron', prompt: 'plain' },
    { agent: 'builtin', model: 'anthropic/scripted-wren', prompt: 'plain' },
  ],
  evaluator: ['evidence'],
  checks: { setup: SETUP, build: 'true', test: 'node --test' },
  // A call that a kill cuts off is booked at the most that it can have cost, and there are many.
  budget: { run: 10, candidate: 5 },
});

const BRIEF: Brief = {
  goal: 'add() adds.',
  definitionOfDone: ['add(1, 2) is 3.'],
  plan: ['Mend add.js.'],
  files: ['add.js'],
  assumptions: [],
  questions: [],
};

const bash = (command: string): Turn => ({ kind: 'call', text: '', tool: 'bash', input: { command } });
const write = (path: string, content: string): Turn => ({
  kind: 'call',
  text: '',
  tool: 'write',
  input: { path, content },
});
const say = (text: string): Turn => ({ kind: 'text', text });

const NEW_TEST = [
  "import assert from 'node:assert/strict';",
  "import { test } from 'node:test';",
  "import { add } from '../add.js';",
  "test('adds', () => assert.equal(add(1, 2), 3));",
  '',
].join('\n');

const ANSWERS = { structured: BRIEF } as const;

/** One that mends it with a test, and one that breaks what there is. */
export const TINY_SCRIPTS: Scripts = {
  'scripted-heron': {
    turns: [
      bash('cat add.js'),
      write('test/more.test.js', NEW_TEST),
      write('add.js', 'export const add = (a, b) => a + b;\n'),
      say('It adds now.'),
    ],
    ...ANSWERS,
  },
  'scripted-wren': {
    turns: [bash('cat add.js'), write('add.js', 'export const add = (a, b) => a * b;\n'), say('Done.')],
    ...ANSWERS,
  },
};

/** No two alike, so that each call to a model can be told from those of other runs. */
export const issueNumbered = (n: number) => ({
  title: `add() is wrong, report ${n} of many`,
  body: `\`add(1, 2)\` is -1. I would expect 3. This is report ${n}.`,
});
