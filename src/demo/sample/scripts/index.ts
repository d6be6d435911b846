import type { Scripts } from '../../scripted-models/index.ts';
import { BRIEF } from './brief.ts';
import { HERON } from './heron.ts';
import { MOLE } from './mole.ts';
import { OTTER } from './otter.ts';
import { say } from './turns.ts';
import { WREN } from './wren.ts';
import { NEUTRAL } from './writer.ts';

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
