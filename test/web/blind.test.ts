import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { systemRandom } from '../../src/adapters/system/index.ts';
import { finalReport } from '../../src/cli/render/final-report.ts';
import { renderProgress } from '../../src/cli/render/progress.ts';
import { stopRunsOfIssue } from '../../src/commands/index.ts';
import type { Candidate } from '../../src/core/model/index.ts';
import { runDocument } from '../../src/core/reports/index.ts';
import { diffsOf, viewOf, type World } from '../../src/runs/index.ts';
import { shownWork } from '../../src/runs/shown.ts';
import { openWeb, type WebApp } from '../../src/web/index.ts';
import { atWork, shown } from '../commands/command-world.ts';
import { RUN } from '../commands/dialogue-world.ts';
import { JUDGEMENT } from '../core/reports/sample.ts';
import { bookRow } from '../world/ledger.ts';
import { partial } from '../world/partial.ts';
import { apiWorld, expectContract, RUNS } from './api/api-world.ts';
import { mona } from './web-world.ts';

/** Everything that a contestant of these stories can be known by: agent, version, model, maker, prompt. */
const NAMES = /zebra|okapi|gnu-labs|quagga/i;
const MODEL = 'gnu-labs/okapi-4';
/** The cost of a candidate, which would tell its model by its price. */
const COST = /0\.777/;

const written = (one: Candidate): Candidate => ({
  ...one,
  contestant: { agent: 'zebra-coder', model: MODEL, prompt: 'quagga' },
  coderVersion: 'zebra-coder 9.1',
  note: `${MODEL} answered 429 once, and zebra-coder went on`,
  usage: { ...one.usage, usd: 0.777 },
});

const blind = {
  settings: { blind: true, evaluator: ['evidence', 'human'] },
  candidate: written,
  reason: `D left no patch: ${MODEL} answered 429, said zebra-coder.`,
};

type Blind = ReturnType<typeof apiWorld>;

/** Every page that links lead to, from the overview of the run and from the pages above it, and what each answers. */
async function everyPage(web: WebApp): Promise<ReadonlyMap<string, string>> {
  const pages = new Map<string, string>();
  const open = ['/runs', '/leaderboard', `/runs/${RUN}`];
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (pages.has(path)) continue;
    const answer = await web.fetch(new Request(`http://runoff.test${path}`));
    const text = await answer.text();
    expect([path, answer.status]).toEqual([path, 200]);
    pages.set(path, text);
    for (const [, found = ''] of text.matchAll(/href="(\/[^"#]*)/g)) {
      if (/^\/(?:runs|leaderboard)/.test(found)) open.push(found.replaceAll('&amp;', '&'));
    }
  }
  return pages;
}

const pagesOver = ({ world, intake }: Blind): WebApp =>
  openWeb({
    world: partial<World>({ ...world, random: { ...systemRandom } }, ['diskSpace']),
    commands: { onPage: intake.onPage, outcome: intake.outcome },
    identify: async () => ({ viewer: mona, csrf: 'token' }),
  });

/** All that a stream of the run sends until the first event of this kind. */
async function eventsUntil(kind: string, response: Promise<Response>): Promise<string> {
  const { body } = await response;
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  while (!new RegExp(`^event: ${kind}\\n(?:.*\\n)*\\n`, 'm').test(text)) {
    const { value, done } = (await reader?.read()) ?? { done: true };
    if (done) throw new Error(`The stream ended before ${kind}: ${text}`);
    text += value;
  }
  await reader?.cancel();
  return text;
}

/** All that people read about the run: pages, answers of the API, comments and pull requests on GitHub, the terminal. */
async function allThatIsRead(s: Blind): Promise<ReadonlyMap<string, string>> {
  const web = pagesOver(s);
  const texts = new Map(await everyPage(web));
  for (const path of ['', `/${RUN}`, `/${RUN}/candidates/A/diff`]) {
    const { status, text } = await s.get(`${RUNS}${path}`);
    if (status === 200) texts.set(`API ${path}`, text);
  }
  expect(texts.has(`API /${RUN}`)).toBe(true);
  for (const { id, body } of s.repository.comments) texts.set(`comment ${id}`, body);
  for (const pull of s.repository.pulls.values()) texts.set('pull request', JSON.stringify(pull));
  const run = await s.store.run(RUN);
  if (!run) throw new Error('There is no run.');
  const view = await viewOf(s.world, run);
  const diffs = await diffsOf(s.world, RUN);
  texts.set('runoff show', finalReport(view, { width: 200, colour: false, diffs, commands: [] }).join('\n'));
  texts.set('runoff status', renderProgress(view, 200, false).join('\n'));
  texts.set('--json', JSON.stringify(runDocument(view)));
  web.close();
  return texts;
}

const naming = (texts: ReadonlyMap<string, string>): readonly string[] =>
  [...texts].filter(([, text]) => NAMES.test(text) || COST.test(text)).map(([place]) => place);

/** What a coder reports, names of its agent and model among it, and a call that was paid for. */
async function reports({ store, now }: Blind): Promise<void> {
  const step = { alias: 'A', at: now(), kind: 'says' } as const;
  await store.appendSteps(RUN, [
    { ...step, number: 1, text: 'I am zebra-coder on okapi-4.', detail: `model: ${MODEL}` },
    { ...step, number: 2, text: 'I read the list.', call: 'zebra_01' },
  ]);
  for (const [spender, usd] of [
    ['A', 0.777],
    ['B', 0.12],
    ['brief', 0.01],
  ] as const) {
    await bookRow(store, {
      ...{ runId: RUN, spender, repository: 'github-42', model: MODEL, usd, at: now() },
      ...{
        tokensIn: 1200,
        tokensOut: 50,
        tokensCached: 0,
        tokensReasoning: 0,
        exact: true,
        status: 200,
        ms: 10,
      },
    });
  }
}

/** Commands about the run that name contestants, and what became of them. */
async function askedFor({ store, now, placeAt }: Blind): Promise<void> {
  for (const [text, outcome] of [
    [
      `/auto-dev run --coders="zebra-coder" --models=${MODEL} --prompts quagga -n 2`,
      { kind: 'done', note: `started a run with ${MODEL}` },
    ],
    ['/auto-dev retry all —prompts quagga', { kind: 'refused', why: 'There is no agent gpt-okapi-4.' }],
    [`/auto-dev revise Leave it to ${MODEL}.`, { kind: 'done', note: 'the run continues with it' }],
  ] as const) {
    const at = now();
    const id = `comment:${at}-${text.length}`;
    await store.recordCommand({
      id,
      place: placeAt(7),
      by: { id: 5, login: 'mona' },
      text,
      at,
      receivedAt: at,
    });
    await store.settleCommand(id, outcome, at, RUN);
  }
}

describe('in blind mode', () => {
  test('nobody reads who wrote which candidate, until a person has picked', async () => {
    const s = apiWorld();
    await shown(s, 'choice', blind);
    await reports(s);
    const judges = JUDGEMENT.judges.map((one) => ({
      ...one,
      model: MODEL,
      problems: [`${MODEL} was silent`],
    }));
    await s.store.updateRun(RUN, { judgement: { ...JUDGEMENT, judges } }, s.now());
    await s.say('/auto-dev explain A');
    await s.say('/auto-dev vote B');
    await askedFor(s);
    const message = `A hook said: ${MODEL} was here.`;
    await s.store.updateRun(RUN, { trouble: { code: 'GITHUB_REFUSED', message, advice: '' } }, s.now());

    const before = await allThatIsRead(s);
    expect(naming(before)).toEqual([]);
    expect([...before.keys()]).toEqual(
      expect.arrayContaining(
        ['', '/cost', '/judges', '/audit', '/steps/A', '/candidates/A', '/tests'].map(
          (path) => `/runs/${RUN}${path}`,
        ),
      ),
    );
    expect(before.get(`/runs/${RUN}`)).toContain('Blind mode: who wrote which candidate is hidden');
    // A search must not tell what the page hides.
    const web = pagesOver(s);
    const search = (text: string) =>
      web
        .fetch(new Request(`http://runoff.test/runs/${RUN}/steps/A?q=${text}`))
        .then((answer) => answer.text());
    expect(await search('okapi')).toContain('No step matches');
    expect(await search('list')).toContain('I read the list.');
    // Nor must what is hidden keep it from finding older steps.
    await s.store.appendSteps(
      RUN,
      Array.from({ length: 450 }, (_, at) => ({
        ...{ alias: 'A', at: s.now(), kind: 'says', number: at + 3 },
        text: at === 3 ? 'The list is for a coder.' : 'I am zebra-coder.',
      })),
    );
    const found = await search('coder');
    expect(found).toContain('The list is for a coder.');
    expect(found.match(/<li id="step-/g)).toHaveLength(1);
    expect(await search('coder&after=2')).toContain('The list is for a coder.');
    const page = new Request(`http://runoff.test/runs/${RUN}/events?steps=A&after=0&call=0`);
    const api = new Request(`http://runoff.test${RUNS}/${RUN}/events?steps=A`, {
      headers: { authorization: `Bearer ${await s.usual}` },
    });
    for (const sent of [web.fetch(page), s.fetch(api)]) {
      const text = await eventsUntil('run', sent);
      expect(text).toContain('I read the list.');
      expect(text).not.toMatch(NAMES);
      expect(text).not.toMatch(COST);
    }
    web.close();

    expect((await s.say('/auto-dev pick B')).outcome).toBe('done');
    const after = await allThatIsRead(s);
    const named = naming(after);
    expect(named).toEqual(
      expect.arrayContaining([
        ...['', '/audit', '/cost', '/judges', '/steps/A'].map((path) => `/runs/${RUN}${path}`),
        ...[`API /${RUN}`, 'runoff show', '--json', 'pull request', '/leaderboard'],
      ]),
    );
    const comments = s.repository.comments.filter(({ body }) => NAMES.test(body));
    const kinds = comments.map(({ body }) => /runoff:(\w+)/.exec(body)?.[1]);
    expect(kinds).toEqual(expect.arrayContaining(['choice', 'comparison', 'status']));
  });

  test('a page that was just loaded need not be loaded again, until somebody votes or picks elsewhere', async () => {
    const s = apiWorld();
    await shown(s, 'choice', blind);
    const web = pagesOver(s);
    const get = (path: string) => web.fetch(new Request(`http://runoff.test/runs/${RUN}${path}`));
    const ofPage = async () => /data-live-structure="(\w+)"/.exec(await (await get('')).text())?.[1];
    const ofStream = async () => /"structure":"(\w+)"/.exec(await eventsUntil('run', get('/events')))?.[1];
    const seen = new Set();
    const look = async () => {
      const structure = await ofPage();
      expect(structure).toBe(await ofStream());
      expect(seen).not.toContain(structure);
      seen.add(structure);
    };
    await look();
    await s.store.vote(RUN, { by: { id: 6, login: 'nina' }, alias: 'B', at: s.now() });
    await look();
    await s.store.vote(RUN, { by: { id: 6, login: 'nina' }, alias: 'A', at: s.now() });
    await look();
    const alone = { aliases: ['A'], first: 'A', votes: {} };
    await s.store.addPick(RUN, { alias: 'A', by: null, at: s.now(), key: 'k', shown: alone });
    await look();
    web.close();
  });

  test.each([
    ['the issue is closed', 'the issue was closed'],
    ['somebody gives up the pick', null],
  ])('all of it is shown once %s, as nobody can pick any more', async (_how, cause) => {
    const s = apiWorld();
    await shown(s, 'choice', blind);
    expect(naming(await allThatIsRead(s))).toEqual([]);
    if (cause === null) await s.say('/auto-dev cancel');
    else await stopRunsOfIssue(s.world, { repositoryId: 42, issue: 7, at: s.now() + 1_000, cause });
    await s.world.announcer.idle();
    expect(await s.store.run(RUN)).toMatchObject({ state: 'closed' });
    expect(naming(await allThatIsRead(s))).toEqual(
      expect.arrayContaining([`/runs/${RUN}`, `API /${RUN}`, 'runoff show']),
    );
    const choice = s.repository.comments.find(({ body }) => body.startsWith('<!-- runoff:choice:'))?.body;
    expect(choice).toMatch(NAMES);
    expect(choice).toContain('No candidate was picked');
    expect(choice).not.toContain('- [ ]');
  });

  test('nor while coders work; the end of the run shows it', async () => {
    const s = apiWorld();
    await atWork(s, blind);
    for (const alias of ['A', 'B']) {
      const usage = { usd: 0.777, tokensIn: 1, tokensOut: 1, calls: 1 };
      const one = {
        runId: RUN,
        alias,
        ordinal: 0,
        state: 'coding',
        usage,
        ms: 1_000,
        note: 'starts',
      } as const;
      await s.store.putCandidate(written({ ...one, contestant: { agent: '', model: '', prompt: '' } }));
    }
    await reports(s);
    await askedFor(s);
    const read = await allThatIsRead(s);
    expect(naming(read)).toEqual([]);
    expect(read.get(`/runs/${RUN}/audit`)).toContain('/auto-dev run [options hidden]');

    await s.store.transition(RUN, 'cancelled', 'test', s.now());
    expect(naming(await allThatIsRead(s))).toEqual(
      expect.arrayContaining([`/runs/${RUN}`, `/runs/${RUN}/steps/A`, `API /${RUN}`]),
    );
  });

  test('a local run whose result is inconclusive hides them until somebody has picked', async () => {
    const s = apiWorld();
    await shown(s, 'choice', blind);
    const run = await s.store.run(RUN);
    if (!run) throw new Error('There is no run.');
    const local = { ...run, origin: { kind: 'local', path: '/work/tally' }, state: 'published' } as const;
    expect(run.decision?.kind).toBe('toss-up');
    expect((await shownWork(s.store, local)).namesHidden).toBe(true);
    await s.store.addPick(RUN, {
      ...{ alias: 'A', by: null, at: s.now(), key: 'k' },
      shown: { aliases: ['A'], first: 'A', votes: {} },
    });
    expect((await shownWork(s.store, local)).namesHidden).toBe(false);
  });

  test('a winner is published with its name: nothing is left to pick', async () => {
    const s = apiWorld();
    await shown(s, 'pull', blind);
    expect(naming(await allThatIsRead(s))).toEqual(expect.arrayContaining(['pull request', `/runs/${RUN}`]));
  });
});

test('pages and command line do not read past it what blind mode hides', async () => {
  const root = join(import.meta.dirname, '../../src');
  const files = (await readdir(root, { recursive: true })).filter((path) =>
    /^(?:web|cli|server)\/.*\.ts$/.test(path),
  );
  expect(files.length).toBeGreaterThan(50);
  for (const file of files) {
    const text = await readFile(join(root, file), 'utf8');
    expect([file, /\bstore\s*\.(?:candidates|steps|callsOf|spendingOf)\(/.test(text)]).toEqual([file, false]);
  }
});

test('a run that is not blind shows its contestants all the time', async () => {
  const s = apiWorld();
  await shown(s, 'choice', { candidate: written });
  expect(naming(await allThatIsRead(s))).toEqual(expect.arrayContaining([`/runs/${RUN}`, `API /${RUN}`]));
  expectContract();
});
