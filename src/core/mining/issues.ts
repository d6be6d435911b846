import { fullNameOf } from '../model/index.ts';
import { visibleMarkdown } from '../prompts/index.ts';
import { submoduleAddress } from '../settings/index.ts';

/** A repository on the configured GitHub, as its remote names it. */
export interface HubRepository {
  /** Where the server's pages are, such as `https://github.com`. */
  readonly server: string;
  readonly owner: string;
  readonly name: string;
}

/** Issues that one change may close at most; those of more are no statement of one task. Our default. */
export const MAX_ISSUES_OF_CHANGE = 3;

/** What a message says of issues of its own repository. */
export interface NamedIssues {
  /** Numbers after a word with which GitHub closes issues, such as `Fixes #12`; each once. */
  readonly closed: readonly number[];
  /** The number in the title: its pull request, as GitHub writes it when it merges, or its issue. */
  readonly own: number | null;
}

/** The repository that a remote's address means; null if it is on another server, or no address of one. */
export function hubRepository(address: string, server: string): HubRepository | null {
  const found = submoduleAddress(address.replace(/^(https?:\/\/)[^/@]*@/i, '$1'), server);
  if (found.kind === 'none') return null;
  const { host, pathname } = new URL(found.url);
  const [, owner, name] = /^\/([\w.-]{1,100})\/([\w.-]{1,100}?)(?:\.git)?$/.exec(pathname) ?? [];
  return host === new URL(server).host && owner !== undefined && name !== undefined
    ? { server, owner, name }
    : null;
}

/** GitHub's words that close an issue ("Linking a pull request to an issue" in its docs), and the issue. */
const CLOSES =
  /\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):?\s+(?:(?:([\w.-]{1,100}\/[\w.-]{1,100})?#|gh-)|(https?:\/\/[^\s/]{1,255}\/[\w.-]{1,100}\/[\w.-]{1,100})\/issues\/)(\d{1,9})\b/gi;
/** The number that GitHub puts into the title of a merge or a squashed commit. */
const OWN = /^(?:Merge pull request #(\d{1,9})\b|.{0,300}\((?:#|gh-)(\d{1,9})\)\s*$)/i;

/** Null as repository: nothing can be read, so nothing is named. */
export function namedIssues(message: string, repository: HubRepository | null): NamedIssues {
  if (repository === null) return { closed: [], own: null };
  const title = message.trimStart().split('\n', 1)[0] ?? '';
  const own = OWN.exec(title);
  return { closed: closedIssues(message, repository), own: own ? Number(own[1] ?? own[2]) : null };
}

export const namesIssue = ({ closed, own }: NamedIssues): boolean => closed.length > 0 || own !== null;

function closedIssues(text: string, { server, owner, name }: HubRepository): readonly number[] {
  const path = fullNameOf({ owner, name }).toLowerCase();
  const found = [...text.matchAll(CLOSES)].flatMap(([, of, address, number]) => {
    const isOwn =
      (of === undefined || of.toLowerCase() === path) &&
      (address === undefined || address.toLowerCase() === `${server}/${path}`.toLowerCase());
    return isOwn ? [Number(number)] : [];
  });
  return [...new Set(found)];
}

/** Numbers of the issues that the text of a pull request closes: what its page shows and no code, as GitHub reads it. */
export const closedByPull = (body: string, repository: HubRepository): readonly number[] =>
  closedIssues(
    visibleMarkdown(body)
      .text.replace(/^(`{3,}|~{3,}).*?^\1/gms, '')
      .replace(/`[^`\n]*`/g, ''),
    repository,
  );
