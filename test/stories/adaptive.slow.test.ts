import { expect, test } from 'vitest';
import { stringify } from 'yaml';
import type { RunView } from '../../src/core/reports/index.ts';
import { MAINTAINER, REPOSITORY } from '../../src/demo/environment.ts';
import { edit, say } from '../../src/demo/sample/contestants.ts';
import { SCRIPTS } from '../../src/demo/sample/index.ts';
import { withDemoApp } from '../world/demo-app.ts';

/** As the sample's scripts have them; npm takes longer to start than they take. */
const CHECKS = { build: 'node scripts/build.mjs', test: 'node --test' };
const settings = (models: readonly string[], more: object) =>
  stringify({
    budget: { run: 2, candidate: 0.5 },
    checks: CHECKS,
    evaluator: ['evidence'],
    coders: models.map((model) => ({ agent: 'builtin', model })),
    ...more,
  });

/** What a prompt of a further round says. */
const REPAIR = 'Your second turn';

const byModel = (view: RunView, name: string) =>
  view.candidates.filter(({ contestant }) => contestant?.model.endsWith(`scripted-${name}`));
const first = (view: RunView, name: string) =>
  byModel(view, name).find(({ contestant }) => contestant?.round === undefined);
const roundOf = (view: RunView, kind: string) =>
  view.candidates.filter(({ contestant }) => contestant?.round?.kind === kind);
const found = (view: RunView, alias = '') => view.evidence.find((one) => one.alias === alias);

test('without a survivor the best two repair their own patches, and a person is asked about the one that passes', () =>
  withDemoApp(
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
    async (demo) => {
      const issue = await demo.label();
      const view = await demo.run(issue);
      const [wren, mole] = [first(view, 'wren'), first(view, 'mole')];
      const repairs = roundOf(view, 'repair');
      const mended = repairs.find(({ contestant }) => contestant?.round?.of[0] === wren?.alias);
      const stubborn = repairs.find(({ contestant }) => contestant?.round?.of[0] === mole?.alias);

      expect(view.candidates.map(({ alias }) => alias)).toEqual(['A', 'B', 'C', 'D']);
      expect(mended).toMatchObject({ state: 'examined', note: `repair of ${wren?.alias}: done` });
      expect(stubborn).toMatchObject({
        state: 'failed',
        note: `repair of ${mole?.alias}: did not change its patch`,
      });
      expect(view.decision).toMatchObject({ alias: mended?.alias });
      expect(found(view, wren?.alias)?.survivor).toBe(false);
      expect(mended?.usage?.usd).toBeGreaterThan(0);

      // Alone, and without a test that shows it right, it is for a person to take.
      expect(view.state).toBe('awaiting_pick');
      expect(await demo.environment.github.as(MAINTAINER).pulls(REPOSITORY)).toEqual([]);
      const [status, choice] = await demo.comments(issue);
      expect(status).toContain(`repair of ${wren?.alias}`);
      expect(choice).toContain(`- [ ] **${mended?.alias}**`);
    },
  ));

test('with `stopEarly` a slow coder is stopped when the first two pass with equal patches', () =>
  withDemoApp(
    {
      settings: settings(['anthropic/scripted-heron', 'openai/scripted-heron', 'anthropic/scripted-stork'], {
        candidates: 3,
        adaptive: { stopEarly: true },
      }),
    },
    async (demo) => {
      const view = await demo.run(await demo.label());
      const [stork] = byModel(view, 'stork');
      const herons = byModel(view, 'heron').map(({ alias }) => alias);

      expect(stork).toMatchObject({
        state: 'cancelled',
        note: `stopped early: ${herons.toSorted().join(' and ')} passed and agree`,
      });
      expect(herons).toContain(view.decision?.kind === 'none' ? null : view.decision?.alias);
      expect(view.candidates).toHaveLength(3);
    },
  ));

const sequential = (models: readonly string[], more: object = {}) =>
  settings(models, {
    candidates: models.length,
    evaluator: ['evidence', 'model'],
    adaptive: { field: 'sequential', repair: false, oneMore: false },
    ...more,
  });
const [HERON, OTTER] = ['anthropic/scripted-heron', 'openai/scripted-otter'];
const [MOLE, WREN] = ['anthropic/scripted-mole', 'openai/scripted-wren'];

test('a sequential field ends with its first contestant when tests by others show that it is right', () =>
  withDemoApp({ settings: sequential([HERON, OTTER, MOLE]) }, async (demo) => {
    const view = await demo.run(await demo.label());
    expect(view.candidates.map(({ contestant }) => contestant?.model)).toEqual([HERON]);
    expect(view.decision).toMatchObject({ kind: 'winner', confidence: 'clear', alias: 'A' });
    expect(view.sequence?.end).toMatchObject({ started: 1, of: 3 });
    expect(view.state).toBe('published');
    if (view.outcome?.kind !== 'pull') throw new Error('There is no pull request.');
    const comparison = (await demo.comments(view.outcome.number)).join('\n');
    expect(comparison).toContain('1 of 3 contestants was started (`adaptive.field: sequential`).');
    expect(comparison).toContain('That saved about');
  }));

test('a sequential field goes on past contestants that fail, and no coder is told of another one', () =>
  withDemoApp({ settings: sequential([MOLE, WREN, HERON, OTTER]) }, async (demo) => {
    const view = await demo.run(await demo.label());
    const models = view.candidates
      .toSorted((one, other) => one.ordinal - other.ordinal)
      .map(({ contestant }) => contestant?.model);
    expect(models).toEqual([MOLE, WREN, HERON]);
    expect(view.decision).toMatchObject({ kind: 'winner', alias: first(view, 'heron')?.alias });
    expect(view.sequence?.end).toMatchObject({ started: 3, of: 4 });
  }));
