import { z } from 'zod';
import type { GitHubReader, RepositoryHandle } from '../../ports/index.ts';
import {
  Comment,
  Issue,
  PermissionLevel,
  Pull,
  PullWithSource,
  pullDetails,
  pullFacts,
  Ref,
  Review,
  ReviewComment,
  roleOf,
} from './answers.ts';
import { openCalls, type Whereabouts, withToken } from './calls.ts';
import { failedChecks } from './checks.ts';
import type { Api } from './client.ts';
import { unless } from './faults.ts';
import { labelChange, labelled } from './labelled.ts';
import type { Pace } from './pace.ts';
import { backwards, PAGE } from './pages.ts';
import type { TokenCache } from './tokens.ts';

/** A person's login; bots' end in `[bot]`. */
const LOGIN = /^[A-Za-z0-9][\w-]*$/;

export interface ReaderParts {
  readonly appId: number;
  readonly repository: RepositoryHandle;
  readonly tokens: TokenCache;
  readonly whereabouts: Whereabouts;
  readonly pace: Pace;
  readonly gitUrl: string;
  client(token: string): Api;
}

export function openReader(parts: ReaderParts): GitHubReader {
  const { repository, tokens, whereabouts, pace, gitUrl, client } = parts;
  const calls = openCalls({ tokens, whereabouts, reads: client, client });
  const read = <T>(doing: string, call: Parameters<typeof calls<T>>[0]): Promise<T> =>
    pace.run(doing, () => calls(call));

  return {
    repository: () =>
      pace.run('read the repository', async () => {
        const found = await withToken(tokens, ({ secret }) => whereabouts.facts(client(secret)));
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

    issue: (number) =>
      read(`read issue #${number}`, async ({ rest }, at) =>
        Issue.parse((await rest.issues.get({ ...at, issue_number: number })).data),
      ),

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
      // Bots never steer, so there is nothing to ask; and no other name may reach the path of the call.
      if (!LOGIN.test(user.login)) return 'none';
      return read(`read what ${user.login} may do`, async ({ rest }, at) => {
        const where = { ...at, username: user.login };
        const level = PermissionLevel.parse((await rest.repos.getCollaboratorPermissionLevel(where)).data);
        // A login can pass to another account, so only the id tells who it is.
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
        // GitHub ignores a filter that it does not understand, so what it found is checked.
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

const pageOf = <T>(
  { headers, data }: { readonly headers: { readonly link?: string | undefined }; readonly data: unknown },
  shape: z.ZodType<T>,
) => ({ link: headers.link, items: z.array(shape).parse(data) });
