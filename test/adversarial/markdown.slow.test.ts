import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Inquiry, Settlement } from '../../src/core/brief/index.ts';
import {
  checkText,
  commitMessage,
  comparison,
  type Diffs,
  explanation,
  followUpMessage,
  outcomeComment,
  pickComment,
  pickOptions,
  pullRequest,
  questionComment,
  type RunView,
  refusalComment,
  statusComment,
  visibleCode,
} from '../../src/core/reports/index.ts';
import { CORPUS, hostile, poisoned, poisonedDiffs } from '../core/reports/hostile.ts';
import { scan } from '../core/reports/scanner.ts';

/** Every text that goes to GitHub, about one run, with everything that others write set to `text`. */
function everything(text: string): readonly string[] {
  const view = poisoned(text);
  const diffs = poisonedDiffs(view, `+${text}`);
  const failed: RunView = {
    ...view,
    state: 'failed',
    trouble: { code: 'INTERNAL', message: text, advice: text },
  };
  const { decision: _decision, ...undecided } = view;
  const none = { ...undecided, decision: { kind: 'none', decidedBy: 'gates', because: text } } as const;
  return [
    statusComment({ ...view, state: 'briefed' }).body,
    statusComment({ ...view, state: 'published' }).body,
    statusComment({ ...view, state: 'cancelled' }).body,
    statusComment(failed).body,
    ...dialogueTexts(view, text),
    ...comparison(view, diffs).map(({ body }) => body),
    ...outcomeComment(none, diffs).map(({ body }) => body),
    pullRequest(view, 'B', diffs).body,
    explanation(view, diffs, 'C', 991).body,
    explanation(view, diffs, text, 991).body,
    checkText(view).summary,
    ...pickTexts(view, diffs, text),
    refusalComment(view.id, { kind: 'settings-invalid', file: text, problems: [text, text] }).body,
    refusalComment(view.id, { kind: 'no-permission', login: text }).body,
    refusalComment(view.id, { kind: 'base-missing', ref: text }).body,
  ];
}

/** What is said where a person must pick, picked, or could not have a pull request. */
function pickTexts(view: RunView, diffs: Diffs, text: string): readonly string[] {
  const waiting: RunView = {
    ...view,
    state: 'awaiting_pick',
    decision: {
      kind: 'toss-up',
      alias: 'B',
      among: ['B', 'C'],
      chance: 0.4,
      decidedBy: 'tests',
      because: text,
    },
  };
  const picked: RunView = {
    ...waiting,
    state: 'published',
    picks: [{ alias: 'C', by: { id: 1, login: text } }],
  };
  const none: RunView = { ...waiting, state: 'closed', picks: [{ alias: null, by: { id: 1, login: text } }] };
  const unopened: RunView = {
    ...view,
    state: 'published',
    outcome: { kind: 'table', refusedBecause: text, branches: { B: text } },
  };
  return [
    ...[waiting, picked, none].flatMap((one) => pickComment(one, diffs).map(({ body }) => body)),
    ...[waiting, picked, none, unopened].map((one) => statusComment(one).body),
    ...outcomeComment(unopened, diffs).map(({ body }) => body),
    ...comparison(picked, diffs).map(({ body }) => body),
    pullRequest(picked, 'C', diffs).body,
    checkText(picked).summary,
    checkText(none).summary,
  ];
}

/** What is asked and answered about a brief. */
function dialogueTexts(view: RunView, text: string): readonly string[] {
  const by = { id: 5, login: text };
  const question = { text, options: [text, text], severity: 'blocking', assume: text } as const;
  const base = { number: 2, askedAt: view.now, until: view.now + 9_000_000 };
  const open: Inquiry = {
    ...base,
    kind: 'answer',
    question: { ...question, options: [...question.options] },
  };
  const plan: Inquiry = { ...base, kind: 'approval' };
  const settled: readonly Settlement[] = [
    { kind: 'answered', text, by, at: 1 },
    { kind: 'approved', by, at: 1 },
    { kind: 'revised', text, by, at: 1 },
    { kind: 'assumed', text, at: 1 },
    { kind: 'expired', at: 1 },
  ];
  const waiting: RunView = {
    ...view,
    state: 'awaiting_answer',
    dialogue: { inquiries: [open], lastReply: 0, repliesUsed: 0 },
  };
  return [
    statusComment(waiting).body,
    questionComment(waiting, open, 'assume').body,
    questionComment(waiting, plan, 'stop').body,
    questionComment(waiting, open, 'stop', { text: text, why: text, meant: 'answer' }).body,
    ...settled.map((end) => questionComment(waiting, { ...open, settled: end }, 'stop').body),
  ];
}

const OUR_TAGS =
  /<!-- runoff:[a-z]+:(?:r7k2m9q4xa|c991)(?::\d+)? -->|<\/?(?:details|summary|code|b)>|<span>\$<\/span>/g;

/** What GitHub, a bot or a browser would act on in text outside code blocks. */
const ACTED_ON: readonly (readonly [string, RegExp])[] = [
  ['a mention', /@[\w-]/],
  ['a reference', /(?<!&)#\d(?<!^Fixes #7)/],
  ['a reference by GH-', /gh-\d/i],
  ['an address', /:\/\/|www\.\w/i],
  ['a command at the start of a line', /^\s*\//],
  ['a word that holds CI', /\[(?:skip ci|ci skip|no ci)\]|skip-checks:/i],
  ['an unseen character', /(?!\t)[\p{Cc}\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}\u2028\u2029]/u],
  ['a cell of its own', /\\\|/],
];

/** What Markdown or HTML would act on outside inline code as well. */
const MARKUP: readonly (readonly [string, RegExp])[] = [
  ['an image or link', /(?<!\\)\]\(/],
  ['a definition', /^\s*\[[^\]]*\]:/],
  ['HTML', /</],
];

/** Text of others never brings a backtick of its own into a line, so that spans are what they look like. */
function actedOn(line: string): readonly string[] {
  const bare = line.replace(/`[^`]*`/g, 'code').replace(OUR_TAGS, '');
  const found = [
    ...MARKUP.filter(([, pattern]) => pattern.test(bare)),
    ...ACTED_ON.filter(([, pattern]) => pattern.test(line)),
  ];
  return [...found.map(([name]) => name), ...(bare.includes('`') ? ['a torn code span'] : [])];
}

const harm = (body: string): readonly string[] =>
  scan(body).outside.flatMap((line) => actedOn(line).map((name) => `${name}: ${line.slice(0, 300)}`));

describe("others' text is escaped wherever it appears", () => {
  test.each(CORPUS)('%j', (text) => {
    expect(everything(text).flatMap(harm)).toEqual([]);
  });

  test('for any combination', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        expect(everything(text).flatMap(harm)).toEqual([]);
      }),
      { numRuns: 150 },
    );
  });

  test('as this check finds harm in unescaped text', () => {
    const bad = [
      'hi @ada',
      'fixes #1',
      'see https://x.test',
      '![x](y)',
      '/merge',
      '<b onclick=x>',
      'a\u202eb',
    ];
    expect(bad.filter((line) => harm(line).length === 0)).toEqual([]);
    expect(harm('Fixes #7')).toEqual([]);
  });
});

describe('the shape of a report does not depend on what others write', () => {
  const tables = (body: string): readonly number[] =>
    scan(body)
      .outside.filter((line) => line.startsWith('| '))
      .map((line) => line.split('|').length);
  const frame = (body: string) => ({
    tables: tables(body),
    blocks: scan(body).blocks.length,
    unclosed: scan(body).unclosed,
    opened: scan(body).outside.filter((line) => line === '<details>').length,
    closed: scan(body).outside.filter((line) => line === '</details>').length,
    headings: scan(body)
      .outside.filter((line) => line.startsWith('#'))
      .map((line) => line.replace(/`[^`]*`|<code>[^<]*<\/code>/g, 'code')),
    boxes: scan(body).outside.filter((line) => line.startsWith('- [ ] ')).length,
  });

  test('has the same tables, code blocks, folds and headings as for harmless text', () => {
    const harmless = everything('x').map(frame);
    fc.assert(
      fc.property(hostile, (text) => {
        expect(everything(text).map(frame)).toEqual(harmless);
      }),
      { numRuns: 150 },
    );
  });

  test('has each diff as one complete code block, with invisible characters named', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const { debate: _, ...view } = poisoned('x');
        const diff = `+${text}`;
        const { blocks, unclosed } = scan(comparison(view, poisonedDiffs(view, diff))[0].body);
        const expected = visibleCode(diff)
          .replace(/\n$/, '')
          .split('\n')
          .map((line) => (line.startsWith('/') ? ` ${line}` : line));
        // The first two are the lines of a gate and of a question.
        const diffs = blocks.slice(2);
        expect(unclosed).toBe(false);
        expect(diffs).toEqual(Array.from({ length: 3 }, () => ({ info: 'diff', lines: expected })));
      }),
      { numRuns: 200 },
    );
  });
});

test('no checkbox picks a candidate that cannot be picked, whatever its text', () => {
  fc.assert(
    fc.property(hostile, (text) => {
      const view: RunView = { ...poisoned(text), state: 'awaiting_pick' };
      const { body } = pickComment(view, poisonedDiffs(view, `- [ ] ${text}`))[0];
      const boxes = scan(body).outside.filter((line) => line.startsWith('- [ ] '));
      expect(boxes).toHaveLength(pickOptions(view).length);
    }),
    { numRuns: 100 },
  );
});

test('no title or login can add a trailer, a reference or a CI keyword to a commit', () => {
  fc.assert(
    fc.property(hostile, (text) => {
      const view = { ...poisoned(text), ci: 'run' } as const;
      const [chosen, other] = [commitMessage(view, 'B'), commitMessage(view, 'C')];
      const trailers = /^(?!.*gh-[0-9])l[a-z0-9-]{0,38}$/i.test(`l${text}`) ? 2 : 1;
      expect(chosen.split('\n')).toHaveLength(6 + trailers);
      expect(other.split('\n')).toHaveLength(6 + trailers);
      const picked = { ...view, picks: [{ alias: 'C', by: { id: 1, login: text } }] } as const;
      const advance = followUpMessage(picked, { kind: 'pick', alias: 'C', instead: 'B' });
      expect(advance.split('\n')).toHaveLength(6 + trailers);
      expect(advance).not.toMatch(/#\w|gh-\d|\[skip|skip-checks:/i);
      expect(followUpMessage(picked, { kind: 'ci' })).not.toMatch(/#\w|gh-\d|\[|skip/i);
      expect(chosen.startsWith('Fix #7: ')).toBe(true);
      expect([...(chosen.split('\n')[0] ?? '')].length).toBeLessThanOrEqual(72);
      expect(chosen.slice('Fix #7: '.length).replace(/^Co-authored-by: .*$/m, '')).not.toMatch(
        /#\w|@\w|:\/\/\w|gh-\d|\[skip|skip-checks:/i,
      );
      expect(other.replace(/^Co-authored-by: .*$/m, '')).not.toMatch(
        /#\w|@\w|:\/\/\w|gh-\d|\[skip|skip-checks:/i,
      );
    }),
    { numRuns: 300 },
  );
});
