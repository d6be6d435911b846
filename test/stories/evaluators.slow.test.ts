import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { simpleGit } from 'simple-git';
import { expect, test } from 'vitest';
import { decide, rank, rankingOptionsOf, type SelectAnswer } from '../../src/core/ranking/index.ts';
import type { DecisionRecord } from '../../src/core/reports/index.ts';
import { EVALUATORS, type Evaluator, Settings } from '../../src/core/settings/index.ts';
import { SCRIPTS } from '../../src/demo/sample/index.ts';
import { atTerminal, type Terminal } from '../world/terminal.ts';

const ISSUE = `\`shorten\` cuts words in the middle

\`shorten('one two three', 9)\` should return \`'one two'\`: whole words only. A text that fits stays as it is.
`;
const code = (body: string) =>
  `/** The start of a text. */\nexport function shorten(text, most) {\n${body}}\n`;
const CANDIDATES = {
  right: code(
    "  if (text.length <= most) return text;\n  return text.slice(0, text.lastIndexOf(' ', most));\n",
  ),
  // The same behaviour in other words.
  other: code(
    "  const fits = text.length <= most;\n  const end = fits ? text.length : text.lastIndexOf(' ', most);\n  return text.slice(0, end);\n",
  ),
  // Passes what the base tests, and is the smallest.
  wrong: code('  return text.slice(0, most).trim();\n'),
};
const BASE = {
  'package.json': '{ "name": "words", "type": "module" }\n',
  'src/shorten.js': code('  return text.slice(0, most);\n'),
  'test/shorten.test.js': `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shorten } from '../src/shorten.js';

test('a text that fits', () => {
  assert.equal(shorten('one two', 20), 'one two');
});
`,
};

/** A request for each list of evaluators, over the same repository and candidates. */
async function requestsFor(me: Terminal, evaluators: readonly (readonly Evaluator[])[]): Promise<string> {
  const repoDir = join(me.home, 'words');
  const put = async (path: string, text: string) => {
    await mkdir(join(repoDir, path, '..'), { recursive: true });
    await writeFile(join(repoDir, path), text);
  };
  for (const [path, text] of Object.entries(BASE)) await put(path, text);
  const git = simpleGit(repoDir);
  await git.init(['-q', '-b', 'main']);
  await git.addConfig('user.name', 'me').addConfig('user.email', 'me@example.invalid');
  await git.add('-A').commit('base');
  const candidates: { id: string; patch: string; family: string }[] = [];
  for (const [id, text] of Object.entries(CANDIDATES)) {
    await put('src/shorten.js', text);
    candidates.push({ id, patch: await git.diff(), family: `family of ${id}` });
    await git.checkout(['.']);
  }
  const request = { issue: ISSUE, repoDir, testCommand: 'node --test', candidates };
  return evaluators
    .map((evaluator) => `${JSON.stringify({ ...request, id: evaluator.join('+'), evaluator })}\n`)
    .join('');
}

type Explained = SelectAnswer & { readonly explanation: DecisionRecord & { readonly ids: object } };

const answersIn = (out: string): ReadonlyMap<unknown, Explained> =>
  new Map(
    out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Explained)
      .map((answer) => [answer.id, answer]),
  );

/** Which of two candidates, by a text that only one of them has; it cites that line. */
const prefers = (side: 'first' | 'second', text: string, line: number) => ({
  holds: new RegExp(
    `<<<${side.toUpperCase()} (?!RAN)\\S+?\\\\n(?:(?!${side.toUpperCase()} \\S+>>>).)*${text.replace(/[()' ]/g, '\\$&')}`,
  ),
  structured: {
    citations: [{ candidate: side, file: 'src/shorten.js', line, quote: text }],
    because: 'It is the plainest.',
    better: side,
  },
});
/** A judge who likes the smallest patch best, whatever it does; then the one that names the end. */
const JUDGE = {
  turns: [],
  answers: [
    prefers('first', '.trim()', 3),
    prefers('second', '.trim()', 3),
    prefers('first', 'slice(0, end)', 5),
    prefers('second', 'slice(0, end)', 5),
  ],
};
const MODELS = { MULTI_AGENT_MODELS: 'anthropic/scripted-heron,openai/scripted-otter' };
const decidedFrom = ({ explanation: { evidence } }: Explained, evaluator: readonly Evaluator[]) => {
  const settings = Settings.parse({ evaluator });
  const ranking = rank(evidence, rankingOptionsOf(settings));
  return decide(ranking, evidence, { askPerson: evaluator.includes('human') });
};

test('whatever evaluator is named, no candidate wins against what was executed, and what decided is said', () =>
  atTerminal(
    { scripts: { ...SCRIPTS, 'scripted-heron': JUDGE, 'scripted-otter': JUDGE }, env: MODELS },
    async (me) => {
      const asked = [['model'], ['tournament'], ['evidence', 'model'], ['model', 'human']] as const;
      const ended = await me.pipe(await requestsFor(me, asked), 'select', '--judges', '--explain');
      const answers = answersIn(ended.out);
      const of = (id: string): Explained => answers.get(id) as Explained;

      // Judges who are named first see everybody; whom they prefer fails an executed test.
      for (const name of ['model', 'tournament', 'model+human']) {
        expect(of(name)).toMatchObject({ pick: null, decidedBy: 'judges' });
        expect(of(name).ranking[0]?.id).toBe('wrong');
        expect(of(name).because).toMatch(/passes executed tests that [\w-]+ fails, so a person must choose/);
        expect(of(name).explanation.judgement).toMatchObject({ kind: 'judged' });
      }
      // Behind evidence they see those that it leaves undecided.
      expect(of('evidence+model')).toMatchObject({ pick: 'other', decidedBy: 'judges' });
      expect(of('evidence+model').ranking.at(-1)?.id).toBe('wrong');

      // The others, alone and in pairs, from the same evidence.
      const found = of('evidence+model');
      const ids = found.explanation.ids as Readonly<Record<string, string>>;
      const others = EVALUATORS.filter((name) => name !== 'model' && name !== 'tournament');
      const lists = [
        ...others.map((one): readonly Evaluator[] => [one]),
        ...others.filter((one) => one !== 'evidence').map((one): readonly Evaluator[] => ['evidence', one]),
        ...others.filter((one) => one !== 'human').map((one): readonly Evaluator[] => [one, 'human']),
      ];
      for (const list of lists) {
        const decision = decidedFrom(found, list);
        if (decision.kind === 'none') throw new Error(`${list}: nobody was picked.`);
        const contradicted = / passes executed tests that [\w-]+ fails/.test(decision.because);
        expect([list, ids[decision.alias] === 'wrong']).toEqual([list, contradicted]);
        if (contradicted || list.includes('human')) expect(decision.kind).toBe('toss-up');
        expect(decision.because).not.toMatch(/hash/);
      }
      expect(decidedFrom(found, ['metrics'])).toMatchObject({ decidedBy: 'metrics' });
    },
  ));

test('if judges fail, executed evidence decides, and the reason names the failure', () => {
  const failing = { turns: [{ kind: 'status', status: 400 }] } as const;
  const scripts = { ...SCRIPTS, 'scripted-heron': failing, 'scripted-otter': failing };
  return atTerminal({ scripts, env: MODELS }, async (me) => {
    const ended = await me.pipe(await requestsFor(me, [['model']]), 'select', '--judges', '--explain');
    const answer = answersIn(ended.out).get('model');
    expect(answer?.ranking.at(-1)?.id).toBe('wrong');
    expect(answer?.decidedBy).not.toBe('judges');
    expect(answer?.because).toMatch(/The judges gave no verdict: No judge gave a usable answer/);
  });
});
