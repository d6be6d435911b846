import { openBoundedBuffer, parseUntrustedJson } from '../../core/model/index.ts';
import type { ModelProtocol } from '../../core/settings/index.ts';
import { isObject, type Body as Json } from './bodies/index.ts';
import type { Tokens } from './providers.ts';
import { CLOSING_LINE, ENDINGS, errorIn, objectOrEmpty, VISIBLE, watchEnd } from './stream-events.ts';

/** Input as counted by a provider. */
export type ReportedInput = Omit<Tokens, 'output'>;

/** Usage reported by an answer. */
export interface MeterReading {
  /** Input as counted by the provider; null if it was not reported. */
  readonly input: ReportedInput | null;
  /** Output as counted by the provider at the end; null if it was not reported. */
  readonly output: number | null;
  /** Part of `output`; 0 if it was not reported. */
  readonly reasoning: number;
  /** Number of characters of text, reasoning and tool arguments. */
  readonly characters: number;
}

export interface Meter {
  readonly stream: boolean;
  see(chunk: Buffer): void;
  /** Characters so far; for an answer that is not a stream, its bytes. */
  characters(): number;
  /** Bytes of its data, without comments, which servers send to keep a connection open. */
  bytes(): number;
  /** Output tokens that the provider has reported so far; null if none. */
  reportedOutput(): number | null;
  /**
   * True once a stream has reported its last usage, input and output: whatever happens to it then, that is its
   * cost.
   */
  final(): boolean;
  /** For a stream: the input as reported so far; null before that, and if there was no number. */
  input(): ReportedInput | null;
  /** True once a stream has announced its end: agents act on that, and do not wait for its last byte. */
  ended(): boolean;
  /** Whether the answer ended with an error that the provider reported in it. */
  failed(): boolean;
  /** Must be taken once, when nothing more arrives. */
  reading(): MeterReading;
}

/** A longer JSON answer, or line of a stream, is not parsed for usage. */
const MAX_BUFFERED = 32 * 2 ** 20;
const LINE_END = 0x0a;

/**
 * Reads usage from an answer as it passes. Providers report usage cumulatively: later numbers replace earlier ones, field
 * by field.
 */
export function createMeter(protocol: ModelProtocol, stream: boolean): Meter {
  const reading = { input: null, output: null, reasoning: 0, characters: 0 } as {
    -readonly [K in keyof MeterReading]: MeterReading[K];
  };
  const end = watchEnd();
  const known = noFields();
  const unread = openBoundedBuffer(MAX_BUFFERED, () => true);
  let failed = false;
  let bytes = 0;

  const take = (json: string) => {
    if (json.trim() === CLOSING_LINE) end.see('closed', { usage: false, writes: false });
    for (const value of parse(json)) {
      if (stream && errorIn(value) !== null) failed = true;
      const report = REPORT_OF_EVENT[protocol](value);
      const visible = VISIBLE[protocol](value);
      const usage = report !== null && USAGE_OF_REPORT[protocol](report).output !== null;
      end.see(ENDINGS[protocol](value), { usage, writes: visible > 0 });
      if (report) {
        addReport(known, report);
        const { input, output, reasoning } = USAGE_OF_REPORT[protocol](known);
        Object.assign(reading, { input, output, reasoning: Math.min(reasoning, output ?? 0) });
      }
      reading.characters += visible;
    }
  };
  const keep = (part: Buffer) => {
    if (unread.add(part) !== 'added') bytes += unread.take().length + part.length;
  };
  const kept = () => {
    const { buffer, byteOffset, byteLength } = unread.take();
    return Buffer.from(buffer, byteOffset, byteLength).toString('utf8');
  };
  const takeLine = (line: string) => {
    if (!line.startsWith('data:')) return;
    bytes += line.length;
    take(line.slice(5));
  };
  // Looks for ends in the new bytes only: else a long line would take time that grows with its square.
  const takeLines = (chunk: Buffer) => {
    let from = 0;
    for (let end = chunk.indexOf(LINE_END); end >= 0; end = chunk.indexOf(LINE_END, from)) {
      keep(chunk.subarray(from, end));
      takeLine(kept());
      from = end + 1;
    }
    keep(chunk.subarray(from));
  };
  return {
    stream,
    characters: () => reading.characters,
    bytes: () => (stream ? bytes : reading.characters),
    reportedOutput: () => reading.output,
    final: () => stream && end.final() && reading.input !== null && reading.output !== null,
    ended: () => stream && end.ended(),
    failed: () => failed,
    input: () => (stream && reading.input && reading.input.input > 0 ? reading.input : null),
    see(chunk) {
      if (stream) return takeLines(chunk);
      keep(chunk);
      reading.characters += chunk.length;
    },
    reading() {
      if (stream) {
        // Some servers do not end the last line.
        takeLine(kept());
        return { ...reading };
      }
      const { characters } = reading;
      take(kept());
      return { ...reading, characters };
    },
  };
}

const positiveInteger = (value: unknown): number =>
  typeof value === 'number' && Number.isFinite(value) && value > 0 ? Math.ceil(value) : 0;

/**
 * The events in a text; none if it is not JSON: comments, `[DONE]`, and incomplete lines contain no usage. Google
 * answers with a list of events if no stream was requested.
 */
function parse(text: string): readonly Json[] {
  const parsed = parseUntrustedJson(text);
  if (parsed.kind !== 'json') return [];
  return (Array.isArray(parsed.value) ? parsed.value : [parsed.value]).filter(isObject);
}

/** The usage in an event, as its provider writes it; null if there is none. */
const REPORT_OF_EVENT: Readonly<Record<ModelProtocol, (event: Json) => Json | null>> = {
  anthropic({ type, message, usage }) {
    const report = objectOrEmpty(message).usage ?? usage;
    if (!isObject(report)) return null;
    // The first event has a placeholder for the output; the last one has the sum.
    return type === 'message_start' ? { ...report, output_tokens: null } : report;
  },
  'openai-chat': ({ usage }) => (isObject(usage) ? usage : null),
  'openai-responses'({ response, usage }) {
    const report = objectOrEmpty(response).usage ?? usage;
    return isObject(report) ? report : null;
  },
  gemini: ({ usageMetadata }) => (isObject(usageMetadata) ? usageMetadata : null),
};

/** More fields of a report, or of a table in it, are not kept. Providers send about ten. Our default. */
const MAX_REPORT_FIELDS = 100;
/** Without a prototype, a field is nothing but what was sent. */
const noFields = (): Json => Object.create(null) as Json;

/**
 * A field without a value keeps its earlier one: Anthropic's last report repeats how many tokens were written to the
 * cache, but not how many of them for an hour.
 */
function addReport(known: Json, report: Json, isInner = false): void {
  for (const [field, value] of Object.entries(report)) {
    if (!(field in known) && Object.keys(known).length >= MAX_REPORT_FIELDS) continue;
    if (typeof value === 'number' || Array.isArray(value)) known[field] = value;
    else if (isObject(value) && !isInner) {
      const earlier = known[field];
      const inner = isObject(earlier) ? earlier : noFields();
      addReport(inner, value, true);
      known[field] = inner;
    }
  }
}

type ReportedUsage = Pick<MeterReading, 'input' | 'output' | 'reasoning'>;

const USAGE_OF_REPORT: Readonly<Record<ModelProtocol, (usage: Json) => ReportedUsage>> = {
  anthropic(usage) {
    // If the conversation was shortened within the call, that costs too and is reported only here (compact_20260112).
    const parts = Array.isArray(usage.iterations) ? usage.iterations.map(objectOrEmpty) : [];
    const whole = anthropicInput([usage]);
    const input = anthropicInput(parts, whole.cacheWriteHour);
    const output = parts.reduce((sum, part) => sum + positiveInteger(part.output_tokens), 0);
    return {
      input: typeof usage.input_tokens === 'number' ? (input.input > whole.input ? input : whole) : null,
      output:
        typeof usage.output_tokens === 'number'
          ? Math.max(positiveInteger(usage.output_tokens), output)
          : null,
      reasoning: positiveInteger(objectOrEmpty(usage.output_tokens_details).thinking_tokens),
    };
  },
  'openai-chat'(usage) {
    const details = objectOrEmpty(usage.prompt_tokens_details);
    // Some imitators count reasoning only in the total.
    const hidden = positiveInteger(usage.total_tokens) - positiveInteger(usage.prompt_tokens);
    return openAiUsage(
      usage.prompt_tokens,
      [details.cached_tokens ?? usage.prompt_cache_hit_tokens, details.cache_write_tokens],
      reported(
        [usage.completion_tokens, usage.total_tokens],
        Math.max(positiveInteger(usage.completion_tokens), hidden),
      ),
      objectOrEmpty(usage.completion_tokens_details).reasoning_tokens,
    );
  },
  'openai-responses'(usage) {
    const details = objectOrEmpty(usage.input_tokens_details);
    return openAiUsage(
      usage.input_tokens,
      [details.cached_tokens, details.cache_write_tokens],
      reported([usage.output_tokens], positiveInteger(usage.output_tokens)),
      objectOrEmpty(usage.output_tokens_details).reasoning_tokens,
    );
  },
  gemini(usage) {
    const thoughts = positiveInteger(usage.thoughtsTokenCount);
    return openAiUsage(
      positiveInteger(usage.promptTokenCount) + positiveInteger(usage.toolUsePromptTokenCount),
      [usage.cachedContentTokenCount, 0],
      // An answer without candidates has no count of them.
      reported(
        [usage.candidatesTokenCount, usage.totalTokenCount],
        positiveInteger(usage.candidatesTokenCount) + thoughts,
      ),
      thoughts,
    );
  },
};

/** The sum of all; cached tokens are reported separately from the input. `leastHour`: known to be kept for an hour. */
function anthropicInput(parts: readonly Json[], leastHour = 0): ReportedInput {
  const sum = (read: (part: Json) => unknown) =>
    parts.reduce((all, part) => all + positiveInteger(read(part)), 0);
  const cacheRead = sum((part) => part.cache_read_input_tokens);
  const cacheWrite = sum((part) => part.cache_creation_input_tokens);
  const hour = sum((part) => objectOrEmpty(part.cache_creation).ephemeral_1h_input_tokens);
  return {
    input: sum((part) => part.input_tokens) + cacheRead + cacheWrite,
    cacheRead,
    cacheWrite,
    cacheWriteHour: Math.min(Math.max(hour, leastHour), cacheWrite),
  };
}

/** `tokens`, or null if none of these fields was reported: then the output counts at its maximum. */
const reported = (fields: readonly unknown[], tokens: number): number | null =>
  fields.some((field) => typeof field === 'number') ? tokens : null;

/** Cached tokens are part of the input here, and reasoning is part of the output. */
function openAiUsage(
  input: unknown,
  [cached, written]: readonly [unknown, unknown],
  output: number | null,
  reasoning: unknown,
): ReportedUsage {
  const all = positiveInteger(input);
  const cacheRead = Math.min(positiveInteger(cached), all);
  const cacheWrite = Math.min(positiveInteger(written), all - cacheRead);
  return {
    input: { input: all, cacheRead, cacheWrite, cacheWriteHour: 0 },
    output,
    reasoning: positiveInteger(reasoning),
  };
}
