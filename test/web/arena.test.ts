import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openContests } from '../../src/adapters/arena/index.ts';
import { readRecords, VOTES_FILE, VoteRecord } from '../../src/core/arena/index.ts';
import type { Workspaces } from '../../src/ports/index.ts';
import type { World } from '../../src/runs/index.ts';
import type { Viewer } from '../../src/web/index.ts';
import { contestFile, fieldFrom, writeContest } from '../cli/contest-folder.ts';
import { shellOver } from '../cli/shell.ts';
import { type Field, SOLVED, UNSOLVED } from '../core/arena/contest-records.ts';
import { CORPUS } from '../core/reports/hostile.ts';
import { partial } from '../world/partial.ts';
import { expectInert } from './inert.ts';
import { CSRF, mona, webWorld } from './web-world.ts';

const kim: Viewer = { kind: 'github', id: 6, login: 'kim', operator: true };
const local: Viewer = { kind: 'local' };
const TASKS = ['q1', 'q2', 'q3']
  .map((id) => `  - { id: ${id}, kind: text, prompt: "What is ${id}?" }`)
  .join('\n');
/** Of the two contestants of the file: a prompt and a model each. */
const NAMES = /careful|brief|openai|scripted/;

let dir: string;
let isLocked: boolean;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'arena-pages-'));
  isLocked = false;
  origins = new Map();
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const openFolders = () =>
  openContests({
    dir,
    dataDir: join(dir, 'data'),
    lock: async () => (isLocked ? null : async () => {}),
  });
const variants = new Map<string, string>();
/** Remotes of the repositories of this machine, by their path. */
let origins: Map<string, string>;
const pages = () =>
  webWorld({
    world: partial<World>({
      workspaces: partial<Workspaces>({ origin: async (path) => origins.get(path) ?? null }),
    }),
    arena: { contests: openFolders(), variants, githubUrl: 'https://github.test', localVoter: () => 'sam' },
  });

function answered(answerOf = (contestant: string, task: string) => `${contestant.length} on ${task}`): Field {
  const field = fieldFrom(contestFile(TASKS));
  for (const { id: task } of field.contest.tasks)
    for (const { id } of field.contest.contestants) field.answer(id, task, answerOf(id, task));
  return field;
}
const spring = (field = answered()) => writeContest(join(dir, 'spring'), contestFile(TASKS), field);

const votes = async () =>
  readRecords(await readFile(join(dir, 'spring', VOTES_FILE), 'utf8'), VOTES_FILE, VoteRecord).records;
const verdicts = async () => (await votes()).map((one) => (one.kind === 'vote' ? one.verdict : 'undo'));

const textOf = async (path: string, viewer: Viewer | null = kim, world = pages()) => {
  const answer = await world.get(path, viewer);
  return { status: answer.status, text: await answer.text() };
};

/** A person in front of the ballot, without scripts: reads the page, presses its buttons, follows where they lead. */
async function voter(viewer: Viewer = kim, world = pages()) {
  let path = '/arena/spring/vote';
  let page = await (await world.get(path, viewer)).text();
  const hidden = (name: string) => new RegExp(`name="${name}" value="([^"]*)"`).exec(page)?.[1];
  const send = async (to: string, fields: Readonly<Record<string, string>>) => {
    world.now += 1;
    const body = new URLSearchParams({ csrf: CSRF, ...fields });
    const answer = await world.get(to, viewer, { method: 'POST', body });
    if (answer.status !== 303) return { status: answer.status, text: await answer.text() };
    path = answer.headers.get('location') ?? '';
    page = await (await world.get(path, viewer)).text();
    return { status: 303, text: page };
  };
  const pair = () => ({ left: hidden('left') ?? '', right: hidden('right') ?? '' });
  return {
    page: () => page,
    pair,
    votes: (verdict: string, on = pair()) => send('/arena/spring/vote', { ...on, verdict }),
    undoes: (vote = hidden('vote') ?? '') => send('/arena/spring/undo', { vote }),
    lastVote: () => hidden('vote') ?? '',
  };
}

describe('contests are', () => {
  test('for operators and for the person at this machine; for all others there is nothing', async () => {
    await spring();
    const world = pages();
    for (const path of ['/arena', '/arena/spring', '/arena/spring/vote', '/arena/spring/report']) {
      expect((await textOf(path, kim, world)).status).toBe(200);
      expect((await textOf(path, local, world)).status).toBe(200);
      const other = await textOf(path, mona, world);
      expect([other.status, other.text]).toEqual([404, (await textOf('/nowhere', mona, world)).text]);
      expect((await textOf(path, null, world)).status).not.toBe(200);
    }
    const [left, right] = answered().samples;
    const body = new URLSearchParams({
      csrf: CSRF,
      left: left?.id ?? '',
      right: right?.id ?? '',
      verdict: 'left',
    });
    expect((await world.get('/arena/spring/vote', mona, { method: 'POST', body })).status).toBe(404);
    expect(await votes()).toEqual([]);
    expect((await textOf('/runs', kim, world)).text).toContain('href="/arena"');
    expect((await textOf('/runs', mona, world)).text).not.toContain('/arena');
  });

  test('those of the data folder, with what they consist of or why they cannot be read', async () => {
    expect((await textOf('/arena')).text).toContain('runoff arena init NAME');
    await spring();
    await mkdir(join(dir, 'broken'));
    await writeFile(join(dir, 'broken', 'contest.yml'), 'version: 9\n');
    await mkdir(join(dir, 'no-contest'));
    const { text } = await textOf('/arena');
    expectInert(text);
    expect(text.match(/\/arena\/[\w-]+/g)).toEqual(['/arena/broken', '/arena/spring']);
    expect(text).toMatch(/cannot be read: .*version/);
    expect((await textOf('/arena/broken')).status).toBe(422);
    for (const name of ['none', '..%2Fspring', 'a%20b', 'no-contest'])
      expect((await textOf(`/arena/${name}`)).status).toBe(404);
  });
});

describe('a person votes on pairs', () => {
  test('with the same record as `runoff arena vote`, which goes on where the page stopped', async () => {
    await spring();
    const voting = await voter();
    expect(voting.page()).toContain('Pair 1 of 3.');
    await voting.votes('left');
    expect(voting.page()).toContain('You preferred A.');
    await voting.votes('tie');
    expect(await votes()).toMatchObject([
      { version: 1, kind: 'vote', verdict: 'left', by: { kind: 'person', name: 'kim' }, resultsShown: false },
      { kind: 'vote', verdict: 'tie' },
    ]);
    const shell = shellOver({}, { openContests: async () => ({ contests: openFolders(), variants }) });
    expect(await shell.type('arena', 'vote', 'spring', '--as', 'kim', '--json')).toBe(0);
    const { open, pairs } = JSON.parse(shell.out());
    expect([open, pairs[0].left.sample, pairs[0].right.sample]).toEqual([1, ...Object.values(voting.pair())]);
    await voting.votes('skip');
    expect(voting.page()).toContain('You have voted on every pair.');
    expect((await textOf('/arena/spring')).text).toMatch(/voted on or skipped 3 pairs; 0 pairs are left/);
  });

  test('takes back the last vote, and is asked about that pair again', async () => {
    await spring();
    const voting = await voter();
    const first = voting.pair();
    await voting.votes('right');
    const vote = voting.lastVote();
    await voting.undoes();
    expect(voting.pair()).toEqual(first);
    expect(await verdicts()).toEqual(['right', 'undo']);
    // Sent once more, the same form must not take back anything else.
    await voting.votes('left');
    await voting.undoes(vote);
    expect(await verdicts()).toEqual(['right', 'undo', 'left']);
  });

  test('once, however often the same form is sent, and at the same time as others', async () => {
    await spring();
    const world = pages();
    const voting = await voter(kim, world);
    const on = voting.pair();
    await Promise.all([1, 2, 3].map(() => voting.votes('left', on)));
    expect(await verdicts()).toEqual(['left']);
    const sam = await voter(local, world);
    await Promise.all([sam.votes('tie'), voting.votes('right')]);
    const by = (await votes()).map((one) =>
      one.kind === 'vote' ? `${one.by.kind === 'person' && one.by.name} ${one.verdict}` : '',
    );
    expect(by.toSorted()).toEqual(['kim left', 'kim right', 'sam tie']);
  });

  test('blind: no page on the way names who answered, and text of others stays text', async () => {
    const hostile = CORPUS.join(' ');
    await spring(answered((contestant, task) => `${hostile} ${contestant.length} ${task}`));
    const voting = await voter();
    for (const verdict of ['left', 'tie', 'skip']) {
      expectInert(voting.page());
      expect(voting.page()).not.toMatch(NAMES);
      await voting.votes(verdict);
    }
    expect((await textOf('/arena/spring')).text).not.toMatch(NAMES);
  });

  test('only with a form of their own page, on a pair of the contest, while nobody else works on it', async () => {
    await spring();
    const voting = await voter();
    const on = voting.pair();
    const forged = new URLSearchParams({ ...on, verdict: 'left', csrf: 'x' });
    expect((await pages().get('/arena/spring/vote', kim, { method: 'POST', body: forged })).status).toBe(403);
    expect((await voting.votes('left', { left: 's0000000000000000', right: on.right })).status).toBe(422);
    expect((await voting.votes('best', on)).status).toBe(400);
    expect((await voting.votes('left', { left: '../x', right: on.right })).status).toBe(400);
    isLocked = true;
    expect(await voting.votes('left', on)).toMatchObject({ status: 409 });
    expect(await votes()).toEqual([]);
  });

  test('not on a contest that was changed after people had voted', async () => {
    const field = answered();
    const [one, other] = field.samples;
    if (one && other) field.vote(one, other, 'left');
    await writeContest(join(dir, 'spring'), contestFile(TASKS.replace('What is q1?', 'Who is q1?')), field);
    const { status, text } = await textOf('/arena/spring/vote');
    expect([status, text]).toEqual([422, expect.stringContaining('changed after 1 vote was cast')]);
  });
});

describe('results of what was executed are shown', () => {
  const diff = (line: string) => `--- a/x.js\n+++ b/x.js\n@@ -1 +1 @@\n-1;\n+${line};\n`;
  const shown = async (results: 'before' | 'after') => {
    const file = contestFile('  - { id: t1, kind: text, prompt: "?" }', `votes: { results: ${results} }\n`);
    const field = fieldFrom(file);
    const [a, b] = field.contest.contestants;
    field.answer(a?.id ?? '', 't1', diff('2'), { form: 'diff', verification: SOLVED });
    field.answer(b?.id ?? '', 't1', diff('3'), { form: 'diff', verification: UNSOLVED });
    await writeContest(join(dir, 'spring'), file, field);
    const voting = await voter();
    const before = voting.page();
    await voting.votes('left');
    return { before, after: voting.page() };
  };

  test('after the vote', async () => {
    const { before, after } = await shown('after');
    expect(before).toContain('<span class="added"><bdi>+2;</bdi></span>');
    expect(before).not.toMatch(/solved/);
    expect(after).toMatch(/You preferred A\. [AB] .*not solved/);
    expect(await votes()).toMatchObject([{ resultsShown: false }]);
  });

  test('before it, where the contest says so', async () => {
    const { before } = await shown('before');
    expect(before).toMatch(/not solved: applied, built/);
    expect(await votes()).toMatchObject([{ resultsShown: true }]);
  });

  test('but not by an address, before the person has voted', async () => {
    await shown('after');
    const { left, right } = (await votes()).find((one) => one.kind === 'vote') ?? { left: '', right: '' };
    const after = encodeURIComponent(JSON.stringify([left, right].toSorted()));
    expect((await textOf(`/arena/spring/vote?after=${after}`, local)).text).not.toMatch(/solved/);
  });
});

test('the report has the sections of its files, and a picture without a style of its own', async () => {
  const field = answered();
  for (let at = 0; at < field.samples.length; at += 2) {
    const [one, other] = field.samples.slice(at, at + 2);
    if (one && other) field.vote(one, other, 'left');
  }
  await spring(field);
  const { status, text } = await textOf('/arena/spring/report');
  expect(status).toBe(200);
  for (const part of ['Rating by people', 'Results and cost', 'careful', '<svg', '3 votes by 1 person'])
    expect(text).toContain(part);
  expect(text).not.toMatch(/<style| style=|<script>/);
});

describe('a contest with tasks of a repository', () => {
  const COMMIT = 'c'.repeat(40);
  const STATEMENT = 'Round shares of the secret project.';
  const repoTask = (id: string, repository: string) =>
    `  - { id: ${id}, kind: repo, base: { repository: ${repository}, commit: ${COMMIT} }, statement: "${STATEMENT}", verify: node --test }`;
  const PATHS = ['/arena/spring', '/arena/spring/vote', '/arena/spring/report'];
  /** Of these repositories of this machine; both contestants have answered. */
  async function mined(...repositories: readonly string[]): Promise<void> {
    const file = contestFile(repositories.map((path, at) => repoTask(`t${at}`, path)).join('\n'));
    const field = fieldFrom(file);
    for (const { id: task } of field.contest.tasks)
      for (const [at, { id }] of field.contest.contestants.entries())
        field.answer(id, task, `--- a/shares.js\n+++ b/shares.js\n@@ -1 +1 @@\n-1;\n+${at};\n`, {
          form: 'diff',
          verification: SOLVED,
        });
    await writeContest(join(dir, 'spring'), file, field);
  }
  const withApp = () => {
    const world = pages();
    for (const [at, name] of ['shop', 'lists'].entries())
      world.installed.push({ installationId: 1, repositoryId: 42 + at, owner: 'Acme', name, installedAt: 0 });
    return world;
  };
  const statuses = async (world: ReturnType<typeof pages>, viewer: Viewer = kim) =>
    Promise.all(PATHS.map(async (path) => (await textOf(path, viewer, world)).status));
  const SECRET = /secret project|shares\.js|\bt0\b|acme|shop/i;

  test('is shown to an operator who may read that repository now, and no longer than that', async () => {
    await mined('/srv/shop');
    origins.set('/srv/shop', 'git@github.test:acme/Shop.git');
    const world = withApp();
    world.rights.set('42 6', 'read');
    expect(await statuses(world)).toEqual([200, 200, 200]);
    expect((await textOf('/arena/spring/vote', kim, world)).text).toContain(STATEMENT);
    const voting = await voter(kim, world);
    const on = voting.pair();

    world.rights.delete('42 6');
    world.now += 61_000;
    expect(await statuses(world)).toEqual([403, 403, 403]);
    for (const path of ['/arena', ...PATHS]) {
      const { text } = await textOf(path, kim, world);
      expect(text).toContain('from a repository that you have no access to');
      expect(text).not.toMatch(SECRET);
      expectInert(text);
    }
    // Nor does the old form get anything.
    const late = await voting.votes('left', on);
    expect([late.status, late.text]).toEqual([403, expect.not.stringMatching(SECRET)]);
    expect(await votes()).toEqual([]);
  });

  test('of which one may not be read is withheld as a whole', async () => {
    await mined('/srv/shop', '/srv/lists');
    origins.set('/srv/shop', 'https://github.test/acme/shop');
    origins.set('/srv/lists', 'https://github.test/acme/lists.git');
    const world = withApp();
    world.rights.set('42 6', 'write');
    expect(await statuses(world)).toEqual([403, 403, 403]);
    world.now += 61_000;
    world.rights.set('43 6', 'read');
    expect(await statuses(world)).toEqual([200, 200, 200]);
  });

  test('is withheld without the words of GitHub while it refuses to say where the App is installed', async () => {
    await mined('/srv/shop');
    origins.set('/srv/shop', 'https://github.test/acme/shop');
    const world = withApp();
    world.rights.set('42 6', 'read');
    world.isRefused = true;
    expect(await statuses(world)).toEqual([403, 403, 403]);
    for (const path of ['/arena', ...PATHS])
      expect((await textOf(path, kim, world)).text).not.toMatch(/GitHub refused|suspended|acme/);
    world.isRefused = false;
    expect(await statuses(world)).toEqual([200, 200, 200]);
  });

  test.each([
    ['has no remote', null],
    ['has a remote elsewhere', 'https://git.example/acme/shop'],
    ['has a remote without the App', 'https://github.test/acme/other'],
    ['has a remote that is no address', '--upload-pack=touch'],
  ])('that %s is for the person at this machine alone', async (_what, origin) => {
    await mined('/srv/shop');
    if (origin !== null) origins.set('/srv/shop', origin);
    const world = withApp();
    world.rights.set('42 6', 'admin');
    expect(await statuses(world)).toEqual([403, 403, 403]);
    expect(await statuses(world, local)).toEqual([200, 200, 200]);
    expect(world.asked.filter((one) => one !== 'installed')).toEqual([]);
  });

  test('is shown to nobody of GitHub while GitHub cannot be asked; contests of texts are', async () => {
    await mined('/srv/shop');
    origins.set('/srv/shop', 'https://github.test/acme/shop');
    const world = withApp();
    world.rights.set('42 6', 'read');
    world.isDown = true;
    expect(await statuses(world)).toEqual([503, 503, 503]);
    expect((await textOf('/arena', kim, world)).status).toBe(503);
    expect(await statuses(world, local)).toEqual([200, 200, 200]);
    await spring();
    expect(await statuses(world)).toEqual([200, 200, 200]);
    world.isDown = false;
    await mined('/srv/shop');
    expect(await statuses(world)).toEqual([200, 200, 200]);
  });
});
