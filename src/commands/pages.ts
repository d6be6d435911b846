import { parseCommand } from '../core/commands/index.ts';
import type { Actor } from '../core/model/index.ts';
import type { CommandRecord, NewCommand, PageContext, PickRecord, RepositoryHandle } from '../ports/index.ts';
import { handleOf, isGitHubRun, requireGitHub, type World } from '../runs/index.ts';
import { STARTS } from './command-queue.ts';
import { MAX_COMMENT_TEXT, TOO_LONG } from './context.ts';

/** A command of a signed-in person who wrote no comment: from a page, or through the API. */
export interface PageCommand {
  readonly via: 'page' | 'api';
  /** Identifies the request: the same person's second request with this key changes nothing (I8). 1 to 200 characters. */
  readonly key: string;
  readonly by: Actor;
  /** Id of the token of the API that it came by, for the audit. */
  readonly token?: string;
  /** As a comment would have it, e.g. `/auto-dev pick B`. */
  readonly text: string;
  /** The run that it is about; or the issue or pull request on which it starts one. */
  readonly about: PageContext | { readonly repository: RepositoryHandle; readonly thread: number };
}

export type PageIntake =
  /** Stored, now or by an earlier request with this key; `command` is its id. */
  | { readonly kind: 'recorded'; readonly command: string }
  /** Not stored. `why`: a sentence for the person. */
  | { readonly kind: 'refused'; readonly why: string }
  /** Not stored, for want of write access. */
  | { readonly kind: 'forbidden'; readonly why: string };

export const refusedOnPage = (why: string): PageIntake => ({ kind: 'refused', why });

type Thread = Pick<NewCommand, 'place' | 'page'>;

/** The id under which the command of a request is stored. */
export const pageCommandId = ({ via, by, key }: Pick<PageCommand, 'by' | 'key' | 'via'>): string =>
  `${via}:${by.id}:${key}`;

/** What may be said in this way, as a command to store; or why it is refused. Faults: GITHUB_UNAVAILABLE, GITHUB_REFUSED. */
export async function commandFromPage(
  world: Pick<World, 'artifacts' | 'clock' | 'github' | 'store'>,
  given: PageCommand,
): Promise<NewCommand | PageIntake> {
  const { by, text } = given;
  if (text.length > MAX_COMMENT_TEXT) return refusedOnPage(TOO_LONG);
  const command = parseCommand(text);
  if (!command) return refusedOnPage('This is not a command.');
  if (command.name === 'unknown') return refusedOnPage(command.why);
  const thread = await threadOf(world, given);
  if (!thread) return refusedOnPage('There is no such run.');
  const stored: NewCommand = {
    id: pageCommandId(given),
    ...thread,
    by: { id: by.id, login: by.login },
    ...(given.token === undefined ? {} : { token: given.token }),
    text: text.toWellFormed(),
    at: world.clock.now(),
  };
  return STARTS.has(command.name) ? withIssue(world, stored) : stored;
}

async function threadOf(world: Pick<World, 'store'>, { about }: PageCommand): Promise<Thread | null> {
  if ('repository' in about)
    return {
      place: { ...handleOf(about.repository), thread: about.thread, isPull: false, comment: 0, on: 'page' },
    };
  const run = await world.store.run(about.run);
  if (!run || !isGitHubRun(run)) return null;
  const { origin } = run;
  const isPull = origin.work !== undefined;
  const { inquiry, picks } = about;
  return {
    place: { ...handleOf(origin), thread: origin.issue, isPull, comment: 0, on: 'page' },
    page: {
      run: run.id,
      ...(inquiry === undefined ? {} : { inquiry }),
      ...(picks === undefined ? {} : { picks }),
    },
  };
}

/** With the text of the issue as it is now: later edits are not read (I5). */
async function withIssue(
  world: Pick<World, 'artifacts' | 'github'>,
  command: NewCommand,
): Promise<NewCommand> {
  const { place } = command;
  const issue = await (await requireGitHub(world).reader(handleOf(place))).issue(place.thread);
  return {
    ...command,
    place: { ...place, isPull: issue.isPull },
    issue: { title: issue.title, body: await world.artifacts.put(issue.body) },
  };
}

/** Whether a stored command is what a repeated request with its key asks for. */
export const isSameRequest = ({ text, place, page }: CommandRecord, given: PageCommand): boolean =>
  text === given.text.toWellFormed() &&
  ('run' in given.about
    ? page?.run === given.about.run
    : place.repositoryId === given.about.repository.repositoryId && place.thread === given.about.thread);

/** Why a pick from a page does not count: somebody picked after the page was loaded. Null if nobody did. */
export function pickOutdated(
  page: Pick<PageContext, 'picks'> | undefined,
  picks: readonly Pick<PickRecord, 'alias' | 'by'>[],
): string | null {
  const last = picks.at(-1);
  if (!last || page?.picks === undefined || picks.length <= page.picks) return null;
  const what = last.alias === null ? 'rejected all candidates' : `picked candidate ${last.alias}`;
  return `${last.by?.login ?? 'Somebody'} ${what} after your page was loaded, so your pick was not applied. If you still want it, pick again.`;
}
