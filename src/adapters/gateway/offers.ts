import { z } from 'zod';
import type { ModelProtocol } from '../../core/model/index.ts';
import type { Clock, Offer } from '../../ports/index.ts';
import { upstreamUrl } from './endpoints.ts';
import type { PriceBook } from './prices.ts';
import type { ProviderAccess, Providers } from './providers.ts';
import { fetchJson } from './upstream.ts';

/** Our default: a person waits for it. */
const OFFERS_MS = 10_000;
/** The longest list we know (OpenRouter's) has under two MiB. */
const MOST_BYTES = 16 * 2 ** 20;
/** As providers name models; what is printed on a terminal may hold nothing else. */
const Id = z.string().regex(/^[\w.:@/+~-]{1,200}$/);

const OpenAiList = z.object({ data: z.array(z.unknown()) });
const GeminiList = z.object({ models: z.array(z.unknown()) });
const WithId = z.object({ id: Id }).transform(({ id }) => id);
const Gemini = z
  .object({ name: z.string(), supportedGenerationMethods: z.array(z.string()).optional() })
  .refine(({ supportedGenerationMethods: methods }) => methods?.includes('generateContent') ?? true)
  .transform(({ name }) => name.replace(/^models\//, ''))
  .pipe(Id);

/** Where each protocol lists its models; both lists have pages, and a thousand is the most of one. */
const LISTS: Readonly<Record<ModelProtocol, string>> = {
  anthropic: '?limit=1000',
  gemini: '?pageSize=1000',
  'openai-chat': '',
  'openai-responses': '',
};

export interface OffersInput {
  readonly providers: Providers;
  readonly book: PriceBook;
  readonly clock: Pick<Clock, 'now'>;
  readonly ms: number | undefined;
  readonly signal: AbortSignal | undefined;
}

/** Asks all providers at once. Never rejects. */
export const offersOf = (input: OffersInput): Promise<readonly Offer[]> =>
  Promise.all(Object.entries(input.providers).map(([name, access]) => offerOf(input, name, access)));

async function offerOf(input: OffersInput, provider: string, access: ProviderAccess): Promise<Offer> {
  const failed = (why: string): Offer => ({ kind: 'failed', provider, why });
  const [protocol = 'openai-chat'] = access.protocols;
  const ms = input.ms ?? OFFERS_MS;
  const limit = AbortSignal.timeout(ms);
  const signal = input.signal ? AbortSignal.any([limit, input.signal]) : limit;
  const url = upstreamUrl(access.baseUrl, protocol, '/models', LISTS[protocol]);
  const answer = await fetchJson({ url, protocol, key: access.key, mostBytes: MOST_BYTES, signal });
  switch (answer.kind) {
    case 'unreachable':
      if (input.signal?.aborted) return failed('The question was cancelled.');
      return failed(
        limit.aborted ? `It did not answer within ${Math.ceil(ms / 1000)} seconds.` : 'It cannot be reached.',
      );
    case 'status':
      return failed(
        [401, 403].includes(answer.status)
          ? `It refused the key (HTTP ${answer.status}).`
          : `It answered with HTTP ${answer.status}.`,
      );
    case 'json': {
      const ids = idsIn(protocol, answer.value);
      if (!ids) return failed('Its answer is not a list of models.');
      const models = ids.map((id) => ({ id, price: priceOf(input, provider, id) }));
      return { kind: 'models', provider, models };
    }
  }
}

/** Null when it is no list; single entries that are no models are left out. */
function idsIn(protocol: ModelProtocol, value: unknown): readonly string[] | null {
  const [items, Item] =
    protocol === 'gemini'
      ? ([GeminiList.safeParse(value).data?.models, Gemini] as const)
      : ([OpenAiList.safeParse(value).data?.data, WithId] as const);
  if (!items) return null;
  const ids = items.flatMap((item) => Item.safeParse(item).data ?? []);
  return [...new Set(ids)].toSorted();
}

/** A thousand tokens: some prices rise with the length of the input. */
const SAMPLE = 1000;
const EMPTY = { input: 0, cacheRead: 0, cacheWrite: 0, cacheWriteHour: 0, output: 0 };

function priceOf({ book, clock }: OffersInput, provider: string, model: string) {
  const million = (tokens: { input: number } | { output: number }) =>
    book.cost(provider, model, { ...EMPTY, ...tokens }, clock.now());
  const [input, output] = [million({ input: SAMPLE }), million({ output: SAMPLE })];
  if (input === null || output === null) return null;
  const per = (usd: number) => Number(((usd / SAMPLE) * 1e6).toFixed(6));
  return { input: per(input), output: per(output) };
}
