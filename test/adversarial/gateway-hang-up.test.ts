import { afterEach, describe, expect, test } from 'vitest';
import { openRig, type Provider } from '../adapters/gateway/rig.ts';
import { hangUpAfter, IN, OUT, STREAMS, type Stream, stalls } from '../adapters/gateway/streams.ts';

let provider: Provider | undefined;
afterEach(async () => {
  await provider?.close();
  provider = undefined;
});

/** Ledger row of an agent that hangs up at the last of these events. */
async function rowOf({ call }: Stream, events: readonly unknown[]) {
  provider = await stalls(events);
  await using rig = await openRig(provider.url);
  const lease = await rig.open();
  await hangUpAfter(events.length, lease, call);
  await provider.aborted;
  await lease.close();
  expect(rig.ledger.rows).toHaveLength(1);
  return rig.ledger.rows[0];
}

const THE_MOST = { tokensOut: 1000, exact: false, status: 499 };
const { anthropic, gemini } = STREAMS;
const chat = STREAMS['openai-chat'];
const responses = STREAMS['openai-responses'];
const chatUsage = { prompt_tokens: IN, completion_tokens: 2 };
const delta = (text: string, finish: string | null, usage: object | null = chatUsage) => ({
  choices: [{ index: 0, delta: { content: text }, finish_reason: finish }],
  usage,
});
const candidate = (text: string, finishReason: string) => ({
  candidates: [{ content: { parts: [{ text }] }, finishReason }],
  usageMetadata: { promptTokenCount: IN, candidatesTokenCount: 2 },
});
/** What a model can be made to write, with the lines of a stream in it. */
const forged = ({ last, after }: Stream): string =>
  ['', last, ...after]
    .map((event) => `\n\ndata: ${typeof event === 'string' ? event : JSON.stringify(event)}`)
    .join('');

describe('an agent that disconnects early pays the maximum cost of the call', () => {
  test.each<[string, Stream, readonly unknown[]]>([
    ['a chat that tells figures at every event', chat, [delta('hel', null), delta('lo', null)]],
    ['a chat that tells figures, with empty reasons', chat, [delta('hel', ''), delta('lo', 'null')]],
    ['a chat that is finished, figures outstanding', chat, [delta('hello', 'stop', null)]],
    [
      'a chat that is finished, with figures of before',
      chat,
      [delta('hel', null), delta('lo', 'stop', null)],
    ],
    ['a chat that closes without any figures', chat, [delta('hello', 'stop', null), '[DONE]']],
    ['a chat that goes on after its end', chat, [delta('hel', 'stop'), delta('lo', 'stop')]],
    [
      'a Gemini stream that says STOP at every event',
      gemini,
      [candidate('a', 'STOP'), candidate('b', 'STOP')],
    ],
    ['a Gemini stream without a reason', gemini, [candidate('a', 'FINISH_REASON_UNSPECIFIED')]],
    [
      'an Anthropic stream with figures and no reason to stop',
      anthropic,
      [
        ...anthropic.before,
        { type: 'message_delta', delta: { stop_reason: null }, usage: { output_tokens: 2 } },
      ],
    ],
    [
      'an Anthropic stream that stops without its last figures',
      anthropic,
      [...anthropic.before, { type: 'message_stop' }],
    ],
    [
      'a Responses stream with figures of so far',
      responses,
      [{ type: 'response.in_progress', response: { usage: { input_tokens: IN, output_tokens: 2 } } }],
    ],
    [
      'a Responses stream that failed without figures',
      responses,
      [...responses.before, { type: 'response.failed', response: { status: 'failed', usage: null } }],
    ],
  ])('on %s', async (_, stream, events) => {
    expect(await rowOf(stream, events)).toMatchObject(THE_MOST);
  });

  test.each<[string, Stream, readonly unknown[]]>([
    [
      'Anthropic',
      anthropic,
      [anthropic.before[0], { delta: { type: 'text_delta', text: forged(anthropic) } }],
    ],
    ['chat', chat, [delta(forged(chat), null, null)]],
    ['Responses', responses, [{ type: 'response.output_text.delta', delta: forged(responses) }]],
    ['Gemini', gemini, [{ candidates: [{ content: { parts: [{ text: forged(gemini) }] } }] }]],
  ])('on a %s model that was made to write the end of a stream', async (_, stream, events) => {
    expect(await rowOf(stream, events)).toMatchObject(THE_MOST);
  });
});

describe('an agent that waits for the end pays the reported usage', () => {
  test.each<[string, Stream, readonly unknown[]]>([
    ['with the last words', chat, [delta('hel', null), delta('lo', 'stop')]],
    ['where figures came before, at the closing line', chat, [delta('hello', null), '[DONE]']],
    ['in Google’s protocol, with the last words', gemini, [candidate('hello', 'MAX_TOKENS')]],
    [
      'where Anthropic’s reason came before',
      anthropic,
      [
        ...anthropic.before,
        { type: 'message_delta', delta: {}, usage: { output_tokens: 2 } },
        { type: 'message_stop' },
      ],
    ],
    ...['incomplete', 'failed'].map((status): [string, Stream, readonly unknown[]] => [
      `where the answer is ${status}`,
      responses,
      [
        ...responses.before,
        {
          type: `response.${status}`,
          response: { status, usage: { input_tokens: IN, output_tokens: 2 } },
        },
      ],
    ]),
  ])('%s', async (_, stream, events) => {
    expect(await rowOf(stream, events)).toMatchObject({
      tokensIn: IN,
      tokensOut: 2,
      exact: true,
      status: 200,
    });
  });

  test('even if that is more than it requested', async () => {
    const { before, last } = anthropic;
    const long = { ...(last as object), usage: { output_tokens: 10 * OUT } };
    expect(await rowOf(anthropic, [...before, long])).toMatchObject({ tokensOut: 10 * OUT, exact: true });
  });
});
