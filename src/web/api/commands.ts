import type { Context } from 'hono';
import type { PageCommand } from '../../commands/index.ts';
import { type RunTextOptions, runCommandText } from '../../core/commands/index.ts';
import { asFault, type RunId } from '../../core/model/index.ts';
import type { TokenVerb } from '../../core/tokens/index.ts';
import type { CommandRecord, RepositoryHandle } from '../../ports/index.ts';
import { type ApiAnswer, type Repeatable, responseOf } from './idempotency.ts';
import { ApiProblem, notThere } from './problems.ts';
import {
  type ApiParts,
  admitCaller,
  isRunOf,
  type ReachedRepository,
  type RepositoryName,
  readerOnly,
} from './reading.ts';
import type { CommandAnswer } from './schemas.ts';

/** Milliseconds that a request waits for the outcome of its command. Our default: most clients wait for 30 seconds. */
const OUTCOME_MS = 20_000;

/** What can be done with a run, the verb that a token needs for it, and the status if it is done. */
const ACTIONS = {
  cancel: { verb: 'act', status: 200 },
  pick: { verb: 'act', status: 200 },
  vote: { verb: 'act', status: 200 },
  // It starts a run, and costs as much.
  retry: { verb: 'run', status: 201 },
} as const satisfies Record<string, { readonly verb: TokenVerb; readonly status: number }>;

interface RunPlace extends RepositoryName {
  readonly id: RunId;
}

/** Requests that have the effects of comments: recorded, queued, authorised and audited as these are. */
interface CommandRequests {
  start(
    c: Context,
    place: RepositoryName & { readonly issue: number },
    options: RunTextOptions,
  ): Promise<Response>;
  act(c: Context, place: RunPlace, name: keyof typeof ACTIONS, word?: string): Promise<Response>;
  /** What became of an earlier one. */
  show(c: Context, place: RepositoryName & { readonly command: string }): Promise<Response>;
}

export function openCommandRequests(parts: ApiParts, repeatable: Repeatable): CommandRequests {
  const { commands, world } = parts;

  /** Gives the command once under `name`, and waits for its outcome. */
  async function give(
    { caller, repository }: ReachedRepository,
    given: Pick<PageCommand, 'about' | 'text'>,
    name: string,
    status: number,
  ): Promise<ApiAnswer> {
    const { id, login } = caller.viewer;
    const { token } = caller;
    const through = token === undefined ? {} : { token };
    const taken = await commands.onPage({ ...given, ...through, via: 'api', key: name, by: { id, login } });
    if (taken.kind === 'forbidden') throw readerOnly(login, repository);
    if (taken.kind === 'refused') throw new ApiProblem('refused', taken.why);
    const record = await commands.outcome(taken.command, OUTCOME_MS);
    return answerOf(taken.command, record, status, { login, repository });
  }
  const send = (
    c: Context,
    at: ReachedRepository,
    given: Pick<PageCommand, 'about' | 'text'>,
    status: number,
  ): Promise<Response> =>
    repeatable.answer(
      {
        caller: at.caller,
        key: c.req.header('idempotency-key'),
        request: [c.req.method, at.repository.repositoryId, given],
      },
      (name) => give(at, given, name, status),
    );

  return {
    async start(c, { issue, ...place }, options) {
      const at = await admitCaller(parts, c.req.raw, place, 'run');
      const about = { repository: at.repository, thread: issue };
      return send(c, at, { about, text: runCommandText(options) }, 201).catch((thrown: unknown) => {
        if (asFault(thrown).code === 'GITHUB_REFUSED') throw notThere();
        throw thrown;
      });
    },
    async act(c, { id, ...place }, name, word) {
      const { verb, status } = ACTIONS[name];
      const at = await admitCaller(parts, c.req.raw, place, verb);
      if (!(await isRunOf(parts, at.repository, id))) throw notThere();
      const text = `/auto-dev ${name}${word === undefined ? '' : ` ${word}`}`;
      return send(c, at, { about: { run: id }, text }, status);
    },
    async show(c, { command, ...place }) {
      const { repository } = await admitCaller(parts, c.req.raw, place, 'read');
      const record = await world.store.command(command);
      if (record?.place.repositoryId !== repository.repositoryId) throw notThere();
      // Whose write access was missing: another person's command can be asked for, too.
      const { login } = record.by;
      return responseOf(answerOf(command, record, 200, { login, repository }));
    },
  };
}

function answerOf(
  command: string,
  record: Pick<CommandRecord, 'outcome' | 'runId'> | null,
  status: number,
  { login, repository }: { readonly login: string; readonly repository: RepositoryHandle },
): ApiAnswer {
  const { owner, name } = repository;
  const at = `/api/repos/${owner}/${name}`;
  const outcome = record?.outcome;
  const run = record?.runId ?? null;
  if (!outcome) {
    const body: CommandAnswer = { command, outcome: 'pending', note: null, run };
    const headers = { location: `${at}/commands/${command}`, 'retry-after': '5' };
    return { status: 202, headers, body, final: false };
  }
  if (outcome.kind === 'ignored') throw readerOnly(login, repository);
  if (outcome.kind === 'refused') throw new ApiProblem('refused', outcome.why);
  const body: CommandAnswer = { command, outcome: 'done', note: outcome.note, run };
  return { status, headers: run === null ? {} : { location: `${at}/runs/${run}` }, body, final: true };
}
