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

interface TracerOptions {
  /** Where spans are sent, e.g. `https://collector.example.com:4318/v1/traces`. */
  readonly url: string;
  /** Additional headers, including the collector's keys. */
  readonly headers: Readonly<Record<string, string>>;
  /** Which process this is. */
  readonly instance: string;
  /** Milliseconds between two exports. Default 5000. */
  readonly everyMs?: number;
  /** Time limit of one export, including the last one, in milliseconds. Default 3000. */
  readonly sendMs?: number;
}

/** Maximum number of queued spans; further ones are dropped. Our default: a few megabytes at most. */
const MAX_WAITING = 2048;
/** Our default: a collector that is down must not delay shutdown. */
const SEND_MS = 3000;
const EVERY_MS = 5000;

/** Ids of a run's trace: the same in every process and after every restart, so that all spans join one trace. */
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
      // A Date, because the package interprets a small number as time since the start of the process.
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

/** Omits the error's text, which may quote a repository or a model. */
const markFailed = (span: Span): void => void span.setStatus({ code: SpanStatusCode.ERROR });

const belowRun = (run: RunId): Context =>
  trace.setSpanContext(ROOT_CONTEXT, { ...idsOf(run), traceFlags: TraceFlags.SAMPLED, isRemote: true });

/** Random ids, except for the root span of a run, which has a fixed one. */
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
