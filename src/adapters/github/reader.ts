import { z } from 'zod';
import { Fault } from '../../core/model/index.ts';
import type { GitHubReader, RepositoryHandle } from '../../ports/index.ts';
import { Comment, Issue, PermissionLevel, Pull, pullFacts, Repository, roleOf } from './answers.ts';
import type { Api, Limit } from './client.ts';
import { statusOf } from './faults.ts';
import type { TokenCache } from './tokens.ts';

const PAGE = 100;
const MAX_COMMENTS = 200;
/** A person's login; bots' end in `[bot]`. */
const LOGIN = /^[A-Za-z0-9][\w-]*$/;

/** The number of the last page by GitHub's `Link` header, which a list that fits on one page has not. */
const lastPage = (link: string | undefined): number =>
  Number(/<[^>]*[?&]page=(\d+)[^>]*>; rel="last"/.exec(link ?? '')?.[1] ?? 1);

export interface ReaderParts {
  readonly repository: RepositoryHandle;
  readonly tokens: TokenCache;
  readonly limit: Limit;
  readonly gitUrl: string;
  client(token: string): Api;
}

export function openReader({ repository, tokens, limit, gitUrl, client }: ReaderParts): GitHubReader {
  const place = { owner: repository.owner, repo: repository.name };

  /** Reads once more with a new token where the old one is no longer taken. */
  const read = <T>(doing: string, call: (api: Api) => Promise<T>): Promise<T> =>
    limit.run(doing, async () => {
      const token = await tokens.get();
      try {
        return await call(client(token.secret));
      } catch (error) {
        if (statusOf(error) !== 401) throw error;
        tokens.drop(token);
        return call(client((await tokens.get()).secret));
      }
    });

  return {
    repository: () =>
      read('read the repository', async ({ rest }) => {
        const found = Repository.parse((await rest.repos.get(place)).data);
        if (found.id !== repository.repositoryId) {
          const name = `${place.owner}/${place.repo}`;
          throw new Fault(
            'GITHUB_REFUSED',
            `${name} is no longer the repository that this run was started for.`,
          );
        }
        return {
          id: found.id,
          fullName: found.full_name,
          private: found.private,
          defaultBranch: found.default_branch,
          htmlUrl: found.html_url,
          cloneUrl: `${gitUrl}/${found.full_name}.git`,
        };
      }),

    issue: (number) =>
      read(`read issue #${number}`, async ({ rest }) =>
        Issue.parse((await rest.issues.get({ ...place, issue_number: number })).data),
      ),

    comments: (issue) =>
      read(`read the comments of #${issue}`, async ({ rest }) => {
        const readPage = (page: number) =>
          rest.issues.listComments({ ...place, issue_number: issue, per_page: PAGE, page });
        const first = await readPage(1);
        // One issue's comments are listed oldest first only, so the newest are read from the last page backwards.
        let newest: z.infer<typeof Comment>[] = [];
        for (let page = lastPage(first.headers.link); newest.length < MAX_COMMENTS && page > 0; page--) {
          const { data } = page === 1 ? first : await readPage(page);
          newest = [...z.array(Comment).parse(data), ...newest];
        }
        return newest.slice(-MAX_COMMENTS);
      }),

    permission: async (user) => {
      // Bots never steer, so there is nothing to ask; and no other name may reach the path of the call.
      if (!LOGIN.test(user.login)) return 'none';
      return read(`read what ${user.login} may do`, async ({ rest }) => {
        const where = { ...place, username: user.login };
        const level = PermissionLevel.parse((await rest.repos.getCollaboratorPermissionLevel(where)).data);
        // A login can pass to another account, so only the id tells who it is.
        const same = level.user?.id === user.id && level.user.type === 'User';
        return same ? roleOf(level) : 'none';
      });
    },

    pullByHead: (branch) =>
      read(`look for a pull request from ${branch}`, async ({ rest }) => {
        const { data } = await rest.pulls.list({
          ...place,
          state: 'all',
          head: `${place.owner}:${branch}`,
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

    credential: async () => ({ username: 'x-access-token', password: (await tokens.fresh()).secret }),
  };
}
