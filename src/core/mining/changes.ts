import { pullOf, revertsIn } from '../learning/index.ts';
import { fileKindOf } from '../likeness/index.ts';
import type { Sha } from '../model/index.ts';
import { isSnapshot, isTestNamed, roleOf } from '../patches/index.ts';
import { visible } from '../reports/index.ts';
import { type HubRepository, type NamedIssues, namedIssues, namesIssue } from './issues.ts';
import { statementOf, statementTitle, titlesOf } from './statement.ts';

/** A commit on the first-parent line of a branch, compared with its first parent. */
export interface HistoryChange {
  readonly commit: Sha;
  /** The first one is the base; empty for a root commit. */
  readonly parents: readonly Sha[];
  /** As written, by anybody. */
  readonly message: string;
  /** Milliseconds since 1970 UTC: when it was committed. */
  readonly at: number;
  readonly files: readonly { readonly path: string; readonly status: 'A' | 'M' | 'D' | 'T' }[];
}

/** Limits of one task. Our defaults: about what one pull request that a person reviews in one go has. */
export const CHANGE_LIMITS = { files: 40, lines: 1_500 } as const;

/** Why a change makes no task, in the order in which it is checked. */
export const LEFT_OUT = {
  root: 'has no parent',
  revert: 'reverts another change',
  reverted: 'was reverted later',
  release: 'is a release: a version bump or the merge of a release branch',
  'no-tests': 'brings no tests',
  'no-sources': 'changes no sources',
  generated: 'changes generated or vendored files alone',
  'too-large': `changes more than ${CHANGE_LIMITS.files} files`,
  'no-statement': 'has a message that says nothing about the task',
} as const;
export type LeftOut = keyof typeof LEFT_OUT;

export interface MinedChange {
  readonly change: HistoryChange;
  readonly base: Sha;
  readonly statement: string;
  readonly title: string;
  /** The issue or pull request that the message names, such as `#12`; null for none. */
  readonly issue: string | null;
}

/** A change that may become a task. */
export interface FoundChange extends Omit<MinedChange, 'statement'> {
  /** Out of the message; null if it says nothing, so that only the text of an issue can. */
  readonly statement: string | null;
  readonly named: NamedIssues;
}

type Classified =
  | { readonly kind: 'found'; readonly found: FoundChange }
  | { readonly kind: 'left-out'; readonly why: LeftOut };

/**
 * Sorts changes of a history: what may become a task, and what cannot. The order stays. `issuesOf`: the repository whose
 * issues can be read; null: messages alone must say what the tasks are.
 */
export function classifyChanges(
  changes: readonly HistoryChange[],
  issuesOf: HubRepository | null = null,
): readonly (Classified & { readonly change: HistoryChange })[] {
  const named = changes.map(({ message }) => revertsIn(message));
  const [commits, pulls] = [named.flatMap((one) => one.commits), named.flatMap((one) => one.pulls)];
  const reverted = ({ commit, message }: HistoryChange): boolean => {
    const own = pullOf(message);
    return commits.some((name) => commit.startsWith(name)) || (own !== null && pulls.includes(own));
  };
  return changes.map((change) => ({ ...classify(change, reverted, issuesOf), change }));
}

function classify(
  change: HistoryChange,
  reverted: (change: HistoryChange) => boolean,
  issuesOf: HubRepository | null,
): Classified {
  const [base] = change.parents;
  const why = base === undefined ? 'root' : whyLeftOut(change, reverted);
  const statement = statementOf(change.message);
  if (why !== null || base === undefined) return { kind: 'left-out', why: why ?? 'root' };
  const named = namedIssues(change.message, issuesOf);
  if (statement === null && !namesIssue(named)) return { kind: 'left-out', why: 'no-statement' };
  const [issue = null] = /(?:#|gh-)\d{1,7}\b/i.exec(change.message) ?? [];
  const title = statementTitle(statement ?? visible(change.message.trim()));
  return { kind: 'found', found: { change, base, statement, title, issue, named } };
}

/** Characters of a title that are compared. */
const MAX_TITLE = 300;
const REVERT_TITLE = /^\s*(?:revert\b|reapply\b|back ?out\b)/i;
const RELEASE_TITLE =
  /^\s*(?:(?:chore|build|ci)(?:\([^)]*\))?!?:\s*)?(?:(?:publish|cut|prepare|bump|release)\b.*)?\bv?\d+\.\d+(?:\.\d+)?(?:[-.]?(?:alpha|beta|rc|dev|next|canary|final|post)[-.]?\d*)?\s*(?:release|final)?\.?\s*(?:\(#\d+\))?$/i;
const RELEASE_MERGE =
  /^\s*Merge .*\b(?:release|releases|hotfix|develop|main|master|stable|v?\d+\.x)\b(?:[/-][\w.-]+)?['"]?(?: into .*)?$/i;

function whyLeftOut(change: HistoryChange, reverted: (change: HistoryChange) => boolean): LeftOut | null {
  const titles = titlesOf(change.message).map((title) => title.slice(0, MAX_TITLE));
  const { commits, pulls } = revertsIn(change.message);
  if (titles.some((title) => REVERT_TITLE.test(title)) || commits.length + pulls.length > 0) return 'revert';
  if (reverted(change)) return 'reverted';
  const isMerge = change.parents.length > 1;
  if (
    titles.some((title) => RELEASE_TITLE.test(title)) ||
    (isMerge && isReleaseMerge(change.message, titles))
  )
    return 'release';
  const present = change.files.filter(({ status }) => status !== 'D');
  if (!present.some(({ path }) => isTest(path))) return 'no-tests';
  const products = change.files.filter(({ path, status }) => isSource(path, status === 'A'));
  if (products.length === 0) return 'no-sources';
  if (products.every(({ path }) => isGenerated(path))) return 'generated';
  return change.files.length > CHANGE_LIMITS.files ? 'too-large' : null;
}

/** A merge without a text of its own that brings a branch of many changes. */
const isReleaseMerge = (message: string, [title = '']: readonly string[]): boolean =>
  RELEASE_MERGE.test(title) && statementOf(message) === null;

/**
 * Files of a change that make its task: sources and tests. Settings of test runners and CI are not part of it: no answer
 * may change them.
 */
export const taskPaths = ({ files }: HistoryChange): readonly string[] =>
  files.flatMap(({ path }) => (roleOf(path) === 'runner' && !isSnapshot(path) ? [] : [path]));

const isTest = (path: string): boolean => isTestNamed(path) || (roleOf(path) === 'test' && CODE.test(path));
const CODE = /\.(?:[cm]?[jt]sx?|py|go|rs|rb|java|kt|php|cs|swift|dart|exs?|lua|sh|c|cc|cpp)$/i;

const isSource = (path: string, created: boolean): boolean =>
  roleOf(path) === 'production' && ['source', 'scratch'].includes(fileKindOf(path, created));

const isGenerated = (path: string): boolean =>
  /(?:^|\/)(?:dist|build|out|vendor|third_party|node_modules|generated|__generated__)\//i.test(path) ||
  /(?:\.min\.(?:js|css)|\.(?:pb|gen|generated)\.\w+|_pb2(?:_grpc)?\.py|\.d\.ts\.map|\.map)$/i.test(path);

/** The id of a task: a few words for people, and its commit. */
export function taskIdOf({ title, change }: Pick<MinedChange, 'title' | 'change'>): string {
  const words = title
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
    .slice(0, 40)
    .replace(/-$/, '');
  return `${words === '' ? 'change' : words}-${change.commit.slice(0, 10)}`;
}
