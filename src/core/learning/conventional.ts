import { lowerFirst } from '../model/index.ts';

/** As https://www.conventionalcommits.org has it: `feat(parser): read quoted fields`. */
const CONVENTIONAL =
  /^(?:feat|fix|docs|chore|refactor|test|ci|build|perf|style|revert)(?:\([^()\n]{1,60}\))?!?: \S/;

/** How many of the newest messages are read, and how many there must be. Our defaults. */
const NEWEST = 30;
const FEWEST = 5;
/** The share of them that must be conventional: merges and releases of the others are usual. */
const MIN_SHARE = 0.6;

const isConventionalTitle = (title: string): boolean => CONVENTIONAL.test(title);

/** Whether a repository writes conventional commits. `messages`: of its commits, oldest first. */
export function writesConventionalCommits(messages: readonly { readonly message: string }[]): boolean {
  const own = messages.map(({ message }) => message).filter((text) => !/^Merge\b/.test(text));
  const newest = own.slice(-NEWEST);
  return newest.length >= FEWEST && newest.filter(isConventionalTitle).length >= MIN_SHARE * newest.length;
}

const KINDS: readonly (readonly [kind: string, pattern: RegExp])[] = [
  ['docs', /\b(?:docs?|documentation|readme|typos?|changelog)\b/i],
  ['test', /^(?:add|write|more|missing) (?:\w+ ){0,2}tests?\b/i],
  ['refactor', /\b(?:refactor|restructure|clean ?up)/i],
  ['perf', /\b(?:slow|faster|performance|speed up)\b/i],
  ['feat', /^(?:add|support|allow|implement|introduce|let|make it possible|new|feature)\b/i],
];

/** The title of an issue as that of a commit: with the kind of change that its words name, else `fix`. */
export function conventionalTitle(title: string): string {
  if (isConventionalTitle(title)) return title;
  const kind = KINDS.find(([, pattern]) => pattern.test(title))?.[0] ?? 'fix';
  return `${kind}: ${lowerFirst(title)}`;
}
