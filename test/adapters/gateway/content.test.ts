import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { measure } from '../../../src/adapters/gateway/input-tokens.ts';
import type { ModelProtocol } from '../../../src/core/settings/index.ts';

const DATA = 'A'.repeat(400_000);
const PNG = `data:image/png;base64,${DATA}`;
const user = (...content: readonly unknown[]) => ({ messages: [{ role: 'user', content }] });
const gemini = (...parts: readonly unknown[]) => ({ contents: [{ role: 'user', parts }] });
const source = (media_type: string) => ({ type: 'base64', media_type, data: DATA });
const inline = (mimeType: string) => ({ inlineData: { mimeType, data: DATA } });

function tokens(protocol: ModelProtocol, body: object, official = true) {
  const text = JSON.stringify(body);
  return measure(protocol, JSON.parse(text), Buffer.byteLength(text), official);
}

/** Without the few bytes around an image, and what vendors add. */
const thousands = (protocol: ModelProtocol, body: object, official?: boolean): unknown => {
  const measured = tokens(protocol, body, official);
  return measured.kind === 'forbidden' ? measured.why : Math.floor(measured.input.most / 1000);
};

describe("an image counts at its vendor's maximum, whatever its size", () => {
  const image = { type: 'image', source: source('image/png') };
  test.each<[string, ModelProtocol, object, number]>([
    ['in a message', 'anthropic', user(image), 10],
    ['in the result of a tool', 'anthropic', user({ type: 'tool_result', content: [image] }), 10],
    ['twice', 'anthropic', user(image, image), 19],
    ['in a chat', 'openai-chat', user({ type: 'image_url', image_url: { url: PNG } }), 50],
    ['as a plain address', 'openai-chat', user({ type: 'image_url', image_url: PNG }), 50],
    [
      'in a response',
      'openai-responses',
      { input: [{ content: [{ type: 'input_image', image_url: PNG }] }] },
      50,
    ],
    [
      'in the output of a function',
      'openai-responses',
      { input: [{ type: 'function_call_output', output: [{ type: 'input_image', image_url: PNG }] }] },
      50,
    ],
    ['for Gemini', 'gemini', gemini(inline('image/png')), 4],
    ['in the other spelling', 'gemini', gemini({ inline_data: { mime_type: 'IMAGE/PNG', data: DATA } }), 4],
    [
      'in the parts of a function’s answer',
      'gemini',
      gemini({ functionResponse: { name: 'f', response: {}, parts: [inline('image/png')] } }),
      4,
    ],
  ])('%s', (_, protocol, body, most) => expect(thousands(protocol, body)).toBe(most));

  test('counts at the highest known maximum, and as text, if no rule is known', () => {
    expect(thousands('anthropic', user(image), false)).toBe(450);
  });

  test('OpenAI is asked for a detail whose most is published', () => {
    const body = user(
      { type: 'image_url', image_url: { url: PNG, detail: 'original' } },
      { type: 'image_url', image_url: { url: PNG, detail: 'low' } },
      { type: 'input_image', image_url: PNG },
    );
    measure('openai-chat', body, 0, true);
    expect(body.messages[0]?.content).toMatchObject([
      { image_url: { detail: 'high' } },
      { image_url: { detail: 'low' } },
      { detail: 'high' },
    ]);
  });
});

describe('a document counts as a whole context window', () => {
  const pdf = { type: 'document', source: source('application/pdf') };
  test.each<[string, ModelProtocol, object]>([
    ['in a message', 'anthropic', user(pdf)],
    ['in the result of a tool', 'anthropic', user({ type: 'tool_result', content: [pdf] })],
    [
      'of text that may be cited',
      'anthropic',
      user({ type: 'document', source: { type: 'text', data: 'a. b.' }, citations: { enabled: true } }),
    ],
    [
      'beside an image in one part',
      'anthropic',
      user({ type: 'tool_result', image_url: 'x', content: [pdf] }),
    ],
    ['in a container', 'anthropic', user({ type: 'container_upload', file_id: 'f' })],
    ['in a chat', 'openai-chat', user({ type: 'file', file: { file_data: DATA } })],
    ['by address', 'openai-chat', user({ type: 'document_url', document_url: 'https://x' })],
    [
      'in a response',
      'openai-responses',
      { input: [{ content: [{ type: 'input_file', file_data: DATA }] }] },
    ],
    [
      'in a response whose body pretends to be the call of a tool',
      'openai-responses',
      { type: 'tool_use', input: [{ content: [{ type: 'input_file', file_id: 'f' }] }] },
    ],
    ['for Gemini', 'gemini', gemini(inline('application/pdf'))],
    ['for Gemini, without a type', 'gemini', gemini({ inlineData: { data: DATA } })],
    ['for Gemini, as a drawing', 'gemini', gemini(inline('image/svg+xml'))],
    ['of a kind that nobody knows', 'gemini', gemini(inline('application/x-new'))],
  ])('%s', (_, protocol, body) => expect(thousands(protocol, body)).toBeGreaterThanOrEqual(1_310));
});

test.each<[string, ModelProtocol, object]>([
  ['sound in a chat', 'openai-chat', user({ type: 'input_audio', input_audio: { data: DATA } })],
  ['a film in a chat', 'openai-chat', user({ type: 'video_url', video_url: { url: DATA } })],
  ['sound for Gemini', 'gemini', gemini(inline('audio/wav'))],
  ['a film for Gemini', 'gemini', gemini({ inline_data: { mimeType: 'video/mp4', data: DATA } })],
])('%s is refused', (_, protocol, body) => expect(thousands(protocol, body)).toContain('audio and video'));

describe('what is sent as an image counts as the type that it declares', () => {
  const url = (type: string) => `data:${type};base64,${DATA}`;
  const forms: readonly [string, ModelProtocol, (type: string) => object][] = [
    ['in a message', 'anthropic', (type) => user({ type: 'image', source: source(type) })],
    [
      'in the result of a tool',
      'anthropic',
      (type) => user({ type: 'tool_result', content: [{ type: 'image', source: source(type) }] }),
    ],
    ['in a chat', 'openai-chat', (type) => user({ type: 'image_url', image_url: { url: url(type) } })],
    ['as a plain address', 'openai-chat', (type) => user({ type: 'image_url', image_url: url(type) })],
    [
      'beside an address that says image',
      'openai-chat',
      (type) => user({ type: 'image_url', image_url: { url: PNG, media_type: type } }),
    ],
    [
      'in a response',
      'openai-responses',
      (type) => ({ input: [{ content: [{ type: 'input_image', image_url: url(type) }] }] }),
    ],
    ['for Gemini', 'gemini', (type) => gemini(inline(type))],
  ];
  test.each(forms)('%s', (_, protocol, body) => {
    for (const type of ['image/png', 'image/jpeg', 'image/webp', 'image/gif', 'image/heic', 'IMAGE/PNG'])
      expect([type, thousands(protocol, body(type))]).toEqual([type, expect.toSatisfy((most) => most <= 50)]);
    for (const type of [
      'application/pdf',
      'APPLICATION/PDF',
      '',
      'image/svg+xml',
      'image/tiff',
      'text/html',
      'x',
    ])
      expect([type, thousands(protocol, body(type))]).toEqual([
        type,
        expect.toSatisfy((most) => most >= 1_310),
      ]);
    for (const type of ['audio/wav', 'video/mp4', 'Video/MP4;codecs=x'])
      expect(thousands(protocol, body(type))).toContain('audio and video');
  });

  test.each<[string, ModelProtocol, object]>([
    ['a file in a chat', 'openai-chat', user({ type: 'file', file: { file_data: url('audio/wav') } })],
    ['a document in a chat', 'openai-chat', user({ type: 'document_url', document_url: url('video/mp4') })],
    ['a document', 'anthropic', user({ type: 'document', source: source('video/mp4') })],
    [
      'a file in a response',
      'openai-responses',
      { input: [{ content: [{ type: 'input_file', file_data: url('video/mp4') }] }] },
    ],
  ])('sound and films are refused as %s', (_, protocol, body) =>
    expect(thousands(protocol, body)).toContain('audio and video'),
  );

  test('an image without a type is a document', () => {
    expect(
      thousands('anthropic', user({ type: 'image', source: { type: 'base64', data: DATA } })),
    ).toBeGreaterThan(1_310);
  });
});

describe('only text counts by its bytes', () => {
  const schema = {
    type: 'object',
    properties: { image_url: { type: 'string' }, file_data: { type: 'string' }, input_audio: {} },
  };
  test.each<[string, ModelProtocol, object]>([
    ['plain text', 'anthropic', user({ type: 'text', text: DATA })],
    ['text as a document', 'anthropic', user({ type: 'document', source: { type: 'text', data: DATA } })],
    [
      'schemas of tools',
      'anthropic',
      { ...user('x'), tools: [{ name: 'a', input_schema: schema, x: DATA }] },
    ],
    [
      'arguments of tools',
      'anthropic',
      user({ type: 'tool_use', input: { type: 'image', file_id: 'x', text: DATA } }),
    ],
    [
      'functions in a chat',
      'openai-chat',
      { ...user(DATA), tools: [{ type: 'function', function: { name: 'f', parameters: schema } }] },
    ],
    ['plain text for Gemini', 'gemini', gemini(inline('text/plain'))],
    ['arguments for Gemini', 'gemini', gemini({ functionCall: { name: 'f', args: { fileData: DATA } } })],
    [
      'answers of functions for Gemini',
      'gemini',
      gemini({ functionResponse: { name: 'f', response: { fileData: DATA } } }),
    ],
  ])('%s', (_, protocol, body) => expect(thousands(protocol, body)).toBe(402));

  test('a conversation that its vendor is to shorten is read twice', () => {
    const edits = { context_management: { edits: [{ type: 'compact_20260112' }] } };
    expect(thousands('anthropic', { ...user({ type: 'text', text: DATA }), ...edits })).toBe(804);
  });

  test('a tool that the vendor describes has its own maximum', () => {
    const plain = tokens('anthropic', user('x'));
    const typed = tokens('anthropic', { ...user('x'), tools: [{ type: 'bash_20250124', name: 'bash' }] });
    if (plain.kind !== 'tokens' || typed.kind !== 'tokens') throw new Error('refused');
    expect(typed.input.most - plain.input.most).toBeGreaterThan(2_000);
  });
});

test('a document is never cheaper because of the content around it', () => {
  const pdf = { type: 'document', source: source('application/pdf') };
  const around = fc.letrec<{ tree: unknown }>((tie) => ({
    tree: fc.oneof(
      { maxDepth: 4 },
      fc.constant(pdf),
      fc.array(tie('tree'), { minLength: 1, maxLength: 3 }),
      fc.record({ type: fc.constantFrom('tool_result', 'message', 'x'), content: tie('tree') }),
      fc.record({ output: tie('tree'), name: fc.string() }),
    ),
  })).tree;
  const holds = (tree: unknown): boolean => JSON.stringify(tree).includes('application/pdf');
  fc.assert(
    fc.property(around, (tree) => {
      fc.pre(holds(tree));
      const measured = tokens('anthropic', { messages: [{ role: 'user', content: tree }] });
      return measured.kind === 'tokens' && measured.input.estimate > 1_310_000;
    }),
  );
});
