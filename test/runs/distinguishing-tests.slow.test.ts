import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  NO_ADMISSION,
  type TestAdmission,
  type WrittenTest,
} from '../../src/core/independent-tests/index.ts';
import type { TestedSurvivor } from '../../src/runs/examine/admit.ts';
import {
  type ComparedCandidate,
  type DistinguishInput,
  distinguish,
} from '../../src/runs/examine/distinguish.ts';
import {
  expecting,
  type Fixture,
  HASTY,
  openSharedFixture,
  RIGHT,
  type SharedFixture,
} from './independent-tests-world.ts';

const written = (line: string, cells: readonly string[], more: Partial<WrittenTest> = {}) => ({
  test: {
    title: `the line ${JSON.stringify(line)}`,
    quote: 'An empty line should give no cells',
    why: '',
    now: 'fails',
    file: expecting(line, cells),
    ...more,
  },
  note: '',
});
const EMPTY = written('', []);
const SPACE = written(' a ', ['a']);

describe('undecided candidates', () => {
  let shared: SharedFixture;
  let fixture: Fixture;
  let right: TestedSurvivor;
  let hasty: TestedSurvivor;
  beforeAll(async () => {
    shared = await openSharedFixture();
    fixture = await shared.fixture();
    right = await fixture.survivor('A', RIGHT);
    hasty = await fixture.survivor('B', HASTY);
  });
  afterAll(() => shared.close());

  const contender = (
    survivor: TestedSurvivor,
    changeClass: string,
    diff = `+ by ${survivor.alias}`,
  ): ComparedCandidate => ({
    survivor,
    changeClass,
    diff,
  });
  /** Undecided while nothing puts one ahead. */
  const level = ({ byAlias }: TestAdmission) => {
    const passed = (alias: string) => byAlias[alias]?.passed ?? 0;
    return passed('A') === passed('B') ? ['A', 'B'] : [];
  };
  const contest = (more: Partial<DistinguishInput> = {}): DistinguishInput => ({
    inTime: (_, work) => work(),
    contenders: [contender(right, 'a'), contender(hasty, 'b')],
    undecided: level,
    before: NO_ADMISSION,
    blind: (text) => text.replaceAll(/ by \w+/g, ''),
    instructions: 'Tell them apart.',
    onBase: fixture.onBase,
    taskKind: 'change',
    ...more,
  });
  const promptsTo = (provider: { readonly seen: readonly { readonly body: string }[] }) =>
    provider.seen.map(({ body }) => {
      const { messages } = JSON.parse(body) as { messages: { content: string }[] };
      return messages.at(-1)?.content ?? '';
    });

  test('are separated by a test on which they differ', async () => {
    const desk = await shared.desk([EMPTY]);
    const { admission, notes } = await distinguish(fixture.bench, desk, contest());
    expect(admission.tests).toMatchObject([
      { id: 'distinguishing-1', origin: 'distinguishing', path: 'test/distinguishing-1.test.js' },
    ]);
    expect(admission.byAlias).toMatchObject({
      A: { passed: 1, total: 1 },
      B: { passed: 0, total: 1, failing: [{ id: 'distinguishing-1', origin: 'distinguishing' }] },
    });
    expect(notes).toEqual(['Round 1: It fails on the base and passes on A.']);
    expect(desk.provider.seen).toHaveLength(1);
    expect(desk.rig.ledger.rows).toMatchObject([{ spender: 'distinguisher' }]);
  });

  test('are shown without authors, each class once, in random order', async () => {
    const again = { ...hasty, alias: 'C' };
    const desk = await shared.desk([{ test: null, note: 'The task does not say.' }]);
    const orders = new Set<string>();
    for (let turn = 0; turn < 24 && orders.size < 2; turn += 1) {
      const given = contest({
        contenders: [
          contender(right, 'a', '+ trim() by A'),
          contender(hasty, 'b', '+ split() by B'),
          contender(again, 'b', '+ split() by C'),
        ],
        undecided: () => ['A', 'B', 'C'],
      });
      const fresh = { ...desk, remember: <T>(_: string, work: () => Promise<T>) => work() };
      const { admission, notes } = await distinguish(fixture.bench, fresh, given);
      expect([admission, notes]).toEqual([NO_ADMISSION, ['Round 1: The task does not say.']]);
      const prompt = promptsTo(desk.provider).at(-1) ?? '';
      const shown = [...prompt.matchAll(/<<<PATCH (\d) \w+\n(.*)\n/g)].map(([, number, text]) => [
        number,
        text,
      ]);
      expect(shown.map(([number]) => number)).toEqual(['1', '2']);
      orders.add(shown.map(([, text]) => text).join());
    }
    expect([...orders].toSorted()).toEqual(['+ split(),+ trim()', '+ trim(),+ split()']);
  });

  test('lead to no further request once they are decided', async () => {
    const desk = await shared.desk([EMPTY]);
    const none = { admission: NO_ADMISSION, notes: [] };
    expect(await distinguish(fixture.bench, desk, contest({ undecided: () => [] }))).toEqual(none);
    expect(await distinguish(fixture.bench, desk, contest({ undecided: () => ['A'] }))).toEqual(none);
    const alike = [contender(right, 'a'), contender(hasty, 'a')];
    expect(await distinguish(fixture.bench, desk, contest({ contenders: alike }))).toEqual(none);
    expect(desk.provider.seen).toHaveLength(0);
  });

  test('are not separated by a test on which they do not differ, and no further one is requested', async () => {
    const desk = await shared.desk([SPACE, EMPTY]);
    const { admission, notes } = await distinguish(fixture.bench, desk, contest());
    expect([admission, notes]).toEqual([NO_ADMISSION, ['Round 1: It fails on the base and passes on A, B.']]);
    expect(desk.provider.seen).toHaveLength(1);
  });

  test('get at most three rounds of tests, each paid once', async () => {
    const desk = await shared.desk([
      EMPTY,
      written('', [], { title: 'again', file: `${EMPTY.test.file}// 2\n` }),
      written('', [], { title: 'and again', file: `${EMPTY.test.file}// 3\n` }),
      EMPTY,
    ]);
    // However many tests tell them apart, it is never enough here.
    const given = contest({ undecided: () => ['A', 'B'] });
    const { admission, notes } = await distinguish(fixture.bench, desk, given);
    expect(admission.tests.map(({ path }) => path)).toEqual([
      'test/distinguishing-1.test.js',
      'test/distinguishing-2.test.js',
      'test/distinguishing-3.test.js',
    ]);
    expect(admission.byAlias.A).toMatchObject({ passed: 3, total: 3 });
    expect(notes).toHaveLength(3);
    // The second and third writer are told what was tested before.
    expect(promptsTo(desk.provider)[2]).toMatch(/<<<TESTED ALREADY \w+\nthe line ""\nagain\n/);
    expect(await distinguish(fixture.bench, desk, given)).toEqual({ admission, notes });
    expect(desk.provider.seen).toHaveLength(3);
  });

  test('get no test whose expectation is not in the task', async () => {
    const desk = await shared.desk([written('', [], { quote: 'Patch 2 is the best of them' })]);
    const { admission, notes } = await distinguish(fixture.bench, desk, contest());
    expect([admission, notes]).toEqual([NO_ADMISSION, [expect.stringContaining('do not occur in the task')]]);
  });

  test('stay undecided without a fault when the budget is used up', async () => {
    const desk = await shared.desk([EMPTY]);
    const task = { ...desk.task, settings: { ...desk.task.settings, budget: { run: 1e-7, candidate: 1 } } };
    const { admission, notes } = await distinguish(fixture.bench, { ...desk, task }, contest());
    expect([admission, notes.length]).toEqual([NO_ADMISSION, 1]);
    expect(desk.provider.seen).toHaveLength(0);
  });
});
