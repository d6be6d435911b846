import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  AGREEMENT_THRESHOLD,
  decideEarlyStop,
  type FinishedCandidate,
} from '../../../src/core/ranking/index.ts';
import { found, type Told } from './round-facts.ts';

const finisher = (alias: string, family: string, told: Told = {}): FinishedCandidate => ({
  evidence: found(alias, told),
  family,
});
const allAgree = () => 1;
const field = (families: number, similarity: (a: string, b: string) => number = allAgree) => ({
  families,
  similarity,
});

describe('active coders are stopped', () => {
  test('when two of different families passed and wrote the same', () => {
    expect(decideEarlyStop([finisher('C', 'claude'), finisher('A', 'gpt')], field(3))).toEqual({
      kind: 'stop',
      aliases: ['A', 'C'],
      because: 'stopped early: A and C passed and agree',
    });
  });

  test('when two of one family agree and no other family competes', () => {
    const two = [finisher('A', 'claude'), finisher('B', 'claude')];
    expect(decideEarlyStop(two, field(1)).kind).toBe('stop');
    expect(decideEarlyStop(two, field(2)).kind).toBe('wait');
  });

  test('from the minimum agreement on', () => {
    const two = [finisher('A', 'claude'), finisher('B', 'gpt')];
    expect(
      decideEarlyStop(
        two,
        field(2, () => AGREEMENT_THRESHOLD),
      ).kind,
    ).toBe('stop');
    expect(
      decideEarlyStop(
        two,
        field(2, () => AGREEMENT_THRESHOLD - 1e-6),
      ).kind,
    ).toBe('wait');
    expect(
      decideEarlyStop(
        two,
        field(2, () => Number.NaN),
      ).kind,
    ).toBe('wait');
  });

  test('although another one failed', () => {
    const three = [
      finisher('A', 'claude'),
      finisher('B', 'gpt'),
      finisher('C', 'gemini', { lost: 'builds' }),
    ];
    expect(decideEarlyStop(three, field(4))).toMatchObject({ kind: 'stop', aliases: ['A', 'B'] });
  });
});

describe('all coders continue', () => {
  const other = finisher('B', 'gpt');
  test.each([
    ['only one has finished', [other]],
    ['one of the two failed a gate', [finisher('A', 'claude', { lost: 'tests-run' }), other]],
    ['one of the two breaks a test', [finisher('A', 'claude', { breaks: ['x'] }), other]],
  ])('when %s', (_, finishers) => {
    expect(decideEarlyStop(finishers, field(2))).toEqual({ kind: 'wait' });
  });

  test('when a third one passed and wrote something else', () => {
    const three = [finisher('A', 'claude'), other, finisher('C', 'gemini')];
    const odd = (a: string, b: string) => (a === 'C' || b === 'C' ? 0.2 : 1);
    expect(decideEarlyStop(three, field(3, odd)).kind).toBe('wait');
  });

  test('when the base tests never ran on one', () => {
    const { baseTests: _, ...untested } = found('A');
    expect(decideEarlyStop([{ evidence: untested, family: 'claude' }, other], field(2)).kind).toBe('wait');
  });
});

test('the order of finishers, and of a pair, does not matter', () => {
  const any = fc.array(
    fc.record({
      family: fc.constantFrom('claude', 'gpt'),
      breaks: fc.constantFrom([], [], ['x']),
    }),
    { maxLength: 4 },
  );
  fc.assert(
    fc.property(
      any,
      fc.array(fc.constantFrom(0, AGREEMENT_THRESHOLD - 0.01, AGREEMENT_THRESHOLD, 1), {
        minLength: 16,
        maxLength: 16,
      }),
      (all, table) => {
        const finishers = all.map(({ family, breaks }, i) =>
          finisher(String.fromCharCode(65 + i), family, { breaks }),
        );
        const at = (alias: string) => alias.charCodeAt(0) - 65;
        const similarity = (a: string, b: string) => table[at(a) * 4 + at(b)] ?? 0;
        const turned = (a: string, b: string) => similarity(b, a);
        expect(decideEarlyStop(finishers.toReversed(), field(2, turned))).toEqual(
          decideEarlyStop(finishers, field(2, similarity)),
        );
      },
    ),
  );
});
