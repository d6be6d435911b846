import { expect, test } from 'vitest';
import { leaderboardText } from '../../src/cli/render/index.ts';
import { type CandidateOutcome, leaderboardOf } from '../../src/core/learning/index.ts';
import { MODELS, merged, outcome, run } from '../core/learning/sample.ts';
import { memoryArtifacts, memoryStore } from '../world/memory-store.ts';
import { silent } from '../world/silent-log.ts';
import { clockAt } from '../world/stand-ins.ts';
import { shellOver } from './shell.ts';

const FIELD = Object.values(MODELS);
const winnerOf = (i: number) => (i % 5 === 4 ? MODELS.claude : MODELS.gpt);

async function shellWith(outcomes: readonly CandidateOutcome[], store = memoryStore()) {
  for (const [runId, own] of Map.groupBy(outcomes, (one) => one.runId))
    await store.keepOutcomes(runId, own, 1);
  const workspaces = {
    async describe(path: string) {
      return { top: path.replace(/\/\.$/, ''), dirty: false, branch: 'main', empty: false, unwritable: null };
    },
  };
  const parts = { store, artifacts: memoryArtifacts(), clock: clockAt(() => 1), log: silent, workspaces };
  return shellOver(parts);
}

const SOME = Array.from({ length: 20 }, (_, i) => run(i, FIELD, winnerOf(i))).flat();

test('the table fits into 80 columns, and says what it does not tell apart', () => {
  const contested = SOME.map((one, i) =>
    i % 7 === 0 ? { ...one, shown: true, ...merged({ edited: 0.2 }) } : one,
  );
  const lines = leaderboardText(leaderboardOf(contested), { width: 80, colour: false });
  expect(lines.join('\n')).toMatchInlineSnapshot(`
    "20 runs in acme/shop

    contestant              wins     90%  runs   won  alone  passed  per win  merged
    gpt-6-sol                75%  60–88%    20  16.4      0    100%    $0.24       3
    claude-sonnet-5          29%  15–45%    20   5.4      0    100%    $0.74       3
    gemini-3.1-pro-preview   17%   6–30%    20   2.4      0    100%    $1.67       3

    - \`wins\`: estimated share of runs that a contestant wins; the fewer runs it has,
      the closer to the mean of all. \`90%\`: the interval that contains this share
      with 90% probability. \`alone\`: won against others of whom none passed without
      breaking a test.
    - Not significantly different: claude-sonnet-5, gemini-3.1-pro-preview. Their
      differences can be chance.
    - 16 times a person picked another candidate than Runoff's first.
    - 9 merges came after people had edited the code."
  `);
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(80);
});

test('a narrow terminal drops columns before names', () => {
  const lines = leaderboardText(leaderboardOf(SOME), { width: 50, colour: false });
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(50);
  expect(lines.join('\n')).toContain('gpt-6-sol');
});

test('one run tells nobody apart', () => {
  const lines = leaderboardText(leaderboardOf(run(1, FIELD, MODELS.gpt)), { width: 200, colour: false });
  expect(lines.at(-2)).toMatch(/^- No contestant differs significantly/);
});

test('after the first, it says who else is not told apart', () => {
  const MORE = Array.from({ length: 40 }, (_, i) =>
    run(i, FIELD, i % 10 === 9 ? MODELS.claude : MODELS.gpt),
  ).flat();
  const lines = leaderboardText(leaderboardOf(MORE), { width: 200, colour: false });
  expect(lines).toContain(
    '- Not significantly different: claude-sonnet-5, gemini-3.1-pro-preview. Their differences can be chance.',
  );
});

test('names differ at every width, also where only the middle is left out or only the provider differs', () => {
  const among = (models: readonly string[], width: number, agents: readonly string[] = []) => {
    const outcomes = run(1, models, models[0] ?? null).map((one, i) => ({
      ...one,
      agent: agents[i] ?? 'claude-code',
    }));
    const lines = leaderboardText(leaderboardOf(outcomes), { width, colour: false });
    const rows = lines.slice(3, 3 + models.length);
    for (const line of lines) expect(line).toBe(line.trimEnd());
    for (const line of rows) expect(line.length).toBeLessThanOrEqual(width);
    expect(new Set(rows.map((row) => row.split('  ')[0])).size).toBe(models.length);
    return rows.join('\n');
  };
  const models = ['anthropic/claude-opus-5', 'anthropic/claude-sonnet-5', 'google/gemini-3.1-pro-preview'];
  expect(among(models, 80, ['claude-code', 'claude-code', 'opencode'])).toContain(
    'claude-code claude-opus-5',
  );
  expect(among(models, 50, ['claude-code', 'claude-code', 'opencode'])).toContain('…');
  expect(among(['openai/gpt-6-sol', 'azure/gpt-6-sol'], 80)).toContain('azure/gpt-6-sol');
});

test('a renamed repository is found by each of its names, with all of its runs', async () => {
  const later = SOME.map((one) => ({
    ...one,
    runId: `n${one.runId}`,
    at: one.at + 100,
    repositoryName: 'acme/store',
  }));
  for (const name of ['acme/shop', 'acme/store']) {
    const cli = await shellWith([...SOME, ...later]);
    expect(await cli.type('leaderboard', '--repo', name, '--json')).toBe(0);
    expect(JSON.parse(cli.out())).toMatchObject({ runs: 40, repositories: ['acme/store'] });
  }
});

test('a repository is found by its name in any case or by its path, a kind by its name', async () => {
  const here = SOME.map((one) => ({
    ...one,
    runId: `l${one.runId}`,
    repository: 'local-/x',
    repositoryName: '/x',
    kind: 'docs' as const,
  }));
  for (const [argv, count] of [
    [[], 40],
    [['--repo', 'Acme/Shop'], 20],
    [['--repo', '.'], 20],
    [['--kind', 'docs'], 20],
    [['--repo', 'acme/shop', '--kind', 'docs'], 0],
  ] as const) {
    const cli = await shellWith([...SOME, ...here]);
    expect(await cli.type('leaderboard', ...argv, '--json')).toBe(0);
    expect(JSON.parse(cli.out())).toMatchObject({ runs: count });
  }
});

test('a repository is compared by its own runs, however many others have run since', async () => {
  const store = memoryStore();
  const own = run(1, FIELD, MODELS.gpt);
  await store.keepOutcomes(own[0]?.runId ?? '', own, 1);
  for (let i = 2; i < 5_100; i += 1) {
    const other = outcome({ runId: `r${i}`, at: i, repository: 'github-43', repositoryName: 'acme/busy' });
    await store.keepOutcomes(other.runId, [other], 1);
  }
  const cli = await shellWith([], store);
  expect(await cli.type('leaderboard', '--repo', 'acme/shop', '--json')).toBe(0);
  expect(JSON.parse(cli.out())).toMatchObject({ runs: 1, repositories: ['acme/shop'] });
});

test('a name that passed to another repository means that one, and each has a key', async () => {
  const own = run(1, FIELD, MODELS.gpt);
  const others = [2, 3].flatMap((i) => run(i, FIELD, MODELS.gpt, { repository: 'github-43' }));
  for (const [named, count] of [
    ['acme/shop', 2],
    ['github-42', 1],
  ] as const) {
    const cli = await shellWith([...own, ...others]);
    expect(await cli.type('leaderboard', '--repo', named, '--json')).toBe(0);
    expect(JSON.parse(cli.out())).toMatchObject({ runs: count });
  }
});

test('without outcomes it says how to get some; what is unknown is a clear sentence', async () => {
  const none = await shellWith([]);
  expect(await none.type('leaderboard')).toBe(0);
  expect(none.out()).toContain('No run has been decided yet.');
  const unknown = await shellWith(SOME);
  expect(await unknown.type('leaderboard', '--repo', 'acme/other')).toBe(2);
  expect(unknown.err()).toMatch(
    /No outcomes of acme\/other are kept; there are some of acme\/shop\.\n→ Name it as OWNER\/NAME/,
  );
  const kind = await shellWith(SOME);
  expect(await kind.type('leaderboard', '--kind', 'bugs')).toBe(2);
  expect(kind.err()).toContain('bug, feature, refactoring');
});

test('the help has examples', async () => {
  const cli = await shellWith([]);
  expect(await cli.type('leaderboard', '--help')).toBe(0);
  expect(cli.out()).toContain('runoff leaderboard --repo acme/shop');
});
