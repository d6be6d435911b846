import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { readSettings } from '../../src/compose/index.ts';
import { serve } from '../../src/compose/serve.ts';
import { Fault } from '../../src/core/model/index.ts';
import { NOON } from '../runs/admission-world.ts';
import { type AppWorld, appWorld, comments, headersOf, issues, SECRET, sign } from './app-world.ts';

let app: AppWorld;
beforeEach(async () => {
  app = await appWorld();
});
afterEach(() => app.close());

const states = async () => (await app.settled()).map(({ state }) => state);
const nothing = async () => {
  expect(await app.settled()).toEqual([]);
  expect(await app.store.commands(42, 50)).toEqual([]);
  expect(app.written).toEqual([]);
};

describe('case 1: a delivery without a valid signature is rejected, leaves no row and starts no work:', () => {
  const body = issues('labeled');
  const right = sign(body);
  const sha1 = sign(body, SECRET, 'sha1');
  test.each<[string, Record<string, string>]>([
    ['signed over another byte', { 'x-hub-signature-256': sign(body.replace('Rounding', 'Roundinh')) }],
    ['signed with another secret', { 'x-hub-signature-256': sign(body, 'another-secret-0123456789abcdef') }],
    ['signed with an empty secret', { 'x-hub-signature-256': sign(body, '') }],
    ['with a SHA-1 signature alone', { 'x-hub-signature-256': '', 'x-hub-signature': sha1 }],
    ['with SHA-1 in the place of SHA-256', { 'x-hub-signature-256': sha1 }],
    ['without a signature', { 'x-hub-signature-256': '' }],
    ['with a signature of 31 bytes', { 'x-hub-signature-256': right.slice(0, -2) }],
    ['with a signature of 33 bytes', { 'x-hub-signature-256': `${right}00` }],
    ['with a signature without its name', { 'x-hub-signature-256': right.slice(7) }],
    ['with a signature that is no hex', { 'x-hub-signature-256': `sha256=${'z'.repeat(64)}` }],
  ])('%s', async (_how, headers) => {
    const { status } = await app.deliver(body, headers);
    expect([400, 401]).toContain(status);
    await nothing();
  });

  test('one flipped byte of the body', async () => {
    const flipped = Buffer.from(body);
    flipped.writeUInt8(flipped.readUInt8(body.indexOf('Rounding')) ^ 1, body.indexOf('Rounding'));
    expect((await app.post(flipped, headersOf(body))).status).toBe(400);
    await nothing();
  });

  test('invalid UTF-8 that decoding would repair', async () => {
    const bytes = Buffer.concat([
      Buffer.from(body.slice(0, -1)),
      Buffer.from(',"x":"'),
      Buffer.from([0xff]),
      Buffer.from('"}'),
    ]);
    const signed = headersOf(bytes.toString('utf8'));
    expect((await app.post(bytes, signed)).status).toBe(400);
    await nothing();
    expect((await app.deliver(body)).status).toBe(200);
  });

  test('except that a valid signature is accepted', async () => {
    expect((await app.deliver(body)).status).toBe(200);
    expect(await states()).toEqual(['admitted']);
  });
});

describe('case 2: without a good webhook secret the process does not start', () => {
  const app = {
    APP_ID: '77',
    PRIVATE_KEY: '-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\n',
  };
  const screen = {
    out() {},
    err() {},
    outIsTerminal: false,
    width: null,
    colour: false,
    outColour: false,
    live: null,
  };
  const surroundings = { screen, onInterrupt: () => () => {}, exit: () => {} };
  const starting = async (secret: string) =>
    serve(
      await readSettings({
        env: { ...app, WEBHOOK_SECRET: secret, RUNOFF_DATA: '/nowhere', PORT: '0', LOG_LEVEL: 'silent' },
        cwd: '/nowhere',
        installation: '/nowhere',
      }),
      surroundings,
    );
  test.each([
    ['empty', '', 'WEBHOOK_SECRET missing'],
    ['blanks', '                    ', 'WEBHOOK_SECRET'],
    ['short', 'development', 'at least 16 characters'],
    ['of one letter', 'a'.repeat(40), 'too easy to guess'],
  ])('%s', async (_how, secret, why) => {
    await expect(starting(secret)).rejects.toMatchObject({
      code: 'ENVIRONMENT_INVALID',
      message: expect.stringContaining(why),
    });
  });
});

test('case 3: the signature is verified on the received bytes, however the same JSON could be written', async () => {
  const title = 'Größe “5 €” 🦊';
  const plain = issues('labeled', { title });
  const escaped = [...plain]
    .map((c) => (c > '~' ? c.replace(/./g, (u) => `\\u${u.charCodeAt(0).toString(16).padStart(4, '0')}`) : c))
    .join('');
  const wide = JSON.stringify(JSON.parse(plain), null, '\t')
    .replaceAll('\n', '\r\n')
    .replace('"id"', '"id": 1.0e0, "id"');
  for (const [number, body] of [plain, `${escaped} \n`, wide].entries()) {
    const own = body.replace(/"number":\s*7/, `"number": ${7 + number}`);
    expect(own === JSON.stringify(JSON.parse(own))).toBe(false);
    expect((await app.deliver(own)).status).toBe(200);
  }
  expect((await app.settled()).map((run) => run.title)).toEqual([title, title, title]);
});

test('the label on a pull request asks for what `/auto-dev fix` does', async () => {
  const { issue, ...rest } = JSON.parse(issues('labeled'));
  const body = JSON.stringify({ ...rest, pull_request: { ...issue, number: 9 } });
  expect((await app.deliver(body, { 'x-github-event': 'pull_request' })).status).toBe(200);
  const [run, ...more] = await app.settled();
  expect(more).toEqual([]);
  expect(run?.origin).toMatchObject({ issue: 9, work: 'fix' });
});

test('case 4: the same delivery three times at once starts one run', async () => {
  const body = issues('labeled');
  const headers = headersOf(body);
  const answers = await Promise.all([1, 2, 3].map(() => app.post(Buffer.from(body), headers)));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  expect(await states()).toEqual(['admitted']);
});

describe('case 5: a captured body under a fresh delivery id', () => {
  test('starts no second run, during the first or after it', async () => {
    const body = issues('labeled');
    await app.deliver(body);
    await app.deliver(body);
    const [run] = await app.settled();
    await app.store.transition(run?.id ?? '', 'cancelled', 'test', app.now.now);
    await app.again();
    await app.deliver(body);
    expect(await states()).toEqual(['cancelled']);
  });

  test('does not cancel a run that was started after it', async () => {
    const closed = issues('closed', { seconds: -60 });
    const unlabeled = issues('unlabeled', { seconds: -60, label: 'auto-dev:running' });
    await app.deliver(issues('labeled'));
    await app.settled();
    await app.deliver(closed);
    await app.deliver(unlabeled);
    expect(await states()).toEqual(['admitted']);
    await app.deliver(issues('closed', { seconds: 60 }));
    expect(await states()).toEqual(['cancelled']);
  });

  test('of a command does not repeat it', async () => {
    const body = comments('created', '/auto-dev run');
    for (let n = 0; n < 3; n++) await app.deliver(body, { 'x-github-event': 'issue_comment' });
    await app.again();
    await app.deliver(body, { 'x-github-event': 'issue_comment' });
    await expect
      .poll(async () => (await app.store.commands(42, 50)).map((one) => one.outcome?.kind))
      .toEqual(['done']);
    expect(await states()).toHaveLength(1);
  });

  test('under the name of another event, which is not signed, does nothing', async () => {
    const bodies = [
      issues('labeled'),
      issues('closed'),
      issues('unlabeled'),
      comments('created', '/auto-dev run'),
      comments('edited', '/auto-dev run'),
    ];
    const events = [
      'pull_request',
      'pull_request_review_comment',
      'installation',
      'push',
      'label',
      'constructor',
    ];
    for (const body of bodies)
      for (const event of events) await app.deliver(body, { 'x-github-event': event });
    await nothing();
    expect((await app.deliver(issues('labeled'))).status).toBe(200);
  });
});

describe('case 6: a crash between the receipt of a delivery and its end', () => {
  test('before anything is stored is reported to GitHub, and the redelivery counts', async () => {
    const { acceptDelivery } = app.store;
    app.store.acceptDelivery = async () => {
      throw new Fault('DATABASE_UNAVAILABLE', 'The connection ended.');
    };
    const body = issues('labeled');
    const headers = headersOf(body);
    expect((await app.post(body, headers)).status).toBe(503);
    await nothing();
    app.store.acceptDelivery = acceptDelivery;
    await app.again();
    expect((await app.post(body, headers)).status).toBe(200);
    expect((await app.post(body, headers)).status).toBe(200);
    expect(await states()).toEqual(['admitted']);
  });

  test('after it is stored lets the next start continue the run, and the redelivery changes nothing', async () => {
    const { engine } = app.world;
    engine.start = async () => {
      throw new Error('killed');
    };
    const body = issues('labeled');
    const headers = headersOf(body);
    expect((await app.post(body, headers)).status).toBe(500);
    expect((await app.store.runs(10)).map(({ state }) => state)).toEqual(['queued']);
    await app.again();
    expect((await app.post(body, headers)).status).toBe(200);
    expect(await states()).toEqual(['admitted']);
  });
});

describe("case 7: events out of order are checked against GitHub's current state:", () => {
  test('unlabeled before labeled starts nothing', async () => {
    app.now.unlabelled.add(7);
    await app.deliver(issues('unlabeled', { seconds: 1 }));
    await app.deliver(issues('labeled'));
    expect(await states()).toEqual(['refused']);
    expect((await app.settled())[0]?.task).toBeUndefined();
    expect(app.said()).toEqual([]);
  });

  test('labeled after close starts nothing', async () => {
    app.now.issue = { ...app.now.issue, open: false };
    await app.deliver(issues('closed'));
    await app.deliver(issues('labeled', { seconds: 1 }));
    expect(await states()).toEqual(['refused']);
    expect((await app.settled())[0]?.task).toBeUndefined();
  });

  test('a label that was removed and added again starts one run', async () => {
    await app.deliver(issues('labeled', { seconds: 2 }));
    await app.settled();
    await app.deliver(issues('unlabeled', { seconds: 1 }));
    await app.deliver(issues('labeled', { seconds: 0 }));
    expect((await states()).toSorted()).toEqual(['admitted', 'refused']);
    expect(app.said()).toEqual([]);
  });

  test.each([
    ['an issue', 'issues', 'issue'],
    ['a pull request', 'pull_request', 'pull_request'],
  ])('removing the running label %s cancels the run, unless a bot does it', async (_what, event, name) => {
    await app.deliver(issues('labeled'));
    await app.settled();
    const unlabeled = (type: string) =>
      issues('unlabeled', {
        label: 'auto-dev:running',
        seconds: 9,
        sender: { id: 5, login: 'mona', type },
      }).replace('"issue":', `"${name}":`);
    await app.deliver(unlabeled('Bot'), { 'x-github-event': event });
    expect(await states()).toEqual(['admitted']);
    await app.deliver(unlabeled('User'), { 'x-github-event': event });
    expect(await states()).toEqual(['cancelled']);
  });

  test('removing a label does not end a wait for a pick; closing the issue does', async () => {
    await app.deliver(issues('labeled'));
    const [run] = await app.settled();
    for (const to of ['briefed', 'coded', 'examined', 'judged', 'awaiting_pick'] as const)
      await app.store.transition(run?.id ?? '', to, 'test', NOON);
    // Set by mistake, and taken off again.
    const release = app.hold();
    await app.deliver(issues('labeled', { seconds: 5 }));
    for (const label of ['auto-dev', 'auto-dev:running', 'auto-dev:pick'])
      await app.deliver(issues('unlabeled', { label, seconds: 9 }));
    release();
    expect((await states()).toSorted()).toEqual(['awaiting_pick', 'cancelled']);
    await app.deliver(issues('closed', { seconds: 20 }));
    expect((await states()).toSorted()).toEqual(['cancelled', 'closed']);
  });

  test('taking off a label that was added while a run is at work stops only the run that it asked for', async () => {
    await app.deliver(issues('labeled'));
    const [first] = await app.settled();
    // Its label is replaced by `auto-dev:running`; nothing is announced in these stories.
    await app.store.intend(first?.id ?? '', 'greet');
    await app.store.fulfil(first?.id ?? '', 'greet', true);
    const release = app.hold();
    await app.deliver(issues('labeled', { seconds: 5 }));
    await app.deliver(issues('unlabeled', { seconds: 9 }));
    release();
    expect((await states()).toSorted()).toEqual(['admitted', 'cancelled']);
    expect((await app.store.run(first?.id ?? ''))?.state).toBe('admitted');
    await app.deliver(issues('unlabeled', { label: 'auto-dev:running', seconds: 20 }));
    expect((await states()).toSorted()).toEqual(['cancelled', 'cancelled']);
  });

  test('a label is the same in upper and lower case', async () => {
    app.now.issue = { ...app.now.issue, labels: ['Auto-Dev'] };
    await app.deliver(issues('labeled', { label: 'Auto-Dev' }));
    await app.settled();
    expect(await states()).toEqual(['admitted']);
    await app.deliver(issues('unlabeled', { label: 'AUTO-DEV:RUNNING', seconds: 9 }));
    expect(await states()).toEqual(['cancelled']);
  });
});

describe('case 8: excessive bodies:', () => {
  test('25 MB each, declared or not, get 413 and are not kept', async () => {
    const part = new Uint8Array(64 * 1024).fill(97);
    const big = (declared: boolean) => {
      let left = 400;
      const stream = new ReadableStream<Uint8Array>({
        pull(controller) {
          if (left-- > 0) controller.enqueue(part);
          else controller.close();
        },
      });
      const length = { 'content-length': String(400 * part.length) };
      const headers = { ...headersOf(''), ...(declared ? length : {}) };
      return fetch(app.url, { method: 'POST', body: stream, headers, duplex: 'half' } as RequestInit);
    };
    const before = process.memoryUsage().rss;
    for (let round = 0; round < 3; round++) {
      const answers = await Promise.all([false, true, false, true, false, true].map(big));
      expect(answers.map(({ status }) => status)).toEqual(Array(6).fill(413));
    }
    // 450 MB came in all; at most six times five MiB may be held at once.
    expect(process.memoryUsage().rss - before).toBeLessThan(200e6);
    await nothing();
  });

  test('JSON with ten thousand levels is harmless, signed or not', async () => {
    const deep = `${'['.repeat(10_000)}${']'.repeat(10_000)}`;
    const body = issues('labeled', { more: { deep: 0 } }).replace('"deep":0', `"deep":${deep}`);
    expect((await app.deliver(body, { 'x-hub-signature-256': sign('') })).status).toBe(400);
    expect((await app.deliver(deep)).status).toBeLessThan(600);
    await nothing();
    expect((await app.deliver(body)).status).toBe(200);
    expect(await states()).toEqual(['admitted']);
  });

  test.each<[string, string, Record<string, string>, number]>([
    ['no JSON', 'payload=%7B%7D', {}, 400],
    ['an empty body', '', {}, 400],
    ['a form', issues('labeled'), { 'content-type': 'application/x-www-form-urlencoded' }, 415],
    ['text', issues('labeled'), { 'content-type': 'text/plain' }, 415],
    ['an unknown event', issues('labeled'), { 'x-github-event': 'sparkles' }, 200],
    ['no event', issues('labeled'), { 'x-github-event': '' }, 400],
    ['no delivery id', issues('labeled'), { 'x-github-delivery': '' }, 400],
    ['an unknown action', issues('sparkled'), {}, 200],
    ['an action that is an object', issues('labeled').replace('"labeled"', '{"toString":1}'), {}, 500],
    ['another label', issues('labeled', { label: 'auto-dev ' }), {}, 200],
    ['no installation', issues('labeled', { more: { installation: null } }), {}, 200],
    ['no sender', issues('labeled', { more: { sender: null } }), {}, 200],
  ])('%s is rejected or has no effect', async (_what, body, headers, status) => {
    expect((await app.deliver(body, headers)).status).toBe(status);
    await nothing();
  });

  test('200 parallel deliveries are all answered before any run continues', async () => {
    const release = app.hold();
    const sent = Array.from({ length: 200 }, (_, n) => app.deliver(issues('labeled', { number: 100 + n })));
    const answers = await Promise.all(sent);
    expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
    const before = (await app.store.runs(1_000)).map(({ state }) => state);
    expect(before).toEqual(Array(200).fill('queued'));
    release();
    expect(await states()).toEqual(Array(200).fill('admitted'));
  });
});
