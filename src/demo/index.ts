import { once } from 'node:events';
import { exitCode, follow, jsonText, printReport, runJson } from '../cli/index.ts';
import { ACTIVE_STATES, Fault, fullNameOf, type RunId, unlessAborted } from '../core/model/index.ts';
import type { RunView } from '../core/reports/index.ts';
import { LABEL } from '../runs/index.ts';
import { type DemoOptions, EXIT, onPresses, type Screen, type Terminal } from '../shell.ts';
import { type DemoEnvironment, MAINTAINER, openDemoEnvironment, REPOSITORY } from './environment.ts';
import { ISSUE } from './sample/index.ts';

/** Between pieces of a scripted answer: slow enough to be seen, fast enough for an impatient reader. */
const PACE_MS = 25;
const PATIENCE_MS = 30_000;

interface DemoStart extends DemoOptions {
  /** How people start a command of Runoff from a shell. */
  readonly command: (command: string) => string;
}

/**
 * The whole main job on this machine, offline: from a label to a draft pull request with its comparison.
 * Ctrl-C at any time closes all of it and ends with 130; once only the servers keep running, it is how they are stopped.
 */
export async function runDemo(options: DemoStart, terminal: Terminal): Promise<number> {
  const { screen, onInterrupt, exit } = terminal;
  const stop = new AbortController();
  const stopListening = onPresses(onInterrupt, (press) => {
    if (press > 1) return exit(EXIT.stopped);
    screen.err('\nStopping: everything the demo started is closed …\n');
    stop.abort(new Error('The demo was interrupted.'));
  });
  try {
    return await perform(options, screen, stop.signal);
  } catch (thrown) {
    if (thrown === stop.signal.reason) return EXIT.stopped;
    throw thrown;
  } finally {
    stopListening();
  }
}

/** Rejects with the signal's reason when that aborts; all is closed by then. */
async function perform(options: DemoStart, screen: Screen, signal: AbortSignal): Promise<number> {
  const say = options.json ? () => {} : (text: string) => screen.err(text);
  say(`${INTRODUCTION}\n\n`);
  const began = performance.now();
  const environment = await openDemoEnvironment({
    paceMs: PACE_MS,
    onStep: (text) => say(`  starting ${text} …\n`),
    signal,
  });
  try {
    const { view, issue } = await unlessAborted(play(environment, options, screen, say, began), signal);
    if (options.keep) await stay(environment, view, issue, screen, signal);
    return exitCode(view);
  } finally {
    // Closing waits for steps under way; a coder would take its time.
    if (signal.aborted) await stopRuns(environment);
    await environment.close();
  }
}

async function play(
  environment: DemoEnvironment,
  options: DemoStart,
  screen: Screen,
  say: (text: string) => void,
  began: number,
): Promise<{ readonly view: RunView; readonly issue: number }> {
  const issue = await labelAnIssue(environment, say);
  const runId = await runOf(environment, issue);
  const view = await follow(
    environment.world,
    runId,
    options.json ? { ...screen, width: null, live: null, err: () => {} } : screen,
  );
  await environment.world.engine.settled(runId);
  await environment.github.settled();
  const timings = {
    ...environment.timings,
    run: view.now - view.startedAt,
    total: Math.round(performance.now() - began),
  };
  await report(environment, view, issue, timings, options, screen);
  return { view, issue };
}

async function stopRuns({ world }: DemoEnvironment): Promise<void> {
  for (const id of await world.store.idsIn(ACTIVE_STATES)) await world.engine.cancel(id);
}

const nextCommands = (command: DemoStart['command']) =>
  [
    [`${command('demo')} --keep`, 'the same, and the servers keep running, to look at in a browser'],
    [command('doctor'), 'what this machine still needs for real models'],
    [`${command('run')} "Fix the …" --repo ../yours`, 'the same on a repository of yours'],
  ] as const;

const INTRODUCTION = [
  'Runoff demo: an issue is labelled; four coders compete; the one with the best evidence becomes a pull request.',
  'The models are scripted (their answers are written beforehand). Everything else is real: the App, the webhooks,',
  'the durable engine on Postgres, the sandboxes, the builds and tests, the decision, git and the pull request, on a',
  'GitHub that runs on this machine. Nothing leaves it.',
].join('\n');

async function labelAnIssue({ github }: DemoEnvironment, say: (text: string) => void): Promise<number> {
  const maintainer = github.as(MAINTAINER);
  const issue = await maintainer.openIssue(REPOSITORY, ISSUE);
  say(`\n  ${MAINTAINER} opens issue #${issue}: ${ISSUE.title}\n  ${MAINTAINER} labels it \`${LABEL}\`\n\n`);
  await maintainer.addLabel(REPOSITORY, issue, LABEL);
  return issue;
}

/** The run that the webhook started. */
async function runOf({ world, github }: DemoEnvironment, issue: number): Promise<RunId> {
  const until = world.clock.now() + PATIENCE_MS;
  for (;;) {
    const run = (await world.store.runs(5)).find(
      (r) => r.origin.kind === 'github' && r.origin.issue === issue,
    );
    if (run) return run.id;
    if (world.clock.now() > until) {
      const deliveries = github.deliveries
        .map((d) => `${d.event}.${d.action ?? ''} → ${d.status}`)
        .join(', ');
      throw new Fault('INTERNAL', `The label started no run. Webhooks delivered: ${deliveries || 'none'}.`);
    }
    await world.clock.sleep(50);
  }
}

async function report(
  environment: DemoEnvironment,
  view: RunView,
  issue: number,
  timings: Readonly<Record<string, number>>,
  { json, keep, command }: DemoStart,
  screen: Screen,
): Promise<void> {
  const { world, github } = environment;
  if (!json) {
    await printReport(world, view, { screen, commands: nextCommands(command), gone: !keep });
    screen.out(`\n${timingLine(timings)}\n`);
    return;
  }
  const maintainer = github.as(MAINTAINER);
  const pull = (await maintainer.pulls(REPOSITORY))[0];
  const places = [issue, ...(pull ? [pull.number] : [])];
  const comments = [];
  for (const on of places) {
    for (const { id, body } of await maintainer.comments(REPOSITORY, on)) comments.push({ id, on, body });
  }
  const issueDetails = (await maintainer.request(
    'GET',
    `/repos/${fullNameOf(REPOSITORY)}/issues/${issue}`,
  )) as {
    labels: { name: string }[];
  };
  const document = runJson(view, {
    ...(pull
      ? {
          pull: {
            number: pull.number,
            url: `${github.url}/${fullNameOf(REPOSITORY)}/pull/${pull.number}`,
            draft: pull.draft,
            head: pull.head.ref,
            base: pull.base.ref,
            body: pull.body ?? '',
          },
        }
      : {}),
    comments,
    issueLabels: issueDetails.labels.map((label) => label.name),
    timings,
  });
  screen.out(`${jsonText(document)}\n`);
}

const timingLine = (timings: Readonly<Record<string, number>>): string =>
  `Time: ${Object.entries(timings)
    .map(([name, ms]) => `${name} ${(ms / 1000).toFixed(1)} s`)
    .join(' · ')}`;

async function stay(
  { github, app }: DemoEnvironment,
  view: RunView,
  issue: number,
  screen: Screen,
  signal: AbortSignal,
): Promise<void> {
  const repository = `${github.url}/${fullNameOf(REPOSITORY)}`;
  const pull = view.outcome?.kind === 'pull' ? view.outcome.number : null;
  screen.err(
    [
      '',
      'The servers keep running (Ctrl-C stops them):',
      `  issue         ${repository}/issues/${issue}`,
      ...(pull === null ? [] : [`  pull request  ${repository}/pull/${pull}`]),
      `  clone         git clone ${repository}.git`,
      `  page          ${app.url}/runs/${view.id} (sign in as ${MAINTAINER}, with a button in place of a password)`,
      `  App           ${app.url}/healthz`,
      '',
    ].join('\n'),
  );
  if (!signal.aborted) await once(signal, 'abort');
}
