import type { Context } from 'hono';
import type { RunId } from '../../core/model/index.ts';
import type { ShownCall } from '../../runs/index.ts';
import { STREAMS, STREAMS_OF_A_PERSON, type StreamForm } from '../live/index.ts';
import type { RunEvent, StepsEvent } from './event-schemas.ts';
import { ApiProblem, notThere } from './problems.ts';
import { type ApiParts, admitCaller, isRunOf, type RepositoryName, reach } from './reading.ts';

/** Seconds after which somebody with too many streams may try again. Our default. */
const FULL_SECONDS = 15;

/** Events as the description has them. */
const API_EVENTS: StreamForm = {
  name: 'api',
  run({ run: { id, state, updatedAt }, candidates, usage: { usd } }): Omit<RunEvent, 'spread'> {
    return {
      run: id,
      state,
      usd,
      updatedAt,
      candidates: candidates.map((one) => ({
        alias: one.alias,
        state: one.state,
        note: one.note,
        usd: one.usage?.usd ?? null,
        ms: one.ms,
      })),
    };
  },
  async steps(candidate, steps, calls): Promise<StepsEvent> {
    return {
      candidate,
      steps: steps.map(({ alias: _, ...step }) => step),
      calls: calls.map(callFields),
    };
  },
};

function callFields(call: ShownCall): StepsEvent['calls'][number] {
  const { number, at, status, ms } = call;
  const used =
    call.model === null
      ? { model: null, tokensIn: null, tokensOut: null, usd: null, exact: null }
      : {
          model: call.model,
          tokensIn: call.tokensIn,
          tokensOut: call.tokensOut,
          usd: call.usd,
          exact: call.exact,
        };
  return { number, at, status, ms, ...used };
}

interface Asked extends RepositoryName {
  readonly id: RunId;
  /** Whose steps are read, too. */
  readonly steps: string | undefined;
}

/**
 * The events of a run, until it is over, the token is not valid any more, or its person may not see the run any more. The
 * same readers, limits and checks as for pages.
 */
export async function followRun(
  parts: ApiParts,
  c: Context,
  { id, steps, ...place }: Asked,
): Promise<Response> {
  const request = c.req.raw;
  const { caller, repository } = await admitCaller(parts, request, place, 'read');
  if (!(await isRunOf(parts, repository, id))) throw notThere();
  const stream = parts.live.follow({
    viewer: caller.viewer,
    runId: id,
    form: API_EVENTS,
    alias: steps ?? null,
    lastEvent: c.req.header('last-event-id'),
    async maySee() {
      const now = await reach(parts, await parts.callers.recheck(request), place, 'read');
      return now.repository.repositoryId === repository.repositoryId;
    },
  });
  if (stream) return stream;
  throw new ApiProblem(
    'too-many-requests',
    `A person may have ${STREAMS_OF_A_PERSON} streams open, pages in browsers among them, and all people together ${STREAMS}. Close one that is not needed.`,
    { retryAfter: FULL_SECONDS },
  );
}
