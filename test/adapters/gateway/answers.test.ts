import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openArtifacts } from '../../../src/adapters/artifacts/index.ts';
import { openStore } from '../../../src/adapters/store/index.ts';
import { Fault } from '../../../src/core/model/index.ts';
import { freshDatabase } from '../../world/database.ts';
import { memoryArtifacts, memoryStore } from '../../world/memory-store.ts';
import { tried } from '../../world/tried.ts';
import { ask, begin, json, message, openRig, PROMPT, type Provider, sse, startProvider } from './rig.ts';
import { hangUpAfter, PROTOCOLS, stalls } from './streams.ts';

/** What a run paid for once is given to whoever starts over in it. */
let provider: Provider;
afterEach(() => provider.close());

const kept = () => {
  const store = memoryStore();
  return { ledger: store, answers: { store, artifacts: memoryArtifacts() } };
};
const user = (content: unknown) => ({ ...PROMPT, messages: [{ role: 'user', content }] });

describe.each(PROTOCOLS)('an answer of %s', (name, { call, before, last, after }) => {
  test('is given again byte for byte, and costs nothing, after a restart', async () => {
    provider = await startProvider((_body, response) => {
      sse(response, ...before, last, ...after);
      response.end();
    });
    const where = kept();
    const first = await inProcess(where, async (lease) => ({
      reply: await ask(lease, call),
      usage: lease.usage(),
    }));
    const second = await inProcess(where, async (lease) => {
      const reply = await ask(lease, call);
      expect(lease.lastActivity()).not.toBeNull();
      expect(lease.refusal()).toBeNull();
      return { reply, usage: lease.usage() };
    });
    expect(second.reply.text).toBe(first.reply.text);
    expect(second.reply.headers['content-type']).toBe('text/event-stream');
    expect(second.usage).toEqual(first.usage);
    expect(second.usage.usd).toBeGreaterThan(0);
    expect(provider.seen).toHaveLength(1);
  });

  test('is kept when the client disconnects after the last event', async () => {
    provider = await startProvider((_body, response) => sse(response, ...before, last, ...after));
    const where = kept();
    const events = before.length + 1 + after.length;
    await inProcess(where, (lease) => hangUpAfter(events, lease, call));
    const again = await inProcess(where, (lease) => ask(lease, call));
    for (const event of [...before, last]) expect(again.text).toContain(JSON.stringify(event));
    expect(provider.seen).toHaveLength(1);
  });

  test('is kept whole when the client is killed after the last usage figures', async () => {
    provider = await stalls([...before, last]);
    const where = kept();
    await inProcess(where, async (lease) => {
      await hangUpAfter(before.length + 1, lease, call);
      await provider.aborted;
    });
    const again = await inProcess(where, (lease) => ask(lease, call));
    const closing = { anthropic: '"message_stop"', 'openai-chat': '[DONE]' }[String(name)];
    for (const event of [...before, last]) expect(again.text).toContain(JSON.stringify(event));
    if (closing) expect(again.text).toContain(closing);
    expect(provider.seen).toHaveLength(1);
  });

  test('is requested again when it broke off', async () => {
    const broken = Promise.withResolvers<void>();
    provider = await startProvider(async (_body, response) => {
      sse(response, ...before.slice(0, 1));
      await broken.promise;
      response.destroy();
    });
    const where = kept();
    await inProcess(where, async (lease) => {
      const answer = await begin(lease, call);
      answer.once('data', () => broken.resolve());
      await once(answer, 'error');
    });
    await provider.close();
    provider = await startProvider((_body, response) => {
      sse(response, ...before, last, ...after);
      response.end();
    });
    expect((await inProcess(where, (lease) => ask(lease, call))).text).toContain('hello');
    expect(provider.seen).toHaveLength(1);
  });
});

describe('a kept answer', () => {
  let asked = 0;
  beforeEach(async () => {
    asked = 0;
    provider = await startProvider((_body, response) => {
      asked += 1;
      json(response, 200, { ...message(10, 5), id: `msg_${asked}` });
    });
  });

  test('is given to the same spender of the same run, and to nobody else', async () => {
    const where = kept();
    await inProcess(where, (lease) => ask(lease));
    for (const grant of [{ spender: 'B' }, { runId: 'r2' }, { runId: 'r2', spender: 'B' }]) {
      await inProcess(where, (lease) => ask(lease), grant);
    }
    expect(asked).toBe(4);
    await inProcess(where, (lease) => ask(lease));
    expect(asked).toBe(4);
  });

  test('is given once: repeated requests get the answers in order, then a new one', async () => {
    const where = kept();
    const thrice = (times: number) =>
      inProcess(where, async (lease) => {
        const ids: string[] = [];
        for (let i = 0; i < times; i += 1) ids.push(JSON.parse((await ask(lease)).text).id);
        return ids;
      });
    expect(await thrice(2)).toEqual(['msg_1', 'msg_2']);
    expect(await thrice(3)).toEqual(['msg_1', 'msg_2', 'msg_3']);
    expect(await thrice(3)).toEqual(['msg_1', 'msg_2', 'msg_3']);
    expect(asked).toBe(3);
  });

  test('is given also after the budget is used up, because it was paid before', async () => {
    const where = kept();
    await inProcess(where, (lease) => ask(lease));
    const replies = await inProcess(
      where,
      async (lease) => [(await ask(lease)).status, (await ask(lease)).status],
      { capUsd: 0.00001 },
    );
    expect(replies).toEqual([200, 402]);
  });

  test.each([
    ['order of fields', { messages: PROMPT.messages, model: 'm', max_tokens: 1000 }],
    ['who the client says it is', { ...PROMPT, metadata: { user_id: 'session_5' } }],
  ])('is given although the request has another %s', async (_what, body) => {
    const where = kept();
    await inProcess(where, (lease) => ask(lease));
    await inProcess(where, (lease) => ask(lease, { body }));
    expect(asked).toBe(1);
  });

  test.each([
    ['the date', 'Today is 2026-11-22.', 'Today is 2026-11-23.'],
    [
      'a date in words',
      'Today is Sunday, November 22, 2026 (UTC)',
      'Today is Monday, November 23, 2026 (UTC)',
    ],
    ['how long tests took', '✓ adds (3.2ms)\nreal 0m1.234s', '✓ adds (12ms)\nreal 0m0.987s'],
    ['what a test runner says of time', '  duration_ms: 1.25', '  duration_ms: 80'],
    ['when a file was written', '-rw-r--r-- 1 u u 9 Nov 22 14:31 a', '-rw-r--r-- 1 u u 9 Nov  3 09:02 a'],
    ['a line that begins with a time', 'a\n2026-11-22 10:00 b\n12.5s', 'a\n2026-11-23 11:11 b\n3s'],
    ['an id with the time in it', 'write_file_1795360050773_0', 'write_file_1795360067111_0'],
    ['the gateway’s port', 'curl http://127.0.0.1:20001/', 'curl http://127.0.0.1:31999/'],
  ])('is given although %s differs', async (_what, one, other) => {
    const where = kept();
    await inProcess(where, (lease) => ask(lease, { body: user(one) }));
    await inProcess(where, (lease) => ask(lease, { body: user(other) }));
    expect(asked).toBe(1);
  });

  test.each([
    ['a figure that is no time', '3 tests failed', '4 tests failed'],
    ['a word', 'Fix it.', 'Leave it.'],
    ['the prompt’s mark', '<<ISSUE 0a>>', '<<ISSUE 0b>>'],
  ])('is not given if %s differs', async (_what, one, other) => {
    const where = kept();
    await inProcess(where, (lease) => ask(lease, { body: user(one) }));
    await inProcess(where, (lease) => ask(lease, { body: user(other) }));
    expect(asked).toBe(2);
  });

  test('is paid and kept again if its body is missing', async () => {
    const where = kept();
    await inProcess(where, (lease) => ask(lease));
    const swept = { ...where, answers: { ...where.answers, artifacts: memoryArtifacts() } };
    expect((await inProcess(swept, (lease) => ask(lease))).status).toBe(200);
    expect(asked).toBe(2);
    await inProcess(swept, (lease) => ask(lease));
    expect(asked).toBe(2);
  });

  /** What is kept goes to a disk that is full for so many tries. */
  const onFullDisk = (where: Where, tries: number): Where => {
    const { artifacts } = where.answers;
    let left = tries;
    const put = async (text: string) => {
      left -= 1;
      if (left >= 0) throw new Error('ENOSPC: no space left on device, write');
      return artifacts.put(text);
    };
    return { ...where, answers: { ...where.answers, artifacts: { ...artifacts, put } } };
  };

  test('is stored later if the disk is full for a while', async () => {
    const where = kept();
    expect((await inProcess(onFullDisk(where, 5), (lease) => ask(lease))).status).toBe(200);
    await inProcess(where, (lease) => ask(lease));
    expect(asked).toBe(1);
  });

  test('an answer whose ledger row could not be written yet is given again in the same process', async () => {
    const where = kept();
    let away = false;
    const { ledger } = where;
    const unsteady = {
      ...ledger,
      settleCall: async (...row: Parameters<typeof ledger.settleCall>) => {
        if (away) throw new Fault('DATABASE_UNAVAILABLE', 'The database has no room left.');
        return ledger.settleCall(...row);
      },
    };
    await using rig = await openRig(provider.url, { ...where, ledger: unsteady });
    const first = await rig.open();
    away = true;
    expect((await ask(first)).status).toBe(200);
    await first.close();
    await expect(rig.open()).rejects.toMatchObject({ code: 'DATABASE_UNAVAILABLE' });
    away = false;
    const second = await rig.open();
    expect((await ask(second)).status).toBe(200);
    expect(asked).toBe(1);
  });

  test('is lost on a full disk without losing the answer itself', async () => {
    const where = kept();
    const reply = await inProcess(onFullDisk(where, 1_000), (lease) => ask(lease));
    expect(reply.status).toBe(200);
    expect(await where.ledger.keptAnswers('r1', 'A')).toEqual([]);
    expect(await where.ledger.usage('r1')).toMatchObject({ calls: 1 });
  });

  test('is never an error', async () => {
    await provider.close();
    provider = await startProvider((_body, response) => json(response, 400, { error: { message: 'no' } }));
    const where = kept();
    expect((await inProcess(where, (lease) => ask(lease))).status).toBe(400);
    expect(await where.ledger.keptAnswers('r1', 'A')).toEqual([]);
  });
});

type Where = ReturnType<typeof kept>;

/** What one process does: the next one knows only what was kept. */
async function inProcess<T>(
  where: Where,
  work: (lease: Awaited<ReturnType<Awaited<ReturnType<typeof openRig>>['open']>>) => Promise<T>,
  grant: object = {},
): Promise<T> {
  await using rig = await openRig(provider.url, where);
  const lease = await rig.open(grant);
  try {
    return await work(lease);
  } finally {
    await lease.close();
  }
}

test('kill -9 while an answer is stored leaves it booked, and paid twice only if nobody received it', async () => {
  tried({
    id: 'answer-killed',
    part: 'Model calls break off',
    what: "The gateway's process, before and after a finished answer is stored.",
    held: 'A stored answer is repeated at no cost; an answer that nobody received is requested once more.',
  });
  provider = await startProvider((_body, response) => json(response, 200, message(100, 20)));
  const database = await freshDatabase();
  const store = await openStore(database.url);
  await using rig = await openRig(provider.url, {});
  const folder = join(rig.dir, 'artifacts');
  const artifacts = openArtifacts(folder);
  const crash = async (run: string, dies: string): Promise<string> => {
    const child = spawn(process.execPath, [join(import.meta.dirname, 'killed-gateway.ts')], {
      env: {
        DATABASE: database.url,
        PROVIDER: provider.url,
        DIR: join(rig.dir, run),
        ARTIFACTS: folder,
        DIES: dies,
        RUN: run,
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [said] = await Promise.all([text(child.stdout), once(child, 'exit')]);
    expect(child.signalCode).toBe('SIGKILL');
    return said;
  };
  const moments = {
    r1: 'answer in memory',
    r2: 'artifact without row',
    r3: 'row, and the client has no answer',
  };
  const said = await Promise.all(Object.entries(moments).map(([run, dies]) => crash(run, dies)));
  expect(said).toEqual(['', '', '']);
  expect(provider.seen).toHaveLength(3);

  await using next = await openRig(provider.url, { ledger: store, answers: { store, artifacts } });
  const paid = { usd: expect.closeTo(0.0003, 9), tokensOut: 20, calls: 1 };
  const booked = { tokensOut: 1000, calls: 1 };
  expect(await store.usage('r1')).toMatchObject(booked);
  expect(await store.usage('r2')).toMatchObject(booked);
  expect(await store.usage('r3')).toMatchObject(paid);
  const lease = await next.open({ runId: 'r3' });
  expect(JSON.parse((await ask(lease)).text)).toEqual(message(100, 20));
  expect(lease.usage()).toMatchObject(paid);
  expect(provider.seen).toHaveLength(3);
  await ask(await next.open({ runId: 'r2' }));
  expect(provider.seen).toHaveLength(4);
  expect(await store.usage('r2')).toMatchObject({ tokensOut: 1020, calls: 2 });
  await next.gateway.close();
  await store.close();
  await database.drop();
});
