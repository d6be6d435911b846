import { expect, onTestFinished, test } from 'vitest';
import { openGitHubWorld } from '../../packages/local-github/test/github-world.ts';
import { LABEL, openAnnouncer } from '../../src/runs/index.ts';
import { appGitHub } from '../world/app-github.ts';
import { memoryArtifacts, memoryStore } from '../world/memory-store.ts';
import { silent } from '../world/silent-log.ts';

const NOON = Date.UTC(2026, 0, 2, 12);
const ALICE = 'alice';

/** Issues with the label, whose runs wait in the order in which they are asked for, and the App's announcer. */
async function openLineUp() {
  const hub = await openGitHubWorld();
  onTestFinished(() => hub.close());
  const { github: at, repository } = hub;
  const store = memoryStore();
  const clock = { now: () => NOON, elapsed: () => performance.now(), sleep: async () => {} };
  const github = appGitHub(hub);
  let shortage: string | null = null;
  const diskSpace = { shortage: () => shortage };
  const announcer = openAnnouncer({
    artifacts: memoryArtifacts(),
    store,
    clock,
    log: silent,
    github,
    diskSpace,
  });
  const labelled = () => at.as(ALICE).openIssue(repository, { title: 'Add is wrong', labels: [LABEL] });
  let count = 0;
  async function waits(issue: number): Promise<string> {
    const id = `r000000000${++count}`;
    const requestedBy = { id: 1, login: ALICE };
    const origin = {
      kind: 'github',
      ...at.handle(repository.owner, repository.name),
      issue,
      requestedBy,
    } as const;
    await store.createRun({ id, origin, title: 'Add is wrong', request: null, at: NOON + count });
    await store.updateRun(
      id,
      { queueEntry: { share: 'repository 1', priority: 1, since: count } },
      NOON + count,
    );
    return id;
  }
  return {
    store,
    contract: hub.contract,
    labelled,
    waits,
    async tells(...runs: readonly string[]) {
      for (const run of runs) announcer.soon(run);
      await announcer.idle();
    },
    isFull: (why: string) => {
      shortage = why;
    },
    async comments(issue: number) {
      const all = await at.as(ALICE).comments(repository, issue);
      return all.filter(({ user }) => user.login === at.botLogin);
    },
    reactions: (issue: number) =>
      at.reactions.filter(({ target }) => target === `issues/${issue}`).map(({ content }) => content),
    async labels(issue: number) {
      const path = `/repos/${repository.owner}/${repository.name}/issues/${issue}`;
      const found = await at
        .as(ALICE)
        .request<{ readonly labels: readonly { readonly name: string }[] }>('GET', path);
      return found.labels.map(({ name }) => name);
    },
  };
}

test('a queued run shows 👀 and its position once, and why no run starts; the label stays until the run starts', async () => {
  const line = await openLineUp();
  const first = await line.waits(await line.labelled());
  await line.waits(await line.labelled());
  const issue = await line.labelled();
  const third = await line.waits(issue);
  const again = await line.waits(issue);

  await line.tells(third, again);
  const said = await line.comments(issue);
  expect(said.map(({ body }) => body)).toEqual([expect.stringContaining('3rd of 4 in line')]);
  expect([line.reactions(issue), await line.labels(issue)]).toEqual([['eyes'], [LABEL]]);

  await line.store.transition(first, 'cancelled', 'asked', NOON);
  line.isFull('The data folder of this machine has reached MAX_DISK.');
  await line.tells(third);
  const later = await line.comments(issue);
  expect(later.map(({ id }) => id)).toEqual(said.map(({ id }) => id));
  expect(later[0]?.body).toContain('2nd of 3 in line');
  expect(later[0]?.body).toContain('has reached MAX\\_DISK');
  expect([line.reactions(issue), await line.labels(issue)]).toEqual([['eyes'], [LABEL]]);
  expect(line.contract.violations).toEqual([]);
});
