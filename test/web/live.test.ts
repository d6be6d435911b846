import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { systemClock } from '../../src/adapters/system/index.ts';
import type { Candidate, CoderStep } from '../../src/core/model/index.ts';
import type {
  Clock,
  GitHub,
  GitHubReader,
  RepositoryFacts,
  RepositoryHandle,
} from '../../src/ports/index.ts';
import type { World } from '../../src/runs/index.ts';
import type { Viewer } from '../../src/web/index.ts';
import { bookRow } from '../world/ledger.ts';
import { partial } from '../world/partial.ts';
import { mona, type WebWorld, webWorld } from './web-world.ts';

interface SeenEvent {
  readonly id: string;
  readonly name: string;
  /** Fields of all kinds of events. */
  readonly data: {
    readonly structure?: string;
    readonly texts?: Readonly<Record<string, string>>;
    readonly numbers?: readonly number[];
    readonly html?: string;
    readonly spread?: number;
  };
}

/** Reads a stream of events as a browser does. */
function reader(response: Response) {
  const body = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  if (!body) throw new Error('The answer has no body.');
  let rest = '';
  const waiting: SeenEvent[] = [];
  const next = async (): Promise<SeenEvent | null> => {
    for (;;) {
      const ready = waiting.shift();
      if (ready) return ready;
      const { value, done } = await body.read();
      if (done) return null;
      const parts = (rest + value).split('\n\n');
      rest = parts.pop() ?? '';
      for (const part of parts) {
        const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(part)?.[1] ?? '';
        if (field('event'))
          waiting.push({ id: field('id'), name: field('event'), data: JSON.parse(field('data')) });
      }
    }
  };
  return {
    next,
    async until(name: string): Promise<SeenEvent> {
      for (;;) {
        const event = await next();
        if (event === null) throw new Error(`The stream ended before ${name}.`);
        if (event.name === name) return event;
      }
    },
    close: () => body.cancel(),
  };
}

/** US dollars of the calls in an event, which the calls of a story differ by. */
const costsIn = ({ data }: SeenEvent): readonly number[] =>
  [...(data.html ?? '').matchAll(/\$(\d+)\.00/g)].map(([, usd]) => Number(usd));

/** Everything until a stream ends. */
async function readAll({ next }: ReturnType<typeof reader>) {
  const names: string[] = [];
  const costs: number[] = [];
  for (let event = await next(); event; event = await next()) {
    names.push(event.name);
    costs.push(...costsIn(event));
  }
  return { names, costs };
}

const candidate = (over: Partial<Candidate> = {}): Candidate => ({
  runId: 'r111111111',
  alias: 'A',
  ordinal: 0,
  contestant: { agent: 'builtin', model: 'anthropic/claude-sonnet-5', prompt: 'plain' },
  state: 'coding',
  usage: { usd: 0.25, tokensIn: 1, tokensOut: 1, calls: 1 },
  ms: 1000,
  note: 'starts',
  ...over,
});
const step = (number: number, over: Partial<CoderStep> = {}): CoderStep => ({
  alias: 'A',
  number,
  at: 1_000 + number,
  kind: 'says',
  text: `step ${number}`,
  ...over,
});
const call = (usd: number, at: number) => ({
  ...{ runId: 'r111111111', spender: 'A', repository: 'github-42', model: 'anthropic/claude-sonnet-5' },
  ...{ tokensIn: 1200, tokensOut: 50, tokensCached: 0, tokensReasoning: 0, exact: true, status: 200, ms: 10 },
  usd,
  at,
});

/** Looks at the database twenty times as often. */
const clock: Clock = {
  now: systemClock.now,
  elapsed: () => systemClock.elapsed() + later,
  sleep: (ms, signal) => systemClock.sleep(ms / 20, signal),
};
/** Milliseconds by which the clock is ahead. */
let later = 0;

let world: WebWorld;
const open: { close(): Promise<void> }[] = [];
beforeEach(async () => {
  later = 0;
  world = webWorld({ world: partial<World>({ clock }) });
  world.rights.set('42 5', 'read').set('42 6', 'read');
  await world.run('r111111111');
  await world.store.putCandidate(candidate());
});
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
  world.close();
});

const follow = async (path: string, who: Viewer | null = mona, headers: Record<string, string> = {}) => {
  const response = await world.get(path, who, { headers });
  expect([response.status, response.headers.get('content-type')]).toEqual([
    200,
    'text/event-stream; charset=utf-8',
  ]);
  const stream = reader(response);
  open.push(stream);
  return stream;
};

describe('the stream of a run', () => {
  test('tells what has changed, and whether the page must be loaded again', async () => {
    const page = await (await world.get('/runs/r111111111', mona)).text();
    const stream = await follow('/runs/r111111111/events');
    const first = await stream.until('run');
    expect(page).toContain(`data-live-structure="${first.data.structure}"`);
    expect(first.data).toMatchObject({
      state: 'queued',
      texts: { 'A.note': 'starts', 'A.usd': '$0.25', usd: '$0.00' },
    });
    await world.store.putCandidate(candidate({ note: 'runs <b>npm test</b> \u202E' }));
    const second = await stream.until('run');
    expect(second.data.texts?.['A.note']).toBe('runs <b>npm test</b> <U+202E>');
    expect(second.data.structure).toBe(first.data.structure);
    await world.store.transition('r111111111', 'admitted', 'label', 5);
    expect((await stream.until('run')).data.structure).not.toBe(first.data.structure);
  });

  test('has each step once and in order, and goes on after the last one that a reader got', async () => {
    await world.store.appendSteps('r111111111', [step(1), step(2)]);
    const stream = await follow('/runs/r111111111/events?steps=A&after=1');
    const first = await stream.until('steps');
    expect(first.data.numbers).toEqual([2]);
    await world.store.appendSteps('r111111111', [step(3), step(4)]);
    const second = await stream.until('steps');
    expect(second.data.numbers).toEqual([3, 4]);
    await stream.close();
    await world.store.appendSteps('r111111111', [step(5)]);
    const again = await follow('/runs/r111111111/events?steps=A&after=1', mona, {
      'last-event-id': second.id,
    });
    expect((await again.until('steps')).data.numbers).toEqual([5]);
  });

  test('shows steps as text, and calls as the ledger has them', async () => {
    const stream = await follow('/runs/r111111111/events?steps=A');
    await world.store.appendSteps('r111111111', [
      step(1, {
        kind: 'result',
        text: '',
        detail: '<script>alert(1)</script>\u202E',
        exitCode: 1,
        ok: false,
      }),
    ]);
    const { data } = await stream.until('steps');
    expect(data.html).toContain('exit code 1');
    expect(data.html).toContain('&lt;script&gt;alert(1)&lt;/script&gt;&lt;U+202E&gt;');
    expect(data.html).not.toContain('<script');
    await bookRow(world.store, call(0.02, 2_000));
    const paid = await stream.until('steps');
    expect(paid.data).toMatchObject({ numbers: [], html: expect.stringContaining('1.2k tokens in') });
  });

  test('catches up with more steps than one look reads, without a gap', async () => {
    await world.store.appendSteps(
      'r111111111',
      Array.from({ length: 450 }, (_, at) => step(at + 1)),
    );
    const stream = await follow('/runs/r111111111/events?steps=A');
    const numbers: number[] = [];
    while (numbers.length < 450) numbers.push(...((await stream.until('steps')).data.numbers ?? []));
    expect(numbers).toEqual(Array.from({ length: 450 }, (_, at) => at + 1));
  });

  test('ends when the run is over', async () => {
    const stream = await follow('/runs/r111111111/events?steps=A');
    await stream.until('run');
    await world.store.appendSteps('r111111111', [step(1)]);
    await world.store.transition('r111111111', 'cancelled', 'enough', 5);
    expect((await stream.until('steps')).data.numbers).toEqual([1]);
    await stream.until('end');
    expect(await stream.next()).toBeNull();
  });

  test('has all calls of a run that is over, however many they are, before it ends', async () => {
    await world.store.appendSteps('r111111111', [step(1), step(2), step(3)]);
    for (let at = 0; at < 450; at += 1) await bookRow(world.store, call(at + 1, at));
    await world.store.transition('r111111111', 'cancelled', 'enough', 5);
    const stream = await follow('/runs/r111111111/events?steps=A');
    const { names, costs } = await readAll(stream);
    expect(names).toEqual(['steps', 'steps', 'steps', 'run', 'end']);
    expect(costs).toEqual(Array.from({ length: 450 }, (_, at) => at + 1));
  });

  test('has calls that were made in parallel once each, when their cost is known', async () => {
    const stream = await follow('/runs/r111111111/events?steps=A');
    await stream.until('run');
    const now = systemClock.now();
    const slow = await bookRow(world.store, { ...call(90, now), status: 0, exact: false });
    await bookRow(world.store, call(1, now));
    const first = await stream.until('steps');
    expect(costsIn(first)).toEqual([1]);
    // Whoever connects again from there gets the slow call, too.
    expect(first.id).toMatch(/\.0\.0$/);
    await bookRow(world.store, call(3, now));
    expect(costsIn(await stream.until('steps'))).toEqual([3]);
    await world.store.transition('r111111111', 'cancelled', 'enough', 5);
    await stream.until('run');
    await world.store.settleCall(slow, call(2, now));
    const { names, costs } = await readAll(stream);
    expect([names.at(-1), costs]).toEqual(['end', [2]]);
  });

  test('shows a call that its process abandoned as not finished, and ends', async () => {
    await bookRow(world.store, { ...call(90, 1_000), status: 0, exact: false });
    await bookRow(world.store, call(1, 2_000));
    await world.store.transition('r111111111', 'cancelled', 'enough', 5);
    const stream = await follow('/runs/r111111111/events?steps=A');
    const { data } = await stream.until('steps');
    expect(data.html).toMatch(/at most \$90\.00, not finished[\s\S]*\$1\.00/);
    await stream.until('end');
  });

  test('ends when the server stops', async () => {
    const stream = await follow('/runs/r111111111/events');
    await stream.until('run');
    world.close();
    expect(await stream.next()).toBeNull();
  });

  test('is for those who may see the run', async () => {
    world.rights.clear();
    expect((await world.get('/runs/r111111111/events', mona)).status).toBe(404);
    expect((await world.get('/runs/r999999999/events', mona)).status).toBe(404);
  });

  test('ends at the latest a minute after its reader lost the right to see the run', async () => {
    const [lost, kept] = [
      await follow('/runs/r111111111/events'),
      await follow('/runs/r111111111/events', { kind: 'github', id: 6, login: 'nina', operator: false }),
    ];
    await Promise.all([lost.until('run'), kept.until('run')]);
    world.rights.delete('42 5');
    later = 60_000;
    expect(await lost.next()).toBeNull();
    await world.store.putCandidate(candidate({ note: 'reads' }));
    expect((await kept.until('run')).data.texts?.['A.note']).toBe('reads');
  });

  test('that cannot be read ends alone: rights are still asked about, and others go on', async () => {
    const readSteps = world.store.steps;
    Object.assign(world.store, {
      steps: async (...[id, query]: Parameters<typeof readSteps>) => {
        if (query.after === 7) throw new Error('the database refuses this');
        return readSteps(id, query);
      },
    });
    const [lost, kept] = [
      await follow('/runs/r111111111/events'),
      await follow('/runs/r111111111/events?steps=A', {
        kind: 'github',
        id: 6,
        login: 'nina',
        operator: false,
      }),
    ];
    await Promise.all([lost.until('run'), kept.until('run')]);
    const bad = await follow('/runs/r111111111/events?steps=A&after=7', {
      kind: 'github',
      id: 6,
      login: 'nina',
      operator: false,
    });
    expect(await bad.next()).toBeNull();
    world.rights.delete('42 5');
    later = 60_000;
    expect(await lost.next()).toBeNull();
    await world.store.appendSteps('r111111111', [step(1)]);
    expect((await kept.until('steps')).data.numbers).toEqual([1]);
  });

  test('begins at the start where a position is larger than the database can hold', async () => {
    await world.store.appendSteps('r111111111', [step(1)]);
    const first = await follow('/runs/r111111111/events?steps=A', mona, {
      'last-event-id': 'ab.999999999999.999999999999',
    });
    expect((await first.until('steps')).data.numbers).toEqual([1]);
    const other = await follow('/runs/r111111111/events?steps=A&after=999999999999');
    expect((await other.until('steps')).data.numbers).toEqual([1]);
  });

  test('ends when its reader is too slow, and keeps nothing for it', async () => {
    const slow = await follow('/runs/r111111111/events?steps=A');
    // With these, the person has as many streams as are allowed: another one is refused until the slow one has ended.
    for (let at = 1; at < 12; at += 1) await follow('/runs/r111111111/events');
    const detail = 'x'.repeat(4_000);
    for (let from = 1; from <= 301; from += 100)
      await world.store.appendSteps(
        'r111111111',
        Array.from({ length: 100 }, (_, at) => step(from + at, { detail })),
      );
    await expect
      .poll(async () => {
        const { status, body } = await world.get('/runs/r111111111/events', mona);
        await body?.cancel();
        return status;
      })
      .toBe(200);
    let last = 0;
    for (let event = await slow.next(); event; event = await slow.next())
      last = event.data.numbers?.at(-1) ?? last;
    expect(last).toBeLessThan(400);
    await open.pop()?.close();
    const again = await follow(`/runs/r111111111/events?steps=A&after=${last}`);
    expect((await again.until('steps')).data.numbers?.[0]).toBe(last + 1);
  });

  test('is limited for each person, and a stream that ends makes room', async () => {
    for (let at = 0; at < 12; at += 1) await follow('/runs/r111111111/events');
    expect((await world.get('/runs/r111111111/events', mona)).status).toBe(429);
    await open.shift()?.close();
    await follow('/runs/r111111111/events');
  });

  test('is not opened by a request for its headers alone', async () => {
    for (const path of ['/runs/r111111111/events', '/events']) {
      for (let at = 0; at < 12; at += 1) {
        const response = await world.get(path, mona, { method: 'HEAD' });
        expect([response.status, response.headers.get('content-type'), response.body]).toEqual([
          200,
          'text/event-stream; charset=utf-8',
          null,
        ]);
      }
      await follow(path);
    }
  });

  test('is read from the database once for all who watch', async () => {
    let asked = 0;
    const { runMarks } = world.store;
    Object.assign(world.store, {
      runMarks: (which: Parameters<typeof runMarks>[0]) => {
        asked += 1;
        return runMarks(which);
      },
    });
    const streams = await Promise.all(Array.from({ length: 10 }, () => follow('/runs/r111111111/events')));
    for (const stream of streams) await stream.until('run');
    await world.store.putCandidate(candidate({ note: 'reads' }));
    for (const stream of streams) await stream.until('run');
    expect(asked).toBeLessThanOrEqual(8);
  });
});

test('the stream of lists tells that something changed, to those who may see it', async () => {
  await world.run('r222222222', 43);
  world.rights.set('43 5', 'read');
  const other: Viewer = { kind: 'github', id: 6, login: 'nina', operator: false };
  world.rights.set('43 6', 'read').delete('42 6');
  const [both, one] = [await follow('/events'), await follow('/events', other)];
  await new Promise((resolve) => setTimeout(resolve, 100));
  await world.store.transition('r111111111', 'admitted', 'label', 5);
  expect((await both.until('changed')).data).toEqual({ spread: 100 });
  await world.store.transition('r222222222', 'admitted', 'label', 5);
  // What the other was told first is the second change: the first one does not exist for them.
  expect((await one.next())?.name).toBe('changed');
});

test('the stream of lists asks GitHub as little as lists do, however many hidden runs change', async () => {
  const hidden = Array.from({ length: 60 }, (_, at) => ({
    id: `r3333333${10 + at}`,
    repositoryId: 100 + at,
  }));
  for (const { id, repositoryId } of hidden) await world.run(id, repositoryId);
  // Her own run is known to be hers, from its page.
  await world.get('/runs/r111111111', mona);
  const stream = await follow('/events');
  await new Promise((resolve) => setTimeout(resolve, 300));
  for (const { id } of hidden) await world.store.transition(id, 'admitted', 'label', 5);
  await vi.waitFor(() => expect(world.asked.length).toBeGreaterThanOrEqual(20), 4_000);
  await world.store.transition('r111111111', 'admitted', 'label', 5);
  await stream.until('changed');
  expect(world.asked).toHaveLength(20);
});

test('a reader about whose rights GitHub thinks long does not delay the others', async () => {
  await world.run('r222222222', 43);
  const answer = Promise.withResolvers<'read'>();
  const known = new Map(world.rights).set('43 5', 'read');
  Object.assign(world.rights, {
    get: (name: string) => (name === '43 6' ? answer.promise : known.get(name)),
  });
  const slow = await follow('/events', { kind: 'github', id: 6, login: 'nina', operator: false });
  const quick = await follow('/events');
  await new Promise((resolve) => setTimeout(resolve, 300));
  await world.store.transition('r222222222', 'admitted', 'label', 5);
  await quick.until('changed');
  await world.store.transition('r222222222', 'cancelled', 'enough', 6);
  await quick.until('changed');
  answer.resolve('read');
  await slow.until('changed');
});

test('the list of public runs is live for those who have not signed in', async () => {
  const github = partial<GitHub>({
    reader: async ({ repositoryId }: RepositoryHandle) =>
      partial<GitHubReader>({
        repository: async () => partial<RepositoryFacts>({ private: repositoryId !== 42 }),
      }),
  });
  expect((await world.get('/events', null)).status).toBe(401);
  world = webWorld({ world: partial<World>({ clock, github }), publicRepositories: true });
  await world.run('r111111111');
  await world.run('r222222222', 43);
  const stream = await follow('/events', null);
  await new Promise((resolve) => setTimeout(resolve, 300));
  await world.store.transition('r222222222', 'admitted', 'label', 5);
  await world.store.transition('r111111111', 'admitted', 'label', 6);
  await stream.until('changed');
});

describe('the page of steps', () => {
  const page = async (query = '') => (await world.get(`/runs/r111111111/steps/A${query}`, mona)).text();

  beforeEach(async () => {
    await world.store.appendSteps('r111111111', [
      step(1, { kind: 'start', text: 'The coder starts.' }),
      step(2, { kind: 'command', text: 'bash: npm test' }),
      step(3, { kind: 'result', text: '', detail: '1 failed', exitCode: 1, ok: false }),
      step(4, { kind: 'edit', text: 'edit: a.ts', detail: '-a\n+b' }),
    ]);
    await bookRow(world.store, call(0.02, 1_003));
  });

  test('has steps and model calls by time, and says what each is worth', async () => {
    const text = await page();
    const order = ['The coder starts.', 'npm test', '1.2k tokens in', 'exit code 1', 'edit: a.ts'];
    expect(order.map((part) => text.indexOf(part))).toEqual(
      order.map((part) => text.indexOf(part)).toSorted((a, b) => a - b),
    );
    expect(text).toContain('they prove nothing');
    expect(text).toContain('data-steps="/runs/r111111111/events?steps=A&amp;after=4&amp;call=');
  });

  test('leaves out a call whose cost is not known yet, and its stream begins before that', async () => {
    const now = systemClock.now();
    const slow = await bookRow(world.store, { ...call(90, now), status: 0, exact: false });
    await bookRow(world.store, call(3, now));
    const text = await page();
    expect(text).toContain('$3.00');
    expect(text).not.toContain('$90.00');
    const address = /data-steps="([^"]+)"/.exec(text)?.[1]?.replaceAll('&amp;', '&') ?? '';
    await world.store.settleCall(slow, call(2, now));
    expect(costsIn(await (await follow(address)).until('steps'))).toEqual([2, 3]);
  });

  test('is live, although a step was stored while it was made', async () => {
    const { steps } = world.store;
    Object.assign(world.store, {
      async steps(...asked: Parameters<typeof steps>) {
        const found = await steps(...asked);
        await world.store.appendSteps('r111111111', [step(5)]);
        return found;
      },
    });
    expect(await page()).toContain('events?steps=A&amp;after=4&amp;');
  });

  test('links to steps that match, and from a page without any to the newest', async () => {
    await world.store.appendSteps(
      'r111111111',
      Array.from({ length: 350 }, (_, at) =>
        step(at + 5, { kind: at < 300 ? 'command' : 'says', text: `s${at}` }),
      ),
    );
    const linksOf = async (query: string) =>
      [...(await page(query)).matchAll(/<a href="\?([^"]*)">(Earlier|Later|The newest) steps/g)].map(
        ([, address = '', word]) => `${word} ${address.replaceAll('&amp;', '&')}`,
      );
    expect(await linksOf('?show=commands')).toEqual(['Earlier show=commands&before=105']);
    expect(await linksOf('?show=commands&before=105')).toEqual(['Later show=commands&after=104']);
    expect(await linksOf('?show=commands&after=104')).toEqual(['Earlier show=commands&before=105']);
    expect(await linksOf('?show=commands&after=304')).toEqual(['The newest show=commands']);
  });

  test('names the state of the candidate as its run and the live updates do', async () => {
    await world.store.putCandidate(candidate({ state: 'queued' }));
    const stream = await follow('/runs/r111111111/events');
    const state = (await stream.until('run')).data.texts?.['A.state'];
    expect(state).toBe('waiting');
    expect(await page()).toContain(`data-live-text="A.state">${state}<`);
  });

  test('is searched and filtered by its address alone', async () => {
    expect(await page('?q=NPM')).not.toContain('a.ts');
    expect(await page('?show=edits')).not.toContain('npm test');
    expect(await page('?show=edits')).toContain('a.ts');
    expect(await page('?show=calls')).toContain('1.2k tokens in');
    expect(await page('?show=commands')).toContain('exit code 1');
    expect(await page('?q=%22%3E%3Cscript%3E')).not.toContain('<script>');
    expect(await page('?show=constructor&before=x')).toContain('npm test');
  });

  test('is read in parts, without losing a step between them', async () => {
    await world.store.appendSteps(
      'r111111111',
      Array.from({ length: 500 }, (_, at) => step(at + 5)),
    );
    const newest = await page();
    expect(newest).toContain('step 504');
    expect(newest).not.toContain('step 304<');
    expect(newest).toContain('?before=305');
    const earlier = await page('?before=305');
    expect(earlier).toContain('step 304<');
    expect(earlier).toContain('?after=304');
    expect(earlier).not.toContain('data-steps');
  });

  test('is of a candidate that exists', async () => {
    expect((await world.get('/runs/r111111111/steps/B', mona)).status).toBe(404);
    expect((await world.get('/runs/r111111111/steps/%3Cb%3E', mona)).status).toBe(404);
  });
});
