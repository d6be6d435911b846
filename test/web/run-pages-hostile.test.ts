import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Hunk } from '../../src/core/patches/index.ts';
import { PAGE, runSummary } from '../../src/core/reports/index.ts';
import { diffBody } from '../../src/web/pages/run/diff.ts';
import { diffParts, type ShownFile } from '../../src/web/pages/run/diff-files.ts';
import { diffTable } from '../../src/web/pages/run/diff-table.ts';
import { CORPUS, hostile, poisoned } from '../core/reports/hostile.ts';
import { expectInert } from './inert.ts';
import { poisonedParts } from './poisoned-run.ts';
import { pageOf, storedRun } from './stored-run.ts';

const PATHS = [
  '',
  '/tests',
  '/tests?show=all',
  '/tests/0-0',
  '/behaviour',
  '/debate',
  '/judges',
  '/cost',
  '/audit',
];

async function everyPage(text: string): Promise<void> {
  const view = poisoned(text);
  const world = await storedRun(view, poisonedParts(text));
  for (const path of PATHS) expectInert(await pageOf(world, view, path));
}

const line = (kind: 'added' | 'removed' | 'context', text: string, at: number) => ({
  kind,
  text,
  line: at,
  base: at,
});

const hunkOf = (text: string): Hunk => ({
  oldStart: 1,
  oldCount: 2,
  newStart: 1,
  newCount: 2,
  heading: text,
  lines: text
    .split('\n')
    .flatMap((part, at) => [
      line('removed', part, at),
      line('added', `${part} ${text.replaceAll('\n', '')}`, at),
      line('context', part, at),
    ]),
});

const fileOf = (text: string): ShownFile => ({
  path: text,
  from: text,
  label: 'renamed',
  notes: [text],
  additions: 1,
  deletions: 1,
  hunks: [hunkOf(text)],
});

const inPage = (body: unknown): string => `<!doctype html><html><body>${String(body)}</body></html>`;

describe('text of others stays text', () => {
  test('on every page of a run, for the whole collection at once', () => everyPage(CORPUS.join(' ')));

  test('on every page of a run, for any of it', async () => {
    await fc.assert(fc.asyncProperty(hostile, everyPage), { numRuns: 12 });
  }, 30_000);

  test('in the first words about a run', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const queued = { ...poisoned(text), queue: { position: 2, of: 3, why: text } };
        const { title, outcome, waits, warnings, next } = runSummary(queued, PAGE);
        expectInert(inPage([title, ...outcome, ...waits, ...warnings, next].join('<p></p>')));
      }),
    );
  });

  test('in diffs: names of files and folders, lines, headings of hunks, both views', () => {
    fc.assert(
      fc.property(
        hostile,
        hostile,
        fc.constantFrom('split' as const, 'unified' as const),
        (one, other, view) => {
          const files = [fileOf(`src/${one}/a.ts`), fileOf(`src/${one}/${other}`), fileOf(other)];
          const page = {
            files,
            parts: diffParts(files),
            part: 1,
            view,
            address: '/runs/r1/candidates/A',
            notes: [one],
          };
          expectInert(inPage(diffBody(page)));
        },
      ),
      { numRuns: 60 },
    );
  });

  test('and is shown whole: what a line has is on the page, with what cannot be seen spelt out', () => {
    const bad = 'let admin = false; /*\u202e } \u2066if (admin)\u2069 \u2066 begin*/ <b>&amp;</b>';
    const hunk = { ...hunkOf(''), lines: [line('added', bad, 1)] };
    const shown = String(
      diffTable({ number: 0, file: fileOf('a.ts'), hunks: [hunk], isContinued: false }, 'unified'),
    );
    expect(shown).toContain('&lt;U+202E&gt; } &lt;U+2066&gt;if (admin)');
    expect(shown).toContain('&lt;b&gt;&amp;amp;&lt;&#x2F;b&gt;');
  });
});
