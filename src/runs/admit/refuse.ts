import type { GitHubOrigin, Origin } from '../../core/model/index.ts';
import { type Refusal, refusalComment, refusalWords } from '../../core/reports/index.ts';
import type { GitHub, Publisher } from '../../ports/index.ts';
import { once } from '../once.ts';
import { findOwn } from '../own-comment.ts';
import { handleOf, requireGitHub } from '../task.ts';
import { LABEL } from '../view.ts';
import type { World } from '../world.ts';
import { dayOf } from './caps.ts';
import type { RunRequest } from './request.ts';

type Asked = Pick<RunRequest, 'runId' | 'trigger'>;

/**
 * Records why a run may not start, and says it. To somebody without any right here we answer with a reaction only: a
 * stranger must not be able to make us write (I4, I9).
 */
export async function sayRefused(
  world: World,
  asked: Asked,
  origin: Origin,
  refusal: Refusal,
): Promise<void> {
  const { runId } = asked;
  const { message, advice } = refusalWords(refusal, askedBy(asked));
  await world.store.updateRun(runId, { trouble: { code: 'REFUSED', message, advice } }, world.clock.now());
  if (origin.kind === 'github') await sayOnGitHub(world, asked, origin, refusal);
  await world.store.transition(runId, 'refused', message, world.clock.now());
}

/** How a refusal shows on GitHub. */
interface Answer {
  /** `daily`: once a day (UTC) for all refusals of this name in the repository. */
  readonly react: boolean | { readonly daily: string };
  /** `daily`: once a day (UTC) for all refusals of this name in the repository. */
  readonly comment: 'always' | 'never' | { readonly daily: string };
  /** The label is a command that was heard: it is taken off, so that setting it is one again. */
  readonly unlabel: boolean;
}

const SILENCE: Answer = { react: false, comment: 'never', unlabel: false };

function answerTo(refusal: Refusal, { trigger }: Asked, { issue, requestedBy }: GitHubOrigin): Answer {
  const byLabel = trigger === 'label';
  const aloud: Answer = { react: trigger !== 'command', comment: 'always', unlabel: byLabel };
  switch (refusal.kind) {
    case 'label-gone':
    // Nobody can write there, we included.
    case 'archived':
      return SILENCE;
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
      return byLabel ? { ...SILENCE, unlabel: true } : aloud;
    case 'cap-reached':
      return byLabel ? { ...aloud, comment: { daily: `${refusal.cap}:${requestedBy.id}` } } : aloud;
    default:
      return aloud;
  }
}

async function sayOnGitHub(
  world: World,
  asked: Asked,
  origin: GitHubOrigin,
  refusal: Refusal,
): Promise<void> {
  const { react, comment, unlabel } = answerTo(refusal, asked, origin);
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
      (comment !== 'never' && (await speaks(world, asked, origin, comment.daily)))
    ) {
      await write(world, github, publisher, asked, origin, refusal);
    }
    if (unlabel) {
      await once(world.store, runId, 'unlabel', {
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
async function speaks(world: World, { runId }: Asked, origin: GitHubOrigin, name: string): Promise<boolean> {
  return (await world.store.intent(runId, 'refusal')) !== null || isFirst(world, origin, name);
}

/** Whether nothing of this name was said or shown in the repository today. */
async function isFirst(world: World, { repositoryId }: GitHubOrigin, name: string): Promise<boolean> {
  const scope = `day:${dayOf(world.clock.now())}:refusals:${repositoryId}`;
  return (await world.store.intend(scope, name)).fresh;
}

const askedBy = ({ trigger }: Asked) => (trigger === 'command' ? 'command' : 'label');

async function write(
  world: World,
  github: GitHub,
  publisher: Publisher,
  asked: Asked,
  origin: GitHubOrigin,
  refusal: Refusal,
): Promise<void> {
  const { runId } = asked;
  await once(world.store, runId, 'refusal', {
    look: async () => {
      const reader = await github.reader(handleOf(origin));
      return findOwn(github, reader, origin.issue, { kind: 'refusal', run: runId });
    },
    write: () => publisher.comment(origin.issue, refusalComment(runId, refusal, askedBy(asked)).body),
  });
}
