import { type EventActor, openCommandIntake } from '../../src/commands/index.ts';
import type { Alias, Candidate, GitHubOrigin, RunId, RunState, Task } from '../../src/core/model/index.ts';
import { Settings } from '../../src/core/settings/index.ts';
import type { CommandOutcome, CommandPlace } from '../../src/ports/index.ts';
import { openAnnouncer, type World } from '../../src/runs/index.ts';
import { publish } from '../../src/runs/publish/index.ts';
import { judged, TOSS_UP } from '../core/reports/sample.ts';
import { memoryArtifacts, memoryStore } from '../world/memory-store.ts';
import { partial } from '../world/partial.ts';
import { contextOf } from '../world/run-context.ts';
import { silent } from '../world/silent-log.ts';
import { APP, mona, RUN } from './dialogue-world.ts';
import { answerTo, newRepository, pretendedGit, pretendedGitHub, SHA } from './fake-repository.ts';

export const ada = { id: 8, login: 'ada', isBot: false };
/** A moment at a full second, as GitHub's are. */
export const START = 1_790_000_400_000;
const TEXT = '--- a/src/list.ts\n+++ b/src/list.ts\n@@ -1 +1 @@\n-last\n+first\n';
const RAW = `:100644 100644 ${'1'.repeat(40)} ${'2'.repeat(40)} M\0src/list.ts\0`;

/** Who says something, where and when. */
export interface Saying {
  readonly by?: EventActor;
  /** Number of the issue or pull request; 7 is the issue. */
  readonly on?: number;
  readonly id?: number;
  readonly at?: number;
  readonly line?: boolean;
}

export interface Heard {
  readonly id: number;
  /** `open`: nothing has become of it yet; null: it was no command. */
  readonly outcome: CommandOutcome['kind'] | 'open' | null;
  readonly note: string;
  /** What we answered; null where we did not. */
  readonly reply: string | null;
  readonly reactions: readonly string[];
}

/** A repository with an issue on a pretended GitHub, people who comment, and runs as they are stored. `mona` and `ada` may write. */
export function commandWorld() {
  let now = START;
  const clock = { now: () => now, elapsed: () => now, sleep: async () => {} };
  const repository = newRepository(() => now);
  repository.rights[ada.id] = 'write';
  const other = newRepository(() => now, { repositoryId: 43, name: 'other' });
  const store = memoryStore();
  const artifacts = memoryArtifacts();
  const github = pretendedGitHub([other, repository]);
  const log = silent;
  const engine = pretendedEngine();
  let runs = 0;
  const world = partial<World>({
    store,
    artifacts,
    github,
    clock,
    log,
    engine,
    workspaces: pretendedGit(repository),
    announcer: openAnnouncer({ artifacts, store, clock, log, github }),
    random: { runId: () => `r${String(++runs).padStart(10, '0')}` },
    ceilings: { budgetRun: 10, debates: true },
  });
  const intake = openCommandIntake(world);

  const placeAt = (id: number, { on = 7, line = false }: Saying = {}): CommandPlace => {
    const isPull = repository.pulls.has(on);
    return { ...repository.handle, thread: on, isPull, comment: id, on: line ? 'line' : 'conversation' };
  };
  /** A comment reaches us; what is done about it goes on in the background. */
  async function hear(body: string, saying: Saying = {}): Promise<number> {
    const { by = mona, id = ++repository.nextId } = saying;
    now += 1_000;
    const at = saying.at ?? now;
    const { title, body: text } = repository.issue;
    const issue = { title, body: text };
    await intake.onComment({ place: placeAt(id, saying), body, issue, at, throughApp: false, actor: by });
    return id;
  }
  async function become(id: number, scope = 'comment'): Promise<Heard> {
    await intake.idle();
    await world.announcer.idle();
    const command = await store.command(`${scope}:${id}`);
    const outcome = command?.outcome;
    return {
      id,
      outcome: command ? (outcome?.kind ?? 'open') : null,
      note: !outcome ? '' : outcome.kind === 'done' ? outcome.note : outcome.why,
      reply: answerTo(repository, id),
      reactions: repository.reactions
        .filter((one) => one.replace('line ', '').startsWith(`${id} `))
        .map((one) => one.split(' ').at(-1) ?? ''),
    };
  }
  const say = async (body: string, saying: Saying = {}): Promise<Heard> =>
    become(await hear(body, saying), saying.line ? 'line' : 'comment');
  const recover = async () => {
    await intake.recover();
    await intake.idle();
  };
  /** The App as it is after a crash and a start. */
  const again = async () => {
    const fresh = openCommandIntake(world);
    await fresh.recover();
    await fresh.idle();
  };
  const later = (ms: number): void => {
    now += ms;
  };
  const parts = { world, store, artifacts, repository, other, engine, intake };
  return { ...parts, hear, become, say, recover, again, later, now: () => now, placeAt };
}

export type CommandWorld = ReturnType<typeof commandWorld>;

function pretendedEngine() {
  const started: RunId[] = [];
  const cancelled: RunId[] = [];
  return {
    started,
    cancelled,
    async start(id: RunId) {
      if (!started.includes(id)) started.push(id);
    },
    async cancel(id: RunId) {
      cancelled.push(id);
    },
    async signal() {},
  };
}

interface Stored {
  readonly id?: RunId;
  readonly settings?: object;
  readonly origin?: Partial<GitHubOrigin>;
  /** What is different about the candidates of the sample. */
  readonly candidate?: (one: Candidate) => Candidate;
  /** Ends every reason for the result: the gate of a candidate without a patch repeats what its agent printed. */
  readonly reason?: string;
}

/** A run whose coders are at work. */
export async function atWork({ store, repository, now }: CommandWorld, stored: Stored = {}): Promise<RunId> {
  const { id = RUN } = stored;
  const origin: GitHubOrigin = {
    kind: 'github',
    ...repository.handle,
    issue: 7,
    requestedBy: { id: mona.id, login: mona.login },
    ...stored.origin,
  };
  const title = 'last() returns undefined';
  const task: Task = {
    runId: id,
    origin,
    title,
    body: 'It should return the last item.',
    comments: [],
    base: { ref: 'main', sha: SHA },
    settings: Settings.parse({ budget: { run: 5, candidate: 2 }, ...stored.settings }),
    lowered: [],
  };
  const request = {
    runId: id,
    text: { title, body: { sha256: '0', bytes: 0 } },
    triggeredAt: now(),
    overrides: { candidates: 4 },
  };
  await store.createRun({ id, origin, title, request, at: now() });
  await store.updateRun(id, { task }, now());
  for (const to of ['admitted', 'briefed'] as const) await store.transition(id, to, 'test', now());
  return id;
}

/**
 * A run whose candidates A to D are judged and shown: D failed a gate. `pull`: B is the pull request #11; `choice`: the
 * evidence does not decide, and a person must pick.
 */
export async function shown(s: CommandWorld, how: 'pull' | 'choice', stored: Stored = {}): Promise<RunId> {
  const id = await judgedRun(s, how, stored);
  await publish(s.world, await contextOf(s.world, id));
  return id;
}

/** The same run before it is shown. */
export async function judgedRun(
  s: CommandWorld,
  how: 'pull' | 'choice',
  stored: Stored = {},
): Promise<RunId> {
  const { store, artifacts, now } = s;
  const id = await atWork(s, stored);
  const view = judged();
  const patch = { text: await artifacts.put(TEXT), raw: await artifacts.put(RAW) };
  const { candidate = (one) => one } = stored;
  for (const one of (view.candidates as readonly Candidate[]).map(candidate)) {
    if (!one.patch) continue;
    const tree = one.alias.toLowerCase().repeat(40);
    await store.putCandidate({ ...one, runId: id, patch: { ...one.patch, ...patch, tree } });
  }
  const decided = how === 'pull' ? view.decision : TOSS_UP;
  if (!decided) throw new Error('The sample is not judged.');
  const withReason = <T extends { readonly because: string }>(one: T): T => ({
    ...one,
    because: `${one.because} ${stored.reason ?? ''}`.trim(),
  });
  const decision = withReason(decided);
  const ranking = view.ranking.map(withReason);
  await store.updateRun(id, { evidence: view.evidence, ranking, decision }, now());
  for (const to of ['coded', 'examined', 'judged'] satisfies RunState[])
    await store.transition(id, to, to === 'judged' ? decision.because : 'test', now());
  return id;
}

/** The comment with the boxes. */
export function boxes({ repository }: CommandWorld) {
  const found = repository.comments.find(({ body }) => body.startsWith('<!-- runoff:choice:'));
  if (!found) throw new Error('Nobody is asked to pick.');
  return found;
}

/** Somebody ticks the box of this candidate, or the last one. What GitHub then delivers. */
export async function tick(
  s: CommandWorld,
  alias: Alias | null,
  {
    by = mona,
    app = APP,
    at = s.now(),
  }: { readonly by?: EventActor; readonly app?: number; readonly at?: number } = {},
) {
  const comment = boxes(s);
  const line = alias === null ? '- [ ] None of them' : `- [ ] **${alias}**`;
  if (!comment.body.includes(line)) throw new Error(`There is no box for ${alias}.`);
  comment.body = comment.body.replace(line, line.replace('[ ]', '[x]'));
  const event = {
    place: s.placeAt(comment.id),
    body: comment.body,
    performedByAppId: app,
    at,
    actor: by,
  };
  const result = await s.intake.onEdit(event);
  await s.intake.idle();
  return { event, result };
}
