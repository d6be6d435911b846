import { z } from 'zod';
import { isSameLabel, type PullFiles } from '../../core/model/index.ts';
import type { GitHubReader, IssueFacts, LabelChange, Labelled, RepositoryHandle } from '../../ports/index.ts';
import {
  ChangedFile,
  Comment,
  IssueAnswer,
  IssueEvent,
  PermissionLevel,
  Pull,
  PullWithSource,
  pullDetails,
  pullFacts,
  Ref,
  Review,
  ReviewComment,
  roleOf,
  Touched,
} from './answers.ts';
import type { TokenCache } from './app.ts';
import { type Calls, openCalls, type RepositoryLocation, type Unchanged, withToken } from './calls.ts';
import { failedChecks } from './checks.ts';
import { type Api, backwards, hasNextPage, newest, PAGE } from './client.ts';
import { GONE, type Pace, unless } from './faults.ts';

/** A person's login; bots' end in `[bot]`. */
const LOGIN = /^[A-Za-z0-9][\w-]*$/;

interface ReaderParts {
  readonly appId: number;
  readonly repository: RepositoryHandle;
  readonly tokens: TokenCache;
  readonly location: RepositoryLocation;
  readonly pace: Pace;
  readonly gitUrl: string;
  readonly unchanged: Unchanged;
  client(token: string): Api;
}

export function openReader(parts: ReaderParts): GitHubReader {
  const { repository, tokens, location, pace, gitUrl, unchanged, client } = parts;
  const calls = openCalls({ tokens, location, reads: client, client });
  const read = <T>(doing: string, call: Parameters<typeof calls<T>>[0]): Promise<T> =>
    pace.run(doing, () => calls(call));

  return {
    repository: () =>
      pace.run('read the repository', async () => {
        const found = await withToken(tokens, (token) => location.facts(client, token));
        return {
          id: found.id,
          fullName: found.full_name,
          private: found.private,
          archived: found.archived,
          defaultBranch: found.default_branch,
          htmlUrl: found.html_url,
          cloneUrl: `${gitUrl}/${found.full_name}.git`,
        };
      }),

    issue: (number) => pace.run(`read issue #${number}`, () => readIssue(calls, number)),

    findIssue: (number) => pace.run(`read issue #${number}`, () => findIssue(calls, number)),

    commentPages: (issue) =>
      backwards((page) =>
        read(`read the comments of #${issue}`, async ({ rest }, at) =>
          pageOf(
            await rest.issues.listComments({ ...at, issue_number: issue, per_page: PAGE, page }),
            Comment,
          ),
        ),
      ),

    permission: async (user) => {
      // Bots have no permissions to look up, and invalid names must not become part of the URL.
      if (!LOGIN.test(user.login)) return 'none';
      return read(`read what ${user.login} may do`, async ({ rest }, at, token) => {
        const where = { ...at, username: user.login };
        // Of an address, not of a person or repository: both can get other names.
        const name = `${at.owner}/${at.repo} ${user.login}`;
        const level = await unchanged(token, name, PermissionLevel.parse, (headers) =>
          rest.repos.getCollaboratorPermissionLevel({ ...where, headers }),
        );
        // A login can pass to another account, so only the id identifies the user.
        const same = level.user?.id === user.id && level.user.type === 'User';
        return same ? roleOf(level) : 'none';
      });
    },

    pullByHead: (branch) =>
      read(`look for a pull request from ${branch}`, async ({ rest }, at) => {
        const { data } = await rest.pulls.list({
          ...at,
          state: 'all',
          head: `${at.owner}:${branch}`,
          sort: 'created',
          direction: 'desc',
          per_page: PAGE,
        });
        // GitHub ignores unknown filters, so the result is checked.
        const mine = z
          .array(Pull)
          .parse(data)
          .find((pull) => pull.head.ref === branch && pull.head.repo?.id === repository.repositoryId);
        return mine ? pullFacts(mine) : null;
      }),

    pull: (number) =>
      read(`read pull request #${number}`, async ({ rest }, at) => {
        const found = await unless(404, () => rest.pulls.get({ ...at, pull_number: number }));
        return found ? pullDetails(PullWithSource.parse(found.data)) : null;
      }),

    openPulls: () =>
      read('list the open pull requests', async ({ rest }, at, token) => {
        const order = { state: 'open', sort: 'updated', direction: 'desc', per_page: PAGE } as const;
        const open = await unchanged(
          token,
          `${at.owner}/${at.repo} open pulls`,
          z.array(Pull).parse,
          (headers) => rest.pulls.list({ ...at, ...order, headers }),
        );
        return open.map(({ number, head }) => ({
          number,
          head: head.ref,
          headRepositoryId: head.repo?.id ?? null,
        }));
      }),

    pullFiles: (pull) =>
      read(`list the files of #${pull}`, ({ rest }, at, token) =>
        unchanged(token, `${at.owner}/${at.repo} files of ${pull}`, filesOfPull, async (headers) => {
          const answer = await rest.pulls.listFiles({ ...at, pull_number: pull, per_page: PAGE, headers });
          return { headers: answer.headers, data: { link: answer.headers.link, files: answer.data } };
        }),
      ),

    remarkPages: (pull, of) =>
      backwards((page) =>
        read(`read the reviews of #${pull}`, async ({ rest }, at) => {
          const where = { ...at, pull_number: pull, per_page: PAGE, page };
          const { link, items } =
            of === 'reviews'
              ? pageOf(await rest.pulls.listReviews(where), Review)
              : pageOf(await rest.pulls.listReviewComments(where), ReviewComment);
          return { link, items: items.filter((remark) => remark !== null) };
        }),
      ),

    failedChecks: (sha) =>
      pace.run(`read the checks of ${sha.slice(0, 12)}`, () => failedChecks(calls, parts.appId, sha)),

    branchHead: (branch) =>
      read(`read the branch ${branch}`, async ({ rest }, at) => {
        // 409: the repository has no commit at all.
        const found = await unless([404, 409], () => rest.git.getRef({ ...at, ref: `heads/${branch}` }));
        const ref = found && Ref.parse(found.data).object;
        return ref?.type === 'commit' ? ref.sha : null;
      }),

    labelled: (label, since) =>
      pace.run(`list issues with the label ${label}`, () => labelled(calls, label, since)),

    labelChange: (issue, label) =>
      pace.run(`read who changed the label ${label} of #${issue}`, () => labelChange(calls, issue, label)),

    credential: async () => ({ username: 'x-access-token', password: (await tokens.fresh()).secret }),
  };
}

const readIssue = (calls: Calls, number: number): Promise<IssueFacts> =>
  calls(async ({ rest }, at) =>
    IssueAnswer.parse((await rest.issues.get({ ...at, issue_number: number })).data),
  );

const findIssue = (calls: Calls, number: number): Promise<IssueFacts | null> =>
  unless(GONE, () => readIssue(calls, number));

const FilesPage = z.object({ link: z.string().optional(), files: z.array(ChangedFile) });

function filesOfPull(data: unknown): PullFiles {
  const { link, files } = FilesPage.parse(data);
  return {
    files: files.flatMap(({ filename, previous_filename: before }) =>
      before === undefined ? [filename] : [before, filename],
    ),
    hasMore: hasNextPage(link),
  };
}

const pageOf = <T>(
  { headers, data }: { readonly headers: { readonly link?: string | undefined }; readonly data: unknown },
  shape: z.ZodType<T>,
) => ({ link: headers.link, items: z.array(shape).parse(data) });

/** Maximum number of an issue's events; earlier label changes are not reported. */
const MAX_EVENTS = 300;

type Event = z.infer<typeof IssueEvent>;

/** Open issues and pull requests with a label that were updated since, and who set it last. */
async function labelled(calls: Calls, label: string, since: number): Promise<readonly Labelled[]> {
  const issues = await calls(async ({ rest }, at) => {
    const { data } = await rest.issues.listForRepo({
      ...at,
      labels: label,
      since: new Date(since).toISOString().replace(/\.\d+Z$/, 'Z'),
      state: 'open',
      sort: 'created',
      direction: 'asc',
      per_page: PAGE,
    });
    const items = z.array(z.unknown()).parse(data);
    return items.map((item) => ({ issue: IssueAnswer.parse(item), touchedAt: Touched.parse(item) }));
  });
  const found: Labelled[] = [];
  for (const one of issues) {
    found.push({ ...one, set: await lastSet(calls, one.issue.number, label) });
  }
  return found;
}

async function lastSet(calls: Calls, issue: number, label: string): Promise<Labelled['set']> {
  const last = await lastEvent(calls, issue, label, ['labeled']);
  return last && { by: last.by, byBot: last.byBot, at: last.at };
}

/** The last change of a label of an issue; GitHub keeps the order, however close together two changes were. */
const labelChange = (calls: Calls, issue: number, label: string): Promise<LabelChange | null> =>
  lastEvent(calls, issue, label, ['labeled', 'unlabeled']);

async function lastEvent(
  calls: Calls,
  issue: number,
  label: string,
  kinds: readonly string[],
): Promise<LabelChange | null> {
  const isMeant = ({ event, label: of }: Event): boolean =>
    kinds.includes(event) && isSameLabel(of?.name ?? '', label);
  const events = await calls(({ rest }, at) =>
    newest(
      (page) => rest.issues.listEvents({ ...at, issue_number: issue, per_page: PAGE, page }),
      (data) => z.array(IssueEvent).parse(data),
      MAX_EVENTS,
      (read) => read.some(isMeant),
    ),
  );
  const last = events.findLast(isMeant);
  if (!last?.actor) return null;
  const { id, login, type } = last.actor;
  return {
    how: last.event === 'labeled' ? 'set' : 'taken-off',
    by: { id, login },
    byBot: type !== 'User',
    throughApp: Boolean(last.performed_via_github_app),
    at: last.created_at,
  };
}
