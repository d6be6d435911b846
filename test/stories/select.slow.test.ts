import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { simpleGit } from 'simple-git';
import { expect, test } from 'vitest';
import type { SelectAnswer } from '../../src/core/ranking/index.ts';
import { SCRIPTS } from '../../src/demo/sample/index.ts';
import { atTerminal, type Terminal } from '../world/terminal.ts';

const ISSUE = `\`shorten\` cuts words in the middle

\`shorten('one two three', 9)\` should return \`'one two'\`: whole words only. A text that fits stays as it is.
`;
const HEAD = '/** The start of a text. */\nexport function shorten(text, most) {\n';
const code = (body: string) => `${HEAD}${body}}\n`;
const BEFORE = code('  return text.slice(0, most);\n');
const RIGHT = code(
  "  if (text.length <= most) return text;\n  return text.slice(0, text.lastIndexOf(' ', most));\n",
);
/** The same behaviour in other words. */
const RIGHT_TOO = code(
  "  const fits = text.length <= most;\n  const end = fits ? text.length : text.lastIndexOf(' ', most);\n  return text.slice(0, end);\n",
);
/** Passes what the base tests. */
const WRONG = code('  return text.slice(0, most).trim();\n');
const TESTS = `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shorten } from '../src/shorten.js';

test('a text that fits', () => {
  assert.equal(shorten('one two', 20), 'one two');
});
`;

type Files = Readonly<Record<string, string>>;

async function put(folder: string, files: Files): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(join(folder, path, '..'), { recursive: true });
    await writeFile(join(folder, path), text);
  }
}

/** A repository, and what each candidate changes in it as a patch. */
async function prepared(me: Terminal, candidates: Readonly<Record<string, Files>>) {
  const repoDir = join(me.home, 'words');
  await put(repoDir, {
    'package.json': '{ "name": "words", "type": "module" }\n',
    'src/shorten.js': BEFORE,
    'test/shorten.test.js': TESTS,
  });
  const git = simpleGit(repoDir);
  await git.init(['-q', '-b', 'main']);
  await git.addConfig('user.name', 'me').addConfig('user.email', 'me@example.invalid');
  await git.add('-A').commit('base');
  const patches: { id: string; patch: string }[] = [];
  for (const [id, files] of Object.entries(candidates)) {
    await put(repoDir, files);
    patches.push({ id, patch: await git.diff() });
    await git.checkout(['.']);
  }
  const request = { id: 'words', issue: ISSUE, repoDir, testCommand: 'node --test', candidates: patches };
  return { request, patches };
}

const answersIn = (out: string): ReadonlyMap<unknown, SelectAnswer> =>
  new Map(
    out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as SelectAnswer)
      .map((answer) => [answer.id, answer]),
  );

test('given patches are executed in sandboxes, and the correct one is picked whatever its name', () =>
  atTerminal({}, async (me) => {
    const { request, patches } = await prepared(me, {
      right: { 'src/shorten.js': RIGHT },
      wrong: { 'src/shorten.js': WRONG },
      tampers: { 'src/shorten.js': WRONG, 'test/shorten.test.js': TESTS.replace('test(', 'test.skip(') },
      nothing: {},
    });
    const prose = [{ id: 'prose', patch: 'I would use lastIndexOf.' }];
    const renamed = patches.toReversed().map(({ id, patch }) => ({ id: `x-${id}`, patch }));
    const stored = patches.map(({ id, patch }) => ({ id, patch, signals: { applied: id !== 'wrong' } }));
    const lines = [
      JSON.stringify(request),
      'no JSON at all',
      JSON.stringify({ ...request, id: 'again', candidates: renamed }),
      JSON.stringify({ id: 'stored', candidates: stored }),
      JSON.stringify({ ...request, id: 'nowhere', repoDir: join(me.home, 'nowhere') }),
      JSON.stringify({ ...request, id: 'untested', testCommand: null }),
      JSON.stringify({ ...request, id: 'no-patch', candidates: prose }),
      JSON.stringify({ ...request, id: 'misspelt', testCommand: 'nodee --test' }),
    ];
    const ended = await me.pipe(`${lines.join('\n')}\n`, 'select', '--jobs', '1');
    const answers = answersIn(ended.out);

    const found = answers.get('words');
    expect(found).toMatchObject({ pick: 'right', decidedBy: 'independent' });
    expect(found?.confidence).toBeGreaterThan(0.5);
    expect(found?.ranking.map(({ id }) => id).slice(0, 2)).toEqual(['right', 'wrong']);
    expect(found?.ranking.find(({ id }) => id === 'tampers')?.because).toContain('untampered');
    const again = answers.get('again');
    expect(again).toMatchObject({ pick: 'x-right', confidence: found?.confidence });
    expect(again?.ranking.map(({ id }) => id)).toEqual(found?.ranking.map(({ id }) => `x-${id}`));
    expect(answers.get('stored')?.pick).not.toBe('wrong');
    expect(answers.get(null)).toMatchObject({ line: 2, error: expect.stringMatching(/JSON/) });
    expect(answers.get('nowhere')).toMatchObject({
      line: 5,
      error: expect.stringMatching(/^There is no folder .*nowhere/),
    });
    expect(answers.get('misspelt')).toMatchObject({
      line: 8,
      error: expect.stringMatching(
        /^The test command `nodee --test` failed on the base commit \(exit code 127\): /,
      ),
    });
    expect(answers.get('no-patch')?.because).toBe(
      'The candidate failed the gate `collected`: the text is no patch that git can read',
    );
    expect(answers.get('untested')?.because).toContain('No test of the repository was run');
    expect(ended.err).toContain('Request "untested": examining every candidate without running tests, ');
    expect(found?.because).not.toContain('No test of the repository was run');
    // Sentences name candidates as the request does.
    expect(ended.out).not.toMatch(/\bP\d{3}\b/);
    // Each part of the execution is said once.
    const said = ended.err.split('\n').filter((line) => line.startsWith('Request "words": '));
    expect(said.slice(0, 3)).toEqual([
      'Request "words": executing 4 candidates …',
      'Request "words": testing the base commit: node --test …',
      'Request "words": building and testing every candidate …',
    ]);
    expect(said).toContain('Request "words": comparing the behaviour of candidates …');
    expect(new Set(said).size).toBe(said.length);
    expect(ended.err).toContain('; 3 failed.\n');
  }));

/** A judge who prefers the candidate that names the end, wherever it stands. */
function preferring(side: 'first' | 'second') {
  const name = side.toUpperCase();
  return {
    holds: new RegExp(`<<<${name} (?!RAN)\\S+?\\\\n(?:(?!${name} \\S+>>>).)*slice\\(0, end\\)`),
    structured: {
      citations: [{ candidate: side, file: 'src/shorten.js', line: 5, quote: 'text.slice(0, end)' }],
      because: 'It names what it computes.',
      better: side,
    },
  };
}

test('with --judges, blind models choose between two candidates that execution leaves tied', () => {
  const judge = { turns: [], answers: [preferring('first'), preferring('second')] };
  const scripts = { ...SCRIPTS, 'scripted-heron': judge, 'scripted-otter': judge };
  const models = 'anthropic/scripted-heron,openai/scripted-otter';
  return atTerminal({ scripts, env: { MULTI_AGENT_MODELS: models } }, async (me) => {
    const { request } = await prepared(me, {
      one: { 'src/shorten.js': RIGHT },
      other: { 'src/shorten.js': RIGHT_TOO },
    });
    const line = `${JSON.stringify(request)}\n`;
    const ended = await me.pipe(line, 'select', '--judges');
    expect(answersIn(ended.out).get('words')).toMatchObject({ pick: 'other', decidedBy: 'judges' });
  });
});

/** What a model that writes one test of the task would answer. */
const writing = (call: string, result: string) => ({
  turns: [],
  answers: [
    {
      holds: 'You write tests for a software task before anybody has solved it',
      structured: {
        tests: [
          {
            title: 'whole words only',
            quote: 'cuts words in the middle',
            why: '',
            now: 'fails',
            file: `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shorten } from '../src/shorten.js';

test('whole words only', () => {
  assert.equal(${call}, ${result});
});
`,
          },
        ],
        note: '',
      },
    },
    { holds: 'You write one more test', structured: { test: null, note: 'Nothing else is asked for.' } },
  ],
});

test.each([
  ['a test that a model writes from the issue decides', "shorten('one two three', 9)", "'one two'", 'right'],
  ['one that misreads it makes no wrong candidate clear', "shorten(' one', 4)", "'one'", 'wrong'],
])('with --writers, %s', (_, call, result, preferred) => {
  const scripts = { ...SCRIPTS, 'scripted-heron': writing(call, result) };
  return atTerminal({ scripts, env: { MULTI_AGENT_MODELS: 'openai/scripted-heron' } }, async (me) => {
    const { request } = await prepared(me, {
      right: { 'src/shorten.js': RIGHT },
      wrong: { 'src/shorten.js': WRONG },
    });
    const { candidates } = request;
    const asked = [
      { ...request, issue: '`shorten` cuts words in the middle' },
      { id: 'stored', candidates },
    ];
    const lines = asked.map((one) => `${JSON.stringify(one)}\n`).join('');
    const ended = await me.pipe(lines, 'select', '--writers', '--explain');
    expect(ended.err).toContain('No model was asked for 1 request: --writers needs `repoDir`');
    const answer = answersIn(ended.out).get('words');
    expect(answer?.ranking[0]?.id).toBe(preferred);
    expect(answer?.explanation).toMatchObject({
      independentTests: {
        models: ['openai/scripted-heron'],
        tests: [{ title: 'whole words only', status: 'admitted' }],
      },
      decision: { decidedBy: 'independent' },
    });
    expect(answer?.explanation).not.toMatchObject({ decision: { confidence: 'clear' } });
  });
});
