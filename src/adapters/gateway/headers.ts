import type { IncomingHttpHeaders } from 'node:http';

/**
 * Values of `anthropic-beta` that go up, and why each may: none changes the price, adds a tool that runs at the provider,
 * or makes an answer longer than its limit. They are those that claude-code 2.1.329, opencode, pi and the AI SDK send and
 * that a field on the list for bodies (bodies/anthropic.ts) may need. All others are left out, among them
 * `context-1m-2025-08-07` (a premium that the price table does not hold for every model), `fast-mode-2026-02-01` (six times
 * the price), and those for hosted tools, servers, files, other models and summaries on the way.
 */
export const BETAS: Readonly<Record<string, string>> = {
  'claude-code-20250219': 'names the client',
  'interleaved-thinking-2025-05-14': 'thoughts between calls of tools, which are billed as output',
  'context-management-2025-06-27': 'only the edits that clear something are on the list for bodies',
  'thinking-token-count-2026-05-13': 'tells how long the model has thought',
  'thinking-display-updates-2026-08-18': 'how thoughts are shown, which changes no figure',
  'redact-thinking-2026-02-12': 'how thoughts are shown, which changes no figure',
  'advanced-tool-use-2025-11-20': 'tools that are loaded later; callers other than the model are refused',
  'tool-search-tool-2025-10-19':
    'tools that are loaded later; the search that runs at the provider is left out',
  'effort-2025-11-24': 'how much the model writes, within the limit that is booked',
  'task-budgets-2026-03-13': 'how much the model writes, within the limit that is booked',
  'mid-conversation-tool-changes-2026-07-01': 'tools in messages, which are checked as the others are',
  'mid-conversation-system-2026-04-07': 'system text in messages, which is measured as all text is',
  'structured-outputs-2025-11-13': 'the form of an answer',
  'structured-outputs-2025-12-15': 'the form of an answer',
  'fine-grained-tool-streaming-2025-05-14': 'the parts in which an answer comes',
  'prompt-caching-2024-07-31': 'writing to the cache is booked at its price',
  'extended-cache-ttl-2025-04-11': 'writing to the cache for an hour is booked at its price',
  'pdfs-2024-09-25': 'documents are booked at the most that they can cost',
  'token-counting-2024-11-01': 'counting is free',
};

/** The version that our meter and lists of fields are written for; another one answers in other events. */
const ANTHROPIC_VERSION = '2023-06-01';
const ACCEPTED: ReadonlySet<string> = new Set(['*/*', 'application/json', 'text/event-stream']);

/** Values are counted, not only names: a header may carry thousands. */
const betasIn = (headers: IncomingHttpHeaders): readonly string[] => [
  ...new Set(
    String(headers['anthropic-beta'] ?? '')
      .split(',')
      .map((value) => value.trim())
      .filter((value) => value !== ''),
  ),
];

/** Beta features that a client asked for and that are left out. The client chose these words. */
export const unlistedBetas = (headers: IncomingHttpHeaders): readonly string[] =>
  betasIn(headers).filter((value) => !Object.hasOwn(BETAS, value));

/** Headers for Anthropic's protocol, by allow-list of values. */
export function anthropicHeaders(headers: IncomingHttpHeaders): Readonly<Record<string, string>> {
  const betas = betasIn(headers).filter((value) => Object.hasOwn(BETAS, value));
  return {
    'anthropic-version': ANTHROPIC_VERSION,
    ...(betas.length > 0 ? { 'anthropic-beta': betas.join(',') } : {}),
  };
}

/** What kinds of answer the client reads, where it says so in the usual words. */
export function acceptHeader({ accept = '' }: IncomingHttpHeaders): Readonly<Record<string, string>> {
  const kinds = accept.split(',').map((kind) => kind.trim().toLowerCase());
  return kinds.every((kind) => ACCEPTED.has(kind)) ? { accept: kinds.join(', ') } : {};
}
