import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openS3Artifacts, type S3Options } from '../../../src/adapters/artifacts/index.ts';
import { artifactsContract } from '../../contracts/artifacts.suite.ts';
import { type S3Server, startS3Server } from '../../world/s3-server.ts';
import { tried } from '../../world/tried.ts';

let server: S3Server;
beforeAll(async () => {
  server = await startS3Server();
});
afterAll(() => server.close());

const options = (changes: Partial<S3Options> = {}): S3Options => ({
  bucket: server.bucket,
  prefix: `runs/${randomBytes(6).toString('hex')}`,
  endpoint: server.endpoint,
  region: 'us-east-1',
  accessKeyId: server.key,
  secretAccessKey: server.key,
  pathStyle: true,
  ...changes,
});

/** A host that no resolver knows, reached as if it were known: `fetch` over a connection of our choosing. */
const resolved: typeof fetch = async (input, init) => {
  const asked = new Request(input, init);
  const { hostname, pathname, search } = new URL(asked.url);
  const onward = request({
    hostname,
    port: server.port,
    path: pathname + search,
    method: asked.method,
    headers: { ...Object.fromEntries(asked.headers), host: hostname },
    lookup: (_, options, found) =>
      options.all ? found(null, [{ address: '127.0.0.1', family: 4 }]) : found(null, '127.0.0.1', 4),
  });
  onward.end(Buffer.from(await asked.arrayBuffer()));
  const [said] = (await once(onward, 'response')) as [IncomingMessage];
  const body = await buffer(said);
  const status = said.statusCode ?? 0;
  return new Response(status === 204 ? null : new Uint8Array(body), {
    status,
    headers: said.headers as Record<string, string>,
  });
};

artifactsContract('S3, the bucket in the path', async () => openS3Artifacts(options()));
artifactsContract('S3, the bucket in the host', async () =>
  openS3Artifacts(options({ endpoint: 'http://s3.amazonaws.com', pathStyle: false, fetch: resolved })),
);

test('a sweep sees more objects than one page of a listing has', async () => {
  const artifacts = openS3Artifacts(options({ fetch: inPagesOf(3) }));
  const refs = await Promise.all(Array.from({ length: 10 }, (_, number) => artifacts.put(`text ${number}`)));
  const kept = refs[4]?.sha256;
  const swept = await artifacts.sweep({ keep: (sha256) => sha256 === kept, before: Date.now() + 60_000 });
  expect(swept).toEqual({ files: 9, bytes: 9 * 6 });
});

/** As a server that hands out fewer names at a time; s3rver's own second page fails on Node 24. */
function inPagesOf(count: number): typeof fetch {
  let objects: readonly string[] = [];
  return async (input, init) => {
    const asked = input as Request;
    if (!asked.url.includes('list-type=2')) return fetch(input, init);
    const from = Number(new URL(asked.url).searchParams.get('continuation-token') ?? 0);
    if (from === 0) {
      const whole = await (await fetch(asked)).text();
      objects = [...whole.matchAll(/<Contents>.*?<\/Contents>/gs)].map(([text]) => text);
    }
    const next = from + count;
    const token = `<IsTruncated>true</IsTruncated><NextContinuationToken>${next}</NextContinuationToken>`;
    const page = objects.slice(from, next).join('') + (next < objects.length ? token : '');
    return new Response(`<ListBucketResult><Name>artifacts</Name>${page}</ListBucketResult>`);
  };
}

test('objects outside the prefix are never touched', async () => {
  const [mine, theirs] = [
    openS3Artifacts(options({ prefix: 'a' })),
    openS3Artifacts(options({ prefix: 'ab' })),
  ];
  const ref = await theirs.put('theirs');
  await mine.put('mine');
  expect((await mine.sweep({ keep: () => false, before: Date.now() + 60_000 })).files).toBe(1);
  expect(await theirs.get(ref)).toBe('theirs');
});

test('a server that is away for a moment is waited for', async () => {
  const ref = await openS3Artifacts(options({ prefix: 'kept' })).put('before');
  await server.kill();
  let failed = 0;
  const backAfterTheFirst: typeof fetch = async (input, init) => {
    try {
      return await fetch(input, init);
    } catch (error) {
      failed += 1;
      await server.restart();
      throw error;
    }
  };
  const artifacts = openS3Artifacts(options({ prefix: 'kept', fetch: backAfterTheFirst }));
  expect(await artifacts.get(ref)).toBe('before');
  expect(failed).toBe(1);
});

test('one that stays away is an outage with its address, which a run waits out', async () => {
  tried({
    id: 'bucket-away',
    part: 'The database is killed or unavailable',
    what: 'The artifact store is unavailable.',
    held: 'Runs wait; the fault names its address.',
  });
  const artifacts = openS3Artifacts(options({ endpoint: 'http://127.0.0.1:1' }));
  await expect(artifacts.put('text')).rejects.toMatchObject({
    code: 'ARTIFACTS_UNAVAILABLE',
    retry: 'later',
    message: expect.stringMatching(/^The artifact store s3:\/\/artifacts\/runs\/\w+ does not answer: /),
  });
});

test.each<readonly [string, Partial<S3Options>, RegExp]>([
  ['a wrong secret', { secretAccessKey: 'wrong' }, /SignatureDoesNotMatch.*Check the access key/s],
  ['a bucket that is not there', { bucket: 'nowhere' }, /NoSuchBucket.*Check the name of the bucket/s],
])('%s is reported with what to check, on writing and on reading', async (_, wrong, words) => {
  const artifacts = openS3Artifacts(options(wrong));
  const fault = { code: 'ARTIFACTS_UNAVAILABLE', message: expect.stringMatching(words) };
  await expect(artifacts.put('text')).rejects.toMatchObject(fault);
  await expect(artifacts.get({ sha256: 'a'.repeat(64), bytes: 3 })).rejects.toMatchObject(fault);
});

test('requests to busy servers are retried, and a truncated answer is rejected', async () => {
  tried({
    id: 'bucket-busy',
    part: 'The database is killed or unavailable',
    what: 'The artifact store is busy, or truncates an answer.',
    held: 'Runoff retries, and never accepts a truncated answer as the artifact.',
  });
  let asked = 0;
  const busyTwice: typeof fetch = async (input, init) => {
    asked += 1;
    return asked <= 2 ? new Response('', { status: 503 }) : fetch(input, init);
  };
  const artifacts = openS3Artifacts(options({ fetch: busyTwice }));
  const ref = await artifacts.put('whole');
  expect(asked).toBe(3);
  const cut = openS3Artifacts(options({ fetch: async () => new Response('who') }));
  await expect(cut.get(ref)).rejects.toThrow(/is damaged on the machine/);
});

test('an endless answer is not read to its end', async () => {
  let sent = 0;
  const endless = new ReadableStream({
    pull(stream) {
      sent += 1;
      stream.enqueue(new Uint8Array(1_000));
    },
  });
  const artifacts = openS3Artifacts(options({ fetch: async () => new Response(endless) }));
  await expect(artifacts.get({ sha256: 'a'.repeat(64), bytes: 2_500 })).rejects.toThrow(
    /is damaged on the machine/,
  );
  expect(sent).toBeLessThan(10);
});
