import { stringify } from 'yaml';
import type { Brief } from '../../src/core/model/index.ts';
import { SCRIPTS } from '../../src/demo/sample/index.ts';
import { CONTENT } from './critics.ts';

/** The question that the planner of `ASKING_SCRIPTS` asks about the sample's issue. */
export const QUESTION = {
  text: 'How shall a field that is never closed be read?',
  options: ['Refuse the file', 'Read it to the end of the file'],
  severity: 'blocking' as const,
  assume: 'The file is refused.',
};

const { structured, answers } = SCRIPTS['scripted-heron'];
const brief = (over: Partial<Brief>): Brief => ({ ...structured, size: 'small', ...over });

/** The planner asks; takes in the answer; and takes in the wish for another plan. */
const asked = {
  structured: brief({ questions: [QUESTION] }),
  answers: [
    {
      holds: 'Keep it in one file',
      structured: brief({ plan: ['Write the parser in src/csv.js, and nowhere else.'] }),
    },
    { holds: 'MAINTAINERS SAID', structured: brief({ assumptions: ['A field without an end is refused.'] }) },
    {
      holds: 'You review one candidate patch',
      structured: { claims: [], because: 'It holds.', verdict: 'pass' },
    },
    ...CONTENT,
    ...answers,
  ],
};

/** Two contestants, a planner that asks, and critics that approve. */
export const ASKING_SCRIPTS = {
  ...SCRIPTS,
  'scripted-heron': { turns: SCRIPTS['scripted-heron'].turns, ...asked },
  'scripted-otter': { turns: SCRIPTS['scripted-otter'].turns, ...asked },
  // What a key of Anthropic stands for where nobody names a model.
  'claude-sonnet-5': { turns: [], ...asked },
};

/** Settings of a repository in which people approve plans, and more of them. */
export const askingSettings = (more: Readonly<Record<string, unknown>> = {}): string =>
  stringify({
    budget: { run: 2, candidate: 0.5 },
    checks: { build: 'node scripts/build.mjs', test: 'node --test' },
    approval: 'plan',
    coders: ['anthropic/scripted-heron', 'openai/scripted-otter'].map((model) => ({
      agent: 'builtin',
      model,
    })),
    candidates: 2,
    ...more,
  });
