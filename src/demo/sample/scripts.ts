import type { WrittenTests } from '../../core/independent-tests/index.ts';
import type { Brief } from '../../core/model/index.ts';
import type { Scripts } from '../scripted-models/index.ts';
import { HERON, MOLE, OTTER, say, WREN } from './contestants.ts';

/** What the scripted planner makes of the issue. */
const BRIEF: Brief = {
  goal: 'Quoted CSV fields are read as RFC 4180 says, so that notes with commas, quotes and line breaks import.',
  definitionOfDone: [
    'A comma inside a quoted field belongs to the field.',
    'Two quotes inside a quoted field are read as one quote.',
    'A line break inside a quoted field belongs to the field.',
    'Files without quotes are read as before; a row with a wrong number of cells is still refused.',
  ],
  plan: [
    'Write failing tests for the three cases of the issue.',
    'Replace the splitting by lines and commas in src/csv.js with a parser that knows when it is inside quotes.',
    'Run the whole test suite and the build.',
  ],
  files: ['src/csv.js', 'test/csv.test.js'],
  assumptions: ['Spaces around unquoted cells are still trimmed; spaces inside quotes are kept.'],
  questions: [],
};

const file = (title: string, input: string, rows: string): string =>
  `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseCsv } from '../src/csv.js';

test('${title}', () => {
  assert.deepEqual(parseCsv(${input}), ${rows});
});
`;

/** What a scripted writer makes of the issue before it has seen a candidate. */
const NEUTRAL: WrittenTests = {
  tests: [
    {
      title: 'a comma in a quoted field',
      quote: 'a comma inside a quoted field belongs to the field',
      why: 'The quoted field is one cell, with its comma.',
      now: 'fails',
      file: file(
        'a comma in a quoted field',
        String.raw`'a,b\n"Lamp, bedroom",1\n'`,
        `[['a', 'b'], ['Lamp, bedroom', '1']]`,
      ),
    },
    {
      title: 'a doubled quote',
      quote: 'a quote inside a quoted field is written twice',
      why: 'Two quotes stand for one.',
      now: 'fails',
      file: file(
        'a doubled quote',
        String.raw`'a,b\n"""Left Hand"", used",1\n'`,
        `[['a', 'b'], ['"Left Hand", used', '1']]`,
      ),
    },
    {
      title: 'a line break in a quoted field',
      quote: 'a line break inside a quoted field belongs to the field too',
      why: 'The row goes on behind the line break.',
      now: 'fails',
      file: file(
        'a line break in a quoted field',
        String.raw`'a,b\n"for Ada\n(birthday)",1\n'`,
        String.raw`[['a', 'b'], ['for Ada\n(birthday)', '1']]`,
      ),
    },
    {
      title: 'a file without quotes',
      quote: 'Files without quotes should go on working as they do now.',
      why: 'Nothing about it may change.',
      now: 'passes',
      file: file('a file without quotes', String.raw`'a,b\n1, 2\n'`, `[['a', 'b'], ['1', '2']]`),
    },
  ],
  note: '',
};

/** What every one of them answers when it is asked as planner, or as writer of tests. */
const ANSWERS = {
  structured: BRIEF,
  answers: [{ holds: 'You write tests for a software task', structured: NEUTRAL }],
} as const;

/** How the scripted models behave on the sample's issue, by model name. Each of them can also be the planner. */
export const SCRIPTS = {
  'scripted-heron': { turns: HERON, ...ANSWERS },
  'scripted-otter': { turns: OTTER, ...ANSWERS },
  'scripted-mole': { turns: MOLE, ...ANSWERS },
  'scripted-wren': { turns: WREN, ...ANSWERS },
  /** Never answers, for limits of time. */
  'scripted-stork': { turns: [{ kind: 'hang' }], afterwards: 'repeat', ...ANSWERS },
  /** Changes nothing. */
  'scripted-idle': { turns: [say('There is nothing to do here.')], ...ANSWERS },
} as const satisfies Scripts;

/** The four contestants of the demo as `provider/model`, over both protocols; the first is also the planner. */
export const SAMPLE_MODELS = [
  'anthropic/scripted-heron',
  'openai/scripted-otter',
  'anthropic/scripted-mole',
  'openai/scripted-wren',
] as const;

/** US dollars for a million tokens: those of a model at a middling price, so that the demo shows figures as real ones. */
const PRICE = { input: 2, output: 10, cacheRead: 0.2, cacheWrite: 2.5 } as const;

/** For the gateway: every scripted model has the same price, with either provider. */
export const SCRIPTED_PRICES: Readonly<Record<string, typeof PRICE>> = Object.fromEntries(
  Object.keys(SCRIPTS).flatMap((name) => [
    [`anthropic/${name}`, PRICE],
    [`openai/${name}`, PRICE],
  ]),
);
