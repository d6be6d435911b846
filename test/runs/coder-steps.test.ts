import { beforeEach, describe, expect, test } from 'vitest';
import { CODER_STEP_LIMITS, type CoderEvent, type CoderStep, Fault } from '../../src/core/model/index.ts';
import { redactor } from '../../src/core/secrets/index.ts';
import type { Clock, Store } from '../../src/ports/index.ts';
import { recordSteps } from '../../src/runs/code/steps.ts';
import { memoryStore } from '../world/memory-store.ts';
import { githubOrigin } from '../world/origin.ts';
import { silent } from '../world/silent-log.ts';

const KEY = 'gw-0123456789abcdefghijklmnop';

let store: Store;
/** Milliseconds; waiting takes none. */
let time: number;
const clock: Clock = {
  now: () => 5_000 + time,
  elapsed: () => time,
  sleep: () => new Promise((resolve) => setImmediate(resolve)),
};
beforeEach(async () => {
  store = memoryStore();
  time = 0;
  await store.createRun({ id: 'r1', origin: githubOrigin({ issue: 7 }), title: 'Fix', request: null, at: 1 });
});

const record = (over: Partial<Pick<Store, 'appendSteps' | 'stepTotals'>> = {}) =>
  recordSteps(
    { clock, log: silent, store: { ...store, ...over } },
    { runId: 'r1', alias: 'A', redact: redactor([KEY]) },
  );
const says = (text: string): CoderEvent => ({ kind: 'says', text });
const stored = (): Promise<readonly CoderStep[]> => store.steps('r1', { alias: 'A', limit: 9999 });
const texts = async () => (await stored()).map(({ text }) => text);

test("a coder's steps are stored in order, between its start and how it ended", async () => {
  const recorder = record();
  recorder.add([says('I will run the tests.')]);
  time = 1_000;
  recorder.add([
    { kind: 'command', text: 'bash: npm test', call: 'c1' },
    { kind: 'result', text: '', detail: '1 failed', call: 'c1', exitCode: 1, ok: false },
  ]);
  recorder.ended('ended with exit code 0');
  await recorder.close();
  expect(await stored()).toEqual([
    { alias: 'A', number: 1, at: 5_000, kind: 'start', text: 'The coder starts.' },
    { alias: 'A', number: 2, at: 5_000, kind: 'says', text: 'I will run the tests.' },
    { alias: 'A', number: 3, at: 6_000, kind: 'command', text: 'bash: npm test', call: 'c1' },
    {
      alias: 'A',
      number: 4,
      at: 6_000,
      kind: 'result',
      text: '',
      detail: '1 failed',
      call: 'c1',
      exitCode: 1,
      ok: false,
    },
    { alias: 'A', number: 5, at: 6_000, kind: 'exit', text: 'ended with exit code 0' },
  ]);
});

test('a coder that is started again goes on after what is stored, and says that it starts again', async () => {
  const first = record();
  first.add([says('one')]);
  await first.close();
  const second = record();
  second.add([says('one')]);
  await second.close();
  expect((await stored()).map(({ number, kind }) => [number, kind])).toEqual([
    [1, 'start'],
    [2, 'says'],
    [3, 'start'],
    [4, 'says'],
  ]);
  expect((await texts())[2]).toContain('restarted');
});

test('a write whose answer was lost is repeated, and nothing is stored twice', async () => {
  let lost = 0;
  const recorder = record({
    appendSteps: async (runId, steps) => {
      await store.appendSteps(runId, steps);
      lost += 1;
      if (lost <= 2) throw new Fault('DATABASE_UNAVAILABLE', 'The answer was lost.');
    },
  });
  recorder.add([says('one'), says('two')]);
  while ((await stored()).length < 3) await clock.sleep(0);
  await recorder.close();
  expect(await texts()).toEqual(['The coder starts.', 'one', 'two']);
});

test('secrets are taken out before anything is stored', async () => {
  const recorder = record();
  const token = `ghp_${'a1B2'.repeat(9)}`;
  recorder.add([
    { kind: 'command', text: `curl -H "x-api-key: ${KEY}"`, detail: `${KEY.slice(4)}\nnext` },
    { kind: 'result', text: '', detail: `token ${token}\n-----BEGIN RSA PRIVATE KEY-----\nabc`, ok: true },
  ]);
  await recorder.close();
  const all = JSON.stringify(await stored());
  for (const secret of [KEY, KEY.slice(4), token, 'abc']) expect(all).not.toContain(secret);
  expect(all).toContain('[redacted]');
  expect(all).toContain('curl');
});

describe('a secret that is printed piece by piece', () => {
  const line = (text: string): CoderEvent => ({ kind: 'output', text, detail: text, piece: true });
  const word = (text: string): CoderEvent => ({ kind: 'says', text: '', detail: text, piece: true });
  const body = Array.from({ length: 8 }, (_, at) => `MIIEow${at}${'Ab9/'.repeat(14)}`);
  const lines = ['-----BEGIN RSA PRIVATE KEY-----', ...body, '-----END RSA PRIVATE KEY-----'];

  /** Each batch of events is stored before the next one is reported. */
  async function slowly(batches: readonly (readonly CoderEvent[])[]): Promise<string> {
    const recorder = record();
    for (const batch of batches) {
      const before = (await stored()).length;
      recorder.add(batch);
      while ((await stored()).length <= before) await clock.sleep(0);
    }
    await recorder.close();
    return JSON.stringify(await stored());
  }

  test.each([1, 2, 3, 4])('is taken out of every step, %i lines at a time', async (size) => {
    const batches = Array.from({ length: Math.ceil(lines.length / size) }, (_, at) =>
      lines.slice(at * size, (at + 1) * size).map(line),
    );
    const all = await slowly([[line('the key:')], ...batches, [line('and on it goes')]]);
    for (const part of body) expect(all).not.toContain(part.slice(0, 20));
    expect(all).toContain('the key:');
    expect(all).toContain('and on it goes');
  });

  test('is taken out after its beginning is stored, and so is the key of a gateway', async () => {
    const token = `ghp_${'a1B2'.repeat(9)}`;
    const all = await slowly([
      [word('It is ')],
      [word(token.slice(0, 9))],
      [word(`${token.slice(9)} there.`)],
      [word(`${KEY.slice(0, 13)}`)],
      [word(`${KEY.slice(13)}`)],
      [word(' Done.')],
    ]);
    for (const secret of [token.slice(9, 25), KEY.slice(0, 13), KEY.slice(13)])
      expect(all).not.toContain(secret);
    expect(all).toMatch(/ there\..* Done\./);
  });

  test('costs no other word: pieces without one are stored as they come', async () => {
    const recorder = record();
    const said = 'I read the file, then I run the tests, and see.'.match(/.{1,7}/g) ?? [];
    for (const part of said) {
      recorder.add([word(part)]);
      await clock.sleep(0);
      await clock.sleep(0);
    }
    await recorder.close();
    expect((await stored()).map(({ detail = '' }) => detail).join('')).toBe(said.join(''));
  });
});

describe('limits', () => {
  test('pieces of a text become one step, up to the size of one', async () => {
    const recorder = record();
    const line = (text: string): CoderEvent => ({ kind: 'output', text, detail: text, piece: true });
    const word = (text: string): CoderEvent => ({ kind: 'says', text: '', detail: text, piece: true });
    await recorder.close();
    const next = record();
    next.add([line('one'), line('two'), word('I w'), word('ill'), says('Done.'), word('A'), line('x')]);
    next.add(Array.from({ length: 500 }, (_, at) => line(`${at} ${'y'.repeat(20)}`)));
    await next.close();
    const steps = (await stored()).slice(2);
    expect(steps.slice(0, 4).map(({ text, detail }) => detail ?? text)).toEqual([
      'one\ntwo',
      'I will',
      'Done.',
      'A',
    ]);
    expect(steps.length).toBeLessThan(12);
    for (const { detail = '' } of steps) expect(detail.length).toBeLessThanOrEqual(CODER_STEP_LIMITS.detail);
    expect(steps.at(-1)?.detail).toContain('499 yyyy');
  });

  test('more than a coder may report at once is counted instead of stored', async () => {
    const recorder = record();
    recorder.add(Array.from({ length: 1000 }, (_, at) => says(`step ${at}`)));
    time = 10_000;
    recorder.add([says('later')]);
    await recorder.close();
    const found = await texts();
    expect(found).toHaveLength(1 + CODER_STEP_LIMITS.burst + 2);
    expect(found.slice(-2)).toEqual([
      `${1000 - CODER_STEP_LIMITS.burst} steps were left out: the agent reported steps faster than Runoff records them.`,
      'later',
    ]);
  });

  test('a coder that reported very much has its later details cut, not its steps', async () => {
    const detail = 'x'.repeat(CODER_STEP_LIMITS.detail);
    const enough = Math.ceil(CODER_STEP_LIMITS.details / detail.length) + 1;
    await store.appendSteps(
      'r1',
      Array.from({ length: enough }, (_, at) => ({
        ...{ alias: 'A', number: at + 1, at: 1, kind: 'says' as const, text: 'x', detail },
      })),
    );
    const recorder = record();
    recorder.add([{ kind: 'result', text: '', detail, ok: true }]);
    await recorder.close();
    const last = (await stored()).at(-1);
    expect(last?.detail).toContain(
      `[… ${detail.length - CODER_STEP_LIMITS.shortDetail} characters left out …]`,
    );
  });
});

describe('a database that is away', () => {
  const away = () => Promise.reject(new Fault('DATABASE_UNAVAILABLE', 'It is away.'));

  test('loses steps, but neither delays the coder nor fails it', async () => {
    const recorder = record({ appendSteps: away, stepTotals: away });
    for (let at = 0; at < 50; at += 1) recorder.add([says(`step ${at}`)]);
    recorder.ended('ended with exit code 0');
    await recorder.close();
    expect(await stored()).toEqual([]);
  });

  test('gets what is still kept when it is back', async () => {
    let isAway = true;
    const recorder = record({
      appendSteps: (runId, steps) => (isAway ? away() : store.appendSteps(runId, steps)),
    });
    recorder.add([says('one')]);
    for (let turn = 0; turn < 20; turn += 1) await clock.sleep(0);
    recorder.add([says('two')]);
    isAway = false;
    await recorder.close();
    expect(await texts()).toEqual(['The coder starts.', 'one', 'two']);
  });

  test('that never answers holds up the end of a coder for seconds at most', async () => {
    const recorder = record({ appendSteps: () => new Promise(() => {}) });
    recorder.add([says('one')]);
    await recorder.close();
    expect(await stored()).toEqual([]);
  });

  test('is not asked again by a process that has expired', async () => {
    let asked = 0;
    const recorder = record({
      appendSteps: async () => {
        asked += 1;
        throw new Fault('EXECUTOR_EXPIRED', 'Others have taken over.');
      },
    });
    for (let at = 0; at < 10; at += 1) {
      recorder.add([says(`step ${at}`)]);
      await clock.sleep(0);
    }
    await recorder.close();
    expect(asked).toBe(1);
  });
});
