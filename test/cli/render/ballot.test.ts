import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  ballotPage,
  displayWidth,
  painter,
  resultsText,
  screenLines,
} from '../../../src/cli/render/index.ts';
import { ballotQuestion, executedText, type Sample, standingOf } from '../../../src/core/arena/index.ts';
import { contestOf, Field, repoTask, SOLVED, textTask, UNSOLVED } from '../../core/arena/contest-records.ts';

function questionFor(answers: readonly [string, string], over: Partial<Sample> = {}, statement = 'Do it.') {
  const isDiff = over.verification !== undefined;
  const field = new Field(
    contestOf(['ada', 'bob'], [isDiff ? repoTask('t', statement) : textTask('t', statement)]),
  );
  field.answer('ada', 't', answers[0], over);
  field.answer('bob', 't', answers[1], isDiff ? { verification: UNSOLVED } : {});
  const standing = standingOf(field.records);
  const [pair] = standing.pairs;
  const question = pair && ballotQuestion({ contest: field.contest, standing }, pair);
  if (!question) throw new Error('there is a pair');
  return question;
}

const page = (question: ReturnType<typeof questionFor>, colour: boolean, showResults = false, width = 60) =>
  ballotPage(question, { width, paint: painter(colour), showResults });

const DIFF = 'diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+new\n';

describe('a blind pair', () => {
  test('has coloured diffs, or none with NO_COLOR', () => {
    const question = questionFor([DIFF, `${DIFF}+more\n`], { verification: SOLVED });
    const coloured = page(question, true).lines;
    expect(coloured).toContain('\u001b[31m-old\u001b[0m');
    expect(coloured).toContain('\u001b[32m+new\u001b[0m');
    expect(coloured).toContain('\u001b[1m+++ b/x\u001b[0m');
    expect(page(question, false).lines.join('')).not.toContain('\u001b');
  });

  test('shows executed results only where the contest says so, and both after the vote', () => {
    const question = questionFor([DIFF, `${DIFF}+more\n`], { verification: SOLVED });
    expect(page(question, false).lines.join('\n')).not.toContain('solved');
    const shown = page(question, false, true, 200).lines.join('\n');
    expect(shown).toContain('solved: applied, built, tests: 3 of 3 pass');
    expect(shown).toContain('not solved: applied, built, tests: 2 of 3 pass (1 of 3 tests failed)');
    expect(resultsText(question)).toMatch(/^A (?:not )?solved: .*\. B (?:not )?solved: .*\.$/);
    expect(executedText(null)).toBe('nothing was executed');
    expect(resultsText(questionFor(['x', 'y']))).toBeNull();
  });

  test('of any texts fits the screen line by line, and holds nothing that a terminal acts on', () => {
    const text = fc.string({ unit: 'binary', maxLength: 300 }).map((one) => one.toWellFormed());
    fc.assert(
      fc.property(text, text, fc.integer({ min: 20, max: 90 }), (one, other, width) => {
        const { lines, startOfA, startOfB } = page(
          questionFor([`1${one}`, `2${other}`], {}, one || 'x'),
          false,
          false,
          width,
        );
        for (const line of lines) {
          expect(displayWidth(line)).toBeLessThanOrEqual(width);
          expect(line).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/u);
        }
        expect(startOfB).toBeGreaterThan(startOfA);
        const screen = screenLines({
          page: { lines, startOfA, startOfB },
          top: 0,
          rows: 12,
          width,
          status: one,
          paint: painter(false),
        });
        expect(screen).toHaveLength(12);
        expect(screen.every((line) => displayWidth(line) <= width)).toBe(true);
      }),
      { numRuns: 60 },
    );
  });

  test('keeps every character of a long line', () => {
    const line = Array.from({ length: 500 }, (_, i) => String(i % 10)).join('');
    const { lines, startOfA, startOfB } = page(questionFor([line, `${line}x`]), false);
    const body = lines.slice(startOfA + 1, startOfB).join('');
    expect([line, `${line}x`]).toContain(body);
  });
});
