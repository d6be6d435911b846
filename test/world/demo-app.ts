import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openGitHubContract } from '@runoff/local-github/contract';
import { expect } from 'vitest';
import { stringify } from 'yaml';
import { isOver } from '../../src/core/model/index.ts';
import type { RunView } from '../../src/core/reports/index.ts';
import {
  type DemoEnvironment,
  type DemoEnvironmentOptions,
  MAINTAINER,
  openDemoEnvironment,
  REPOSITORY,
} from '../../src/demo/environment.ts';
import { ISSUE } from '../../src/demo/sample/index.ts';
import { LABEL, viewOf } from '../../src/runs/index.ts';
import { furnish } from './data-folder.ts';
import { withFewerTests } from './terminal.ts';

export interface DemoApp {
  readonly environment: DemoEnvironment;
  /** Opens the sample's issue and labels it as this user; resolves with the issue's number. */
  label(login?: string): Promise<number>;
  /** The issue's newest run, once `ready` accepts it. */
  run(issue: number, ready?: (view: RunView) => boolean): Promise<RunView>;
  comments(on: number): Promise<readonly string[]>;
  labels(issue: number): Promise<readonly string[]>;
}

/** Settings of the repository: two coders, and a person picks. */
export const PERSON_PICKS = stringify({
  budget: { run: 2, candidate: 0.5 },
  checks: { build: 'node scripts/build.mjs', test: 'node --test' },
  coders: ['heron', 'otter'].map((name) => ({ agent: 'builtin', model: `anthropic/scripted-${name}` })),
  candidates: 2,
  evaluator: ['evidence', 'human'],
  adaptive: { repair: false },
});

/** Less than a test may take, so that what it waited for is said. */
const PATIENCE_MS = 900_000;
/** Two changes within one millisecond have one mark. */
const LOOK_AGAIN_MS = 1_000;

/**
 * The App as `runoff serve` starts it, on a local GitHub, with scripted models. Afterwards it is an error if a call or
 * webhook broke GitHub's own description, or an area of a candidate was left behind.
 */
export async function withDemoApp(
  options: Partial<DemoEnvironmentOptions>,
  play: (demo: DemoApp) => Promise<void>,
): Promise<void> {
  const { demo, check, close } = await openDemoApp(options);
  try {
    await play(demo);
    await check();
  } finally {
    await close();
  }
}

/** The same for several tests. `check` throws for what would be an error afterwards. */
export async function openDemoApp(options: Partial<DemoEnvironmentOptions>): Promise<{
  readonly demo: DemoApp;
  check(): Promise<void>;
  close(): Promise<void>;
}> {
  const contract = openGitHubContract();
  const home = await mkdtemp(join(tmpdir(), 'runoff-stage-'));
  await furnish(join(home, 'data'));
  const environment = await openDemoEnvironment({
    home,
    paceMs: 0,
    onStep: () => {},
    throttle: false,
    fetch: contract.watch(fetch, '/api/v3'),
    onDelivery: (delivery) => contract.webhook(delivery.event, delivery.payload),
    furnish: withFewerTests,
    ...options,
  });
  return {
    demo: demoAppOf(environment),
    async check() {
      await environment.github.settled();
      expect(contract.violations).toEqual([]);
      expect(await readdir(join(environment.home, 'data', 'areas')).catch(() => [])).toEqual([]);
    },
    async close() {
      await environment.close();
      await rm(home, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

function demoAppOf(environment: DemoEnvironment): DemoApp {
  const { github, world } = environment;
  const eyes = github.as(MAINTAINER);
  return {
    environment,
    async label(login = MAINTAINER) {
      const issue = await eyes.openIssue(REPOSITORY, ISSUE);
      await github.as(login).addLabel(REPOSITORY, issue, LABEL);
      return issue;
    },
    run: (issue, ready = (view) => isOver(view.state)) => awaitedRun(world, issue, ready),
    comments: async (on) => (await eyes.comments(REPOSITORY, on)).map((comment) => comment.body),
    async labels(issue) {
      const path = `/repos/${REPOSITORY.owner}/${REPOSITORY.name}/issues/${issue}`;
      const found = (await eyes.request('GET', path)) as { labels: { name: string }[] };
      return found.labels.map((label) => label.name).toSorted();
    },
  };
}

async function awaitedRun(
  world: DemoEnvironment['world'],
  issue: number,
  ready: (view: RunView) => boolean,
): Promise<RunView> {
  const until = Date.now() + PATIENCE_MS;
  const changed = changedRun(world, issue);
  let state = 'not there';
  while (Date.now() < until) {
    const found = await changed();
    const view = found && (await viewOf(world, found));
    if (view) state = view.state;
    if (view && ready(view)) {
      if (!isOver(view.state)) return view;
      // A run is over before its coders have noticed: what they still write belongs to its end.
      await world.engine.settled(view.id);
      return viewOf(world, (await world.store.run(view.id)) ?? found);
    }
    await world.clock.sleep(50);
  }
  throw new Error(`The run of issue ${issue} is ${state} after ${PATIENCE_MS} ms.`);
}

/** Looks at an issue's newest run if anything has changed: to build a view takes many times as long as to see that. */
function changedRun({ store }: DemoEnvironment['world'], issue: number) {
  let seen = { marks: '', at: 0 };
  return async () => {
    const marks = JSON.stringify(await store.runMarks({ newest: 20 }));
    if (marks === seen.marks && Date.now() - seen.at < LOOK_AGAIN_MS) return undefined;
    seen = { marks, at: Date.now() };
    return (await store.runs(20)).find(({ origin }) => origin.kind === 'github' && origin.issue === issue);
  };
}
