import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { METRICS, openMetrics } from '../../../src/adapters/metrics/index.ts';
import { instrumentedLedger, instrumentedWebhook } from '../../../src/compose/instrumentation.ts';

import { Fault, NO_USAGE } from '../../../src/core/model/index.ts';
import type { Flows, Metrics } from '../../../src/ports/index.ts';
import { instrumentFlows } from '../../../src/runs/instrumentation.ts';
import { startWeb } from '../../../src/server/index.ts';
import { delivery, SECRET } from '../../server/delivery.ts';
import { bookRow } from '../../world/ledger.ts';
import { memoryEngine } from '../../world/memory-engine.ts';
import { memoryStore } from '../../world/memory-store.ts';
import { silent } from '../../world/silent-log.ts';

const TOKEN = 'scrape-0123456789abcdef';
const MODEL = 'anthropic/claude-sonnet-5';

/** One line of the text format: a name, labels in braces, a number. */
const SAMPLE = /^([a-zA-Z_:][\w:]*)(?:\{((?:\w+="(?:[^"\\]|\\.)*",?)*)\})? (\S+)$/;

/** `name label=x` → value; every line is a comment or a sample, and every sample was announced with help and type. */
async function scraped(metrics: Metrics): Promise<Readonly<Record<string, number>>> {
  const { text } = await metrics.exposition();
  const lines = text.split('\n').filter(Boolean);
  const announced = lines.flatMap(
    (line) => /^# TYPE (\w+) (?:counter|gauge|histogram|summary)$/.exec(line)?.[1] ?? [],
  );
  const rows = lines
    .filter((line) => !line.startsWith('# '))
    .map((line): [string, number] => {
      const [, name = '', labels = '', value] = SAMPLE.exec(line) ?? [];
      expect(announced).toContain(
        announced.includes(name) ? name : name.replace(/_(?:bucket|count|sum)$/, ''),
      );
      return [`${name} ${labels.replaceAll('"', '').replaceAll(',', ' ')}`.trim(), Number(value)];
    });
  return Object.fromEntries(rows);
}

const local = { kind: 'local', path: '/srv/repo' } as const;

/** A run of two stages and a candidate, the second stage of which meets a fault. */
const flows = (store: ReturnType<typeof memoryStore>): Flows => ({
  async run(context) {
    await context.step('admit', async () => ({ kind: 'ok', value: 1 }));
    await context.fanOut([{ key: 'A', partition: 'p', input: { runId: 'r1', alias: 'A' } }]);
    await context.step('judge', async () => ({
      kind: 'fault',
      fault: { code: 'DISK_FULL', message: 'full' },
    }));
    return 'failed';
  },
  candidate: (context) =>
    context.step('write', async () => {
      const contestant = { agent: 'builtin', model: MODEL, prompt: 'plain' };
      const usage = NO_USAGE;
      const own = {
        runId: 'r1',
        alias: 'A',
        ordinal: 0,
        contestant,
        usage,
        ms: 1,
        state: 'coded',
        note: '',
      } as const;
      await store.putCandidate(own);
      return null;
    }),
  examination: async () => null,
});

const call = (status: number, usd: number) => ({
  runId: 'r1',
  spender: 'A',
  repository: 'local-x',
  model: MODEL,
  tokensIn: 100,
  tokensOut: 20,
  tokensCached: 0,
  tokensReasoning: 0,
  usd,
  exact: true,
  status,
  ms: 5,
  at: 1,
});

describe('metrics', () => {
  test('report what a run did, as a Prometheus server reads them', async () => {
    const store = memoryStore();
    const metrics = openMetrics({ census: () => store.census() });
    let elapsed = 0;
    const clock = { now: () => 1, elapsed: () => (elapsed += 1000), sleep: async () => undefined };
    await store.createRun({ id: 'r1', origin: local, title: 'x', request: null, at: 1 });
    await store.createRun({ id: 'r2', origin: local, title: 'y', request: null, at: 1 });
    const engine = memoryEngine();
    await engine.launch(instrumentFlows({ store, clock, log: silent, metrics }, flows(store)));
    await engine.start('r1', { runId: 'r1' });
    await engine.settled('r1');
    const ledger = instrumentedLedger(store, { metrics });
    for (const row of [call(200, 0.25), call(200, 0.5), call(429, 0)]) {
      await ledger.settleCall(await bookRow(ledger, { ...row, status: 0 }), row);
    }
    metrics.githubWrite('comment', 'done');
    metrics.gatewayRefusal('content');
    metrics.gatewayRefusal('content');
    await store.transition('r1', 'admitted', 'may start', 2);

    expect(await scraped(metrics)).toMatchObject({
      'runoff_runs state=queued': 1,
      'runoff_runs state=admitted': 1,
      'runoff_runs state=published': 0,
      runoff_queued_runs: 0, // Only of runs on GitHub: those of the command line have a process of their own.
      runoff_coders_waiting: 0,
      'runoff_stage_seconds_count stage=admit': 1,
      'runoff_stage_seconds_count stage=write': 1,
      'runoff_stage_seconds_count stage=judge': 1,
      'runoff_faults_total code=DISK_FULL': 1,
      'runoff_candidates_total state=coded': 1,
      [`runoff_model_dollars_total model=${MODEL}`]: 0.75,
      [`runoff_model_tokens_total model=${MODEL} direction=in`]: 300,
      [`runoff_model_tokens_total model=${MODEL} direction=out`]: 60,
      [`runoff_model_calls_total model=${MODEL} outcome=done`]: 2,
      [`runoff_model_calls_total model=${MODEL} outcome=limited`]: 1,
      'runoff_gateway_refusals_total kind=content': 2,
      'runoff_github_writes_total kind=comment outcome=done': 1,
    });
  });

  test('have every name of the catalogue and no unbounded labels', async () => {
    const store = memoryStore();
    const metrics = openMetrics({ census: () => store.census() });
    for (let n = 0; n < 500; n += 1) {
      metrics.modelCall({ model: `x/${n}`, status: 200, usd: 1, tokensIn: 1, tokensOut: 1 });
    }
    const { text } = await metrics.exposition();
    const names = [...text.matchAll(/^# TYPE (runoff_\w+)/gm)].map(([, name]) => name);
    expect(names.toSorted()).toEqual(Object.keys(METRICS).toSorted());
    const found = await scraped(metrics);
    const models = Object.keys(found).filter((name) => name.startsWith('runoff_model_dollars_total'));
    expect(models.length).toBe(61);
    expect(found['runoff_model_dollars_total model=other']).toBe(440);
  });
});

test('docs/operations-metrics.md lists all metrics with meaning and labels', () => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/operations-metrics.md'), 'utf8');
  const rows = page.split('\n').filter((line) => line.startsWith('| `runoff_'));
  expect(rows).toEqual(
    Object.entries(METRICS).map(([name, { help, labels }]) => {
      const shown = labels.map((label) => `\`${label}\``).join(', ') || '–';
      return `| \`${name}\` | ${help} | ${shown} |`;
    }),
  );
  for (const [name] of page.matchAll(/runoff_[a-z_]+/g)) {
    expect(Object.keys(METRICS)).toContain(name.replace(/_(?:count|sum|bucket)$/, ''));
  }
});

describe('/metrics', () => {
  const metrics = openMetrics({ census: () => memoryStore().census() });
  const page = { token: TOKEN, exposition: () => metrics.exposition() };
  const clock = { now: () => 1, elapsed: () => performance.now(), sleep: async () => undefined };

  async function served(asked: 'with a token' | 'without'): Promise<{ url: string; close(): Promise<void> }> {
    const web = await startWeb({
      host: '127.0.0.1',
      port: 0,
      webhooksPath: '/hooks',
      webhook: {
        secret: SECRET,
        take: instrumentedWebhook({ log: silent, clock, metrics }, (_request, response) => {
          response.writeHead(202).end();
          return true;
        }),
      },
      health: async () => ({ ok: true, detail: {} }),
      log: silent,
      ...(asked === 'without' ? {} : { metrics: page }),
    });
    return { url: web.url, close: () => web.close(0) };
  }
  const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });

  test('is available only with the token', async () => {
    const { url, close } = await served('with a token');
    try {
      const right = await fetch(`${url}/metrics`, bearer(TOKEN));
      expect([right.status, right.headers.get('content-type')]).toEqual([
        200,
        expect.stringContaining('text/plain'),
      ]);
      expect(await right.text()).toContain('runoff_queued_runs 0');
      for (const wrong of [{}, bearer(''), bearer(`${TOKEN}x`), bearer(TOKEN.slice(1))]) {
        const answer = await fetch(`${url}/metrics`, wrong);
        expect([answer.status, (await answer.text()).includes('runoff_')]).toEqual([404, false]);
      }
    } finally {
      await close();
    }
  });

  test('does not exist if no token is set', async () => {
    const { url, close } = await served('without');
    try {
      for (const asked of [{}, bearer(''), bearer('undefined')]) {
        expect((await fetch(`${url}/metrics`, asked)).status).toBe(404);
      }
    } finally {
      await close();
    }
  });

  test('counts deliveries by event and answer, and unknown events as one', async () => {
    const { url, close } = await served('with a token');
    try {
      for (const event of ['issues', 'issues', 'made', 'made_up_too']) {
        await fetch(`${url}/hooks`, delivery('{}', { 'x-github-event': event }));
      }
    } finally {
      await close();
    }
    expect(await scraped(metrics)).toMatchObject({
      'runoff_webhook_seconds_count event=issues status=202': 2,
      'runoff_webhook_seconds_count event=other status=202': 2,
    });
  });
});

test('while the database is down, only what is read from it is missing', async () => {
  const { census } = memoryStore();
  let isDown = false;
  const metrics = openMetrics({
    census: async () => {
      if (isDown) throw new Fault('DATABASE_UNAVAILABLE', 'The database does not answer.');
      return census();
    },
  });
  metrics.fault('DATABASE_UNAVAILABLE');
  expect(await scraped(metrics)).toHaveProperty('runoff_queued_runs', 0);
  isDown = true;
  const { text } = await metrics.exposition();
  expect(text).not.toMatch(/^runoff_(?:runs|queued_runs|coders_waiting|executors)\b/m);
  expect(text).toContain('runoff_faults_total{code="DATABASE_UNAVAILABLE"} 1\n');
});
