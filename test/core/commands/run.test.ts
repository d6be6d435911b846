import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { codersOf, parseCommand } from '../../../src/core/commands/index.ts';
import { EVALUATORS } from '../../../src/core/settings/index.ts';

const SONNET = 'anthropic/claude-sonnet-5';
const SOL = 'openai/gpt-6-sol';

describe("a run can be requested with other settings than the repository's", () => {
  test.each([
    ['', {}],
    ['-n 4', { candidates: 4 }],
    ['--candidates=12', { candidates: 12 }],
    ['--budget $5', { budgetUsd: 5 }],
    ['--timeout 30m', { timeoutSeconds: 1_800 }],
    ['--timeout=90s', { timeoutSeconds: 90 }],
    ['--timeout 30', { timeoutSeconds: 1_800 }],
    ['--base release/2.1', { base: 'release/2.1' }],
    ['--base "main"', { base: 'main' }],
    ['--evaluator metrics,model,human', { evaluator: ['metrics', 'model', 'human'] }],
    ['--evaluator Human', { evaluator: ['human'] }],
    ['--coders claude-code, codex', { coders: [{ agent: 'claude-code' }, { agent: 'codex' }] }],
    [`--models ${SONNET}`, { coders: [{ agent: 'builtin', model: SONNET }] }],
    [
      `--coders builtin,codex --models ${SONNET} , ${SOL}`,
      {
        coders: [
          { agent: 'builtin', model: SONNET },
          { agent: 'codex', model: SOL },
        ],
      },
    ],
    [`--models="${SONNET}, ${SOL}" -n 2`, { candidates: 2, coders: codersOf([], [SONNET, SOL]) }],
    ['—budget 8 –timeout 2h', { budgetUsd: 8, timeoutSeconds: 7_200 }],
    ['--BUDGET 8', { budgetUsd: 8 }],
  ])('%j', (flags, options) => {
    expect(parseCommand(`/auto-dev run ${flags}`)).toEqual({ name: 'run', options });
    expect(parseCommand(`/auto-dev run ${flags}\r\n\r\n`)).toEqual({ name: 'run', options });
  });
});

describe('invalid options are answered by what to write', () => {
  test.each([
    ['--candiates 4', 'There is no option `--candiates`. Did you mean `--candidates`?'],
    [
      '--frobnicate 4',
      'There is no option `--frobnicate`. Available options: `--coders`, `--models`, `--prompts`, `--debate`, `--review`, `--synthesis`, `--candidates`, `--evaluator`, `--budget`, `--timeout`, `--base`.',
    ],
    [
      'fix the parser',
      '`fix` is not an option. Describe the task in the issue; `/auto-dev run` takes `--coders`, `--models`, `--prompts`, `--debate`, `--review`, `--synthesis`, `--candidates`, `--evaluator`, `--budget`, `--timeout`, `--base`.',
    ],
    [
      '-n 4\nand be quick',
      '`/auto-dev run` takes only options, on one line. Describe the task in the issue, then comment `/auto-dev run`.',
    ],
    ['-n', '`--candidates` needs a value.'],
    ['--budget --base main', '`--budget` needs a value.'],
    ['--base=', '`--base` needs a value.'],
    ['-n 3 --candidates 4', '`--candidates` is given twice.'],
    ['-n 0', '`-n` takes a whole number from 1 to 12, for example `-n 4`.'],
    ['-n 13', '`-n` takes a whole number from 1 to 12, for example `-n 4`.'],
    ['-n four', '`-n` takes a whole number from 1 to 12, for example `-n 4`.'],
    [
      '--budget 5,50',
      '`--budget` takes an amount in US dollars, from $0.01 to $1,000, for example `--budget 5.50`.',
    ],
    [
      '--budget 5000',
      '`--budget` takes an amount in US dollars, from $0.01 to $1,000, for example `--budget 5.50`.',
    ],
    ...['0', '-5', '1.5h', '169h', '10081'].map((time): [string, string] => [
      `--timeout=${time}`,
      '`--timeout` takes a positive whole number of minutes, or one with a unit, at most one week, for example `--timeout 30m`.',
    ]),
    [
      '--base main..evil',
      '`--base` takes a branch, tag or commit made of letters, digits and `._/-`, for example `--base release/2.1`.',
    ],
    [
      '--base $(id)',
      '`--base` takes a branch, tag or commit made of letters, digits and `._/-`, for example `--base release/2.1`.',
    ],
    [
      `--base ${'x'.repeat(201)}`,
      '`--base` takes a branch, tag or commit made of letters, digits and `._/-`, for example `--base release/2.1`.',
    ],
    ['--evaluator humn', 'There is no strategy `humn`; did you mean `human`?'],
    [
      '--evaluator dice',
      'There is no strategy `dice`; available are evidence, model, vote, score, metrics, reviewer, human, tournament.',
    ],
    ['--evaluator human,human', 'The strategy `human` is named twice.'],
    [
      '--models @gpt',
      '`@gpt` is not a valid name; give models as provider/model: `--models anthropic/claude-sonnet-5`.',
    ],
    ['--debate sometimes', '`--debate` takes `auto`, `always` or `never`.'],
    ['--synthesis maybe', '`--synthesis` takes `true` or `false`.'],
    ['--prompts ","', 'Give 1 to 12 prompt variants, comma-separated: `--prompts plain,careful`.'],
    ['--coders ","', 'Give 1 to 12 agents, comma-separated: `--coders claude-code,codex`.'],
    ['--base "main', 'A quotation mark is not closed.'],
    [`--base ${'x '.repeat(4_000)}`, 'The line is longer than 8000 characters.'],
  ])('%j', (flags, why) => {
    expect(parseCommand(`/auto-dev run ${flags}`)).toEqual({
      name: 'unknown',
      word: 'run',
      meant: 'run',
      why,
    });
  });
});

test('for any text after `run`, the options contain nothing that settings would reject', () => {
  const piece = fc.oneof(
    fc.constantFrom(...['--base', '-n', '--models', '—coders', '--evaluator', '--budget', '--timeout']),
    fc.constantFrom('4', '$5', '30m', 'main', '..', '-x', 'a/b', '"', "'", '“', ',', '=', '\n', '\u200b'),
    fc.string({ unit: 'binary', maxLength: 12 }),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 10 }), (pieces) => {
      const command = parseCommand(`/auto-dev run ${pieces.join(' ')}`);
      if (command?.name !== 'run') {
        expect(command).toMatchObject({ name: 'unknown', word: 'run', meant: 'run' });
        return;
      }
      const { base, candidates, budgetUsd, timeoutSeconds, evaluator = [], coders = [] } = command.options;
      if (base !== undefined) expect(base).toMatch(/^(?!-)(?!.*\.\.)[A-Za-z0-9._/-]{1,200}$/);
      if (candidates !== undefined) expect([...Array(12).keys()]).toContain(candidates - 1);
      if (budgetUsd !== undefined) expect(budgetUsd > 0 && budgetUsd <= 1_000).toBe(true);
      if (timeoutSeconds !== undefined) expect(timeoutSeconds > 0 && timeoutSeconds <= 604_800).toBe(true);
      expect(evaluator.filter((name) => !EVALUATORS.includes(name))).toEqual([]);
      expect(
        coders.every((coder) => Object.keys(coder).every((key) => key === 'agent' || key === 'model')),
      ).toBe(true);
    }),
    { numRuns: 500 },
  );
});

test('agents and models are taken in turn until both have been used up', () => {
  expect(codersOf(['codex'], ['a/1', 'a/2', 'a/3'])).toEqual([
    { agent: 'codex', model: 'a/1' },
    { agent: 'codex', model: 'a/2' },
    { agent: 'codex', model: 'a/3' },
  ]);
  expect(codersOf(undefined, ['a/1'])).toEqual([{ agent: 'builtin', model: 'a/1' }]);
  expect(codersOf(['codex', 'pi'])).toEqual([{ agent: 'codex' }, { agent: 'pi' }]);
  expect(codersOf(undefined)).toEqual([]);
});
