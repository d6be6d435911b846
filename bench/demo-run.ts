import { setTimeout as wait } from 'node:timers/promises';
import { isOver } from '../src/core/model/index.ts';
import { type DemoEnvironment, MAINTAINER, REPOSITORY } from '../src/demo/environment.ts';
import { ISSUE } from '../src/demo/sample/index.ts';
import type { RunRecord, Store } from '../src/ports/index.ts';
import { LABEL } from '../src/runs/index.ts';

/** A run of the warmest kind takes seconds; one that takes this long waits for something that does not come. */
const LIMIT_MS = 15 * 60_000;
const SOON_MS = 25;
/** Seldom, because a record with all evidence takes milliseconds to read, and processors are short. */
const SELDOM_MS = 500;

/** Looks every so many milliseconds until there is what is looked for. Rejects after a quarter of an hour. */
export async function eventually<T>(everyMs: number, look: () => Promise<T | null>): Promise<T> {
  for (const until = performance.now() + LIMIT_MS; performance.now() < until; await wait(everyMs)) {
    const found = await look();
    if (found !== null) return found;
  }
  throw new Error('The run did not end.');
}

/** Where runs are started and looked at. */
interface Demo {
  readonly github: DemoEnvironment['github'];
  readonly store: Store;
}

interface StartedRun {
  readonly id: RunRecord['id'];
  /** Of `performance.now()`. */
  readonly labelledAt: number;
}

/** Labels a new issue of the demo's repository; resolves when there is a run of it. */
export async function startDemoRun({ github, store }: Demo): Promise<StartedRun> {
  const person = github.as(MAINTAINER);
  const issue = await person.openIssue(REPOSITORY, ISSUE);
  await person.addLabel(REPOSITORY, issue, LABEL);
  const labelledAt = performance.now();
  return eventually(SOON_MS, async () => {
    const runs = await store.runs(5);
    const run = runs.find(({ origin }) => origin.kind === 'github' && origin.issue === issue);
    return run ? { id: run.id, labelledAt } : null;
  });
}

/** The record of the run when it has a result, and GitHub has nothing more to deliver. */
export async function resultOf({ github, store }: Demo, id: StartedRun['id']): Promise<RunRecord> {
  const found = await eventually(SELDOM_MS, async () => {
    const run = await store.run(id);
    return run && (isOver(run.state) || run.state === 'awaiting_pick') ? run : null;
  });
  await github.settled();
  return found;
}
