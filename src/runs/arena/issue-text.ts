import {
  closedByPull,
  type FoundChange,
  type HistoryChange,
  type HubRepository,
  hubRepository,
  MAX_ISSUES_OF_CHANGE,
  type MinedChange,
  namedIssues,
  namesIssue,
  STATEMENTS,
  type StatementSource,
  statementOfIssues,
  statementTitle,
} from '../../core/mining/index.ts';
import { asFault, fullNameOf } from '../../core/model/index.ts';
import type { GitHub, GitHubReader, IssueFacts } from '../../ports/index.ts';

/** How the texts of issues are reached. They are only read. */
export interface IssuePorts {
  /** As the operator's App; absent: there is none. */
  readonly github?: GitHub;
  /** Where the pages of GitHub are. */
  readonly githubUrl: string;
}

/** The issues of the repository whose history is read. */
export type IssueAccess =
  /** Nothing names an issue on the configured GitHub. */
  | { readonly kind: 'none' }
  | { readonly kind: 'closed'; readonly why: 'no-app' | 'no-access'; readonly repository: HubRepository }
  | { readonly kind: 'open'; readonly reader: GitHubReader; readonly repository: HubRepository };

/** Opens the issues that changes name. Without one, GitHub is not asked. Fault: GITHUB_UNAVAILABLE. */
export async function openIssues(
  { github, githubUrl }: IssuePorts,
  origin: string | null,
  changes: readonly HistoryChange[],
): Promise<IssueAccess> {
  const repository = origin === null ? null : hubRepository(origin, githubUrl);
  if (repository === null || !changes.some(({ message }) => namesIssue(namedIssues(message, repository))))
    return { kind: 'none' };
  if (github === undefined) return { kind: 'closed', why: 'no-app', repository };
  const path = fullNameOf(repository).toLowerCase();
  const installed = await orRefused(github.repositories());
  const handle =
    installed === 'refused' ? undefined : installed.find((one) => fullNameOf(one).toLowerCase() === path);
  return handle === undefined
    ? { kind: 'closed', why: 'no-access', repository }
    : { kind: 'open', reader: await github.reader(handle), repository };
}

type Stated =
  | { readonly kind: 'stated'; readonly mined: MinedChange; readonly source: StatementSource }
  /** A sentence. */
  | { readonly kind: 'unstated'; readonly why: string };

/**
 * A change with what says its task: the issues that it closes, else its message. At most five requests.
 * Fault GITHUB_UNAVAILABLE: the same may succeed later.
 */
export async function stateTask(access: IssueAccess, found: FoundChange): Promise<Stated> {
  const issues = await issuesOf(access, found);
  if (typeof issues !== 'string') {
    const statement = statementOfIssues(issues);
    if (statement !== null) {
      const issue = issues.map(({ number }) => `#${number}`).join(', ');
      const mined = { ...found, statement, title: statementTitle(statement), issue };
      return { kind: 'stated', mined, source: 'issue' };
    }
  }
  const source = typeof issues === 'string' ? issues : 'says-nothing';
  const { statement } = found;
  return statement === null
    ? { kind: 'unstated', why: `The message says nothing about the task, and ${STATEMENTS[source].because}.` }
    : { kind: 'stated', mined: { ...found, statement }, source };
}

type Issue = Pick<IssueFacts, 'body' | 'number' | 'title'>;

/** All issues that a change closes, or why there are none to read. */
async function issuesOf(
  access: IssueAccess,
  { change, named }: FoundChange,
): Promise<readonly Issue[] | Exclude<StatementSource, 'issue'>> {
  if (access.kind === 'none') return 'message';
  if (access.kind === 'closed')
    return namesIssue(namedIssues(change.message, access.repository)) ? access.why : 'message';
  if (named.closed.length > 0) return readIssues(access.reader, named.closed);
  if (named.own === null) return 'message';
  const { reader, repository } = access;
  const pull = await orRefused(reader.pull(named.own));
  if (pull === 'refused') return 'unreadable';
  if (pull === null) return readIssues(reader, [named.own]);
  // In a fork or a copy, the number is that of another repository.
  if (pull.mergeSha !== change.commit) return 'other-pull';
  return readIssues(reader, closedByPull(pull.body, repository));
}

/** All or none: a part of what a change solves is another task. */
async function readIssues(
  reader: GitHubReader,
  numbers: readonly number[],
): Promise<readonly Issue[] | 'message' | 'too-many' | 'unreadable'> {
  if (numbers.length > MAX_ISSUES_OF_CHANGE) return 'too-many';
  const found: Issue[] = [];
  for (const number of numbers) {
    const issue = await orRefused(reader.issue(number));
    if (issue === 'refused') return 'unreadable';
    if (!issue.isPull) found.push(issue);
  }
  return found.length === 0 ? 'message' : found;
}

/** GitHub refuses what is gone, was moved to another repository, or may not be read. */
async function orRefused<T>(read: Promise<T>): Promise<T | 'refused'> {
  try {
    return await read;
  } catch (thrown) {
    if (asFault(thrown).code !== 'GITHUB_REFUSED') throw thrown;
    return 'refused';
  }
}
