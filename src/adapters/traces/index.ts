import { AsyncLocalStorage } from 'node:async_hooks';
import { createHash } from 'node:crypto';
import {
  type Context,
  ROOT_CONTEXT,
  type Span,
  type SpanOptions,
  SpanStatusCode,
  TraceFlags,
  trace,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, RandomIdGenerator, TracerProvider } from '@opentelemetry/sdk-trace';
import type { RunId } from '../../core/model/index.ts';
import type { SpanAbout, Tracer } from '../../ports/index.ts';

export interface TracerOptions {
  /** Where spans are sent, e.g. `https://collector.example.com:4318/v1/traces`. */
  readonly url: string;
  /** Sent along, keys of the collector among them. */
  readonly headers: Readonly<Record<string, string>>;
  /** Which process this is. */
  readonly instance: string;
  /** Milliseconds between two sendings. Default 5000. */
  readonly everyMs?: number;
  /** Milliseconds for one sending, and for the last one at the end. Default 3000. */
  readonly sendMs?: number;
}

/** Spans that wait to be sent; further ones are dropped. Ours: a few megabytes at most. */
const MAX_WAITING = 2048;
/** Ours: a collector that is down must not hold up a stop. */
const SEND_MS = 3000;
const EVERY_MS = 5000;

/** Ids of a run's trace: the same in every process and after every restart, so that what they tell meets. */
function idsOf(run: RunId): { readonly traceId: string; readonly spanId: string } {
  const hash = createHash('sha256').update(run).digest('hex');
  return { traceId: hash.slice(0, 32), spanId: hash.slice(32, 48) };
}

/** Sends spans to a collector over OTLP (JSON over HTTP), in the background. */
export function openTracer({
  url,
  headers,
  instance,
  everyMs = EVERY_MS,
  sendMs = SEND_MS,
}: TracerOptions): Tracer {
  const ids = openIds();
  const exporter = new OTLPTraceExporter({ url, headers: { ...headers }, timeoutMillis: sendMs });
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': 'runoff', 'service.instance.id': instance }),
    idGenerator: ids,
    spanProcessors: [
      new BatchSpanProcessor({
        exporter,
        maxQueueSize: MAX_WAITING,
        scheduledDelayMillis: everyMs,
        exportTimeoutMillis: sendMs,
      }),
    ],
  });
  const tracer = provider.getTracer('runoff');
  const active = new AsyncLocalStorage<{ readonly run: RunId; readonly context: Context }>();

  const start = ({ name, run, attributes }: SpanAbout, options: SpanOptions = {}) => {
    const above = active.getStore();
    const context = above?.run === run ? above.context : belowRun(run);
    return { span: tracer.startSpan(name, { ...options, attributes: { ...attributes } }, context), context };
  };

  return {
    async within(about, work) {
      const { span, context } = start(about);
      try {
        return await active.run({ run: about.run, context: trace.setSpan(context, span) }, work);
      } catch (thrown) {
        markFailed(span);
        throw thrown;
      } finally {
        span.end();
      }
    },
    record(about, { startedAt, endedAt, failed }) {
      const { span } = start(about, { startTime: new Date(startedAt) });
      if (failed) markFailed(span);
      span.end(new Date(endedAt));
    },
    recordRun({ name, run, attributes }, { startedAt, endedAt, failed }) {
      // A Date: the package takes a small number for one since the start of the process.
      const options = { startTime: new Date(startedAt), attributes: { ...attributes }, root: true };
      const span = ids.asIf(idsOf(run), () => tracer.startSpan(name, options, ROOT_CONTEXT));
      if (failed) markFailed(span);
      span.end(new Date(endedAt));
    },
    async close() {
      // Spans that a collector does not accept are lost, without other effects.
      await provider.shutdown().catch(() => undefined);
    },
  };
}

/** Without the error's text: it may quote what a repository or a model said. */
const markFailed = (span: Span): void => void span.setStatus({ code: SpanStatusCode.ERROR });

const belowRun = (run: RunId): Context =>
  trace.setSpanContext(ROOT_CONTEXT, { ...idsOf(run), traceFlags: TraceFlags.SAMPLED, isRemote: true });

/** Random ids, but for the one span of a run that has its own. */
function openIds() {
  const random = new RandomIdGenerator();
  let given: { readonly traceId: string; readonly spanId: string } | null = null;
  return {
    generateTraceId: () => given?.traceId ?? random.generateTraceId(),
    generateSpanId: () => given?.spanId ?? random.generateSpanId(),
    /** `start` starts one span, at once. */
    asIf(ids: { readonly traceId: string; readonly spanId: string }, start: () => Span): Span {
      given = ids;
      try {
        return start();
      } finally {
        given = null;
      }
    },
  };
}
