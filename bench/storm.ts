// What a storm of labels costs: LABELS (200) issues of one repository are labelled within SECONDS (60), and the App
// answers each delivery from the local GitHub. Answer times are the App's own figures (upper bounds of their buckets);
// memory is that of the process in which App, GitHub and models run.
import { setTimeout as wait } from 'node:timers/promises';
import { MAINTAINER, openDemoEnvironment, REPOSITORY } from '../src/demo/environment.ts';
import { LABEL, queuedRuns } from '../src/runs/index.ts';

const LABELS = Number(process.env.LABELS ?? 200);
const DURATION_MS = Number(process.env.SECONDS ?? 60) * 1_000;
const TOKEN = 'a-token-for-this-bench-only';

const demo = await openDemoEnvironment({
  paceMs: 0,
  throttle: false,
  settings: 'candidates: 1\nchecks: { build: "true", test: "true" }\n',
  environment: {
    METRICS_TOKEN: TOKEN,
    // The caps of a day are not what is measured.
    MAX_RUNS_USER_DAY: '1000',
    MAX_RUNS_REPOSITORY_DAY: '1000',
    MAX_RUNS_INSTALLATION_DAY: '1000',
  },
  onStep: () => {},
});

/** Deliveries of labels, by the seconds within which they were answered. */
async function answered(): Promise<ReadonlyMap<number, number>> {
  const headers = { authorization: `Bearer ${TOKEN}` };
  const text = await (await fetch(new URL('/metrics', demo.app.url), { headers })).text();
  const rows = text.matchAll(
    /^runoff_webhook_seconds_bucket\{(?=[^}]*event="issues")[^}]*le="([\d.]+|\+Inf)"[^}]*\} (\d+)$/gm,
  );
  const buckets = new Map<number, number>();
  for (const [, le = '', count = '0'] of rows) {
    const seconds = le === '+Inf' ? Number.POSITIVE_INFINITY : Number(le);
    buckets.set(seconds, (buckets.get(seconds) ?? 0) + Number(count));
  }
  return buckets;
}

/** The shortest time within which this part of all was answered, seconds. */
function within(buckets: ReadonlyMap<number, number>, part: number): number {
  const all = buckets.get(Number.POSITIVE_INFINITY) ?? 0;
  return Math.min(...[...buckets].filter(([, count]) => count >= all * part).map(([seconds]) => seconds));
}

const megabytes = (): number => Math.round(process.memoryUsage.rss() / 1e6);

try {
  const { github, world } = demo;
  const person = github.as(MAINTAINER);
  const issues: number[] = [];
  for (let at = 0; at < LABELS; at += 1)
    issues.push(await person.openIssue(REPOSITORY, { title: `Task ${at}`, body: 'Do it.' }));
  const before = megabytes();
  const began = performance.now();
  for (const [at, issue] of issues.entries()) {
    await wait(Math.max(0, (at * DURATION_MS) / LABELS - (performance.now() - began)));
    await person.addLabel(REPOSITORY, issue, LABEL);
  }
  const took = performance.now() - began;
  while (((await answered()).get(Number.POSITIVE_INFINITY) ?? 0) < LABELS) await wait(200);
  const buckets = await answered();
  const waiting = (await queuedRuns(world.store)).length;
  const [p50, p95, most] = [0.5, 0.95, 1].map((part) => within(buckets, part));
  console.log(`${LABELS} labels in ${(took / 1000).toFixed(0)} s, with runs at work meanwhile`);
  console.log(`webhooks answered within: p50 ${p50} s, p95 ${p95} s, all ${most} s (GitHub waits 10 s)`);
  console.log(`queued runs at the end: ${waiting}`);
  console.log(`memory: ${before} MB before, ${megabytes()} MB after: ${(megabytes() / before).toFixed(2)} ×`);
} catch (thrown) {
  console.error(thrown);
  process.exitCode = 1;
} finally {
  // Hundreds of runs are at work or in line: nobody waits for them.
  await Promise.race([demo.close(), wait(20_000)]);
  process.exit();
}
