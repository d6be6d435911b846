import { describe, expect, test } from 'vitest';
import { Fault } from '../../src/core/model/index.ts';
import type { RunView } from '../../src/core/reports/index.ts';
import type { World } from '../../src/runs/index.ts';
import {
  candidate,
  coding,
  judged,
  local,
  nobody,
  published,
  TOSS_UP,
  VOTES,
  waiting,
} from '../core/reports/sample.ts';
import { partial } from '../world/partial.ts';
import { expectInert } from './inert.ts';
import { richParts, richRun } from './rich-run.ts';
import { collected, pageOf, storedRun } from './stored-run.ts';
import { mona, webWorld } from './web-world.ts';

/** The text of a page as readers see it: without markup, one blank between words. */
const wordsOf = (page: string): string =>
  page
    .slice(page.indexOf('<main'))
    .replace(/<(?:p|h\d|li|dt|dd|td|th|tr|section|summary|article|div|button|label|pre)\b[^>]*>/g, ' ')
    .replace(/<[^>]*>/g, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&#39;', "'")
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&')
    .replace(/\s+/g, ' ');

const overviewOf = async (view: RunView): Promise<string> => {
  const page = await pageOf(await storedRun(view, richParts()), view);
  expectInert(page);
  return wordsOf(page);
};

const trouble = {
  code: 'BUDGET_TOO_SMALL',
  message: 'The budget of $0.10 does not pay for one call.',
  advice: 'Set `budget.run` to at least 1.',
} as const;

const without = ({ decision: _decision, brief: _brief, ...view }: RunView): RunView => ({
  ...view,
  candidates: [],
  evidence: [],
  ranking: [],
});

describe('the page of a run says on top what came of it and what to do, in the words of the comments', () => {
  test.each<[string, RunView, readonly string[]]>([
    [
      'a winner',
      published(),
      [
        'Draft pull request #8 with candidate B',
        'B is the pick — likely. It passes all 412 existing tests and both new ones; C fails 1 of 4 new tests',
        'Next: review the pull request; Runoff never merges. Its comparison covers the other 3 candidates.',
        'Confidence: likely, an estimated chance of 70% that the pick is right',
      ],
    ],
    [
      'a clear winner, merged',
      published({ state: 'merged', decision: { ...judgedDecision(), confidence: 'clear', chance: 0.95 } }),
      ['Merged', 'B is the pick — clear', 'an estimated chance of 95%'],
    ],
    [
      'a toss-up',
      waiting({ votes: VOTES }),
      [
        'Please choose a candidate',
        'For last([1]), B returns 1, C returns undefined: which do you want? B passes all 412 existing tests and both new ones',
        '3 votes: C 2 (ada, bob); B 1 (mona).',
        'Next: tick a box in the comparison, or comment /auto-dev pick B or /auto-dev pick none.',
      ],
    ],
    [
      'nobody',
      nobody({ state: 'published', outcome: { kind: 'table', branches: {} } }),
      ['No candidate passed', 'Every candidate breaks tests that pass on base. No pull request was opened.'],
    ],
    [
      'a fault',
      { ...without(published()), state: 'failed', trouble },
      ['Run failed', 'The budget of $0.10 does not pay for one call.', 'Next: Set budget.run to at least 1.'],
    ],
    [
      'a cancellation',
      { ...without(judged()), state: 'cancelled' },
      ['Run cancelled', 'To start again, add the label auto-dev again'],
    ],
    [
      'a run that goes on',
      coding(),
      [
        'Stage 3 of 6, running the coders',
        'To cancel, comment /auto-dev cancel',
        'coding',
        'stopped after 5m of silence',
      ],
    ],
    [
      'a local run',
      local(),
      ['Done', 'Next: review its branch, then merge it: git merge runoff/r7k2m9q4xa/B.'],
    ],
    [
      'a local run from uncommitted changes',
      local({ base: { ref: 'main', sha: 'a'.repeat(40), uncommitted: true } }),
      [
        'Next: review its branch, then apply it to your uncommitted changes:',
        `git diff --binary ${'a'.repeat(40)} runoff/r7k2m9q4xa/B | git apply`,
      ],
    ],
    [
      'a local run without a clear result',
      local({ decision: TOSS_UP }),
      [
        'Please choose a candidate',
        'For last([1]), B returns 1, C returns undefined: which do you want?',
        'Next: run runoff pick r7k2m9q4xa B',
      ],
    ],
    [
      'a review of a pull request',
      published({ origin: { kind: 'github', repository: 'acme/lists', issue: 8, work: 'review' } }),
      ['acme/lists pull request #8'],
    ],
    [
      'a question',
      {
        ...without(judged()),
        state: 'awaiting_answer',
        dialogue: {
          inquiries: [
            {
              number: 1,
              kind: 'answer',
              question: { text: 'Up or down?', options: ['up', 'down'], severity: 'blocking', assume: 'up' },
              askedAt: judged().now - 60_000,
              until: judged().now + 3_600_000,
            },
          ],
          lastReply: 0,
          repliesUsed: 0,
        },
      },
      ['Waiting for an answer (1h 00m left): Up or down?'],
    ],
  ])('%s', async (_, view, expected) => {
    const shown = await overviewOf(view);
    for (const part of expected) expect(shown).toContain(part);
  });

  test('and a run without candidates, and one with twelve, are pages, too', async () => {
    expect(await overviewOf(without(judged({ state: 'admitted' })))).not.toContain('Candidates');
    const many = 'ABCDEFGHIJKL'.split('');
    const view = judged({ candidates: many.map((alias) => candidate(alias)) });
    const shown = await overviewOf(view);
    for (const alias of many) expect(shown).toContain(`Diff of ${alias}`);
  });
});

function judgedDecision() {
  const { decision } = judged();
  if (decision?.kind !== 'winner') throw new Error('The sample has no winner.');
  return decision;
}

describe('tests × candidates', () => {
  test('are shown where trees differ, each mark with its name and the way to its output', async () => {
    const view = richRun();
    const world = await storedRun(view, richParts());
    const page = await pageOf(world, view, '/tests');
    expectInert(page);
    expect(page).toContain(`href="/runs/${view.id}/tests/0-0#A" aria-label="A: failed">✗</a>`);
    expect(wordsOf(page)).toContain('3 tests of 44.');
    expect(page).not.toContain('case 7');
    const all = await pageOf(world, view, '/tests?show=all&q=CASE+7');
    expect(wordsOf(all)).toContain('1 test of 44.');
    const one = wordsOf(await pageOf(world, view, '/tests/0-0'));
    expect(one).toContain(
      'Candidate A ✗ failed What the runner says about it AssertionError: expected TypeError',
    );
    expect(one).toContain('exit code 1');
    expect((await world.get(`/runs/${view.id}/tests/9-9`, mona)).status).toBe(404);
  });

  test('say that the server lacks something while the artifact store is away, and where the reason is', async () => {
    const world = webWorld({
      world: partial<World>({
        artifacts: partial<World['artifacts']>({
          get: async () => Promise.reject(new Fault('ARTIFACTS_UNAVAILABLE', 'The bucket does not answer.')),
        }),
      }),
    });
    world.rights.set('42 5', 'read');
    await world.run('r111111111');
    await world.store.putCandidate(candidate('A', { runId: 'r111111111' }));
    const answer = await world.get('/runs/r111111111/candidates/A', mona);
    expect(answer.status).toBe(503);
    expect(wordsOf(await answer.text())).toMatch(/artifact store cannot be used.*Load the page again/);
  });

  test.each(['not kept', 'damaged'])('show what decided if the full results are %s', async (how) => {
    const view = published();
    const world = await storedRun(view, how === 'not kept' ? {} : { ...richParts(), isDamaged: true });
    const shown = wordsOf(await pageOf(world, view, '/tests'));
    expect(shown).toContain('The full results of this run are not kept or cannot be read.');
    expect(shown).toContain('test/list.test.ts > last > of an empty list ✓ ✗ ✓ ✓ ✓');
    expect(shown).toContain('test/b.test.ts > last > of one item ✗ · ✓ ✗ ·');
    await pageOf(world, view);
    await pageOf(world, view, '/behaviour');
  });
});

describe('diffs', () => {
  test('of a candidate: a tree of files, marked words, files that were only moved', async () => {
    const view = richRun();
    const world = await storedRun(view, richParts());
    const page = await pageOf(world, view, '/candidates/B');
    expectInert(page);
    expect(page).toContain('list[list.length<ins> - 1</ins>];');
    const shown = wordsOf(page);
    expect(shown).toContain('3 files, +4 −1. Side by side Unified');
    expect(shown).toContain('docs/old name.md → docs/lists/index.md +0 −0 its content is the same.');
    expect(page).toContain('aria-label="Before"');
    expect(await pageOf(world, view, '/candidates/B?view=unified')).not.toContain('aria-label="Before"');
    expect((await world.get(`/runs/${view.id}/candidates/Z`, mona)).status).toBe(404);
  });

  test('side by side, and in one column where there is no room for two', async () => {
    const view = richRun();
    const before = 'one\ntwo\nthree\nfour\nfive\n';
    const after = 'one\n2\n3\n</tr>\0\nfour\nsix\n';
    const world = await storedRun(view, { patches: { B: collected({ 'src/a.ts': [before, after] }) } });
    const page = await pageOf(world, view, '/candidates/B');
    expectInert(page);
    const [sides = '', column = ''] = page.split('where-narrow');
    const lines = (markup: string) =>
      [
        ...markup.matchAll(
          /line-prefix">([^<]*)<\/span><span class="d2h-code-line-ctn">(.*?)<\/span><\/div>/g,
        ),
      ].map(
        ([, sign = '', line = '']) =>
          `${sign.replace('&nbsp;', ' ')}${line.replace(/<\/?(?:ins|del)>/g, '')}`,
      );
    expect(lines(column)).toEqual([
      ' one',
      '-two',
      '-three',
      '+2',
      '+3',
      '+&lt;&#x2F;tr&gt;&lt;U+0000&gt;',
      ' four',
      '-five',
      '+six',
    ]);
    // What is in the column is on one of the sides, once.
    expect(lines(sides).filter((line) => /^[-+]/.test(line))).toHaveLength(7);
    expect(await pageOf(world, view, '/candidates/B?view=unified')).not.toContain('where-narrow');
  });

  test('from one candidate to another', async () => {
    const view = richRun();
    const page = await pageOf(await storedRun(view, richParts()), view, '/compare/A/C');
    expectInert(page);
    expect(wordsOf(page)).toContain('1 file, +1 −1.');
    expect(wordsOf(page)).toContain('list[list.length - 1] ?? fail();');
    expect(page).not.toContain('list[list.length];');
  });

  test('say what is missing, and show a rejected patch as far as it can be read', async () => {
    const view = richRun();
    const { A: _, ...patches } = richParts().patches ?? {};
    const rejected = collected({ '.git/hooks/pre-commit': [null, 'exit 0\n'] });
    const world = await storedRun(view, { patches: { ...patches, C: rejected } });
    expect(wordsOf(await pageOf(world, view, '/candidates/A'))).toContain(
      'The stored patch of A is missing or damaged',
    );
    const shown = wordsOf(await pageOf(world, view, '/candidates/C'));
    expect(shown).toContain('Runoff rejected this patch.');
    expect(shown).toContain('+exit 0');
    expect(wordsOf(await pageOf(world, view, '/compare/B/C'))).toContain('cannot be compared');
  });

  test('of megabytes are shown a part at a time, and every line is in one of them', async () => {
    const view = richRun();
    const text = Array.from({ length: 4_000 }, (_, at) => `const line${at} = '${'x'.repeat(100)}';\n`).join(
      '',
    );
    const patch = collected({ 'src/big.ts': [null, text], 'src/small.ts': ['a\n', 'b\n'] });
    const world = await storedRun(view, { patches: { B: patch } });
    const seen: string[] = [];
    for (let part = 1; part <= 8; part += 1) {
      const page = await pageOf(world, view, `/candidates/B?view=unified&part=${part}`);
      expectInert(page);
      expect(page.length).toBeLessThan(800_000);
      seen.push(...(page.match(/(?<=const )line\d+(?= )/g) ?? []));
    }
    expect(new Set(seen).size).toBe(4_000);
    expect(seen).toHaveLength(4_000);
    const first = await pageOf(world, view, '/candidates/B');
    const link = /href="([^"]*part=\d+#file-1)"/.exec(first)?.[1]?.replaceAll('&amp;', '&') ?? '';
    expect(await pageOf(world, view, link.slice(`/runs/${view.id}`.length).split('#')[0])).toContain(
      'id="file-1"',
    );
  });
});

test('the other pages tell of inputs, debate, judges, cost and who did what', async () => {
  const view = richRun();
  const world = await storedRun(view, richParts());
  const shown = async (path: string) => wordsOf(await pageOf(world, view, path));
  const inputs = (...texts: readonly string[]) => ({
    ...richParts(),
    table: {
      ...(richParts().table ?? expect.fail()),
      inputs: texts.map((input) => ({ input, results: ['1', '2', '2', null, null] })),
    },
  });
  expect(wordsOf(await pageOf(await storedRun(view, inputs('', 'as in adds')), view, '/behaviour'))).toMatch(
    /input not kept a 1 b 2 .*as in adds a 1/,
  );
  expect(await shown('/behaviour')).toContain('last([]) a undefined b TypeError: x a undefined a undefined');
  expect(await shown('/debate')).toContain(
    'Round 1: no consensus yet $0.10, 2 tokens; 50% of the lines changed.',
  );
  expect(await shown('/debate')).toContain('Details and outcome Quote');
  expect(await shown('/judges')).toContain('judge-1 prefers B: It handles the empty list.');
  expect(await shown('/cost')).toContain(
    'Coders 18 24.7k $0.25 86% Candidate B anthropic/model-2 9 12.3k 1m 01s $0.13 45%',
  );
  expect(await shown('/audit')).toContain('write openPull acme/lists done');
});

test('a decision left to a person says so', async () => {
  expect(await overviewOf(waiting({ decision: { ...TOSS_UP, chance: 0.9 } }))).toContain(
    'your settings leave the choice to you',
  );
});
