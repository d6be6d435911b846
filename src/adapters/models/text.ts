import { APICallError, generateText } from 'ai';
import type { TextAnswer, TextModel, TextQuestion } from '../../ports/index.ts';
import { languageModel, reason } from './model.ts';

/** Protocols with a field for a seed. */
const WITH_SEED: ReadonlySet<string> = new Set(['openai-chat', 'gemini']);

/** Texts by the AI SDK. */
export function openSdkTextModel(): TextModel {
  return {
    async write(question) {
      try {
        return await writeOnce(question);
      } catch (error) {
        const words = providerWords(error, question.lease.key);
        return {
          kind: 'failed',
          why: reason(error, question) + (words === null ? '' : ` It says: ${words}`),
        };
      }
    },
  };
}

/** Statuses with which providers reject a question: what they write says why. */
const REJECTED: ReadonlySet<number> = new Set([400, 404, 413, 422]);
const MAX_WORDS_CHARS = 300;

/** A provider's own words on a question that it rejects, in one line without the key; null for other errors. */
function providerWords(error: unknown, key: string): string | null {
  if (!APICallError.isInstance(error) || !REJECTED.has(error.statusCode ?? 0) || !error.responseBody)
    return null;
  const line = error.message.replaceAll(key, '[key]').replaceAll(/\s+/g, ' ').trim();
  if (line === '') return null;
  return line.length > MAX_WORDS_CHARS ? `${line.slice(0, MAX_WORDS_CHARS)}…` : line;
}

async function writeOnce(question: TextQuestion): Promise<TextAnswer> {
  const { route, lease, instructions, messages, temperature, seed, maxTokens, signal } = question;
  // What a model does not accept is in the answer; the SDK would print it as well.
  globalThis.AI_SDK_LOG_WARNINGS = false;
  const { text, finishReason, warnings } = await generateText({
    model: languageModel(route, lease),
    ...(instructions === '' ? {} : { instructions }),
    messages: [...messages],
    maxOutputTokens: maxTokens,
    ...(temperature === undefined ? {} : { temperature }),
    ...(seed === undefined || !WITH_SEED.has(route.protocol) ? {} : { seed }),
    // The gateway already retries where that helps.
    maxRetries: 0,
    providerOptions: { openai: { store: false } },
    ...(signal ? { abortSignal: signal } : {}),
  });
  const end = finishReason === 'content-filter' ? 'refused' : finishReason === 'length' ? 'length' : 'stop';
  const temperatureIgnored = (warnings ?? []).some(
    (warning) => warning.type === 'unsupported' && warning.feature === 'temperature',
  );
  return { kind: 'text', text, end, temperatureIgnored };
}
