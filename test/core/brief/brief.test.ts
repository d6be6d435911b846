import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  briefFrom,
  briefSpec,
  checkBrief,
  forecast,
  repositoryMap,
  TOKENS_BY_SIZE,
  triage,
} from '../../../src/core/brief/index.ts';
import type { Brief, Question } from '../../../src/core/model/index.ts';

const QUESTION: Question = {
  text: 'Which way?',
  options: ['up', 'down'],
  severity: 'blocking',
  assume: 'Up.',
};
const BRIEF: Brief = {
  goal: 'It rounds half up.',
  definitionOfDone: ['1.5 becomes 2', '1.4 becomes 1'],
  plan: ['Write a test', 'Mend it'],
  files: ['src/round.ts'],
  assumptions: [],
  questions: [QUESTION],
};

describe('the brief as a text', () => {
  test('has a section for each part, with one statement per line', () => {
    expect(briefSpec(BRIEF)).toMatchInlineSnapshot(`
      "## Goal

      It rounds half up.

      ## Done means

      - 1.5 becomes 2
      - 1.4 becomes 1

      ## Plan

      - Write a test
      - Mend it

      ## Assumptions

      ## Open questions

      - (blocking) Which way?
      "
    `);
  });

  test('is read back as the same brief, whatever its content', () => {
    const line = fc
      .string({ minLength: 1, maxLength: 80, unit: 'grapheme' })
      .filter((text) => text.trim() !== '');
    const lines = fc.array(line, { maxLength: 6 });
    const brief = fc.record({
      goal: line,
      definitionOfDone: fc.array(line, { minLength: 1, maxLength: 6 }),
      plan: lines,
      assumptions: lines,
    });
    const squeezed = (text: string) => text.replace(/\s+/g, ' ').trim();
    fc.assert(
      fc.property(brief, (parts) => {
        const whole: Brief = { ...BRIEF, ...parts };
        const spec = briefSpec(whole);
        expect(briefFrom(spec, whole)).toEqual({
          ...whole,
          goal: squeezed(parts.goal),
          definitionOfDone: parts.definitionOfDone.map(squeezed),
          plan: parts.plan.map(squeezed),
          assumptions: parts.assumptions.map(squeezed),
        });
      }),
    );
  });

  test.each([
    ['a section that is gone', (spec: string) => spec.replace('## Plan\n', '')],
    ['a section more', (spec: string) => `${spec}\n## Notes\n\n- x\n`],
    ['words outside a list', (spec: string) => spec.replace('- 1.5', '1.5')],
    ['no definition of done', (spec: string) => spec.replace(/- 1\..*\n/g, '')],
    ['a question that nobody asked', (spec: string) => `${spec}- (blocking) Why?\n`],
    ['a statement without end', (spec: string) => spec.replace('1.5 becomes 2', 'x'.repeat(501))],
    ['words before the first section', (spec: string) => `Hello\n${spec}`],
  ])('is invalid with %s', (_, change) => {
    expect(briefFrom(change(briefSpec(BRIEF)), BRIEF)).toBeNull();
  });

  test.each(['# 12: quotes', '\\# x', '#', '\\'])('keeps a goal that begins like %j', (goal) => {
    expect(briefFrom(briefSpec({ ...BRIEF, goal }), BRIEF)?.goal).toBe(goal);
  });

  test('loses a settled question when its line is removed', () => {
    const spec = briefSpec(BRIEF).replace('- (blocking) Which way?\n', '');
    expect(briefFrom(spec, BRIEF)?.questions).toEqual([]);
  });

  test('reads numbered lists and lines that go on', () => {
    const spec = briefSpec(BRIEF).replace(
      '- Write a test\n- Mend it',
      '1. Write a test\n   that fails\n2) Mend it',
    );
    expect(briefFrom(spec, BRIEF)?.plan).toEqual(['Write a test that fails', 'Mend it']);
  });
});

describe('a path or command that a planner names', () => {
  const PATHS = ['src/round.ts', 'test/round.test.ts', 'README.md', 'test/odd*.test.ts'];
  const checked = (over: Partial<Brief>) => checkBrief({ ...BRIEF, ...over }, PATHS);

  test('is kept if it is tracked, or new in an existing folder', () => {
    const files = ['src/round.ts', 'src/new.ts', 'CHANGES.md'];
    expect(checked({ files })).toMatchObject({ brief: { files }, notes: [] });
  });

  test('is kept in a folder that has only folders', () => {
    const files = ['src/new.ts', 'packages/core/README.md', 'packages/NOTES.md', '.github/CODEOWNERS'];
    const paths = ['src/a/x.ts', 'packages/core/src/index.ts', '.github/workflows/ci.yml'];
    expect(checkBrief({ ...BRIEF, files }, paths)).toMatchObject({ brief: { files }, notes: [] });
  });

  test('is kept at the top of a repository without files', () => {
    const files = ['main.py', 'README.md'];
    expect(checkBrief({ ...BRIEF, files }, [])).toMatchObject({ brief: { files }, notes: [] });
  });

  test.each([
    '../etc/passwd',
    '/etc/passwd',
    'nowhere/x.ts',
    '.git/config',
    'src/..',
    'src/a\nb',
    '.github/workflows/x.yml',
    '',
  ])('is left out and reported if it is %j', (path) => {
    const { brief, notes } = checked({ files: [path] });
    expect(brief.files).toEqual([]);
    expect(notes).toEqual([expect.stringMatching(/^No such file or folder in the repository/)]);
  });

  test('can declare a change only of tracked tests', () => {
    const changedTests = ['test/round.test.ts', 'src/round.ts', 'test/other.test.ts', 'test/odd*.test.ts'];
    expect(checked({ changedTests })).toMatchObject({
      brief: { changedTests: ['test/round.test.ts'] },
      notes: [{}, {}, {}],
    });
  });

  test('is kept as a command of one line', () => {
    expect(checked({ testCommand: ' npm test ' }).brief.testCommand).toBe('npm test');
    expect(checked({ testCommand: 'npm test\nrm -rf /' }).brief.testCommand).toBeUndefined();
    expect(checked({ testCommand: 'npm \u001b[31mtest' }).brief.testCommand).toBeUndefined();
  });
});

describe('triage', () => {
  const risk = (level: 'low' | 'high') => ({ level, because: 'Because.' });
  test.each([
    ['never', 'auto', [] as Question[], 'low', false],
    ['for a blocking question', 'auto', [QUESTION], 'low', true],
    ['not for a smaller question', 'auto', [{ ...QUESTION, severity: 'major' as const }], 'low', false],
    ['for a high risk', 'auto', [], 'high', true],
    ['where the repository asks each time', 'always', [], 'low', true],
    ['not where debates are off', 'never', [QUESTION], 'high', false],
  ] as const)('%s', (_, debate, questions, level, held) => {
    expect(triage({ ...BRIEF, questions: [...questions], risk: risk(level) }, { debate }).debate).toBe(held);
  });
});

describe('the forecast', () => {
  const budget = { run: 5, candidate: 2 };
  const cost = (usd: number) => () => usd;

  test('adds up contestants and the rest of the run, within the caps', () => {
    const prices = ({ tokensIn, tokensOut }: { tokensIn: number; tokensOut: number }) =>
      (tokensIn * 1 + tokensOut * 10) / 1e6;
    const { tokensIn, tokensOut } = TOKENS_BY_SIZE.small;
    const one = (end: 0 | 1) => (tokensIn[end] + tokensOut[end] * 10) / 1e6;
    const found = forecast({ size: 'small' }, { budget }, [prices, prices]);
    expect(found?.least).toBeCloseTo(2 * one(0) * 1.15);
    expect(found?.most).toBeCloseTo(2 * one(1) * 1.15);
    expect(forecast({ size: 'large' }, { budget }, [cost(100), cost(100), cost(100)])).toEqual({
      least: 5,
      most: 5,
    });
    expect(forecast({ size: 'large' }, { budget: { run: 50, candidate: 2 } }, [cost(100)])?.most).toBeCloseTo(
      2.3,
    );
  });

  test('is missing if size or a price is unknown', () => {
    expect(forecast({}, { budget }, [cost(1)])).toBeNull();
    expect(forecast({ size: 'small' }, { budget }, [cost(1), () => null])).toBeNull();
    expect(forecast({ size: 'small' }, { budget }, [])).toBeNull();
  });
});

describe('the map of a repository', () => {
  test('shows every path of a small one, and its kinds of files', () => {
    expect(repositoryMap(['a.ts', 'b.ts', 'c.md', 'Makefile'])).toEqual({
      languages: '.ts 2, .md 1',
      tree: 'a.ts\nb.ts\nc.md\nMakefile',
    });
  });

  test('cuts a large one, with shallow production files first, and says what is left out of each folder', () => {
    const paths = [
      ...Array.from({ length: 2_000 }, (_, i) => `test/deep/er/t${i}.test.ts`),
      ...Array.from({ length: 500 }, (_, i) => `src/f${i}.ts`),
    ];
    const { tree } = repositoryMap(paths);
    const lines = tree.split('\n');
    expect(lines.filter((line) => line.startsWith('src/'))).toHaveLength(500);
    expect(lines.at(-1)).toBe('(1900 more under test)');
    expect(lines.length).toBe(601);
  });
});
