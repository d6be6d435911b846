import { Fault } from '../../core/model/index.ts';
import type { Log, Publisher, RepositoryHandle } from '../../ports/index.ts';
import { Comment, Pull, pullFacts } from './answers.ts';
import type { Api, Limit } from './client.ts';
import { statusOf } from './faults.ts';
import { openTokenCache, type Token } from './tokens.ts';

const OWN_PREFIX = 'auto-dev';
const OWN_BRANCH = /^auto-dev\/\S+$/;
/** Blue, as GitHub shows work under way. */
const LABEL_COLOUR = '1f6feb';

export interface PublisherParts {
  readonly appId: number;
  readonly repository: RepositoryHandle;
  readonly limit: Limit;
  readonly log: Log;
  now(): number;
  /** Asks GitHub for another token. */
  mint(): Promise<Token>;
  /** Repeats after server errors. */
  reads(token: string): Api;
  /** Sends once. */
  writes(token: string): Api;
}

/** A publisher that holds its token already: one that may not write is known before anything is published. */
export async function openPublisher(parts: PublisherParts): Promise<Publisher> {
  const { appId, repository, limit } = parts;
  const place = { owner: repository.owner, repo: repository.name };
  const held = new Set<Token>();
  let closed = false;
  const tokens = openTokenCache(async () => {
    const minted = await parts.mint();
    held.add(minted);
    return minted;
  }, parts.now);
  await tokens.get();

  async function token(get: () => Promise<Token>): Promise<string> {
    if (closed) throw new Fault('INTERNAL', 'A closed publisher was asked to write to GitHub.');
    return (await get()).secret;
  }
  const read = <T>(doing: string, call: (api: Api) => Promise<T>): Promise<T> =>
    limit.run(doing, async () => call(parts.reads(await token(tokens.get))));
  const write = async <T>(doing: string, call: (api: Api) => Promise<T>): Promise<T> => {
    await limit.pass(doing);
    return limit.run(doing, async () => call(parts.writes(await token(tokens.get))));
  };

  async function ensureLabel(name: string): Promise<void> {
    const exists = await read(`look for the label ${name}`, ({ rest }) =>
      unless(404, async () => (await rest.issues.getLabel({ ...place, name })).data),
    );
    if (exists !== null) return;
    await write(`create the label ${name}`, ({ rest }) =>
      // 422: somebody else has created it in between.
      unless(422, () => rest.issues.createLabel({ ...place, name, color: LABEL_COLOUR })),
    );
  }

  return {
    react: async (target, content) => {
      if ('issue' in target) {
        const where = { ...place, issue_number: target.issue, content };
        await write(`react to #${target.issue}`, ({ rest }) => rest.reactions.createForIssue(where));
      } else {
        const where = { ...place, comment_id: target.comment, content };
        await write('react to a comment', ({ rest }) => rest.reactions.createForIssueComment(where));
      }
    },

    comment: (issue, body) =>
      write(`comment on #${issue}`, async ({ rest }) => {
        const { data } = await rest.issues.createComment({ ...place, issue_number: issue, body });
        const { id, url } = Comment.parse(data);
        return { id, url };
      }),

    editComment: async (id, body) => {
      const where = { ...place, comment_id: id };
      const now = await read('read our comment', async ({ rest }) =>
        Comment.parse((await rest.issues.getComment(where)).data),
      );
      if (now.performedByAppId !== appId) {
        throw new Fault('INTERNAL', `Comment ${id} was not written by this App, so it was left as it is.`);
      }
      await write('edit our comment', ({ rest }) => rest.issues.updateComment({ ...where, body }));
    },

    setLabels: async (issue, { add, remove }) => {
      for (const name of [...add, ...remove]) {
        if (name !== OWN_PREFIX && !name.startsWith(`${OWN_PREFIX}:`)) {
          throw new Fault('INTERNAL', `The label ${JSON.stringify(name)} is not one of our own.`);
        }
      }
      const where = { ...place, issue_number: issue };
      for (const name of add) await ensureLabel(name);
      if (add.length > 0) {
        await write(`label #${issue}`, ({ rest }) => rest.issues.addLabels({ ...where, labels: [...add] }));
      }
      for (const name of remove) {
        await write(`remove a label from #${issue}`, ({ rest }) =>
          // 404: the label is not there, which is what was asked for.
          unless(404, () => rest.issues.removeLabel({ ...where, name })),
        );
      }
    },

    openDraftPull: async ({ head, base, title, body }) => {
      if (!OWN_BRANCH.test(head)) {
        throw new Fault('INTERNAL', `The branch ${JSON.stringify(head)} is not one of our own.`);
      }
      return write(`open a draft pull request from ${head}`, async ({ rest }) => {
        const { data } = await rest.pulls.create({ ...place, head, base, title, body, draft: true });
        return pullFacts(Pull.parse(data));
      });
    },

    credential: async () => ({
      username: 'x-access-token',
      password: await token(tokens.fresh),
    }),

    close: async () => {
      closed = true;
      for (const { secret } of held) {
        await parts
          .writes(secret)
          .rest.apps.revokeInstallationAccessToken()
          .catch((error: unknown) => {
            // It runs out within the hour by itself; a run must not fail for it.
            parts.log.warn({ status: statusOf(error) }, 'A GitHub token could not be given back.');
          });
      }
      held.clear();
    },
  };
}

/** Null where the call is refused with this status, which its caller expects. */
async function unless<T>(status: number, call: () => Promise<T>): Promise<T | null> {
  try {
    return await call();
  } catch (error) {
    if (statusOf(error) === status) return null;
    throw error;
  }
}
