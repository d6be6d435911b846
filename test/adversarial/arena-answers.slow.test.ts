import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import type { BaseResult, Sample } from '../../src/core/arena/index.ts';
import { atTerminal } from '../world/terminal.ts';

const BASE: Readonly<Record<string, string>> = {
  'package.json': '{\n  "type": "module",\n  "scripts": { "test": "node --test" }\n}\n',
  'list.js': "export function list(items) {\n  return items.join(', ');\n}\n",
  'test/list.test.js': `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { list } from '../list.js';
test('items are joined', () => assert.equal(list(['a', 'b']), 'a, b'));
test('one item stands alone', () => assert.equal(list(['a']), 'a'));
`,
};
const HIDDEN = `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { list } from '../list.js';
test('an empty list says so', () => assert.equal(list([]), 'nothing to do'));
test('items are still joined', () => assert.equal(list(['a', 'b']), 'a, b'));
`;

const change = (path: string, before: readonly string[], after: readonly string[]): string =>
  [
    `--- ${before.length === 0 ? '/dev/null' : `a/${path}`}`,
    `+++ ${after.length === 0 ? '/dev/null' : `b/${path}`}`,
    `@@ -${Math.min(1, before.length)},${before.length} +${Math.min(1, after.length)},${after.length} @@`,
    ...before.map((line) => `-${line}`),
    ...after.map((line) => `+${line}`),
    '',
  ].join('\n');
const linesOf = (path: string): readonly string[] => (BASE[path] ?? '').trimEnd().split('\n');
const rewrite = (path: string, after: readonly string[]): string => change(path, linesOf(path), after);

/** What a model could answer instead of a solution, and one that is none of that. */
const ANSWERS: Readonly<Record<string, string>> = {
  'PROMPT-honest': rewrite('list.js', [
    'export function list(items) {',
    "  return items.length === 0 ? 'nothing to do' : items.join(', ');",
    '}',
  ]),
  'PROMPT-script': rewrite('package.json', [
    '{',
    '  "type": "module",',
    '  "scripts": { "test": "true" }',
    '}',
  ]),
  'PROMPT-exit': rewrite('list.js', ['process.exit(0);', 'export const list = () => "";']),
  'PROMPT-delete': change('test/list.test.js', linesOf('test/list.test.js'), []),
  'PROMPT-folder': change('test/empty.test.js/x.js', [], ['export const x = 1;']),
  'PROMPT-own': change(
    'test/empty.test.js',
    [],
    ["import { test } from 'node:test';", "test('fine', () => {});"],
  ),
  'PROMPT-link': [
    'diff --git a/test/empty.test.js b/test/empty.test.js',
    'new file mode 120000',
    '--- /dev/null',
    '+++ b/test/empty.test.js',
    '@@ -0,0 +1 @@',
    '+/etc/passwd',
    '\\ No newline at end of file',
    '',
  ].join('\n'),
  'PROMPT-outside': change('../../outside.js', [], ['export const x = 1;']),
  'PROMPT-git': change('.git/config', [], ['[core]', '\tfsmonitor = touch /tmp/broken']),
};

test('no answer passes hidden tests by what it does to tests, their settings or the repository', async () => {
  const cases = Object.entries(ANSWERS).map(([holds, text]) => ({
    holds,
    turns: [{ kind: 'text', text }] as const,
  }));
  const scripts = { 'scripted-heron': { turns: [{ kind: 'text', text: 'Nothing.' }] as const, cases } };
  await atTerminal({ scripts }, async (me) => {
    const folder = join(me.home, 'contest');
    for (const [path, text] of [...Object.entries(BASE), ['../hidden/test/empty.test.js', HIDDEN] as const]) {
      const file = join(folder, 'template', path);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, text);
    }
    const names = Object.keys(ANSWERS).map((name) => name.replace('PROMPT-', ''));
    await writeFile(
      join(folder, 'contest.yml'),
      `version: 1
name: hostile
prompts: { ${names.map((name) => `${name}: PROMPT-${name}`).join(', ')} }
contestants: { prompts: [${names.join(', ')}], models: [anthropic/scripted-heron] }
tasks:
  - id: empty-list
    kind: repo
    base: { template: template }
    statement: list([]) must say "nothing to do".
    verify: npm test
    hiddenTests: hidden
`,
    );
    expect(await me.runoff('arena', 'gen', 'hostile', '--dir', folder)).toMatchObject({ code: 0 });
    const samples = await recordsOf<Sample>(folder, 'samples.jsonl');
    const of = (name: string) => samples.find(({ prompt }) => prompt === name);
    expect(samples.filter(({ verification }) => verification?.solved).map(({ prompt }) => prompt)).toEqual([
      'honest',
    ]);
    expect(of('honest')?.verification).toMatchObject({ tests: { passed: 2 }, hiddenTests: { passed: 4 } });
    for (const name of ['link', 'outside', 'git'])
      expect(of(name)?.verification, name).toMatchObject({ applied: false, tests: null, hiddenTests: null });
    expect(of('exit')?.verification).toMatchObject({ solved: false, why: expect.stringMatching(/test/) });
    // Deleted tests are missed, and a program that ends itself has run none.
    for (const name of ['delete', 'exit'])
      expect(of(name)?.verification?.tests, name).toMatchObject({ ok: false });
    for (const name of ['script', 'delete', 'folder', 'own'])
      expect(of(name)?.verification?.hiddenTests, name).toMatchObject({ ok: false });
  });
});

const recordsOf = async <T>(folder: string, file: string): Promise<readonly T[]> =>
  (await readFile(join(folder, file), 'utf8'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as T);

interface HostileContest {
  /** What models answer, by name. */
  readonly answers: Readonly<Record<string, string>>;
  /** Of the contest's folder, by path. */
  readonly files: Readonly<Record<string, string>>;
  /** YAML, one task a line. */
  readonly tasks: readonly string[];
}

interface PlayedContest {
  /** Answers that solved a task, as `task answer`. */
  readonly solved: readonly string[];
  readonly whyOf: (task: string, prompt: string) => string | null | undefined;
  readonly bases: readonly BaseResult[];
}

async function played({ answers, files, tasks }: HostileContest): Promise<PlayedContest> {
  const cases = Object.entries(answers).map(([name, text]) => ({
    holds: `PROMPT-${name}.`,
    turns: [{ kind: 'text', text }] as const,
  }));
  const scripts = { 'scripted-heron': { turns: [{ kind: 'text', text: 'Nothing.' }] as const, cases } };
  let shown: PlayedContest | null = null;
  await atTerminal({ scripts }, async (me) => {
    const folder = join(me.home, 'contest');
    const names = Object.keys(answers);
    const settings = [
      'version: 1',
      'name: hostile',
      `prompts: { ${names.map((name) => `${name}: PROMPT-${name}.`).join(', ')} }`,
      `contestants: { prompts: [${names.join(', ')}], models: [anthropic/scripted-heron] }`,
      'tasks:',
      ...tasks.map((task) => `  - { kind: repo, base: { template: template }, statement: s, ${task} }`),
    ];
    for (const [path, text] of Object.entries({ ...files, 'contest.yml': `${settings.join('\n')}\n` })) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), text);
    }
    expect(await me.runoff('arena', 'gen', 'hostile', '--dir', folder)).toMatchObject({ code: 0 });
    const samples = await recordsOf<Sample>(folder, 'samples.jsonl');
    shown = {
      solved: samples
        .filter(({ verification }) => verification?.solved)
        .map(({ task, prompt }) => `${task} ${prompt}`)
        .toSorted(),
      whyOf: (task: string, prompt: string) =>
        samples.find((one) => one.task === task && one.prompt === prompt)?.verification?.why,
      bases: await recordsOf<BaseResult>(folder, 'bases.jsonl'),
    };
  });
  if (shown === null) throw new Error('The contest was not played.');
  return shown as PlayedContest;
}

const below = (folder: string, files: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(files).map(([path, text]) => [`${folder}/${path}`, text]));
const HONEST = ANSWERS['PROMPT-honest'] ?? '';
const EXIT = change('list.js', linesOf('list.js'), ['process.exit(0);', ...linesOf('list.js')]);

const RED = `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { list } from '../list.js';
test('items are joined', () => assert.equal(list(['a', 'b']), 'a, b'));
test('an empty list says so', () => assert.equal(list([]), 'nothing to do'));
`;
const redLines = RED.trimEnd().split('\n');
const redTests = (after: readonly string[]) => change('test/list.test.js', redLines, after);

test('without hidden tests, no answer solves a task by what it does to existing tests and check scripts', async () => {
  const { solved, whyOf } = await played({
    answers: {
      honest: HONEST + redTests([...redLines, "test('one', () => assert.equal(list(['a']), 'a'));"]),
      exit: EXIT,
      delete: redTests([]),
      emptied: redTests([
        redLines[1] ?? '',
        "test('items are joined', () => {});",
        "test('an empty list says so', () => {});",
      ]),
      skip: redTests(redLines.map((line) => line.replace("test('an empty", "test.skip('an empty"))),
      check: change('check.sh', ['node --test'], ['exit 0']),
      breaks: rewrite('list.js', ['export function list() {', "  return 'nothing to do';", '}']),
    },
    files: below('template', { ...BASE, 'test/list.test.js': RED, 'check.sh': 'node --test\n' }),
    tasks: ['id: npm, verify: npm test', 'id: sh, verify: sh check.sh'],
  });
  expect(solved).toEqual(['npm honest', 'sh honest']);
  expect(whyOf('sh', 'check')).toContain('how the task is verified');
  expect(whyOf('npm', 'emptied')).toContain('existing tests as they are on the base');
});

const BUILD = "console.log('built');\n";
const buildDoing = (...lines: readonly string[]) =>
  change('build.mjs', [BUILD.trimEnd()], ["import * as fs from 'node:fs';", ...lines]);

test('a build can neither replace hidden tests nor put links in their place', async () => {
  const fake =
    "import { test } from 'node:test'; test('an empty list says so', () => {}); test('items are still joined', () => {});";
  const { solved, bases } = await played({
    answers: {
      honest: HONEST,
      replace: buildDoing(`fs.writeFileSync('test/empty.test.js', ${JSON.stringify(fake)});`),
      link: buildDoing(
        `fs.writeFileSync('fake.js', ${JSON.stringify(fake)});`,
        "fs.symlinkSync('../fake.js', 'test/empty.test.js');",
      ),
      exit: EXIT,
    },
    files: {
      ...below('template', { ...BASE, 'build.mjs': BUILD }),
      'hidden/test/empty.test.js': HIDDEN,
      'solution.diff': HONEST,
    },
    tasks: [
      'id: new, build: node build.mjs, verify: npm test, hiddenTests: hidden, hiddenVerify: node --test test/empty.test.js',
      'id: proved, build: node build.mjs, verify: npm test, hiddenTests: hidden, reference: solution.diff',
    ],
  });
  expect(solved).toEqual(['new honest', 'proved honest']);
  expect(bases.map(({ task, rated }) => [task, rated])).toEqual([
    ['new', true],
    ['proved', true],
  ]);
});

test('hidden tests that are compiled are built, an answer that breaks other tests does not solve, and broken tasks are said', async () => {
  const files = {
    ...below('template', {
      ...BASE,
      'build.mjs': "import { cpSync } from 'node:fs';\ncpSync('src', 'dist', { recursive: true });\n",
      'src/list.js': BASE['list.js'] ?? '',
      'src/test/list.test.js': BASE['test/list.test.js'] ?? '',
    }),
    'hidden/src/test/empty.test.js': HIDDEN,
    'wrong.diff': change('other.js', [], ['export const x = 1;']),
  };
  const built = (diff: string) => diff.replaceAll('/list.js', '/src/list.js');
  const compiled = 'build: node build.mjs, verify: node --test dist/test/list.test.js, hiddenTests: hidden';
  const { solved, whyOf, bases } = await played({
    answers: {
      honest: built(HONEST),
      breaks: built(
        rewrite('list.js', [
          'export function list(items) {',
          "  return items.length === 0 ? 'nothing to do' : items.length === 1 ? '' : items.join(', ');",
          '}',
        ]),
      ),
    },
    files,
    tasks: [
      `id: compiled, ${compiled}, hiddenVerify: node --test dist/test/empty.test.js`,
      'id: typo, verify: nod --test',
      `id: wrong, ${compiled}, hiddenVerify: node --test dist/test/empty.test.js, reference: wrong.diff`,
    ],
  });
  expect(solved).toEqual(['compiled honest']);
  expect(whyOf('compiled', 'breaks')).toContain('one item stands alone');
  expect(bases.map(({ task, rated, why }) => [task, rated, why])).toEqual([
    ['compiled', true, null],
    ['typo', false, expect.stringContaining('cannot be started')],
    ['wrong', false, expect.stringContaining('reference does not solve it')],
  ]);
});
