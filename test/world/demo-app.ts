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
const PATIENCE_MS = 280_000;

/** What every candidate is probed with comes from the tests: a story that is not about them is short with a third of them. */
async function withFewerTests(folder: string): Promise<void> {
  for (const name of ['cli', 'expenses', 'money', 'totals'])
    await rm(join(folder, 'test', `${name}.test.js`));
}

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
    async run(issue, ready = (view) => isOver(view.state)) {
      const until = Date.now() + PATIENCE_MS;
      for (;;) {
        const found = (await world.store.runs(20)).find(
          (run) => run.origin.kind === 'github' && run.origin.issue === issue,
        );
        const view = found ? await viewOf(world, found) : null;
        if (found && view && ready(view)) {
          if (!isOver(view.state)) return view;
          // A run is over before its coders have noticed: what they still write belongs to its end.
          await world.engine.settled(view.id);
          return viewOf(world, (await world.store.run(view.id)) ?? found);
        }
        if (Date.now() > until)
          throw new Error(
            `The run of issue ${issue} is ${view?.state ?? 'not there'} after ${PATIENCE_MS} ms.`,
          );
        await world.clock.sleep(50);
      }
    },
    comments: async (on) => (await eyes.comments(REPOSITORY, on)).map((comment) => comment.body),
    async labels(issue) {
      const path = `/repos/${REPOSITORY.owner}/${REPOSITORY.name}/issues/${issue}`;
      const found = (await eyes.request('GET', path)) as { labels: { name: string }[] };
      return found.labels.map((label) => label.name).toSorted();
    },
  };
}
