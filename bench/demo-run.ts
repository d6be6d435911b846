import { setTimeout as wait } from 'node:timers/promises';
import { type DemoEnvironment, MAINTAINER, REPOSITORY } from '../src/demo/environment.ts';
import { ISSUE } from '../src/demo/sample/index.ts';
import type { RunRecord } from '../src/ports/index.ts';
import { LABEL } from '../src/runs/index.ts';

/** A run of the warmest kind takes seconds; one that takes this long waits for something that does not come. */
const RUN_LIMIT_MS = 15 * 60_000;

/**
 * Labels a new issue of the demo's repository, and looks at its run every `everyMs` until `look` returns what it was
 * looking for. `labelledAt`: of `performance.now()`.
 */
export async function demoRun<T>(
  { github, world }: DemoEnvironment,
  everyMs: number,
  look: (run: RunRecord | undefined, labelledAt: number) => Promise<T | null>,
): Promise<T> {
  const person = github.as(MAINTAINER);
  const issue = await person.openIssue(REPOSITORY, ISSUE);
  await person.addLabel(REPOSITORY, issue, LABEL);
  const labelledAt = performance.now();
  while (performance.now() - labelledAt < RUN_LIMIT_MS) {
    const run = (await world.store.runs(5)).find(
      ({ origin }) => origin.kind === 'github' && origin.issue === issue,
    );
    const found = await look(run, labelledAt);
    if (found !== null) return found;
    await wait(everyMs);
  }
  throw new Error('The run did not end.');
}
