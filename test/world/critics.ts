import type { Script } from '../../src/demo/scripted-models/index.ts';

/** Texts by which a scripted model knows what it is asked in a debate. */
export const SPEAKS = {
  pressed: 'You approved this spec. Before that counts',
  critic: 'You are one of several critics of a spec',
  synthesiser: 'You keep a spec that engineers will work from',
} as const;

export const NO_ISSUES = { issues: [], rechecked: [], approved: true };
export const PRESSED = {
  ...NO_ISSUES,
  checks: ['commas are settled by the second line', 'old files are settled', 'quotes are settled'],
  test: { given: 'the line a,"b,c"', expect: 'two fields', catches: 'splitting at every comma' },
};

type Answers = NonNullable<Script['answers']>;

/** Critics that approve whatever they read, and leave a test when they are pressed. */
export const CONTENT: Answers = [
  { holds: SPEAKS.pressed, structured: PRESSED },
  { holds: SPEAKS.critic, structured: NO_ISSUES },
];
