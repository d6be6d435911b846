import { z } from 'zod';
import { Fault, isSameLabel, type Sha } from '../../core/model/index.ts';
import type {
  BranchDeletion,
  ExternalWrite,
  Fence,
  Log,
  Publisher,
  RepositoryHandle,
} from '../../ports/index.ts';
import { Comment, IssueAnswer, NodeId, Pull, PullWithSource, pullFacts, Ref } from './answers.ts';
import { holdTokens, type Token } from './app.ts';
import { type Calls, openCalls, type RepositoryLocation } from './calls.ts';
import { showCheck } from './checks.ts';
import { type Api, PAGE } from './client.ts';
import { type Pace, statusOf, unless } from './faults.ts';

const OWN_PREFIX = 'auto-dev';
const OWN_BRANCH = /^auto-dev\/\S+$/;
/** Blue, as GitHub shows work in progress. */
const LABEL_COLOUR = '1f6feb';
/** REST cannot fold a comment. */
const MINIMISE = `mutation ($subjectId: ID!, $classifier: ReportedContentClassifiers!) {
  minimizeComment(input: { subjectId: $subjectId, classifier: $classifier }) { minimizedComment { isMinimized } }
}`;

interface PublisherParts {
  readonly appId: number;
  readonly repository: RepositoryHandle;
  readonly location: RepositoryLocation;
  readonly pace: Pace;
  readonly log: Log;
  readonly fence?: Fence | undefined;
  now(): number;
  /** The login of the App's own account. */
  botLogin(): Promise<string>;
  /** Creates another token. */
  mint(): Promise<Token>;
  /** Repeats after server errors. */
  reads(token: string): Api;
  /** Sends once. */
  writes(token: string): Api;
  /** Called and awaited after each write, with or without a response. */
  onWrite(write: ExternalWrite): Promise<void>;
}

/** Description of a write for its record. */
interface WriteAction {
  readonly what: string;
  /** Completes "GitHub … while we tried to …". */
  readonly doing: string;
  /** Number of the issue or pull request, if known. */
  readonly thread?: number;
  /** Where it is about one. */
  readonly branch?: string;
  /** Can be done without for now. */
  readonly yields?: boolean;
}

/** An old branch can stay for another day. */
const deletionOf = (branch: string): WriteAction => ({
  what: 'delete-branch',
  doing: `delete the branch ${branch}`,
  branch,
  yields: true,
});

/** Creates a publisher with its token, so that missing write access is detected before anything is published. */
export async function openPublisher(parts: PublisherParts): Promise<Publisher> {
  const { appId, repository, location, pace, reads } = parts;
  const tokens = await holdTokens(parts);
  const readCalls = openCalls({ tokens, location, reads, client: reads });
  const writeCalls = openCalls({ tokens, location, reads, client: parts.writes });
  const read = <T>(doing: string, call: Parameters<typeof readCalls<T>>[0]): Promise<T> =>
    pace.run(doing, () => readCalls(call));
  const write = <T>(action: WriteAction, call: Parameters<typeof writeCalls<T>>[0]): Promise<T> =>
    pace.write(action.doing, () => sendAndRecord(parts, action, () => writeCalls(call)), action.yields);

  /** The GraphQL id of a comment written by this App; any other is refused. */
  async function ownComment(id: number): Promise<string> {
    const found = await read('read our comment', async ({ rest }, at) => {
      const { data } = await rest.issues.getComment({ ...at, comment_id: id });
      return { byApp: Comment.parse(data).performedByAppId, nodeId: NodeId.parse(data).node_id };
    });
    if (found.byApp === appId) return found.nodeId;
    throw new Fault('INTERNAL', `Comment ${id} was not written by this App, so it was left as it is.`);
  }

  async function ensureLabel(name: string): Promise<void> {
    const exists = await read(`look for the label ${name}`, ({ rest }, at) =>
      unless(404, async () => (await rest.issues.getLabel({ ...at, name })).data),
    );
    if (exists !== null) return;
    await write({ what: 'create-label', doing: `create the label ${name}` }, ({ rest }, at) =>
      // 422: it was created concurrently.
      unless(422, () => rest.issues.createLabel({ ...at, name, color: LABEL_COLOUR })),
    );
  }

  return {
    react: async (target, content) => {
      if ('issue' in target) {
        await write(
          { what: 'react', doing: `react to #${target.issue}`, thread: target.issue },
          ({ rest }, at) => rest.reactions.createForIssue({ ...at, issue_number: target.issue, content }),
        );
      } else if ('comment' in target) {
        await write({ what: 'react', doing: 'react to a comment' }, ({ rest }, at) =>
          rest.reactions.createForIssueComment({ ...at, comment_id: target.comment, content }),
        );
      } else {
        await write({ what: 'react', doing: 'react to a comment on a line' }, ({ rest }, at) =>
          rest.reactions.createForPullRequestReviewComment({
            ...at,
            comment_id: target.reviewComment,
            content,
          }),
        );
      }
    },

    comment: (issue, body) =>
      write({ what: 'comment', doing: `comment on #${issue}`, thread: issue }, async ({ rest }, at) => {
        const { data } = await rest.issues.createComment({ ...at, issue_number: issue, body });
        const { id, url } = Comment.parse(data);
        return { id, url };
      }),

    editComment: async (id, body) => {
      await ownComment(id);
      const edit: Parameters<typeof writeCalls>[0] = ({ rest }, at) =>
        rest.issues.updateComment({ ...at, comment_id: id, body });
      // Edits of existing text can be delayed; new comments cannot.
      await write({ what: 'edit-comment', doing: 'edit our comment', yields: true }, edit);
    },

    setLabels: async (issue, { add, remove }) => {
      for (const name of [...add, ...remove]) {
        if (name !== OWN_PREFIX && !name.startsWith(`${OWN_PREFIX}:`)) {
          throw new Fault('INTERNAL', `The label ${JSON.stringify(name)} is not one of our own.`);
        }
      }
      for (const name of add) await ensureLabel(name);
      if (add.length > 0) {
        await write({ what: 'label', doing: `label #${issue}`, thread: issue }, ({ rest }, at) =>
          rest.issues.addLabels({ ...at, issue_number: issue, labels: [...add] }),
        );
      }
      if (remove.length === 0) return;
      // The labels to remove are mostly absent, and a read is cheaper than a write.
      const { labels } = await read(`read the labels of #${issue}`, async ({ rest }, at) =>
        IssueAnswer.parse((await rest.issues.get({ ...at, issue_number: issue })).data),
      );
      const gone = labels.filter((label) => remove.some((name) => isSameLabel(name, label)));
      for (const name of gone) {
        await write(
          { what: 'unlabel', doing: `remove a label from #${issue}`, thread: issue },
          ({ rest }, at) =>
            // 404: the label is already absent.
            unless(404, () => rest.issues.removeLabel({ ...at, issue_number: issue, name })),
        );
      }
    },

    openDraftPull: async ({ head, base, title, body }) => {
      if (!OWN_BRANCH.test(head)) {
        throw new Fault('INTERNAL', `The branch ${JSON.stringify(head)} is not one of our own.`);
      }
      return write(
        { what: 'open-pull', doing: `open a draft pull request from ${head}` },
        async ({ rest }, at) => {
          const { data } = await rest.pulls.create({ ...at, head, base, title, body, draft: true });
          return pullFacts(Pull.parse(data));
        },
      );
    },

    editPull: async (number, { title, body }) => {
      const author = await parts.botLogin();
      const found = await read(`read pull request #${number}`, async ({ rest }, at) =>
        PullWithSource.parse((await rest.pulls.get({ ...at, pull_number: number })).data),
      );
      const { head, user } = found;
      const own = user?.type === 'Bot' && user.login === author;
      if (!own || !OWN_BRANCH.test(head.ref) || head.repo?.id !== repository.repositoryId) {
        const message = `Pull request #${number} was not opened by this App, so it was left as it is.`;
        throw new Fault('INTERNAL', message);
      }
      await write(
        { what: 'edit-pull', doing: `edit pull request #${number}`, thread: number },
        ({ rest }, at) => rest.pulls.update({ ...at, pull_number: number, title, body }),
      );
    },

    showCheck: (check) =>
      showCheck(appId, check, {
        read: (call) => read('look for our check', call),
        write: (call) => write({ what: 'show-check', doing: 'show our check' }, call),
      }),

    minimise: async (comment) => {
      const subjectId = await ownComment(comment);
      await write({ what: 'fold-comment', doing: 'fold our comment' }, (api) =>
        api.graphql(MINIMISE, { subjectId, classifier: 'OUTDATED' }),
      );
    },

    deleteBranch: (branch, at) =>
      deleteBranch(repository, branch, at, {
        read: (call) => read(`look at the branch ${branch}`, call),
        write: (call) => write(deletionOf(branch), call),
      }),

    credential: async () => {
      // Whoever asks is about to push.
      await parts.fence?.check();
      return { username: 'x-access-token', password: (await tokens.fresh()).secret };
    },
    close: tokens.giveBack,
  };
}

/** Sends a write and records its outcome immediately, so that a crash in between is unlikely. */
async function sendAndRecord<T>(
  parts: PublisherParts,
  { what, thread, branch }: WriteAction,
  send: () => Promise<T>,
): Promise<T> {
  const startedAt = parts.now();
  const tell = (outcome: ExternalWrite['outcome'], status?: number): Promise<void> =>
    parts.onWrite({
      what,
      outcome,
      startedAt,
      endedAt: parts.now(),
      ...(thread === undefined ? {} : { thread }),
      ...(branch === undefined ? {} : { branch }),
      ...(status === undefined ? {} : { status }),
    });
  let answer: T;
  try {
    answer = await send();
  } catch (error) {
    const status = statusOf(error);
    await tell(status !== undefined && status < 500 ? 'refused' : 'failed', status);
    throw error;
  }
  await tell('done');
  return answer;
}

/** Pattern of candidates' branches: no other branch may ever be deleted. */
const CANDIDATES = /^auto-dev\/\d+\/r[0-9a-z]{10}\/[A-Z]+$/;

interface BranchCalls {
  readonly read: Calls;
  readonly write: Calls;
}

/**
 * Deletes the branch of a candidate if it is unchanged since Runoff pushed it. GitHub's REST API cannot compare and
 * delete in one step: a commit pushed in between, at most a second, still exists in its author's clone.
 */
async function deleteBranch(
  { repositoryId }: RepositoryHandle,
  name: string,
  at: Sha,
  { read, write }: BranchCalls,
): Promise<BranchDeletion> {
  if (!CANDIDATES.test(name)) {
    throw new Fault('INTERNAL', `The branch ${JSON.stringify(name)} is not that of a candidate.`);
  }
  const shown = await read(async ({ rest }, where) => {
    const head = `${where.owner}:${name}`;
    const { data } = await rest.pulls.list({ ...where, state: 'open', head, per_page: PAGE });
    // GitHub ignores unknown filters, so the result is checked.
    const mine = z.array(Pull).parse(data);
    return mine.some((pull) => pull.head.ref === name && pull.head.repo?.id === repositoryId);
  });
  if (shown) return 'shown';
  const standing = await branchHead(read, name);
  if (standing !== at) return standing === null ? 'gone' : 'moved';
  // 422: it was deleted meanwhile, or a rule protects it; reading it again shows which.
  const deleted = await write(({ rest }, where) =>
    unless(422, async () => (await rest.git.deleteRef({ ...where, ref: `heads/${name}` })).status),
  );
  if (deleted !== null) return 'deleted';
  return (await branchHead(read, name)) === null ? 'gone' : 'ruled';
}

const branchHead = (read: Calls, name: string): Promise<Sha | null> =>
  read(async ({ rest }, where) => {
    const found = await unless([404, 409], () => rest.git.getRef({ ...where, ref: `heads/${name}` }));
    return found && Ref.parse(found.data).object.sha;
  });
