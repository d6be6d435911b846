import { asFault, type GitHubOrigin, isOver, type Origin } from '../../core/model/index.ts';
import { type Refusal, type RunTrigger, refusalComment, refusalText } from '../../core/reports/index.ts';
import type { GitHub, Publisher } from '../../ports/index.ts';
import { handleOf, requireGitHub, type World } from '../context.ts';
import { findOwnComment } from '../questions/index.ts';
import { idempotentWrite } from '../stage.ts';
import { LABEL, OUTCOME_LABELS } from '../view.ts';
import { dayOf, RunRequest } from './request.ts';

type RefusedRequest = Pick<RunRequest, 'command' | 'runId' | 'trigger'>;
type RefusalSubject = RefusedRequest & { readonly triggeredBy: RunTrigger };

/**
 * Records and reports why a run may not start. A user without any permission gets a reaction at most: strangers must
 * not be able to trigger comments (I4, I9).
 */
export async function reportRefusal(
  world: Pick<World, 'clock' | 'github' | 'log' | 'store'>,
  asked: RefusedRequest,
  origin: Origin,
  refusal: Refusal,
): Promise<void> {
  const { runId } = asked;
  const triggeredBy = await triggerOf(world, asked, origin);
  const { message, advice } = refusalText(refusal, triggeredBy);
  await world.store.updateRun(runId, { trouble: { code: 'REFUSED', message, advice } }, world.clock.now());
  if (origin.kind === 'github') await replyOnGitHub(world, { ...asked, triggeredBy }, origin, refusal);
  await world.store.transition(runId, 'refused', message, world.clock.now());
}

/** How a refusal is shown on GitHub. */
interface RefusalReply {
  /** `daily`: at most once a day (UTC) for all refusals of this name in the repository. */
  readonly react: boolean | { readonly daily: string };
  /** `daily`: at most once a day (UTC) for all refusals of this name in the repository. */
  readonly comment: 'always' | 'never' | { readonly daily: string };
  /** Removes the triggering label, so that setting it again is a new command. */
  readonly unlabel: boolean;
  /** Sets the label of a failed run: nothing else can be shown. */
  readonly marksFailed?: true;
}

const NO_REPLY: RefusalReply = { react: false, comment: 'never', unlabel: false };

function replyTo(
  refusal: Refusal,
  { trigger, triggeredBy }: RefusalSubject,
  { issue, requestedBy }: GitHubOrigin,
): RefusalReply {
  const byLabel = trigger === 'label';
  const aloud: RefusalReply = {
    react: trigger !== 'command',
    comment: 'always',
    unlabel: triggeredBy !== 'command',
  };
  switch (refusal.kind) {
    case 'label-gone':
    // An archived repository is read-only, also for Runoff.
    case 'archived':
      return NO_REPLY;
    case 'locked':
      return { ...NO_REPLY, unlabel: true, marksFailed: true };
    case 'no-permission':
      if (byLabel && refusal.mayLabel)
        return { ...aloud, comment: { daily: `no-permission:${issue}:${requestedBy.id}` } };
      // An issue template sets the label for anyone, and each write uses up part of GitHub's rate limit.
      return {
        react: aloud.react && { daily: `reaction:${requestedBy.id}` },
        comment: 'never',
        unlabel: triggeredBy === 'both',
      };
    case 'set-by-app':
      return { ...aloud, comment: { daily: `set-by-app:${issue}:${requestedBy.id}` } };
    case 'already-running':
      return byLabel ? { ...NO_REPLY, unlabel: true } : aloud;
    case 'cap-reached':
      return byLabel ? { ...aloud, comment: { daily: `${refusal.cap}:${requestedBy.id}` } } : aloud;
    default:
      return aloud;
  }
}

async function replyOnGitHub(
  world: Pick<World, 'clock' | 'github' | 'log' | 'store'>,
  asked: RefusalSubject,
  origin: GitHubOrigin,
  refusal: Refusal,
): Promise<void> {
  const wanted = replyTo(refusal, asked, origin);
  const { react, comment } = wanted;
  const reacts = typeof react === 'boolean' ? react : await isFirst(world, origin, react.daily);
  if (!reacts && !wanted.unlabel && comment === 'never') return;
  const github = requireGitHub(world);
  const publisher = await github.publisher(handleOf(origin));
  const { runId } = asked;
  try {
    if (reacts) {
      await publisher.react({ issue: origin.issue }, 'confused').catch((thrown: unknown) => {
        world.log.warn({ run: runId, err: thrown }, 'the reaction to a refused run could not be set');
      });
    }
    const posts =
      comment === 'always' || (comment !== 'never' && (await hasReply(world, asked, origin, comment.daily)));
    const isPosted = posts ? await postRefusal(world, github, publisher, asked, origin, refusal) : true;
    if (posts) await reactToCommand(world, publisher, asked);
    const { unlabel, marksFailed } = isPosted ? wanted : replyTo({ kind: 'locked' }, asked, origin);
    if (unlabel) {
      await idempotentWrite(world.store, runId, 'unlabel', {
        look: async () => null,
        write: async () => {
          const marks = marksFailed && !(await isAnotherActive(world, origin));
          await publisher.setLabels(origin.issue, {
            add: marks ? [OUTCOME_LABELS.failed] : [],
            remove: marks ? [LABEL, ...EARLIER_OUTCOMES] : [LABEL],
          });
          return true;
        },
      });
    }
  } finally {
    await publisher.close();
  }
}

/** The command had its reaction when the run was requested: this one tells that no run came of it. */
async function reactToCommand(
  world: Pick<World, 'log' | 'store'>,
  publisher: Publisher,
  { command, runId }: RefusedRequest,
): Promise<void> {
  if (!command) return;
  const { comment, on } = command;
  try {
    await idempotentWrite(world.store, runId, 'refusal:reaction', {
      look: async () => null,
      write: async () => {
        await publisher.react(on === 'line' ? { reviewComment: comment } : { comment }, 'confused');
        return true;
      },
    });
  } catch (thrown) {
    if (asFault(thrown).code !== 'GITHUB_REFUSED') throw thrown;
    world.log.warn({ run: runId, err: thrown }, 'the reaction to a command could not be set');
  }
}

/** The labels that are replaced by that of a failed run. */
const EARLIER_OUTCOMES = Object.values(OUTCOME_LABELS).filter((label) => label !== OUTCOME_LABELS.failed);

/** Whether labels show a run that was admitted before the conversation was locked, or that waits for a pick. */
const isAnotherActive = async (
  { store }: Pick<World, 'store'>,
  { repositoryId, issue }: GitHubOrigin,
): Promise<boolean> =>
  (await store.activeRuns(repositoryId, issue)).some(
    ({ state }) => state === 'awaiting_pick' || (state !== 'queued' && !isOver(state)),
  );

/** Whether this run posts today's refusal. A crash at this point may lose the comment, but never duplicates it. */
async function hasReply(
  world: Pick<World, 'clock' | 'store'>,
  { runId }: RefusedRequest,
  origin: GitHubOrigin,
  name: string,
): Promise<boolean> {
  return (await world.store.intent(runId, 'refusal')) !== null || isFirst(world, origin, name);
}

/** Whether this is the first refusal of this name in the repository today. */
async function isFirst(
  world: Pick<World, 'clock' | 'store'>,
  { repositoryId }: GitHubOrigin,
  name: string,
): Promise<boolean> {
  const scope = `day:${dayOf(world.clock.now())}:refusals:${repositoryId}`;
  return (await world.store.intend(scope, name)).fresh;
}

/**
 * What is answered. After a command has replaced the waiting run of the label, no run will remove the label, and
 * nothing would start for it any more.
 */
async function triggerOf(
  { store }: Pick<World, 'store'>,
  { trigger }: RefusedRequest,
  origin: Origin,
): Promise<RunTrigger> {
  if (trigger !== 'command') return 'label';
  if (origin.kind !== 'github') return 'command';
  const { repositoryId, issue } = origin;
  const ofLabel = (await store.runsAt(repositoryId, issue)).find(
    (run) =>
      run.origin.kind === 'github' &&
      run.origin.issue === issue &&
      RunRequest.safeParse(run.request).data?.trigger === 'label',
  );
  return ofLabel?.state === 'cancelled' && ofLabel.task === undefined ? 'both' : 'command';
}

/** False if GitHub takes no comment: the conversation is locked, which is read after other reasons for a refusal. */
async function postRefusal(
  world: Pick<World, 'log' | 'store'>,
  github: GitHub,
  publisher: Publisher,
  { runId, triggeredBy, command }: RefusalSubject,
  origin: GitHubOrigin,
  refusal: Refusal,
): Promise<boolean> {
  const thread = command?.thread ?? origin.issue;
  try {
    await idempotentWrite(world.store, runId, 'refusal', {
      look: async () => {
        const reader = await github.reader(handleOf(origin));
        return findOwnComment(github, reader, thread, { kind: 'refusal', run: runId });
      },
      write: () => publisher.comment(thread, refusalComment(runId, refusal, triggeredBy).body),
    });
    return true;
  } catch (thrown) {
    if (asFault(thrown).code !== 'GITHUB_REFUSED') throw thrown;
    world.log.warn({ run: runId, err: thrown }, 'the reason for a refused run could not be posted');
    return false;
  }
}
