import { expect, test } from 'vitest';
import { stringify } from 'yaml';
import type { RunView } from '../../src/core/reports/index.ts';
import { SCRIPTS } from '../../src/demo/sample/index.ts';
import { edit, say } from '../../src/demo/sample/scripts/turns.ts';
import type { Turn } from '../../src/demo/scripted-models/index.ts';
import { MAINTAINER, REPOSITORY } from '../../src/demo/stage.ts';
import { onStage } from '../world/theatre.ts';

const MINUTES = 60_000;
/** As the sample's scripts have them; npm takes longer to start than they take. */
const CHECKS = { build: 'node scripts/build.mjs', test: 'node --test' };
const settings = (models: readonly string[], more: object) =>
  stringify({
    budget: { run: 2, candidate: 0.5 },
    checks: CHECKS,
    coders: models.map((model) => ({ agent: 'builtin', model })),
    ...more,
  });

const STRUCTURED = SCRIPTS['scripted-heron'].structured;
const HERON: readonly Turn[] = SCRIPTS['scripted-heron'].turns;
/** What a prompt of a further round says. */
const REPAIR = 'Your second turn';
const MERGE = 'Patches to merge';

const byModel = (view: RunView, name: string) =>
  view.candidates.filter(({ contestant }) => contestant.model.endsWith(`scripted-${name}`));
const first = (view: RunView, name: string) =>
  byModel(view, name).find(({ contestant }) => contestant.round === undefined);
const roundOf = (view: RunView, kind: string) =>
  view.candidates.filter(({ contestant }) => contestant.round?.kind === kind);
const found = (view: RunView, alias = '') => view.evidence.find((one) => one.alias === alias);

test(
  'nobody survives: the best two mend their own patches, and one of them becomes the pull request',
  { timeout: 4 * MINUTES },
  () =>
    onStage(
      {
        settings: settings(['openai/scripted-wren', 'anthropic/scripted-mole'], { candidates: 2 }),
        scripts: {
          ...SCRIPTS,
          'scripted-wren': {
            ...SCRIPTS['scripted-wren'],
            cases: [
              {
                holds: REPAIR,
                turns: [
                  // Only fits where its own patch of before is in place.
                  edit(
                    'The block is not closed.',
                    'src/csv.js',
                    '    else {\n      cells[cells.length - 1] += char;\n  }\n  return cells;',
                    '    else cells[cells.length - 1] += char;\n  }\n  return cells;',
                  ),
                  say('It parses now.'),
                ],
              },
            ],
          },
        },
      },
      async (stage) => {
        const issue = await stage.label();
        const view = await stage.run(issue);
        const [wren, mole] = [first(view, 'wren'), first(view, 'mole')];
        const repairs = roundOf(view, 'repair');
        const mended = repairs.find(({ contestant }) => contestant.round?.of[0] === wren?.alias);
        const stubborn = repairs.find(({ contestant }) => contestant.round?.of[0] === mole?.alias);

        expect(view.candidates.map(({ alias }) => alias)).toEqual(['A', 'B', 'C', 'D']);
        expect(mended).toMatchObject({ state: 'examined', note: `repair of ${wren?.alias}: done` });
        expect(stubborn).toMatchObject({
          state: 'failed',
          note: `repair of ${mole?.alias}: left its patch as it was`,
        });
        expect(view.decision).toMatchObject({ alias: mended?.alias });
        expect(found(view, wren?.alias)?.survivor).toBe(false);
        expect(mended?.usage.usd).toBeGreaterThan(0);

        const pulls = await stage.theatre.github.as(MAINTAINER).pulls(REPOSITORY);
        expect(pulls.map(({ head }) => head.ref)).toEqual([`auto-dev/${issue}/${view.id}/${mended?.alias}`]);
        expect((await stage.comments(issue))[0]).toContain(`repair of ${wren?.alias}`);
      },
    ),
);

test(
  'all fail, each for a reason of its own: one more contestant is asked, and wins',
  { timeout: 4 * MINUTES },
  () =>
    onStage(
      {
        settings: settings(['openai/scripted-wren', 'anthropic/scripted-mole', 'anthropic/scripted-heron'], {
          candidates: 2,
          adaptive: { repair: false },
        }),
      },
      async (stage) => {
        const view = await stage.run(await stage.label());
        const [heron] = byModel(view, 'heron');

        expect(view.candidates).toHaveLength(3);
        expect(heron).toMatchObject({ alias: 'C', ordinal: 2, note: 'one more: done' });
        expect(view.decision).toMatchObject({ alias: 'C' });
      },
    ),
);

test(
  'repairs and one more do not help: no pull request, and a table of everybody',
  { timeout: 4 * MINUTES },
  () =>
    onStage(
      { settings: settings(['openai/scripted-wren', 'anthropic/scripted-mole'], { candidates: 2 }) },
      async (stage) => {
        const issue = await stage.label();
        const view = await stage.run(issue);

        expect(view.candidates.map(({ contestant }) => contestant.round?.kind)).toEqual([
          undefined,
          undefined,
          'repair',
          'repair',
          'one-more',
        ]);
        expect(view.decision?.kind).toBe('none');
        expect(view.budget.spent).toBeLessThanOrEqual(view.budget.run);
        expect(await stage.theatre.github.as(MAINTAINER).pulls(REPOSITORY)).toEqual([]);
        const table = (await stage.comments(issue)).find((c) => c.includes(`runoff:outcome:${view.id}`));
        for (const { alias } of view.candidates) expect(table).toContain(`**${alias}**`);
        expect(await stage.labels(issue)).toEqual(['auto-dev', 'auto-dev:none']);
      },
    ),
);

/** Mends doubled quotes where the otter mends commas; what its author makes of both is in `merging`. */
const halves = (merging: readonly Turn[]) => ({
  settings: settings(['openai/scripted-otter', 'anthropic/scripted-idle'], {
    candidates: 2,
    synthesis: true,
  }),
  scripts: {
    ...SCRIPTS,
    'scripted-otter': { ...SCRIPTS['scripted-otter'], cases: [{ holds: MERGE, turns: merging }] },
    'scripted-idle': {
      turns: [
        edit('', 'src/csv.js', 'trimmed.slice(1, -1)', `trimmed.slice(1, -1).replaceAll('""', '"')`),
        edit(
          'A test for it.',
          'test/csv.test.js',
          "test('gives no rows for an empty text', () => {",
          `test('reads two quotes inside quotes as one', () => {
  assert.deepEqual(parseCsv('a\\n"say ""hi"""\\n'), [['a'], ['say "hi"']]);
});

test('gives no rows for an empty text', () => {`,
        ),
        say('Done.'),
      ],
      cases: [{ holds: MERGE, turns: merging }],
      structured: STRUCTURED,
    },
  },
});

test(
  'two candidates each mend what the other misses: a merged one is examined like any other, and wins',
  { timeout: 4 * MINUTES },
  () =>
    onStage(halves(HERON), async (stage) => {
      const issue = await stage.label();
      const view = await stage.run(issue);

      expect(view.candidates).toHaveLength(3);
      expect(view.candidates[2]).toMatchObject({
        alias: 'C',
        state: 'examined',
        note: expect.stringMatching(/^merged from (A and B|B and A): done$/),
      });
      expect(found(view, 'C')).toMatchObject({ survivor: true, baseTests: { regressions: [] } });
      expect(found(view, 'C')?.peerTests.map(({ author, passed, total }) => [author, passed, total])).toEqual(
        [
          ['A', 1, 1],
          ['B', 1, 1],
        ],
      );
      expect(view.decision).toMatchObject({ alias: 'C' });
    }),
);

test(
  'the first two pass and wrote the same: with `stopEarly`, a coder that is slow is stopped',
  { timeout: 4 * MINUTES },
  () =>
    onStage(
      {
        settings: settings(
          ['anthropic/scripted-heron', 'openai/scripted-heron', 'anthropic/scripted-stork'],
          { candidates: 3, adaptive: { stopEarly: true } },
        ),
      },
      async (stage) => {
        const view = await stage.run(await stage.label());
        const [stork] = byModel(view, 'stork');
        const herons = byModel(view, 'heron').map(({ alias }) => alias);

        expect(stork).toMatchObject({
          state: 'cancelled',
          note: `stopped early: ${herons.toSorted().join(' and ')} passed and agree`,
        });
        expect(herons).toContain(view.decision?.kind === 'none' ? null : view.decision?.alias);
        expect(view.candidates).toHaveLength(3);
      },
    ),
);
