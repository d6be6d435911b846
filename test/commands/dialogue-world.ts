import { withPublicText } from '../../src/adapters/github/index.ts';
import type { CommandIntake, EventActor } from '../../src/commands/index.ts';
import type { NewReply } from '../../src/core/brief/index.ts';
import {
  type Brief,
  Fault,
  type GitHubOrigin,
  type Question,
  type Task,
} from '../../src/core/model/index.ts';
import { withoutHostPaths } from '../../src/core/reports/index.ts';
import { Settings } from '../../src/core/settings/index.ts';
import type {
  CommandPlace,
  Engine,
  GitHub,
  GitHubReader,
  IssueFacts,
  People,
  Permission,
  Publisher,
  Store,
} from '../../src/ports/index.ts';
import { openAnnouncer, type World } from '../../src/runs/index.ts';
import { settleQuestions } from '../../src/runs/questions/index.ts';
import { stagesOf, UNLIMITED } from '../../src/runs/stage.ts';
import { memoryEngine } from '../world/memory-engine.ts';
import { memoryArtifacts, memoryStore } from '../world/memory-store.ts';
import { githubOrigin } from '../world/origin.ts';
import { inPages } from '../world/pages.ts';
import { partial } from '../world/partial.ts';
import { silent } from '../world/silent-log.ts';

/** Of the host: texts on GitHub do not name it. */
export const HOST_FOLDER = '/srv/runoff/data';
export const RUN = 'r0000000000';
export const APP = 77;
export const ORIGIN: GitHubOrigin = githubOrigin();
export const mona = { id: 5, login: 'mona', isBot: false };
export const mallory = { id: 6, login: 'mallory', isBot: false };

export const question: Question = {
  text: 'Which rounding?',
  options: ['half up', 'half even', 'down'],
  severity: 'blocking',
  assume: 'half up',
};

interface PretendComment {
  readonly id: number;
  readonly createdAt: number;
  body: string;
}

/** One issue, as far as a dialogue needs it. `mona` may write; whoever `broken` names cannot be looked up. */
export function pretendGitHub() {
  const comments: PretendComment[] = [];
  const reactions: string[] = [];
  const edits: number[] = [];
  const rights: Record<number, Permission | 'broken'> = { [mona.id]: 'write' };
  let isAway = false;
  const outage = {
    begin: () => {
      isAway = true;
    },
    end: () => {
      isAway = false;
    },
  };
  const reader = partial<GitHubReader>({
    commentPages: () =>
      inPages(
        comments.map((one) => ({
          ...one,
          author: { id: 1, login: 'runoff[bot]' },
          authorIsBot: true,
          association: 'NONE',
          url: `https://github.test/c/${one.id}`,
          performedByAppId: APP,
          updatedAt: one.createdAt,
        })),
      ),
    issue: async () => partial<IssueFacts>({ title: 'Rounding', body: 'It is wrong.', isPull: false }),
    async permission({ id }: { id: number }) {
      const right = rights[id] ?? 'none';
      if (right === 'broken') throw new Fault('GITHUB_UNAVAILABLE', 'GitHub answered 502.');
      return right;
    },
  });
  const asPublished = withoutHostPaths([{ path: HOST_FOLDER, name: '(data folder)' }]);
  const texts = partial<Publisher>({
    async react(target: object, reaction: string) {
      if ('comment' in target) reactions.push(`${target.comment} ${reaction}`);
    },
    async comment(_issue: number, body: string) {
      // As on GitHub, later ones have greater numbers than all before, ours or not.
      const id = comments.length === 0 ? 100 : 1_000 * comments.length;
      comments.push({ id, body, createdAt: Date.now() });
      return { id, url: `https://github.test/c/${id}` };
    },
    async editComment(id: number, body: string) {
      if (isAway) throw new Fault('GITHUB_UNAVAILABLE', 'GitHub answered 502.');
      const found = comments.find((one) => one.id === id);
      if (!found) throw new Error(`There is no comment ${id}.`);
      edits.push(id);
      found.body = body;
    },
    async setLabels() {},
    async close() {},
  });
  const publisher = withPublicText(texts, asPublished);
  const github: GitHub = {
    appId: APP,
    asPublished,
    people: partial<People>({}),
    repositories: async () => [],
    reader: async () => reader,
    publisher: async () => publisher,
  };
  return { github, comments, reactions, edits, rights, outage };
}

/** A run on that issue that asks what its brief leaves open. */
export async function asking(settings: object = {}, questions: readonly Question[] = [question]) {
  const store: Store = memoryStore();
  const engine: Engine = memoryEngine();
  const pretended = pretendGitHub();
  const clock = { now: () => Date.now(), elapsed: () => performance.now(), sleep: async () => {} };
  const log = silent;
  const { github } = pretended;
  const artifacts = memoryArtifacts();
  const announcer = openAnnouncer({ artifacts, store, clock, log, github });
  const world = partial<World>({ store, artifacts, engine, clock, log, github, announcer });
  await admitted(store, settings, questions);
  await engine.launch({
    candidate: async () => null,
    examination: async () => null,
    async run(context) {
      const stage = stagesOf(world, context, RUN, UNLIMITED);
      const agreed = await settleQuestions(world, context, stage, () => stage('brief', async () => null));
      return agreed.kind === 'ok' ? agreed.value : agreed.fault;
    },
  });
  await engine.start(RUN, null);
  const replies = async (): Promise<readonly NewReply[]> => store.replies(RUN);
  const asked = () => pretended.comments.find(({ body }) => body.includes('runoff:question:'));
  return { ...pretended, world, engine, store, replies, asked };
}

async function admitted(store: Store, settings: object, questions: readonly Question[]): Promise<void> {
  const task: Task = {
    runId: RUN,
    origin: ORIGIN,
    title: 'Rounding',
    body: 'It is wrong.',
    comments: [],
    base: { ref: 'main', sha: '0'.repeat(40) },
    settings: Settings.parse(settings),
    lowered: [],
  };
  const brief: Brief = {
    goal: 'Mend it.',
    definitionOfDone: ['It works.'],
    plan: ['Change the rounding.'],
    files: [],
    assumptions: [],
    questions: [...questions],
  };
  await store.createRun({ id: RUN, origin: ORIGIN, title: 'Rounding', request: null, at: 1 });
  await store.updateRun(RUN, { task, brief }, 1);
  await store.transition(RUN, 'admitted', 'test', 1);
}

/** The conversation of that issue. */
export const placeAt = (comment: number, over: Partial<CommandPlace> = {}): CommandPlace => ({
  installationId: ORIGIN.installationId,
  repositoryId: ORIGIN.repositoryId,
  owner: ORIGIN.owner,
  name: ORIGIN.name,
  thread: ORIGIN.issue,
  isPull: false,
  comment,
  on: 'conversation',
  ...over,
});

export interface Said {
  readonly id?: number;
  readonly at?: number;
  readonly actor?: EventActor;
  readonly throughApp?: boolean;
  readonly place?: Partial<CommandPlace>;
}

/** What became of a command in a new comment: its outcome, `open` where it waits for GitHub, null where it was none. */
export async function sayTo(
  world: World,
  intake: CommandIntake,
  body: string,
  { id = 900, at = Date.now(), actor = mona, throughApp = false, place = {} }: Said = {},
): Promise<'done' | 'refused' | 'ignored' | 'open' | null> {
  const issue = { title: 'Rounding', body: 'It is wrong.' };
  await intake.onComment({ place: placeAt(id, place), body, issue, at, throughApp, actor });
  await intake.idle();
  const command = await world.store.command(`${place.on === 'line' ? 'line' : 'comment'}:${id}`);
  return command ? (command.outcome?.kind ?? 'open') : null;
}
