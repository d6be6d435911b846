import { createTwoFilesPatch } from 'diff';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  filesBetween,
  type Hunk,
  type PatchFile,
  patchedText,
  readDiff,
} from '../../../src/core/patches/index.ts';
import { cpuMsSince } from '../../world/cpu-time.ts';

const file = (path: string, hunks: readonly Hunk[], change: Partial<PatchFile> = {}): PatchFile => ({
  path,
  change: 'modified',
  oldMode: '100644',
  newMode: '100644',
  role: 'production',
  additions: 0,
  deletions: 0,
  binary: false,
  hunks,
  section: JSON.stringify([hunks, change]),
  ...change,
});

/** The patch from one text to another, as git would write it. */
const patchTo = (base: string, text: string, change: Partial<PatchFile> = {}): readonly PatchFile[] =>
  base === text
    ? []
    : [
        file(
          'a.ts',
          readDiff(createTwoFilesPatch('a/a.ts', 'b/a.ts', base, text, '', '', { context: 3 }))[0]?.hunks ??
            [],
          change,
        ),
      ];

const numbered = (count: number): string => Array.from({ length: count }, (_, at) => `line ${at}\n`).join('');
const shown = (hunks: readonly Hunk[]): readonly string[] =>
  hunks.flatMap(({ lines }) =>
    lines.filter(({ kind }) => kind !== 'context').map(({ kind, text, line }) => `${kind} ${line} ${text}`),
  );

describe('what differs between the results of two patches', () => {
  const base = numbered(60);

  test('is shown with the lines of both, wherever each of them changes the base', () => {
    const one = base.replace('line 5\n', 'FIVE\nand more\n').replace('line 40\n', 'forty\n');
    const other = base.replace('line 5\n', 'five\n').replace('line 40\n', 'forty\n').replace('line 50\n', '');
    const [found] = filesBetween(patchTo(base, one), patchTo(base, other));
    expect(shown(found?.hunks ?? [])).toEqual([
      'removed 6 FIVE',
      'removed 7 and more',
      'added 6 five',
      'removed 52 line 50',
    ]);
  });

  test('is matched line by line only as far as a bound for all places together allows', () => {
    const long = numbered(300);
    const places = Array.from({ length: 20 }, (_, at) => `\nline ${at * 15 + 7}\n`);
    const lines = (who: string, at: number) =>
      `${Array.from({ length: 120 }, (_, nth) => `${who} ${at} ${nth}\n`).join('')}shared\n${Array.from({ length: 120 }, (_, nth) => `${who} ${at} more ${nth}\n`).join('')}`;
    const of = (who: string) =>
      places.reduce((text, place, at) => text.replace(place, () => `\n${lines(who, at)}`), long);
    const [found] = filesBetween(patchTo(long, of('one')), patchTo(long, of('other')));
    const shared = (found?.hunks ?? []).flatMap((hunk) => hunk.lines).filter(({ text }) => text === 'shared');
    const kept = shared.filter(({ kind }) => kind === 'context').length;
    // 480 edits in 241 lines each, so 346,080 comparisons: eleven places use up the bound of four million.
    expect([kept, shared.length - kept]).toEqual([11, 18]);
  });

  test('costs as little where most lines are equal, however long the file is', () => {
    const blank = (who: string) =>
      Array.from({ length: 100_000 }, (_, nth) => (nth % 170 === 0 ? `${who} ${nth}\n` : '\n')).join('');
    const created = { change: 'added', oldMode: '000000' } as const;
    const of = (who: string) => patchTo('', blank(who), created);
    const [one, other] = [of('a'), of('b')];
    const began = process.cpuUsage();
    expect(filesBetween(one, other)).toHaveLength(1);
    expect(cpuMsSince(began)).toBeLessThan(1_000);
  });

  test('is nothing where both make the same change', () => {
    const text = base.replace('line 5\n', 'five\n');
    expect(filesBetween(patchTo(base, text), patchTo(base, text))).toEqual([]);
    const wider = patchTo(base, text, { section: 'written otherwise' });
    expect(filesBetween(patchTo(base, text), wider)).toEqual([]);
  });

  test('is what one adds, if the other does not touch the file', () => {
    const [found] = filesBetween([], patchTo(base, base.replace('line 5\n', 'five\n')));
    expect(shown(found?.hunks ?? [])).toEqual(['removed 6 line 5', 'added 6 five']);
  });

  test('names files that only one has, modes, and binary content', () => {
    const created = { change: 'added', oldMode: '000000' } as const;
    const notes = (one: readonly PatchFile[], other: readonly PatchFile[]) =>
      filesBetween(one, other).map((each) => each.notes);
    expect(notes([], patchTo('', 'new\n', created))).toEqual([['only the second one has it']]);
    expect(notes(patchTo('', 'new\n', created), [])).toEqual([['only the first one has it']]);
    const gone = { change: 'deleted', newMode: '000000' } as const;
    expect(notes(patchTo(base, '', gone), [])).toEqual([['only the second one has it']]);
    expect(notes([file('x', [], { newMode: '100755' })], [])).toEqual([
      ['its mode changes from 100755 to 100644'],
    ]);
    expect(notes([file('x', [], { binary: true })], [])).toEqual([
      ['its content is binary or a link, and differs'],
    ]);
  });

  test('does not match the lines of texts that have nothing in common', () => {
    const [one, other] = [numbered(4_000).replaceAll('line', 'a'), numbered(4_000).replaceAll('line', 'b')];
    const created = { change: 'added', oldMode: '000000' } as const;
    const began = process.cpuUsage();
    const [found] = filesBetween(patchTo('', one, created), patchTo('', other, created));
    expect(cpuMsSince(began)).toBeLessThan(2_000);
    expect(found?.hunks[0]).toMatchObject({ oldCount: 4_000, newCount: 4_000 });
  });

  const text = fc
    .array(fc.constantFrom('a', 'b', 'c', 'd', '', '\\', '+', '-'), { maxLength: 40 })
    .chain((lines) =>
      fc.boolean().map((ended) => lines.join('\n') + (ended && lines.length > 0 ? '\n' : '')),
    );

  test('turns the first result into the second, for any three texts', () => {
    fc.assert(
      fc.property(text, text, text, (start, one, other) => {
        const [a, b] = [patchTo(start, one), patchTo(start, other)];
        const [found] = filesBetween(a, b);
        if (!found) return one === other;
        const made = patchedText(one, file('a.ts', found.hunks));
        return made.kind === 'text' && made.text === other;
      }),
      { numRuns: 2_000 },
    );
  });
});
