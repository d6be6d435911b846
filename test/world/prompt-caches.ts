/** A request as a provider gets it. */
export interface SentRequest {
  readonly path: string;
  /** JSON. */
  readonly body: string;
}

/** Tokens of the input; `read` and `written` are parts of it. */
export interface CacheCount {
  readonly input: number;
  readonly read: number;
  readonly written: number;
}

/** About what real tokenizers make of code and English. */
const BYTES_PER_TOKEN = 4;
/** Shorter beginnings are not cached: the limit of OpenAI, and of most models of Anthropic. */
const LEAST_TOKENS = 1_024;
/** OpenAI counts cached tokens in such steps. */
const STEP_TOKENS = 128;
/** So many blocks before a mark Anthropic looks for an earlier one. */
const LOOKBACK_BLOCKS = 20;

const tokensIn = (text: string): number => Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN);

/**
 * What the caches of providers hold of these requests, one after the other, as their documentation counts it: Anthropic
 * caches up to marks (`cache_control`) in the order tools, system, messages, where one beside them marks the last block;
 * OpenAI caches each beginning that an earlier request had, by itself. Nothing expires.
 */
export function countCached(requests: readonly SentRequest[]): readonly CacheCount[] {
  const marked = new Set<string>();
  const sent: string[] = [];
  return requests.map(({ path, body }) => {
    const parsed = JSON.parse(body) as Body;
    return path === '/v1/messages' ? readMarked(parsed, marked) : readAutomatically(parsed, sent);
  });
}

interface Body {
  readonly cache_control?: unknown;
  readonly tools?: readonly Block[];
  readonly system?: string | readonly Block[];
  readonly messages?: readonly { readonly role: string; readonly content: string | readonly Block[] }[];
  readonly [field: string]: unknown;
}
type Block = { readonly cache_control?: unknown } & Readonly<Record<string, unknown>>;

const asBlocks = (content: string | readonly Block[] | undefined): readonly Block[] =>
  content === undefined ? [] : typeof content === 'string' ? [{ type: 'text', text: content }] : content;

function readMarked(body: Body, known: Set<string>): CacheCount {
  const blocks = [
    ...(body.tools ?? []),
    ...asBlocks(body.system),
    ...(body.messages ?? []).flatMap(({ role, content }) =>
      asBlocks(content).map((block): Block => ({ ...block, role })),
    ),
  ];
  let beginning = '';
  const beginnings = blocks.map(({ cache_control: _, ...block }) => (beginning += JSON.stringify(block)));
  const isMarked = blocks.map(
    (block, i) =>
      block.cache_control !== undefined || (body.cache_control !== undefined && i === blocks.length - 1),
  );
  const marks = isMarked.flatMap((marked, i) => (marked ? [i] : []));
  const hit = marks
    .flatMap((mark) => beginnings.slice(Math.max(0, mark - LOOKBACK_BLOCKS), mark + 1))
    .filter((one) => known.has(one))
    .reduce((longest, one) => (one.length > longest.length ? one : longest), '');
  const read = tokensIn(hit);
  const last = beginnings[marks.at(-1) ?? -1] ?? '';
  for (const mark of marks) {
    const text = beginnings[mark] as string;
    if (tokensIn(text) >= LEAST_TOKENS) known.add(text);
  }
  const written = tokensIn(last) >= LEAST_TOKENS ? Math.max(0, tokensIn(last) - read) : 0;
  return { input: tokensIn(beginning), read, written };
}

function readAutomatically(
  { tools, instructions, input, messages, ...rest }: Body,
  sent: string[],
): CacheCount {
  const text = JSON.stringify([tools, rest.text, rest.response_format, instructions, messages ?? input]);
  const common = Math.max(0, ...sent.map((earlier) => commonLength(text, earlier)));
  sent.push(text);
  const tokens = Math.floor(common / BYTES_PER_TOKEN / STEP_TOKENS) * STEP_TOKENS;
  return { input: tokensIn(text), read: tokens >= LEAST_TOKENS ? tokens : 0, written: 0 };
}

function commonLength(one: string, other: string): number {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at += 1;
  return at;
}
