import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type CastVote,
  countedVotes,
  readRecords,
  recordLine,
  Sample,
  VERDICTS,
  VoteRecord,
} from '../../../src/core/arena/index.ts';

const CONTEST = 'a'.repeat(64);
const id = (letter: string, n: number) => `${letter}${n.toString(16).padStart(16, '0')}`;

const sample = (n: number, more: Partial<Sample> = {}): Sample => ({
  version: 1,
  id: id('s', n),
  contest: CONTEST,
  task: 'greeting',
  contestant: `short/a/m${n}`,
  agent: 'none',
  model: `a/m${n}`,
  prompt: 'short',
  round: 1,
  seed: 1,
  parameters: { temperature: 0, maxTokens: 100, repair: false, timeSeconds: 600 },
  versions: { runoff: '0.1.0', agent: null },
  price: { input: 1, output: 2 },
  question: 'b'.repeat(64),
  outcome: 'answered',
  why: null,
  form: 'text',
  answer: 'Hello.',
  verification: null,
  usage: { calls: 1, tokensIn: 3, tokensOut: 2, usd: 0.000_007 },
  seconds: 1.25,
  repaired: false,
  reusedFrom: null,
  at: '2026-01-01T00:00:00.000Z',
  ...more,
});

const vote = (n: number, more: Partial<CastVote> = {}): CastVote => ({
  version: 1,
  kind: 'vote',
  id: id('v', n),
  contest: CONTEST,
  task: 'greeting',
  left: id('s', 1),
  right: id('s', 2),
  verdict: 'left',
  by: { kind: 'person', name: 'ann' },
  resultsShown: false,
  at: new Date(n * 1000).toISOString(),
  ...more,
});

const answer = fc.string({ unit: 'binary', maxLength: 300 }).filter((text) => text.isWellFormed());

describe('samples.jsonl', () => {
  const samples = fc
    .array(answer, { minLength: 1, maxLength: 6 })
    .map((texts) => texts.map((text, n) => sample(n, { answer: text })));

  test('what is written is read, whatever models answer', () => {
    fc.assert(
      fc.property(samples, (written) => {
        const text = written.map(recordLine).join('');
        expect(readRecords(text, 'samples.jsonl', Sample)).toEqual({
          records: written,
          problems: [],
          unfinished: 0,
        });
      }),
    );
  });

  test('texts that are too long for their field are cut, so that the file can be read again', () => {
    const long = '😀'.repeat(5_000);
    const failed = sample(1, {
      outcome: 'failed',
      why: long,
      versions: { runoff: '0.1.0', agent: long },
      verification: {
        ...{ applied: true, built: null, hiddenTests: null, solved: false, why: long, change: null },
        tests: {
          ...{ passed: 0, failed: 1, skipped: 0, ok: false, reported: true, seconds: 1 },
          failures: ['short', long],
        },
      },
    });
    const read = readRecords(recordLine(failed), 'samples.jsonl', Sample);
    expect(read.problems).toEqual([]);
    const [one] = read.records;
    expect(one?.why).toHaveLength(4_000);
    expect(one?.why?.isWellFormed()).toBe(true);
    expect(one?.verification?.tests?.failures.map((name) => name.length)).toEqual([5, 400]);
    expect(one?.versions.agent).toMatch(/…$/);
  });

  test('a record that could not be read again is not written', () => {
    expect(() => recordLine(sample(1, { seconds: Number.NaN }))).toThrow('seconds');
    expect(() => recordLine(sample(1, { contestant: 'with a space' }))).toThrow('contestant');
  });

  test('a writer killed at any byte of a line costs that line and no other', () => {
    fc.assert(
      fc.property(samples, fc.nat(), (written, at) => {
        const whole = written.map(recordLine);
        const last = whole.at(-1) ?? '';
        const cut = 1 + (at % (last.length - 1));
        const text = `${whole.slice(0, -1).join('')}${last.slice(0, cut)}`;
        const read = readRecords(text, 'samples.jsonl', Sample);
        // Without its line end only, the record is complete.
        const complete = cut === last.length - 1;
        expect(read).toEqual({
          records: complete ? written : written.slice(0, -1),
          problems: [],
          unfinished: complete ? 0 : cut,
        });
      }),
    );
  });

  test('a wrong line in the middle is named and is not dropped in silence', () => {
    const text = `${recordLine(sample(1))}{"version":1}\n${recordLine(sample(2)).slice(0, 40)}\n${recordLine(sample(3))}`;
    const { records, problems } = readRecords(text, 'samples.jsonl', Sample);
    expect(records.map((one) => one.id)).toEqual([id('s', 1), id('s', 3)]);
    expect(problems).toHaveLength(2);
    expect(problems[0]).toMatch(/^samples\.jsonl:2: `id`: .*\.$/);
    expect(problems[1]).toBe('samples.jsonl:3: This line is not valid JSON; each line must be one record.');
  });

  test('an unknown field or another version is refused', () => {
    const lines = [
      { ...sample(1), extra: 1 },
      { ...sample(1), version: 2 },
    ].map((one) => JSON.stringify(one));
    expect(readRecords(`${lines.join('\n')}\n`, 'samples.jsonl', Sample).problems).toHaveLength(2);
  });

  test('a file that was merged with itself is the same file', () => {
    const text = [sample(1), sample(2)].map(recordLine).join('');
    expect(readRecords(text + text, 'samples.jsonl', Sample).records).toEqual([sample(1), sample(2)]);
  });
});

describe('votes.jsonl', () => {
  const samples = [sample(1), sample(2)];

  test('the order of lines does not matter, as after a merge', () => {
    const records = fc.array(fc.constantFrom(...VERDICTS), { maxLength: 8 }).chain((verdicts) => {
      const votes: VoteRecord[] = verdicts.map((verdict, n) => vote(n, { verdict }));
      const undone: VoteRecord[] = votes.slice(0, 2).map((one, n) => ({
        version: 1,
        kind: 'undo',
        id: id('u', n),
        vote: one.id,
        by: one.by,
        at: one.at,
      }));
      return fc.tuple(
        fc.constant(votes.slice(2)),
        fc.shuffledSubarray([...votes, ...undone], { minLength: votes.length + undone.length }),
      );
    });
    fc.assert(
      fc.property(records, ([counting, shuffled]) => {
        const read = readRecords(shuffled.map(recordLine).join(''), 'votes.jsonl', VoteRecord);
        expect(read.problems).toEqual([]);
        expect(countedVotes(read.records, CONTEST, samples)).toEqual({
          votes: counting,
          ofOtherVersions: 0,
          problems: [],
        });
      }),
    );
  });

  test('votes that cannot be counted are named', () => {
    const counted = countedVotes(
      [
        vote(1),
        vote(2, { left: id('s', 9) }),
        vote(3, { right: id('s', 1) }),
        vote(4, { task: 'other' }),
        vote(5, { contest: 'c'.repeat(64) }),
      ],
      CONTEST,
      samples,
    );
    expect(counted.votes.map((one) => one.id)).toEqual([id('v', 1)]);
    expect(counted.ofOtherVersions).toBe(1);
    expect(counted.problems).toEqual([
      `votes.jsonl: the vote ${id('v', 2)} is for the sample ${id('s', 9)}, which does not exist; it is not counted.`,
      `votes.jsonl: the vote ${id('v', 3)} compares a sample with itself; it is not counted.`,
      `votes.jsonl: the vote ${id('v', 4)} compares samples of other tasks; it is not counted.`,
    ]);
  });
});
