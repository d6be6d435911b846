import type { Command } from 'commander';
import { Fault, isOver, RUN_STATES, type RunId } from '../core/model/index.ts';
import { ordinal, type RunView, visibleCode } from '../core/reports/index.ts';
import type { AuditEntry, AuditRecord, RunRecord } from '../ports/index.ts';
import { cancelRun, flows, loadRun, stoppedRuns, viewOf, type World } from '../runs/index.ts';
import { EXIT, type Screen, type Shell } from '../shell.ts';
import { viewById } from './follow.ts';
import { jsonOption, whole } from './options.ts';
import { jsonText, renderProgress, runJson, shown } from './render/index.ts';
import { PLAIN_WIDTH, printReport } from './show.ts';

const document = (value: unknown): string => `${jsonText(value)}\n`;

async function inWorld(
  shell: Shell,
  work: (world: World, screen: Screen) => Promise<number>,
): Promise<number> {
  const { world, close } = await shell.open({ role: 'reader' });
  try {
    return await work(world, shell.screen);
  } finally {
    await close();
  }
}

const NO_RUNS = 'No runs yet. Start one: runoff run "Fix the …"\n';

/** `runoff runs`: the latest runs, one line each. */
export const listRuns = (shell: Shell, limit: number, json: boolean): Promise<number> =>
  inWorld(shell, async (world, screen) => {
    const views: RunView[] = [];
    for (const run of await world.store.runs(limit)) views.push(await viewOf(world, run));
    const stoppedIds = await stoppedRuns(world, views);
    const listed = views.map((view) => ({ view, stopped: stoppedIds.has(view.id) }));
    if (json) screen.out(document(listed.map(({ view, stopped }) => ({ ...runJson(view), stopped }))));
    else if (listed.length === 0) screen.out(NO_RUNS);
    else {
      for (const { view, stopped } of listed) screen.out(`${line(view, stopped)}\n`);
    }
    return EXIT.done;
  });

const LONGEST_STATE = Math.max(...RUN_STATES.map((state) => state.length));

/** `3rd in line` if the run is in the run queue. */
const stateOf = (view: RunView, stopped: boolean): string => {
  if (stopped) return `${view.state}, stopped`;
  return view.queue ? `${ordinal(view.queue.position)} in line` : view.state;
};

const line = (view: RunView, stopped: boolean): string => {
  const when = new Date(view.startedAt).toISOString().slice(0, 16).replace('T', ' ');
  const where =
    view.origin.kind === 'github' ? `${view.origin.repository}#${view.origin.issue}` : view.origin.path;
  return `${view.id}  ${when} UTC  ${stateOf(view, stopped).padEnd(LONGEST_STATE)}  ${shown(where)}  ${shown(view.title)}`;
};

/** `runoff status`: the status of a run, by default the latest one. */
export const showStatus = (shell: Shell, runId: RunId | undefined, json: boolean): Promise<number> =>
  inWorld(shell, async (world, screen) => {
    const id = runId ?? (await world.store.runs(1))[0]?.id;
    if (!id && !json) {
      screen.err(NO_RUNS);
      return EXIT.usage;
    }
    if (!id) throw new Fault('RUN_UNKNOWN', 'There are no runs yet.');
    const view = await viewById(world, id);
    const stopped = (await stoppedRuns(world, [view])).has(id);
    if (json) screen.out(document({ ...runJson(view), stopped }));
    else if (isOver(view.state)) await printReport(world, view, { screen, cwd: shell.cwd });
    else screen.out(`${renderProgress(view, screen.width ?? PLAIN_WIDTH, screen.outColour).join('\n')}\n`);
    if (stopped && !json) screen.out(stoppedSentence(id));
    return EXIT.done;
  });

const stoppedSentence = (id: RunId): string =>
  `
No process is working on this run: its process was stopped or has crashed. Finished stages and patches are kept.
Next: \`runoff resume ${id}\` continues the run, \`runoff cancel ${id}\` cancels it.
`;

/** `runoff cancel`: stops a run of this machine or of any worker on the same database. */
export async function cancelHere(shell: Shell, runId: RunId, json: boolean): Promise<number> {
  // An executor with its own name: it must be able to signal the engine, and has nothing to resume.
  const { world, close } = await shell.open({
    role: 'standalone',
    executor: `cli-${shell.newRunId()}`,
    github: true,
  });
  try {
    await viewById(world, runId);
    await world.engine.launch(flows(world));
    const stopped = await cancelRun(world, runId, 'it was cancelled from the command line');
    const words = stopped ? 'is cancelled.' : whyNotCancelled(await loadRun(world, runId));
    shell.screen.out(json ? document({ run: runId, cancelled: stopped }) : `Run ${runId} ${words}\n`);
    return EXIT.done;
  } finally {
    await close();
  }
}

/** A run whose result is stored before its state says so is about to be shown in full (0228). */
function whyNotCancelled({ id, state, outcome }: RunRecord): string {
  if (isOver(state)) return 'had already ended.';
  return outcome?.kind === 'pull'
    ? `could not be cancelled. Its draft pull request #${outcome.number} is open. If you do not want it, close it.`
    : `could not be cancelled: its result is already stored. To see it, run \`runoff show ${id}\`.`;
}

interface AuditOptions {
  readonly run?: RunId;
  readonly limit: number;
  readonly json: boolean;
}

/** `runoff audit`: requests, refusals and writes to GitHub; the latest entries, oldest first. */
async function showAudit(shell: Shell, { run, limit, json }: AuditOptions): Promise<number> {
  const { world, close } = await shell.open({ role: 'reader' });
  try {
    const records = await world.store.audited({ limit, ...(run === undefined ? {} : { run }) });
    // Records of a run outlive it.
    if (run !== undefined && records.length === 0) await viewById(world, run);
    const oldestFirst = records.toReversed();
    if (json) shell.screen.out(`${jsonText(oldestFirst.map(jsonOf))}\n`);
    else if (records.length === 0)
      shell.screen.out(`The audit log has no entries${run === undefined ? '' : ` for run ${run}`} yet.\n`);
    else shell.screen.out(`${oldestFirst.map(auditLine).join('\n')}\n`);
    return EXIT.done;
  } finally {
    await close();
  }
}

const jsonOf = ({ at, ...record }: AuditRecord) => ({ ...record, at: new Date(at).toISOString() });

const auditLine = ({ at, run, entry }: AuditRecord): string => {
  const when = new Date(at).toISOString().slice(0, 19).replace('T', ' ');
  return `${when} UTC  ${(run ?? '-').padEnd(11)}  ${visibleCode(auditText(entry)).replaceAll('\n', ' ')}`;
};

function auditText(entry: AuditEntry): string {
  switch (entry.kind) {
    case 'command': {
      const { by, text, thread, outcome, token } = entry;
      const came = outcome.kind === 'done' ? outcome.note : outcome.why;
      const asked = text.split('\n', 1)[0] ?? '';
      const who = token === undefined ? by.login : `${by.login} by token ${token}`;
      return `command  ${who} on #${thread}: ${asked} (${outcome.kind}: ${came})`;
    }
    case 'refusal':
      return `refusal  ${entry.cause}`;
    case 'transition':
      return `change   ${entry.from} → ${entry.to}: ${entry.cause}`;
    case 'token':
      return `token    ${entry.what} ${entry.token}${entry.by ? ` for ${entry.by.login}` : ''}`;
    case 'write': {
      const { what, repository, thread, branch, outcome, status } = entry;
      const where = `${repository}${thread === undefined ? '' : `#${thread}`}${branch === undefined ? '' : ` ${branch}`}`;
      const came = outcome === 'done' ? '' : ` (${outcome}${status === undefined ? '' : `, ${status}`})`;
      return `write    ${what} ${where}${came}`;
    }
  }
}

export function addAudit(program: Command, shell: Shell, done: (code: number) => void): void {
  program
    .command('audit')
    .description('show the audit log: requests, refusals and every write to GitHub')
    .option('--run <run>', 'only entries of this run')
    .option('--limit <count>', 'number of latest entries', whole(1), 100)
    .addOption(jsonOption())
    .action(async ({ run, limit, json = false }: { run?: string; limit: number; json?: boolean }) =>
      done(await showAudit(shell, { limit, json, ...(run === undefined ? {} : { run }) })),
    );
}
