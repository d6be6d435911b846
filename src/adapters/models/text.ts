import { generateText } from 'ai';
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
        return { kind: 'failed', why: reason(error, question) };
      }
    },
  };
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
