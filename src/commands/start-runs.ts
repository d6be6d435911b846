import type { Command, RunCommandOptions } from '../core/commands/index.ts';
import { type Alias, Fault, type GitHubOrigin, isOver, type PullWork } from '../core/model/index.ts';
import { refusalText } from '../core/reports/index.ts';
import type { CommandRecord, RunRecord } from '../ports/index.ts';
import {
  awaitedInquiry,
  cancelRun,
  type GitHubRun,
  handleOf,
  isGitHubRun,
  type Overrides,
  RunRequest,
  requireGitHub,
  startRun,
  type World,
} from '../runs/index.ts';
import { answerRun, type ReplyPorts } from './active-runs.ts';
import {
  type CommandResult,
  done,
  howToStart,
  isRequestedAfter,
  isStartedByLabel,
  refuse,
} from './context.ts';

/** The ports needed to start a run. */
export type StartPorts = Pick<World, 'announcer' | 'clock' | 'engine' | 'github' | 'random' | 'store'>;
type DebatePorts = ReplyPorts & StartPorts & Pick<World, 'ceilings'>;

interface NewRun {
  /** Number of the issue or pull request. */
  readonly issue: number;
  readonly work?: PullWork;
  readonly text: RunRequest['text'];
  readonly overrides: Overrides;
  readonly base?: string;
  readonly carry?: RunRequest['carry'];
}

/** `run` on an issue: the same as the label, with options. */
export async function startOnIssue(
  world: StartPorts,
  command: CommandRecord,
  { base, ...overrides }: RunCommandOptions,
  active: GitHubRun | undefined,
): Promise<CommandResult> {
  const { thread } = command.place;
  if (active) return refuseWhileActive(command, active);
  const text = textWhenGiven(command);
  return startOnce(world, command, {
    issue: thread,
    text,
    overrides: overridesOf(overrides),
    ...(base ? { base } : {}),
  });
}

/**
 * `debate`: lets critics debate the plan of the run that waits for approval. Without a run, starts one on the issue whose
 * plan is debated and then waits for approval.
 */
export async function debate(
  world: DebatePorts,
  command: CommandRecord,
  active: GitHubRun | undefined,
): Promise<CommandResult> {
  const { place, page } = command;
  if (!world.ceilings.debates)
    return refuse(
      command,
      'The operator of this server allows no debates (ENABLE_PRE_EXECUTION_DEBATE=false).',
    );
  if (active && isStartedBy(command, active))
    return done('the run was already started', { runId: active.id });
  if (!active && place.isPull)
    return refuse(command, 'No plan waits for approval here. Debates are started on issues.');
  if (!active)
    return startOnce(world, command, {
      issue: place.thread,
      text: textWhenGiven(command),
      overrides: { debate: 'always', approval: 'plan' },
    });
  // The page of an earlier run does not show the plan that would be debated.
  if (page && page.run !== active.id) return refuseWhileActive(command, active);
  if (awaitedInquiry(active)) return answerRun(world, command, { name: 'debate' }, active);
  return refuse(
    command,
    `Run \`${active.id}\` does not wait for approval of its plan, so the plan cannot be debated now. To debate the issue anew, cancel the run with \`/auto-dev cancel\` first.`,
    active.id,
  );
}

/** The issue may have been edited since by someone who may not start a run: later text is not used (I5). */
function textWhenGiven({ id, issue }: CommandRecord): RunRequest['text'] {
  if (issue) return issue;
  throw new Fault('INTERNAL', `The text of the issue at the time of ${id} was not stored.`);
}

/** Copies the options with mutable lists, as the request needs them. */
const overridesOf = ({
  coders,
  prompts,
  evaluator,
  ...rest
}: Omit<RunCommandOptions, 'base'>): Overrides => ({
  ...rest,
  ...(prompts ? { prompts: [...prompts] } : {}),
  ...(coders ? { coders: [...coders] } : {}),
  ...(evaluator ? { evaluator: [...evaluator] } : {}),
});

/** `review` and `fix`: a run on the branch of a pull request. */
export async function startOnPull(
  world: StartPorts,
  command: CommandRecord,
  work: PullWork,
  active: GitHubRun | undefined,
): Promise<CommandResult> {
  const { thread } = command.place;
  if (active?.origin.issue === thread) return refuseWhileActive(command, active);
  return startOnce(world, command, { issue: thread, work, text: textWhenGiven(command), overrides: {} });
}

/** Runs the same task again: the whole run, or one contestant in addition to the existing patches. */
export async function retry(
  world: StartPorts,
  command: CommandRecord,
  { alias, options }: Pick<Extract<Command, { readonly name: 'retry' }>, 'alias' | 'options'>,
  { runs, active }: { readonly runs: readonly GitHubRun[]; readonly active: GitHubRun | undefined },
): Promise<CommandResult> {
  if (active) return refuseWhileActive(command, active);
  const last = runs.find(({ task, state }) => task !== undefined && isOver(state));
  if (!last) return refuse(command, `There is no run here to repeat. ${howToStart(command)}`);
  const { overrides, text } = RunRequest.parse(last.request);
  const { issue, work } = last.origin;
  const same = { issue, text, overrides, ...(work ? { work } : {}) };
  if (alias !== null) return retryCandidate(world, command, last, { ...same, alias });
  const { base: wanted, ...others } = options ?? {};
  const base = wanted ?? (await requestedBase(world, last));
  // In a thread other than the issue's, only the run has the issue's text.
  const now = issue === command.place.thread ? { text: textWhenGiven(command) } : {};
  return startOnce(world, command, {
    ...same,
    ...now,
    overrides: { ...overrides, ...overridesOf(others) },
    ...(base ? { base } : {}),
  });
}

/** The base that a person requested. A continued run starts from a commit that no one chose. */
async function requestedBase(world: Pick<World, 'store'>, run: RunRecord): Promise<string | undefined> {
  const { base, carry } = RunRequest.parse(run.request);
  if (!carry) return base;
  const earlier = await world.store.run(carry.run);
  return earlier ? requestedBase(world, earlier) : undefined;
}

async function retryCandidate(
  world: StartPorts & Pick<World, 'github'>,
  command: CommandRecord,
  last: GitHubRun,
  { alias, ...same }: NewRun & { readonly alias: Alias },
): Promise<CommandResult> {
  const candidates = await world.store.candidates(last.id);
  if (!candidates.some((one) => one.alias === alias)) {
    const all = candidates.map((one) => `\`${one.alias}\``).join(', ') || 'none';
    return refuse(command, `Run \`${last.id}\` has no candidate \`${alias}\`; it has ${all}.`, last.id);
  }
  const moved = await whyMoved(world, last);
  if (moved) return refuse(command, moved, last.id);
  // Patches apply only to the commit that they were made on.
  const on = last.task ? { base: last.task.base.sha } : {};
  return startOnce(world, command, { ...same, ...on, carry: { run: last.id, again: alias } });
}

/**
 * Findings in a pull request apply to its newest commit; next to patches for an older one they would be meaningless.
 */
async function whyMoved(
  world: Pick<World, 'github'>,
  { id, origin, task }: GitHubRun,
): Promise<string | null> {
  if (!origin.work || !task) return null;
  const pull = await (await requireGitHub(world).reader(handleOf(origin))).pull(origin.issue);
  if (!pull || pull.headSha === task.base.sha) return null;
  return `The branch \`${pull.head}\` has moved since run \`${id}\` started, so the other candidates no longer apply. To repeat the whole run, comment \`/auto-dev retry\`.`;
}

function refuseWhileActive(command: CommandRecord, run: GitHubRun): CommandResult {
  // After a crash, the run that this command started may already be active.
  if (isStartedBy(command, run)) return done('the run was already started', { runId: run.id });
  return refuse(
    command,
    `Run \`${run.id}\` is already active here. To cancel it, comment \`/auto-dev cancel\`.`,
    run.id,
  );
}

function isStartedBy({ at, by }: CommandRecord, { origin, request }: GitHubRun): boolean {
  const { data } = RunRequest.safeParse(request);
  return data?.trigger === 'command' && data.triggeredAt === at && origin.requestedBy.id === by.id;
}

/**
 * A command passes labels in the queue. A run that waits there for the label would otherwise count as the older one: the
 * command's run would be refused, and the label's would follow without its options.
 */
async function withdrawLabel(world: StartPorts, { at, place, by }: CommandRecord, issue: number) {
  for (const run of await world.store.activeRuns(place.repositoryId, issue)) {
    if (run.state !== 'queued' || !isStartedByLabel(run) || isRequestedAfter(run, at)) continue;
    await cancelRun(world, run.id, `a command of ${by.login} replaced it`);
  }
}

/** A run that is at work, or waits for its turn by a command: admission would refuse another one. */
async function activeOn(
  { store }: Pick<World, 'store'>,
  { place }: CommandRecord,
  issue: number,
): Promise<GitHubRun | undefined> {
  const runs = (await store.activeRuns(place.repositoryId, issue)).filter(isGitHubRun);
  return runs.find(
    (run) =>
      !isOver(run.state) &&
      (run.task !== undefined || (run.queueEntry !== undefined && !isStartedByLabel(run))),
  );
}

/**
 * Why admission would refuse the run, as far as one request tells: most commands that are refused are so at once. Null
 * if the issue or pull request is open.
 */
async function whyClosed(
  world: Pick<World, 'github'>,
  { place }: CommandRecord,
  { issue, work }: NewRun,
): Promise<string | null> {
  const reader = await requireGitHub(world).reader(handleOf(place));
  const isClosed = work ? (await reader.pull(issue))?.state !== 'open' : !(await reader.issue(issue)).open;
  if (!isClosed) return null;
  const closed = { kind: 'issue-closed', ...(issue === place.thread ? {} : { number: issue }) } as const;
  const { message, advice } = refusalText(work ? { kind: 'pull-closed' } : closed, 'command');
  return `${message} ${advice}`;
}

/** Stores the command and its run together: a repeated command finds the run that it started. */
async function startOnce(world: StartPorts, command: CommandRecord, options: NewRun): Promise<CommandResult> {
  const { place, by } = command;
  const { installationId, repositoryId, owner, name, thread, comment } = place;
  const origin: GitHubOrigin = {
    kind: 'github',
    installationId,
    repositoryId,
    owner,
    name,
    issue: options.issue,
    ...(options.work ? { work: options.work } : {}),
    requestedBy: by,
  };
  // Applied again after a crash: the run may be over by now, and the issue closed.
  const own = (await world.store.runsAt(repositoryId, options.issue)).find(
    (run) => isGitHubRun(run) && isStartedBy(command, run),
  );
  if (own) return done('the run was already started', { runId: own.id });
  const active = await activeOn(world, command, options.issue);
  if (active) return refuseWhileActive(command, active);
  const closed = await whyClosed(world, command, options);
  if (closed) return refuse(command, closed);
  await withdrawLabel(world, command, options.issue);
  const runId = world.random.runId();
  const request: RunRequest = {
    runId,
    text: options.text,
    triggeredAt: command.at,
    trigger: 'command',
    overrides: options.overrides,
    ...(place.on === 'page' ? {} : { command: { thread, comment, on: place.on } }),
    ...(options.base ? { base: options.base } : {}),
    ...(options.carry ? { carry: options.carry } : {}),
  };
  const key = `command:${command.id}`;
  const delivery = { id: key, event: 'command', semanticKey: key, runId };
  const at = world.clock.now();
  if (!(await world.store.acceptDelivery(delivery, { origin, title: options.text.title, request, at })))
    return done('the run was already started');
  await startRun(world, runId);
  return done('started a run', { runId });
}
