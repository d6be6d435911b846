import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { asFault, unlessAborted } from '../../core/model/index.ts';
import type { Census, Metrics } from '../../ports/index.ts';

/** Every metric: name, meaning and labels. `docs/operations-metrics.md` lists the same. */
export const METRICS = {
  runoff_runs: { help: 'Runs in the database, by state.', labels: ['state'] },
  runoff_queued_runs: { help: 'Runs that wait in the run queue.', labels: [] },
  runoff_coders_waiting: { help: 'Candidates of active runs whose coder has not started.', labels: [] },
  runoff_executors: {
    help: 'Processes with a heartbeat in the last two minutes, by role.',
    labels: ['role'],
  },
  runoff_stage_seconds: {
    help: 'Duration of the steps of runs, in seconds: the stages, and `base` beside `brief`.',
    labels: ['stage'],
  },
  runoff_webhook_seconds: {
    help: 'Time until a delivery was answered, in seconds.',
    labels: ['event', 'status'],
  },
  runoff_model_dollars_total: {
    help: 'Cost of model calls in US dollars, as recorded in the ledger.',
    labels: ['model'],
  },
  runoff_model_tokens_total: {
    help: 'Tokens sent to and received from models.',
    labels: ['model', 'direction'],
  },
  runoff_model_calls_total: { help: 'Model calls, by outcome.', labels: ['model', 'outcome'] },
  runoff_gateway_refusals_total: {
    help: 'Model calls that the gateway rejected, by reason.',
    labels: ['kind'],
  },
  runoff_github_writes_total: { help: 'Writes to GitHub, pushes included.', labels: ['kind', 'outcome'] },
  runoff_faults_total: {
    help: 'Faults that ended a stage, and stored data found damaged.',
    labels: ['code'],
  },
  runoff_candidates_total: { help: 'Candidates whose coder has ended, by state.', labels: ['state'] },
} as const satisfies Readonly<Record<string, { readonly help: string; readonly labels: readonly string[] }>>;

type MetricName = keyof typeof METRICS;

interface MetricsOptions {
  /** Called for each scrape. */
  readonly census: () => Promise<Census>;
}

/** Seconds. Our choice: a step takes between milliseconds and the two hours of the longest coder. */
const STAGE_BUCKETS = [0.1, 0.5, 1, 5, 15, 60, 300, 900, 1800, 3600, 7200];
/** Seconds. GitHub waits ten for an answer; we aim at two. */
const WEBHOOK_BUCKETS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10];
/**
 * Maximum number of distinct values of a label with external values (repositories name models); others are counted as
 * `other`. Our default.
 */
const MAX_VALUES = 60;

/** Metrics of one process, in their own registry. */
export function openMetrics({ census }: MetricsOptions): Metrics {
  const registers = [new Registry()];
  const [registry = new Registry()] = registers;
  collectDefaultMetrics({ register: registry });
  const of = (name: MetricName) => {
    const { help, labels } = METRICS[name];
    return { name, help, labelNames: [...labels], registers };
  };
  const stages = new Histogram({ ...of('runoff_stage_seconds'), buckets: STAGE_BUCKETS });
  const webhooks = new Histogram({ ...of('runoff_webhook_seconds'), buckets: WEBHOOK_BUCKETS });
  const dollars = new Counter(of('runoff_model_dollars_total'));
  const tokens = new Counter(of('runoff_model_tokens_total'));
  const calls = new Counter(of('runoff_model_calls_total'));
  const refusals = new Counter(of('runoff_gateway_refusals_total'));
  const writes = new Counter(of('runoff_github_writes_total'));
  const faults = new Counter(of('runoff_faults_total'));
  const candidates = new Counter(of('runoff_candidates_total'));
  const count = openGauges(of);
  const [event, modelName] = [boundedValues(), boundedValues()];

  return {
    stage: (name, seconds) => stages.observe({ stage: name }, seconds),
    webhook: (name, status, seconds) =>
      webhooks.observe({ event: event(name), status: String(status) }, seconds),
    modelCall: ({ model: name, status, usd, tokensIn, tokensOut }) => {
      const model = modelName(name);
      dollars.inc({ model }, usd);
      tokens.inc({ model, direction: 'in' }, tokensIn);
      tokens.inc({ model, direction: 'out' }, tokensOut);
      calls.inc({ model, outcome: outcomeOf(status) });
    },
    gatewayRefusal: (kind) => refusals.inc({ kind }),
    githubWrite: (kind, outcome) => writes.inc({ kind, outcome }),
    fault: (code) => faults.inc({ code }),
    candidate: (state) => candidates.inc({ state }),
    async exposition() {
      count(await censusIfReached(census));
      return { contentType: registry.contentType, text: await registry.metrics() };
    },
  };
}

/** Milliseconds for the census. Our default: half of what a Prometheus server waits for a scrape. */
const CENSUS_MS = 5_000;

/** Null while the database does not answer: what is unknown is missing, and all other metrics are needed most then. */
async function censusIfReached(census: MetricsOptions['census']): Promise<Census | null> {
  const late = AbortSignal.timeout(CENSUS_MS);
  try {
    return await unlessAborted(census(), late);
  } catch (thrown) {
    if (!late.aborted && asFault(thrown).code !== 'DATABASE_UNAVAILABLE') throw thrown;
    return null;
  }
}

/** Gauges computed from the store, all at the same moment. */
function openGauges(of: (name: MetricName) => ConstructorParameters<typeof Gauge>[0]) {
  const runs = new Gauge(of('runoff_runs'));
  const queuedRuns = new Gauge(of('runoff_queued_runs'));
  const waiting = new Gauge(of('runoff_coders_waiting'));
  const executors = new Gauge(of('runoff_executors'));
  return (found: Census | null): void => {
    runs.reset();
    executors.reset();
    if (found === null) {
      queuedRuns.remove();
      waiting.remove();
      return;
    }
    for (const [state, number] of Object.entries(found.runs)) runs.set({ state }, number);
    queuedRuns.set(found.queuedRuns);
    waiting.set(found.codersWaiting);
    for (const [role, number] of Object.entries(found.executors)) executors.set({ role }, number);
  };
}

/** The outcome of an HTTP status. 402 comes from the gateway: the call was booked but not sent. */
function outcomeOf(status: number): string {
  if (status >= 200 && status < 300) return 'done';
  if (status === 402) return 'not-sent';
  if (status === 429) return 'limited';
  if (status >= 500) return 'provider-failed';
  return status === 0 ? 'cut' : 'refused';
}

function boundedValues(): (value: string) => string {
  const known = new Set<string>();
  return (value) => {
    if (known.size < MAX_VALUES) known.add(value);
    return known.has(value) ? value : 'other';
  };
}
