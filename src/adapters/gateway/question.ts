import { createHash } from 'node:crypto';
import type { AdmittedCall } from './admission.ts';
import { isObject } from './bodies/index.ts';

/** Fields that tell the provider who asks and where to look in its caches. They change no answer, and clients make them up. */
const ABOUT_THE_CLIENT: ReadonlySet<string> = new Set([
  'metadata',
  'client_metadata',
  'user',
  'safety_identifier',
  'prompt_cache_key',
  'prompt_cache_retention',
]);

const MONTH = '(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\\.?';
const DAY = '(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? )?';
const CLOCK = '\\d{1,2}:\\d{2}(?::\\d{2}(?:[.,]\\d+)?)?';

/**
 * What differs when the same work is done again: dates, times and durations (of tests above all), the port and key of the
 * lease, ids that a client draws. Two questions of one coder that differ in nothing else are one.
 */
const CHANCE: readonly (readonly [RegExp, string])[] = [
  [/gw-[A-Za-z0-9_-]{43}/g, 'KEY'],
  [/\b(?:127\.0\.0\.1|localhost):\d{2,5}\b/g, 'GATEWAY'],
  [/(?<![0-9a-f])[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?![0-9a-f])/gi, 'UUID'],
  [new RegExp(`\\b\\d{4}-\\d{2}-\\d{2}(?:[T ]${CLOCK})?(?: ?(?:Z|[+-]\\d{2}:?\\d{2}))?`, 'g'), 'TIME'],
  [new RegExp(`\\b${DAY}${MONTH} {1,2}\\d{1,2}(?:,? \\d{4}|,? ${CLOCK}){0,2}\\b`, 'g'), 'TIME'],
  [new RegExp(`\\b${DAY}\\d{1,2} ${MONTH} \\d{4}\\b`, 'g'), 'TIME'],
  [/\b\d{1,2}:\d{2}:\d{2}(?:[.,]\d+)?(?: ?[AP]M)?\b/g, 'TIME'],
  [/\b(?:\d+m ?)?\d+(?:[.,]\d+)? ?(?:ns|µs|us|ms|s|secs?|seconds?|min|minutes?)\b/g, 'TIME'],
  // Milliseconds since 1970, from 2020 to 2033, as some clients put them into ids.
  [/(?<!\d)1[6-9]\d{11}(?!\d)/g, 'TIME'],
  // Codex gives each output of a command a name by chance.
  [/\bChunk ID: [0-9a-f]+/g, 'CHUNK'],
  [/\bduration_ms["\\:]* ?\d+(?:\.\d+)?/g, 'TIME'],
];

/**
 * SHA-256, hex, of what a call asks: provider, model, path and the whole conversation, without what its client varies
 * from one start to the next.
 */
export function questionOf({ provider, model, endpoint, body }: AdmittedCall): string {
  const asked = Object.fromEntries(Object.entries(body).filter(([name]) => !ABOUT_THE_CLIENT.has(name)));
  const text = JSON.stringify([provider, model, endpoint.path, endpoint.query, asked], steady);
  return createHash('sha256').update(text).digest('hex');
}

/** Objects with their keys sorted, texts without chance. */
function steady(_key: string, value: unknown): unknown {
  if (typeof value === 'string')
    return CHANCE.reduce((kept, [chance, word]) => kept.replaceAll(chance, word), value);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));
}
