import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { afterEach, expect, test } from 'vitest';
import { openTracer } from '../../../src/adapters/traces/index.ts';
import { instrumentedLedger } from '../../../src/compose/instrumentation.ts';
import type { Flows, Tracer } from '../../../src/ports/index.ts';
import { instrumentFlows } from '../../../src/runs/instrumentation.ts';
import { bookRow } from '../../world/ledger.ts';
import { memoryEngine } from '../../world/memory-engine.ts';
import { memoryStore } from '../../world/memory-store.ts';
import { silent } from '../../world/silent-log.ts';

interface SentSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly startTimeUnixNano: string;
  readonly status: { readonly code: number };
  readonly attributes: readonly { readonly key: string; readonly value: unknown }[];
}

/** A collector on this machine, which reads what it is sent. */
async function collector() {
  const spans: SentSpan[] = [];
  const keys: unknown[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      keys.push(request.headers['x-key']);
      const body = Buffer.concat(chunks);
      const json = request.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body;
      const sent = JSON.parse(json.toString()) as {
        readonly resourceSpans: readonly {
          readonly scopeSpans: readonly { readonly spans: readonly SentSpan[] }[];
        }[];
      };
      for (const { scopeSpans } of sent.resourceSpans)
        for (const scope of scopeSpans) spans.push(...scope.spans);
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closers.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { spans, keys, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/traces` };
}

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

const HEADERS = { 'x-key': 'of the collector' };
const clock = { now: Date.now, elapsed: () => performance.now(), sleep: async () => undefined };

async function withRun() {
  const store = memoryStore();
  await store.createRun({
    id: 'r1',
    origin: { kind: 'local', path: '/x' },
    title: 't',
    request: null,
    at: 5_000,
  });
  return store;
}

const row = {
  runId: 'r1',
  spender: 'A',
  repository: 'local-x',
  model: 'openai/gpt-6-sol',
  tokensIn: 10,
  tokensOut: 2,
  tokensCached: 0,
  tokensReasoning: 0,
  usd: 0.5,
  exact: true,
  status: 200,
  ms: 20,
  at: 6_000,
};

/** One stage that calls a model and one that fails, with the given tracer. */
async function drive(tracer: Tracer, store: Awaited<ReturnType<typeof withRun>>): Promise<void> {
  const ledger = instrumentedLedger(store, { tracer });
  const flows: Flows = {
    async run(context) {
      await context.step('admit', async () => {
        await ledger.settleCall(await bookRow(ledger, row), row);
        return null;
      });
      await context
        .step('judge', () => Promise.reject(new Error('the issue says: top secret words')))
        .catch(() => undefined);
      await context.fanOut([{ key: 'A', partition: 'p', input: { runId: 'r1', alias: 'A' } }]);
      return 'published';
    },
    candidate: (context) => context.step('write', async () => null),
    examination: async () => null,
  };
  const engine = memoryEngine();
  await engine.launch(instrumentFlows({ store, clock, log: silent, tracer }, flows));
  await engine.start('r1', { runId: 'r1' });
  await engine.settled('r1');
}

test('the spans of a run are one trace below the run, from two processes, and tell no texts', async () => {
  const { spans, keys, url } = await collector();
  const store = await withRun();
  const [app, worker] = ['app', 'worker'].map((instance) => openTracer({ url, headers: HEADERS, instance }));
  if (!app || !worker) throw new Error('two processes');
  await drive(app, store);
  await worker.within(
    { name: 'sandbox', run: 'r1', attributes: { run: 'r1', program: 'npm' } },
    async () => null,
  );
  await app.close();
  await worker.close();

  const [run] = spans.filter(({ name }) => name === 'run');
  const below = (name: string) => spans.filter((span) => span.name === name).map((span) => span.parentSpanId);
  expect(run?.startTimeUnixNano).toBe('5000000000');
  expect(run?.parentSpanId ?? '').toBe('');
  expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(new Set([run?.traceId]));
  expect([below('stage'), below('candidate'), below('sandbox')]).toEqual([
    [run?.spanId, run?.spanId],
    [run?.spanId],
    [run?.spanId],
  ]);
  const [stage, failed] = spans.filter(({ name }) => name === 'stage');
  const [call] = spans.filter(({ name }) => name === 'model call');
  expect([call?.parentSpanId, failed?.status.code]).toEqual([stage?.spanId, 2]);
  const attributes = Object.fromEntries((call?.attributes ?? []).map(({ key, value }) => [key, value]));
  expect(attributes).toMatchObject({
    run: { stringValue: 'r1' },
    model: { stringValue: 'openai/gpt-6-sol' },
    usd: { doubleValue: 0.5 },
    tokens_in: { intValue: 10 },
  });
  expect(JSON.stringify(spans)).not.toContain('top secret words');
  expect(new Set(keys)).toEqual(new Set(['of the collector']));
});

test('a collector that never answers holds up neither a run nor the end for long', async () => {
  const deaf = createServer(() => undefined);
  await new Promise<void>((resolve) => deaf.listen(0, '127.0.0.1', resolve));
  closers.push(async () => {
    deaf.closeAllConnections();
    await new Promise((resolve) => deaf.close(resolve));
  });
  const url = `http://127.0.0.1:${(deaf.address() as AddressInfo).port}/v1/traces`;
  const tracer = openTracer({ url, headers: {}, instance: 'app', everyMs: 10, sendMs: 200 });
  const store = await withRun();
  await drive(tracer, store);
  for (let n = 0; n < 5_000; n += 1) {
    tracer.record(
      { name: 'model call', run: 'r1', attributes: { n } },
      { startedAt: 1, endedAt: 2, failed: false },
    );
  }
  await tracer.close();
  expect(await store.usage('r1')).toMatchObject({ calls: 1, usd: 0.5 });
});
