import { z } from 'zod';
import { webAddress } from './environment-values.ts';

/** The part of the operator's environment that is about traces. */
export const TRACE_VARIABLES = {
  OTEL_EXPORTER_OTLP_ENDPOINT: webAddress
    .optional()
    .describe(
      'URL of an OpenTelemetry collector (OTLP over HTTP; `/v1/traces` is appended) that receives a trace of each run: names, times and costs, never texts. Default: none; no traces are sent.',
    ),
  OTEL_EXPORTER_OTLP_HEADERS: z
    .string()
    .regex(/^[^=,\s]+=[^,]*(,[^=,\s]+=[^,]*)*$/, 'write name=value, with commas between')
    .optional()
    .describe('Headers for the collector, such as its key: `name=value`, comma-separated.'),
  TRACE_FOLDER: z
    .string()
    .optional()
    .describe(
      'Folder in which the trace of each run is written to `<run>.json`, in the format of Chrome: for chrome://tracing or https://ui.perfetto.dev. `runoff run --trace FILE` does the same for one run. Default: none is written.',
    ),
};

/** Where traces of runs go. */
export interface TraceSettings {
  /** URL of a trace collector; absent: none. */
  readonly traces?: { readonly url: string; readonly headers: Readonly<Record<string, string>> };
  /** Folder for a trace of each run as a file; absent: none is written. */
  readonly traceFolder?: string;
}

type TraceVariables = {
  readonly [Name in keyof typeof TRACE_VARIABLES]?: z.output<(typeof TRACE_VARIABLES)[Name]>;
};

/** As in the OpenTelemetry specification: the path of traces is appended, header values may be percent-encoded. */
export function tracesOf({
  OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
  OTEL_EXPORTER_OTLP_HEADERS: headers = '',
  TRACE_FOLDER: folder,
}: TraceVariables): TraceSettings {
  const files = folder ? { traceFolder: folder } : {};
  if (!endpoint) return files;
  const pairs = headers
    .split(',')
    .filter(Boolean)
    .map((pair): [string, string] => {
      const at = pair.indexOf('=');
      return [pair.slice(0, at).trim(), decoded(pair.slice(at + 1).trim())];
    });
  return {
    ...files,
    traces: { url: `${endpoint.replace(/\/+$/, '')}/v1/traces`, headers: Object.fromEntries(pairs) },
  };
}

/** Decodes `%xx`; a text that is no such encoding, such as a password with a plain `%`, is returned as it is. */
export function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}
