import type { RunWish } from '../core/commands/index.ts';
import { isOver } from '../core/lifecycle/index.ts';
import { type Alias, Fault, type GitHubOrigin, type PullWork } from '../core/model/index.ts';
import type { CommandRecord, RunRecord } from '../ports/index.ts';
import { handleOf, type Overrides, RunRequest, requireGitHub, startRun, type World } from '../runs/index.ts';
import { done, type Obeyed, refuse } from './obeyed.ts';
import type { OnGitHub } from './speaker.ts';

interface Wish {
  /** Number of the issue or pull request. */
  readonly issue: number;
  readonly work?: PullWork;
  readonly text: RunRequest['text'];
  readonly overrides: Overrides;
  readonly base?: string;
  readonly carry?: RunRequest['carry'];
}

/** `run` on an issue: what the label does, with wishes. */
export async function startRunHere(
  world: World,
  command: CommandRecord,
  { base, ...overrides }: RunWish,
  living: OnGitHub | undefined,
): Promise<Obeyed> {
  const { thread } = command.place;
  if (living) return atWork(command, living);
  const text = saidThen(command);
  return begin(world, command, {
    issue: thread,
    text,
    overrides: copied(overrides),
    ...(base ? { base } : {}),
  });
}

/** The issue may have been edited since, by somebody who may not start a run: later words are not read (I5). */
function saidThen({ id, issue }: CommandRecord): RunRequest['text'] {
  if (issue) return issue;
  throw new Fault('INTERNAL', `What the issue said when ${id} was given was not kept.`);
}

/** The wish as the request has it: lists that may be changed. */
const copied = ({ coders, evaluator, ...rest }: Omit<RunWish, 'base'>): Overrides => ({
  ...rest,
  ...(coders ? { coders: [...coders] } : {}),
  ...(evaluator ? { evaluator: [...evaluator] } : {}),
});

/** `review` and `fix`: a run on the branch of a pull request. */
export async function startWork(
  world: World,
  command: CommandRecord,
  work: PullWork,
  living: OnGitHub | undefined,
): Promise<Obeyed> {
  const { thread } = command.place;
  if (living?.origin.issue === thread) return atWork(command, living);
  return begin(world, command, { issue: thread, work, text: saidThen(command), overrides: {} });
}

/** The same task once more: all of it anew, or one contestant beside what the others wrote. */
export async function retry(
  world: World,
  command: CommandRecord,
  alias: Alias | null,
  { runs, living }: { readonly runs: readonly OnGitHub[]; readonly living: OnGitHub | undefined },
): Promise<Obeyed> {
  if (living) return atWork(command, living);
  const last = runs.find(({ task, state }) => task !== undefined && isOver(state));
  if (!last) {
    const instead = command.place.isPull
      ? '`/auto-dev review` or `/auto-dev fix` starts one.'
      : '`/auto-dev run` starts one.';
    return refuse(command, `There is no run here that could be repeated. ${instead}`);
  }
  const { overrides, text } = RunRequest.parse(last.request);
  const { issue, work } = last.origin;
  const same = { issue, text, overrides, ...(work ? { work } : {}) };
  if (alias !== null) return retryOne(world, command, last, { ...same, alias });
  const base = await baseAskedFor(world, last);
  // Elsewhere than on its issue, only the run tells what the issue said.
  const now = issue === command.place.thread ? { text: saidThen(command) } : {};
  return begin(world, command, { ...same, ...now, ...(base ? { base } : {}) });
}

/** Where somebody wanted a run to start; one that carries on another is tied to a commit that nobody named. */
async function baseAskedFor(world: World, run: RunRecord): Promise<string | undefined> {
  const { base, carry } = RunRequest.parse(run.request);
  if (!carry) return base;
  const earlier = await world.store.run(carry.run);
  return earlier ? baseAskedFor(world, earlier) : undefined;
}

async function retryOne(
  world: World,
  command: CommandRecord,
  last: OnGitHub,
  { alias, ...same }: Wish & { readonly alias: Alias },
): Promise<Obeyed> {
  const candidates = await world.store.candidates(last.id);
  if (!candidates.some((one) => one.alias === alias)) {
    const all = candidates.map((one) => `\`${one.alias}\``).join(', ') || 'none';
    return refuse(
      command,
      `There is no candidate \`${alias}\` in run \`${last.id}\`; it has ${all}.`,
      last.id,
    );
  }
  const moved = await whyMoved(world, last);
  if (moved) return refuse(command, moved, last.id);
  // Patches fit the commit that they were made on only.
  const on = last.task ? { base: last.task.base.sha } : {};
  return begin(world, command, { ...same, ...on, carry: { run: last.id, again: alias } });
}

/** What was found in a pull request is true of its newest commit: beside patches for an older one it would say nothing. */
async function whyMoved(world: World, { id, origin, task }: OnGitHub): Promise<string | null> {
  if (!origin.work || !task) return null;
  const pull = await (await requireGitHub(world).reader(handleOf(origin))).pull(origin.issue);
  if (!pull || pull.headSha === task.base.sha) return null;
  return `The branch \`${pull.head}\` has moved since run \`${id}\` began, and the patches of the others fit the older commit only. \`/auto-dev retry\` does all of it anew.`;
}

function atWork(command: CommandRecord, run: OnGitHub): Obeyed {
  // After a crash the run that this command started may be found at work.
  if (isStartedBy(command, run)) return done('the run was started before', { runId: run.id });
  return refuse(command, `Run \`${run.id}\` is at work here. \`/auto-dev cancel\` stops it.`, run.id);
}

function isStartedBy({ at, by }: CommandRecord, { origin, request }: OnGitHub): boolean {
  const { data } = RunRequest.safeParse(request);
  return data?.trigger === 'command' && data.triggeredAt === at && origin.requestedBy.id === by.id;
}

/** The command and its run are stored together: a repeated command finds the run that it started. */
async function begin(world: World, command: CommandRecord, wish: Wish): Promise<Obeyed> {
  const { place, by } = command;
  const { installationId, repositoryId, owner, name } = place;
  const origin: GitHubOrigin = {
    kind: 'github',
    installationId,
    repositoryId,
    owner,
    name,
    issue: wish.issue,
    ...(wish.work ? { work: wish.work } : {}),
    requestedBy: by,
  };
  const runId = world.random.runId();
  const request: RunRequest = {
    runId,
    text: wish.text,
    triggeredAt: command.at,
    trigger: 'command',
    overrides: wish.overrides,
    ...(wish.base ? { base: wish.base } : {}),
    ...(wish.carry ? { carry: wish.carry } : {}),
  };
  const key = `command:${command.id}`;
  const delivery = { id: key, event: 'command', semanticKey: key, runId };
  const at = world.clock.now();
  if (!(await world.store.acceptDelivery(delivery, { origin, title: wish.text.title, request, at })))
    return done('the run was started before');
  await startRun(world, runId);
  return done('a run was started', { runId });
}
