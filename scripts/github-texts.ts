// Plays the runs whose texts on GitHub `github-pictures.ts` draws: the demo's own App, repository and models.
import { setTimeout as sleep } from 'node:timers/promises';
import { stringify } from 'yaml';
import { isOver, type RunState } from '../src/core/model/index.ts';
import {
  type DemoEnvironmentOptions,
  MAINTAINER,
  openDemoEnvironment,
  REPOSITORY,
} from '../src/demo/environment.ts';
import { ISSUE, SCRIPTS } from '../src/demo/sample/index.ts';
import type { Script } from '../src/demo/scripted-models/index.ts';
import { LABEL, type World } from '../src/runs/index.ts';
import { ASKING_SCRIPTS, askingSettings } from '../test/world/asking-planner.ts';
import { SPEAKS } from '../test/world/critics.ts';

/** A text as it was posted on the local GitHub. */
export interface PostedText {
  /** The name of its picture. */
  readonly name: string;
  /** Of a pull request. */
  readonly title?: string;
  readonly body: string;
}

type RunRecord = Awaited<ReturnType<World['store']['runs']>>[number];

interface Stage {
  readonly issue: number;
  readonly world: World;
  /** The run, once it is in one of these states. */
  until(...states: readonly RunState[]): Promise<RunRecord>;
  /** The comment with this marker, on the issue unless said otherwise. */
  comment(kind: string, on?: number): Promise<string>;
  /** The comparison of the run, wherever it is. */
  comparison(): Promise<string>;
  /** The pull request of the run. */
  pull(): Promise<{ readonly number: number; readonly title: string; readonly body: string }>;
  asMaintainer(body: string): Promise<void>;
}

interface Scene {
  readonly options: Partial<DemoEnvironmentOptions>;
  readonly issue: { readonly title: string; readonly body: string };
  play(stage: Stage): Promise<readonly PostedText[]>;
}

/** npm takes longer to start than what it starts. */
const CHECKS = { build: 'node scripts/build.mjs', test: 'node --test' };
const BUDGET = { run: 2, candidate: 0.5 };
const settings = (models: readonly string[], more: Readonly<Record<string, unknown>> = {}): string =>
  stringify({
    candidates: models.length,
    coders: models.map((model) => ({ agent: 'builtin', model })),
    budget: BUDGET,
    checks: CHECKS,
    ...more,
  });

const OVER: readonly RunState[] = ['published', 'awaiting_pick', 'failed', 'refused', 'cancelled'];

const clear: Scene = {
  options: { paceMs: 20 },
  issue: ISSUE,
  async play({ until, world, comment, comparison, pull }) {
    const run = await until('briefed');
    // Until some coders have done something and at least one has ended.
    for (;;) {
      const all = await world.store.candidates(run.id);
      const ended = all.filter(({ state }) => state === 'coded' || state === 'failed').length;
      if (ended > 0 || isOver((await world.store.run(run.id))?.state ?? 'failed')) break;
      await sleep(100);
    }
    await sleep(1_000);
    const running = await comment('status');
    await until(...OVER);
    const { title, body } = await pull();
    return [
      { name: 'status-running', body: running },
      { name: 'status-end', body: await comment('status') },
      { name: 'pull-request', title, body },
      { name: 'comparison-clear', body: await comparison() },
    ];
  },
};

/** The writer of tests gives no answer, so that only tests of candidates and behaviour decide. */
const withoutWriter = Object.fromEntries(
  Object.entries(SCRIPTS).map(([name, script]) => [
    name,
    { ...script, answers: [{ holds: 'You write tests for a software task', structured: { tests: [] } }] },
  ]),
);

const comparisonOf = (
  name: string,
  models: readonly string[],
  scripts: DemoEnvironmentOptions['scripts'] = SCRIPTS,
): Scene => ({
  options: { scripts, settings: settings(models, { adaptive: { repair: false } }) },
  issue: ISSUE,
  async play({ until, comparison }) {
    await until(...OVER);
    return [{ name, body: await comparison() }];
  },
});

/** One candidate passes, and no test but its own says that it is right. */
const likely = comparisonOf(
  'comparison-likely',
  ['anthropic/scripted-heron', 'openai/scripted-wren'],
  withoutWriter,
);

/** Two candidates pass; tests of one of them fail on the other, and nobody else's say which is right. */
const tossUp = comparisonOf(
  'comparison-toss-up',
  ['anthropic/scripted-heron', 'openai/scripted-otter'],
  withoutWriter,
);

const none = comparisonOf('comparison-none', ['anthropic/scripted-mole', 'openai/scripted-wren']);

const LINE_BREAKS = 'A line break inside a quoted field is kept as it is written, LF or CRLF.';
/** The QA engineer finds a gap in the brief at first. */
const debating = (script: Script): Script => ({
  ...script,
  answers: [
    {
      holds: SPEAKS.synthesiser,
      structured: {
        verdicts: [{ issue: 'I1', verdict: 'accept', because: 'The issue names line breaks, not which.' }],
        edits: [
          {
            issue: 'I1',
            find: 'A line break inside a quoted field belongs to the field.',
            replace: LINE_BREAKS,
          },
        ],
      },
    },
    { holds: /CHANGED/, structured: { issues: [], rechecked: [], approved: true } },
    {
      holds: /critics of a spec[\s\S]*somebody could test the finished work[\s\S]*critique of the whole spec/,
      structured: {
        issues: [
          {
            title: 'It does not say which line break',
            quote: 'A line break inside a quoted field belongs to the field.',
            severity: 'blocking',
            scenario: 'A file with CRLF inside quotes: is the note read with CRLF or LF?',
            edit: LINE_BREAKS,
            needsHuman: false,
          },
        ],
        rechecked: [],
        approved: false,
      },
    },
    ...(script.answers ?? []),
  ],
});

const question: Scene = {
  options: {
    scripts: {
      ...ASKING_SCRIPTS,
      'scripted-heron': debating(ASKING_SCRIPTS['scripted-heron']),
      'scripted-otter': debating(ASKING_SCRIPTS['scripted-otter']),
    },
    settings: askingSettings({ debate: 'always' }),
  },
  issue: ISSUE,
  async play({ until, comment, asMaintainer }) {
    await until('awaiting_answer');
    const question = await comment('question');
    let debate = await comment('status');
    // Edits of a status comment are spaced out.
    for (; !debate.includes('**Waiting for an answer**'); await sleep(1_000))
      debate = await comment('status');
    const texts = [
      { name: 'question', body: question },
      { name: 'debate', body: debate },
    ];
    await asMaintainer('/auto-dev cancel');
    await until('cancelled');
    return texts;
  },
};

export const SCENES: Readonly<Record<string, Scene>> = { clear, likely, tossUp, none, question };

const COMPARISON = /^<!-- runoff:(?:comparison|choice|outcome):/;

const PATIENCE_MS = 1_200_000;

/** What `look` finds, as soon as it finds something. */
async function awaited<T>(what: string, look: () => Promise<T | undefined>): Promise<T> {
  for (const until = Date.now() + PATIENCE_MS; Date.now() < until; await sleep(200)) {
    const found = await look();
    if (found !== undefined) return found;
  }
  throw new Error(`There was not ${what} after ${PATIENCE_MS / 1000} s.`);
}

/** Plays a scene in an environment of its own. */
export async function playScene({ options, issue: text, play }: Scene): Promise<readonly PostedText[]> {
  const environment = await openDemoEnvironment({
    paceMs: 0,
    throttle: false,
    onStep: () => {},
    ...options,
  });
  try {
    const { github, world } = environment;
    const maintainer = github.as(MAINTAINER);
    const issue = await maintainer.openIssue(REPOSITORY, text);
    await maintainer.addLabel(REPOSITORY, issue, LABEL);
    return await play({
      issue,
      world,
      until: (...states) =>
        awaited(`a run that is ${states.join(' or ')}`, async () => {
          const [run] = await world.store.runs(1);
          if (!run || !states.includes(run.state)) return undefined;
          if (isOver(run.state)) await world.engine.settled(run.id);
          return run;
        }),
      comment: (kind, on = issue) =>
        awaited(`a comment ${kind} on #${on}`, async () => {
          const all = await maintainer.comments(REPOSITORY, on);
          return all.find(({ body }) => body.startsWith(`<!-- runoff:${kind}:`))?.body;
        }),
      comparison: () =>
        awaited('a comparison', async () => {
          const pulls = await maintainer.pulls(REPOSITORY);
          const threads = [issue, ...pulls.map(({ number }) => number)];
          const all = await Promise.all(threads.map((thread) => maintainer.comments(REPOSITORY, thread)));
          return all.flat().find(({ body }) => COMPARISON.test(body))?.body;
        }),
      async pull() {
        const [one] = await maintainer.pulls(REPOSITORY);
        if (!one) throw new Error('The run opened no pull request.');
        return { number: one.number, title: one.title, body: one.body ?? '' };
      },
      asMaintainer: async (body) => {
        await maintainer.comment(REPOSITORY, issue, body);
      },
    });
  } finally {
    await environment.close();
  }
}
