import { describe, expect, test } from 'vitest';
import {
  agreementOf,
  judgeBallots,
  lastVote,
  nextQuestion,
  openPairs,
  pairsForJudges,
  standingOf,
  type TwoVerdicts,
} from '../../../src/core/arena/index.ts';
import { contestOf, Field, repoTask, SOLVED, textTask, UNSOLVED } from './contest-records.ts';

const KIM = { kind: 'person', name: 'kim' } as const;

function fieldOfThree(tasks: readonly string[] = ['t1', 't2', 't3', 't4', 't5', 't6']) {
  const field = new Field(
    contestOf(
      ['ada', 'bob', 'cyd'],
      tasks.map((id) => textTask(id)),
    ),
  );
  const answers = new Map(
    tasks.map((task) => [
      task,
      {
        ada: field.answer('ada', task, `ada on ${task}`),
        bob: field.answer('bob', task, `bob on ${task}`),
        cyd: field.answer('cyd', task, `cyd on ${task}`),
      },
    ]),
  );
  const on = (task: string) => {
    const found = answers.get(task);
    if (!found) throw new Error(task);
    return found;
  };
  return { field, on };
}

describe('votes of people', () => {
  test('count for the answer that was preferred, whichever side it was on; the last one of a person stands', () => {
    const { field, on } = fieldOfThree();
    const { ada, bob } = on('t1');
    field.vote(ada, bob, 'left');
    field.vote(ada, bob, 'left', 'lee');
    field.vote(bob, ada, 'left', 'lee');
    const scores = standingOf(field.records).people.map(({ voter, pair, score }) => [
      voter,
      pair.a.id === ada.id ? score : score === null ? null : 1 - score,
    ]);
    expect(scores).toEqual([
      ['person kim', 1],
      ['person lee', 0],
    ]);
  });

  test('that were taken back do not count, and their pair is open again', () => {
    const { field, on } = fieldOfThree(['t1']);
    const { ada, bob } = on('t1');
    const vote = field.vote(ada, bob, 'left');
    field.vote(ada, on('t1').cyd, 'skip');
    const open = () => {
      const standing = standingOf(field.records);
      return openPairs(standing, standing.people, 'person kim').length;
    };
    expect([open(), lastVote(field.votes, field.digest, KIM)?.verdict]).toEqual([1, 'skip']);
    field.undo(vote);
    expect(open()).toBe(2);
    expect(standingOf(field.records).people.map(({ score }) => score)).toEqual([null]);
    expect(lastVote(field.votes, field.digest, { kind: 'person', name: 'lee' })).toBeNull();
  });

  test('for samples that do not exist, or on another version, are named and not counted', () => {
    const { field, on } = fieldOfThree(['t1', 't2']);
    const { ada, bob } = on('t1');
    field.vote(ada, { ...bob, id: 's0000000000000000' }, 'left');
    field.vote(ada, on('t2').bob, 'left');
    field.vote(ada, bob, 'left', 'kim', { contest: 'f'.repeat(64) });
    const { people, notes } = standingOf(field.records);
    expect(people).toEqual([]);
    expect(notes.join('\n')).toMatch(/sample s0000000000000000, which does not exist/);
    expect(notes.join('\n')).toMatch(/compares samples of other tasks/);
    expect(notes.join('\n')).toMatch(/1 vote is not counted: cast on another version/);
  });

  test('are asked for until every pair is decided or skipped, and never name a contestant', () => {
    const { field } = fieldOfThree(['t1', 't2']);
    let asked = 0;
    for (;;) {
      const standing = standingOf(field.records);
      const question = nextQuestion({ contest: field.contest, standing }, standing.people, KIM);
      if (question === null) break;
      expect(question.left.contestant).not.toBe(question.right.contestant);
      field.vote(question.left, question.right, asked % 3 === 0 ? 'skip' : 'tie');
      asked += 1;
    }
    expect(asked).toBe(6);
  });
});

describe('tasks', () => {
  test('whose commands pass without a change are left out with the reason, and so are votes on them', () => {
    const field = new Field(contestOf(['ada', 'bob'], [repoTask('r1'), repoTask('r2'), repoTask('r3')]));
    const [ada, bob] = ['ada', 'bob'].map((one) =>
      field.answer(one, 'r1', `diff of ${one}`, { verification: SOLVED }),
    );
    field.answer('ada', 'r2', 'diff', { verification: UNSOLVED });
    field.bases.push({
      version: 1,
      id: 'b0000000000000000',
      contest: field.digest,
      task: 'r1',
      commit: 'a'.repeat(40),
      built: null,
      tests: null,
      hiddenTests: null,
      rated: false,
      why: 'The verify commands pass without a change.',
      at: '2026-11-24T12:00:00Z',
    });
    if (ada && bob) field.vote(ada, bob, 'left');
    const standing = standingOf(field.records);
    expect(standing.leftOut).toEqual([
      { task: 'r1', why: 'The verify commands pass without a change.' },
      { task: 'r3', why: 'Nobody has answered it yet.' },
    ]);
    expect([standing.people, standing.pairs]).toEqual([[], []]);
    expect(standing.notes).toContain('1 vote is not counted: on tasks that are left out.');
  });

  test('that were broken count again as soon as they are corrected, in whatever order lines were merged', () => {
    const field = new Field(contestOf(['ada'], [repoTask('r1')]));
    field.answer('ada', 'r1', 'diff', { verification: SOLVED });
    const found = { contest: field.digest, task: 'r1', commit: 'a'.repeat(40), built: null } as const;
    const line = { version: 1, ...found, tests: null, hiddenTests: null } as const;
    const broken = { rated: false, why: 'Its reference does not solve it.', at: '2026-11-24T12:00:00Z' };
    const right = { rated: true, why: null, at: '2026-11-24T13:00:00Z' };
    field.bases.push({ ...line, id: 'b0000000000000001', ...right });
    field.bases.push({ ...line, id: 'b0000000000000000', ...broken });
    expect(standingOf(field.records).leftOut).toEqual([]);
    field.bases.push({ ...line, id: 'b0000000000000002', ...broken, at: '2026-11-24T14:00:00Z' });
    expect(standingOf(field.records).leftOut).toEqual([{ task: 'r1', why: broken.why }]);
  });
});

describe('verdicts of judges', () => {
  test('count if both orders were asked; contradicting ones are a tie; unusable ones are not counted', () => {
    const { field, on } = fieldOfThree();
    const both = (task: string, one: 'left' | 'right' | 'tie' | 'skip', two: typeof one) => {
      const { ada, bob } = on(task);
      field.judge(ada, bob, one, 'maker/wise');
      field.judge(bob, ada, two, 'maker/wise');
    };
    both('t1', 'left', 'right');
    both('t2', 'left', 'left');
    both('t3', 'skip', 'left');
    field.judge(on('t4').ada, on('t4').bob, 'left', 'maker/wise');
    const standing = standingOf(field.records);
    const [judge] = standing.judges;
    expect(judge).toMatchObject({
      model: 'maker/wise',
      compared: 2,
      inconsistent: 1,
      unusable: 1,
      unfinished: 1,
      discarded: null,
    });
    const scores = new Map(judge?.ballots.map(({ pair, score }) => [pair.task, score]));
    expect([...scores.keys()]).toEqual(['t1', 't2']);
    expect([scores.get('t1') === 0.5, scores.get('t2')]).toEqual([false, 0.5]);
    expect(standing.people).toEqual([]);
  });

  test('of a judge that follows the order are discarded, with the numbers', () => {
    const { field, on } = fieldOfThree();
    for (const task of ['t1', 't2', 't3', 't4', 't5']) {
      field.judge(on(task).ada, on(task).bob, 'left', 'maker/first');
      field.judge(on(task).bob, on(task).ada, 'left', 'maker/first');
    }
    const { votes, pairsByKey } = standingOf(field.records);
    expect(judgeBallots(votes, pairsByKey)[0]?.discarded).toMatch(
      /^5 of its 5 verdicts changed with the order/,
    );
  });

  test('are asked about the pairs of people first, and about the same ones after an interruption', () => {
    const { field, on } = fieldOfThree();
    field.vote(on('t5').bob, on('t5').cyd, 'left');
    const before = pairsForJudges(standingOf(field.records), 1, 7);
    expect(before[0]?.task).toBe('t5');
    expect(new Set(before.map(({ key }) => key)).size).toBe(7);
    field.judge(on('t1').ada, on('t1').bob, 'left', 'maker/wise');
    expect(pairsForJudges(standingOf(field.records), 1, 7)).toEqual(before);
    expect(pairsForJudges(standingOf(field.records), 1, 100)).toHaveLength(18);
  });
});

describe('agreement', () => {
  const verdicts = (
    ...rows: readonly (readonly [one: TwoVerdicts['one'], other: TwoVerdicts['one'], times: number])[]
  ) =>
    rows.flatMap(([one, other, times], row) =>
      Array.from({ length: times }, (_, i) => ({ task: `${row} ${i}`, pair: `${row} ${i}`, one, other })),
    );

  test('is 1 for equal verdicts, and about 0 for independent ones', () => {
    expect(agreementOf(verdicts([1, 1, 10], [0, 0, 10]), 1)).toMatchObject({ raw: 1, kappa: 1 });
    const chance = agreementOf(verdicts([1, 1, 10], [1, 0, 10], [0, 1, 10], [0, 0, 10]), 1);
    expect(chance).toMatchObject({ raw: 0.5, kappa: 0, verdicts: 40, pairs: 40 });
    expect(chance?.kappaInterval?.low).toBeLessThan(-0.1);
    expect(chance?.kappaInterval?.high).toBeGreaterThan(0.1);
  });

  test('takes into account that two who see many ties agree often by chance', () => {
    const result = agreementOf(verdicts([0.5, 0.5, 18], [1, 0.5, 1], [0.5, 0, 1]), 1);
    expect(result?.raw).toBe(0.9);
    expect(result?.kappa).toBeLessThan(0.1);
    expect(agreementOf(verdicts([0.5, 0.5, 3]), 1)).toMatchObject({
      raw: 1,
      kappa: null,
      kappaInterval: null,
    });
    expect(agreementOf([], 1)).toBeNull();
  });

  test('trusts many pairs of one task less than as many on different tasks', () => {
    const apart = verdicts([1, 1, 8], [1, 0, 4]);
    const together = apart.map((one, i) => ({ ...one, task: `t${i % 3}` }));
    const width = (given: readonly TwoVerdicts[]) => {
      const { low = 0, high = 0 } = agreementOf(given, 1)?.kappaInterval ?? {};
      return high - low;
    };
    expect(agreementOf(together, 1)).toMatchObject({ verdicts: 12, pairs: 12 });
    // Four pairs of each task: all of two tasks agree, none of the third one does.
    const alike = apart.map((one, i) => ({ ...one, task: `t${Math.floor(i / 4)}` }));
    expect(width(alike)).toBeGreaterThan(1.5 * width(apart));
  });

  test('does not depend on which answer of a pair is called the first, or on the order', () => {
    const given = verdicts([1, 1, 7], [0, 1, 2], [0.5, 0, 1], [0, 0, 3]);
    const turned = given
      .map((both, i) =>
        i % 2 === 0 ? both : ({ ...both, one: 1 - both.one, other: 1 - both.other } as TwoVerdicts),
      )
      .toReversed();
    expect(agreementOf(turned, 1)).toEqual(agreementOf(given, 1));
  });
});
