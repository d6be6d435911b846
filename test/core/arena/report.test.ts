import fc from 'fast-check';
import { micromark } from 'micromark';
import { gfm, gfmHtml } from 'micromark-extension-gfm';
import { parse } from 'parse5';
import { describe, expect, test } from 'vitest';
import {
  arenaReport,
  frontPicture,
  reportHtml,
  reportJson,
  reportMarkdown,
  reportSummary,
} from '../../../src/core/arena/index.ts';
import { contestOf, Field, repoTask, SOLVED, TESTS, textTask, UNSOLVED } from './contest-records.ts';

/** Two prompts and two models on six repository tasks and three texts: `brief/small` solves least, at the least cost. */
function spring(): Field {
  const tasks = [
    ...['r1', 'r2', 'r3', 'r4', 'r5', 'r6'].map((id) => repoTask(id)),
    ...['q1', 'q2', 'q3'].map((id) => textTask(id)),
  ];
  const contest = contestOf([], tasks, {
    contestants: ['brief', 'careful'].flatMap((prompt) =>
      ['maker/large', 'maker/small'].map((model) => ({
        id: `${prompt}/${model}`,
        agent: 'none',
        model,
        prompt,
        instructions: prompt,
      })),
    ),
  });
  const field = new Field(contest);
  const solves: Readonly<Record<string, number>> = {
    'brief/maker/large': 4,
    'brief/maker/small': 1,
    'careful/maker/large': 6,
    'careful/maker/small': 1,
  };
  for (const { id } of contest.contestants) {
    const usd = id.endsWith('large') ? 0.2 : id.startsWith('brief') ? 0.01 : 0.03;
    const usage = { calls: 1, tokensIn: 1, tokensOut: 1, usd };
    tasks.forEach((task, at) => {
      const verification = at < (solves[id] ?? 0) ? SOLVED : UNSOLVED;
      const more = task.kind === 'repo' ? { verification, usage, seconds: 4 } : { usage, seconds: 4 };
      field.answer(id, task.id, task.kind === 'text' && at === 6 ? 'the same' : `${id} on ${task.id}`, more);
    });
  }
  const of = (id: string, task: string) => {
    const found = field.samples.find((one) => one.contestant === id && one.task === task);
    if (!found) throw new Error(id);
    return found;
  };
  for (const task of ['q2', 'q3']) {
    field.vote(of('careful/maker/large', task), of('brief/maker/small', task), 'left');
    field.vote(of('brief/maker/large', task), of('careful/maker/small', task), 'tie');
    field.judge(of('careful/maker/large', task), of('brief/maker/small', task), 'left', 'other/judge');
    field.judge(of('brief/maker/small', task), of('careful/maker/large', task), 'right', 'other/judge');
  }
  field.vote(of('careful/maker/large', 'r2'), of('careful/maker/small', 'r2'), 'left', 'lee');
  field.vote(of('careful/maker/large', 'r1'), of('careful/maker/small', 'r1'), 'skip', 'lee');
  return field;
}

describe('the report', () => {
  test('counts what was solved and what it cost', () => {
    const report = arenaReport(spring().records);
    expect(
      report.contestants.map(({ id, solved, verified, usdPerSolved }) => [
        id,
        solved,
        verified,
        usdPerSolved,
      ]),
    ).toEqual([
      ['brief/maker/large', 4, 6, expect.closeTo(0.3)],
      ['brief/maker/small', 1, 6, expect.closeTo(0.06)],
      ['careful/maker/large', 6, 6, expect.closeTo(0.2)],
      ['careful/maker/small', 1, 6, expect.closeTo(0.18)],
    ]);
    expect(report.contestants[2]).toMatchObject({
      passRate: 1,
      secondsPerSolved: 4,
      usd: expect.closeTo(1.8),
    });
    expect(report.contestants[2]?.passInterval?.low).toBeGreaterThan(0.5);
  });

  test('rates by people, judges and execution apart, and says who is not told apart', () => {
    const { ratings, votes, judges, againstTruth } = arenaReport(spring().records);
    expect(ratings.truth.groups[0]?.[0]?.contestant).toBe('careful/maker/large');
    expect(ratings.truth.groups[0]?.map(({ wins, losses }) => wins - losses)).toEqual([12, 4, -8, -8]);
    expect(votes).toEqual({
      decided: 5,
      ties: 2,
      skipped: 1,
      pairs: 5,
      voters: ['kim', 'lee'],
      possible: 54,
      alike: 6,
    });
    expect(ratings.people.matches).toBe(5);
    expect(ratings.judges.matches).toBe(2);
    expect(judges[0]).toMatchObject({ compared: 2, withPeople: { raw: 1, verdicts: 2 } });
    expect(againstTruth.people).toEqual({ pairs: 1, solved: 1 });
    const markdown = reportMarkdown(arenaReport(spring().records));
    expect(markdown).toMatch(/do not distinguish any two of these 4 contestants/);
  });

  test('marks the Pareto front', () => {
    const { front } = arenaReport(spring().records);
    expect(front.quality).toBe('pass rate');
    expect(front.points.map(({ id, onFront }) => [id, onFront])).toEqual([
      ['brief/maker/small', true],
      ['careful/maker/small', false],
      ['careful/maker/large', true],
      ['brief/maker/large', false],
    ]);
  });

  test('is the same whatever the order of samples and votes', () => {
    const { records } = spring();
    const report = reportJson(arenaReport(records));
    const order = fc.record({
      samples: fc.shuffledSubarray([...records.samples], { minLength: records.samples.length }),
      votes: fc.shuffledSubarray([...records.votes], { minLength: records.votes.length }),
    });
    fc.assert(
      fc.property(order, (other) => {
        expect(reportJson(arenaReport({ ...records, ...other }))).toBe(report);
      }),
      { numRuns: 3 },
    );
  });

  test('says what is missing of a contest without samples, without votes, or with one contestant', () => {
    const empty = reportMarkdown(arenaReport(new Field(contestOf(['ada', 'bob'], [textTask('t')])).records));
    expect(empty).toContain('Nobody has voted yet: `runoff arena vote`.');
    expect(empty).toContain('| t | Nobody has answered it yet. |');
    expect(empty).toContain('There is nothing to compare yet.');
    expect(empty).toContain('Not rated, because nothing was answered yet: `ada`, `bob`.');
    const alone = new Field(contestOf(['ada'], [textTask('t')]));
    alone.answer('ada', 't', 'x');
    expect(reportMarkdown(arenaReport(alone.records))).toContain('there is nobody to compare it with');
    expect(frontPicture(arenaReport(alone.records))).toBe('');
  });

  test('counts what was paid for tasks that are left out, and says who answered nothing else', () => {
    const field = new Field(contestOf(['ada', 'bob'], [repoTask('r1'), repoTask('r2')]));
    for (const task of ['r1', 'r2']) field.answer('ada', task, 'diff', { verification: SOLVED });
    field.answer('bob', 'r1', 'diff', { verification: UNSOLVED });
    const found = { contest: field.digest, task: 'r1', commit: 'a'.repeat(40), built: null } as const;
    field.bases.push({
      version: 1,
      id: 'b0000000000000000',
      ...{ ...found, tests: TESTS, hiddenTests: null, rated: false, why: 'It passes without a change.' },
      at: '2026-11-24T12:00:00Z',
    });
    const report = arenaReport(field.records);
    expect(report.contestants).toMatchObject([
      { id: 'ada', samples: 1, leftOut: 1, usd: 0.02, usdEach: 0.01, passRate: 1 },
      { id: 'bob', samples: 0, leftOut: 1, usd: 0.01, usdEach: null, passRate: null },
    ]);
    expect(report.notes).toEqual(['Not rated, because only tasks that are left out were answered: `bob`.']);
    const markdown = reportMarkdown(report);
    expect(markdown).not.toContain('no answer yet');
    expect(markdown).toContain(
      'Not in the picture, because there is no pass rate that can be compared: `bob`.',
    );
  });

  test('is about the rounds that were made, if they are more than the contest has', () => {
    const field = new Field(contestOf(['ada', 'bob'], [repoTask('r')], { temperature: 'default' }));
    for (const round of [1, 2, 3])
      for (const one of round === 3 ? ['ada'] : ['ada', 'bob'])
        field.answer(one, 'r', `${one} ${round}`, { round, verification: SOLVED });
    const report = arenaReport(field.records);
    expect(reportSummary(report)).toContain('2 contestants on 1 task in 3 rounds: ');
    expect(report.contestants.map(({ samples, expected }) => [samples, expected])).toEqual([
      [3, 3],
      [2, 3],
    ]);
    expect(report.notes).toEqual(['`bob` has 2 of 3 answers; `runoff arena gen --rounds 3` makes the rest.']);
  });

  test('names who is not in the picture: their votes connect them with nobody in it', () => {
    const field = new Field(contestOf(['ada', 'bob', 'cyd', 'dan', 'eve'], [textTask('t')]));
    const of = (one: string) => field.answer(one, 't', one);
    const [ada, bob, cyd, dan, eve] = [of('ada'), of('bob'), of('cyd'), of('dan'), of('eve')];
    field.vote(ada, bob, 'left');
    field.vote(bob, cyd, 'left');
    field.vote(dan, eve, 'left');
    expect(reportMarkdown(arenaReport(field.records))).toContain(
      'Not in the picture, because there is no rating by people that can be compared: `dan`, `eve`.',
    );
  });

  test('draws the rating against cost where nothing is verified', () => {
    const field = new Field(contestOf(['ada', 'bob'], [textTask('t')]));
    field.vote(field.answer('ada', 't', 'x'), field.answer('bob', 't', 'y'), 'left');
    const report = arenaReport(field.records);
    expect(report.front.quality).toBe('rating by people');
    expect(report.front.points.map(({ id, onFront }) => [id, onFront])).toEqual([
      ['ada', true],
      ['bob', false],
    ]);
  });
});

const HOSTILE =
  '</title><script>alert(1)</script>"\'><img src=x onerror=alert(1)> `x` | [a](javascript:x) ![b](http://evil/x) \u202e\u001b[2J @all <svg onload=x>';

function hostile(text = HOSTILE): Field {
  const field = new Field(contestOf(['ada', 'bob'], [textTask('t'), repoTask('parser')], { name: text }));
  const [ada, bob] = ['ada', 'bob'].map((one) => field.answer(one, 't', `${one} ${text}`));
  field.bases.push({
    version: 1,
    id: 'b0000000000000000',
    contest: field.digest,
    task: 'parser',
    commit: 'a'.repeat(40),
    built: null,
    tests: null,
    hiddenTests: null,
    rated: false,
    why: text.slice(0, 4_000),
    at: '2026-11-24T12:00:00Z',
  });
  if (!ada || !bob) throw new Error('two answers');
  field.vote(ada, bob, 'left', text.slice(0, 200) || 'x');
  field.judge(ada, bob, 'left', text.slice(0, 200) || 'x');
  field.judge(bob, ada, 'right', text.slice(0, 200) || 'x');
  return field;
}

interface HtmlNode {
  readonly nodeName: string;
  readonly attrs?: readonly { readonly name: string; readonly value: string }[];
  readonly childNodes?: readonly HtmlNode[];
}
const elementsIn = (node: HtmlNode): readonly HtmlNode[] => [
  node,
  ...(node.childNodes ?? []).flatMap(elementsIn),
];

const HTML = new Set(
  '#document #documentType #text html head meta title style body main h1 h2 p section div table caption thead tbody tr th td code svg desc rect path text circle'.split(
    ' ',
  ),
);

/** Nothing in the page is executed or loaded, and nothing leaves it. */
function expectInert(html: string): void {
  for (const { nodeName, attrs = [] } of elementsIn(parse(html) as HtmlNode)) {
    expect(HTML).toContain(nodeName);
    for (const { name, value } of attrs) {
      expect(name).not.toMatch(/^on|^(?:src|href|action|style|srcset|formaction|data)$/);
      if (name !== 'xmlns') expect(value).not.toMatch(/javascript:/i);
    }
  }
  expect(html.replaceAll('http://www.w3.org/2000/svg', '')).not.toMatch(/url\(|@import/);
  expect(html).toContain(
    `content="default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"`,
  );
}

const CONTROLS = /(?!\n)[\p{Cc}\p{Cf}]/u;

describe('hostile text', () => {
  test('is only text in the HTML file', () => {
    const html = reportHtml(arenaReport(hostile().records));
    expectInert(html);
    expect(html).not.toMatch(CONTROLS);
    expect(html).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
  });

  test('is only text in Markdown', () => {
    const markdown = reportMarkdown(arenaReport(hostile().records));
    expect(markdown).not.toMatch(CONTROLS);
    const page = micromark(markdown, {
      allowDangerousHtml: true,
      extensions: [gfm()],
      htmlExtensions: [gfmHtml()],
    });
    const names = new Set(elementsIn(parse(page) as HtmlNode).map(({ nodeName }) => nodeName));
    for (const name of ['script', 'img', 'svg', 'a']) expect(names).not.toContain(name);
  });

  test('of any kind leaves the page, the picture and the tables whole', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 120, minLength: 1 }), (text) => {
        const report = arenaReport(hostile(text.toWellFormed()).records);
        expectInert(reportHtml(report));
        const rows = reportMarkdown(report)
          .split('\n')
          .filter((line) => line.startsWith('| parser |'));
        expect(rows).toHaveLength(1);
        expect(JSON.parse(reportJson(report))).toEqual(JSON.parse(JSON.stringify(report)));
      }),
      { numRuns: 12 },
    );
  });
});

describe('the picture', () => {
  test('names every contestant for those who cannot see it, and needs no colour', () => {
    const picture = frontPicture(arenaReport(spring().records));
    expect(picture).toMatch(/role="img" aria-labelledby="front-title front-desc"/);
    expect(picture).toContain('3 careful/maker/large: 100% at $0.20 for one answer, on the Pareto front.');
    expect(picture.match(/<circle class="best"/g)).toHaveLength(2 + 1);
    expect(picture.match(/<rect class="rest"/g)).toHaveLength(2 + 1);
    expect(picture).toContain('prefers-color-scheme:dark');
    expect(picture).not.toMatch(/NaN|Infinity|undefined/);
  });

  test('has finite coordinates for any costs and ratings', () => {
    const point = fc.record({
      usd: fc.oneof(fc.constant(0), fc.double({ min: 0, max: 1000, noNaN: true })),
      quality: fc.double({ min: 0, max: 1, noNaN: true }),
    });
    fc.assert(
      fc.property(fc.array(point, { minLength: 1, maxLength: 12 }), fc.boolean(), (given, byRate) => {
        const points = given.map(({ usd, quality }, i) => ({
          number: i + 1,
          id: `c${i}`,
          usd,
          quality: byRate ? quality : 1000 + 1000 * quality,
          interval: null,
          onFront: i === 0,
        }));
        const front = { quality: byRate ? ('pass rate' as const) : ('rating by people' as const), points };
        expect(frontPicture({ name: 'x', front })).not.toMatch(/NaN|Infinity|undefined/);
      }),
      { numRuns: 200 },
    );
  });
});
