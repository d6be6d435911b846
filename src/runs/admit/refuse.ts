import type { GitHubOrigin, Origin } from '../../core/model/index.ts';
import { type Refusal, refusalComment, refusalText } from '../../core/reports/index.ts';
import type { GitHub, Publisher } from '../../ports/index.ts';
import { handleOf, requireGitHub, type World } from '../context.ts';
import { findOwnComment } from '../questions/index.ts';
import { idempotentWrite } from '../stage.ts';
import { LABEL } from '../view.ts';
import { dayOf, type RunRequest } from './request.ts';

type RefusedRequest = Pick<RunRequest, 'runId' | 'trigger'>;

/**
 * Records why a run may not start, and says it. To somebody without any right here we answer with a reaction only: a
 * stranger must not be able to make us write (I4, I9).
 */
export async function reportRefusal(
  world: Pick<World, 'clock' | 'github' | 'log' | 'store'>,
  asked: RefusedRequest,
  origin: Origin,
  refusal: Refusal,
): Promise<void> {
  const { runId } = asked;
  const { message, advice } = refusalText(refusal, askedBy(asked));
  await world.store.updateRun(runId, { trouble: { code: 'REFUSED', message, advice } }, world.clock.now());
  if (origin.kind === 'github') await replyOnGitHub(world, asked, origin, refusal);
  await world.store.transition(runId, 'refused', message, world.clock.now());
}

/** How a refusal shows on GitHub. */
interface RefusalReply {
  /** `daily`: once a day (UTC) for all refusals of this name in the repository. */
  readonly react: boolean | { readonly daily: string };
  /** `daily`: once a day (UTC) for all refusals of this name in the repository. */
  readonly comment: 'always' | 'never' | { readonly daily: string };
  /** The label is a command that was received: it is taken off, so that setting it is one again. */
  readonly unlabel: boolean;
}

const NO_REPLY: RefusalReply = { react: false, comment: 'never', unlabel: false };

function replyTo(
  refusal: Refusal,
  { trigger }: RefusedRequest,
  { issue, requestedBy }: GitHubOrigin,
): RefusalReply {
  const byLabel = trigger === 'label';
  const aloud: RefusalReply = { react: trigger !== 'command', comment: 'always', unlabel: byLabel };
  switch (refusal.kind) {
    case 'label-gone':
    // Nobody can write there, we included.
    case 'archived':
      return NO_REPLY;
    case 'no-permission':
      if (byLabel && refusal.mayLabel)
        return { ...aloud, comment: { daily: `no-permission:${issue}:${requestedBy.id}` } };
      // A template of issues sets the label for anybody, and every write is one less that GitHub lets us make for others.
      return {
        react: aloud.react && { daily: `reaction:${requestedBy.id}` },
        comment: 'never',
        unlabel: false,
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
  asked: RefusedRequest,
  origin: GitHubOrigin,
  refusal: Refusal,
): Promise<void> {
  const { react, comment, unlabel } = replyTo(refusal, asked, origin);
  const reacts = typeof react === 'boolean' ? react : await isFirst(world, origin, react.daily);
  if (!reacts && !unlabel && comment === 'never') return;
  const github = requireGitHub(world);
  const publisher = await github.publisher(handleOf(origin));
  const { runId } = asked;
  try {
    if (reacts) {
      await publisher.react({ issue: origin.issue }, 'confused').catch((thrown: unknown) => {
        world.log.warn({ run: runId, err: thrown }, 'the reaction to a refused run could not be set');
      });
    }
    if (
      comment === 'always' ||
      (comment !== 'never' && (await hasReply(world, asked, origin, comment.daily)))
    ) {
      await postRefusal(world, github, publisher, asked, origin, refusal);
    }
    if (unlabel) {
      await idempotentWrite(world.store, runId, 'unlabel', {
        look: async () => null,
        write: async () => {
          await publisher.setLabels(origin.issue, { add: [], remove: [LABEL] });
          return true;
        },
      });
    }
  } finally {
    await publisher.close();
  }
}

/** Whether this run is the one that says it today. A crash right here may cost the comment, never double it. */
async function hasReply(
  world: Pick<World, 'clock' | 'store'>,
  { runId }: RefusedRequest,
  origin: GitHubOrigin,
  name: string,
): Promise<boolean> {
  return (await world.store.intent(runId, 'refusal')) !== null || isFirst(world, origin, name);
}

/** Whether nothing of this name was said or shown in the repository today. */
async function isFirst(
  world: Pick<World, 'clock' | 'store'>,
  { repositoryId }: GitHubOrigin,
  name: string,
): Promise<boolean> {
  const scope = `day:${dayOf(world.clock.now())}:refusals:${repositoryId}`;
  return (await world.store.intend(scope, name)).fresh;
}

const askedBy = ({ trigger }: RefusedRequest) => (trigger === 'command' ? 'command' : 'label');

async function postRefusal(
  world: Pick<World, 'store'>,
  github: GitHub,
  publisher: Publisher,
  asked: RefusedRequest,
  origin: GitHubOrigin,
  refusal: Refusal,
): Promise<void> {
  const { runId } = asked;
  await idempotentWrite(world.store, runId, 'refusal', {
    look: async () => {
      const reader = await github.reader(handleOf(origin));
      return findOwnComment(github, reader, origin.issue, { kind: 'refusal', run: runId });
    },
    write: () => publisher.comment(origin.issue, refusalComment(runId, refusal, askedBy(asked)).body),
  });
}
