import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { work } from '../../../src/adapters/coders/builtin/loop.ts';
import { tried } from '../../world/tried.ts';
import { type Answering, json, type Provider, sse, startProvider } from '../gateway/rig.ts';

let root: string;
let provider: Provider;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'cut-'));
});
afterEach(async () => {
  await provider.close();
  await rm(root, { recursive: true });
});

const start = {
  type: 'message_start',
  message: {
    id: 'm',
    model: 'm',
    role: 'assistant',
    content: [],
    usage: { input_tokens: 1, output_tokens: 1 },
  },
};
const end = (reason: string) => [
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: reason }, usage: { output_tokens: 5 } },
  { type: 'message_stop' },
];
const says = (text: string) => [
  start,
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } },
];
const runs = (command: string) => [
  start,
  {
    type: 'content_block_start',
    index: 0,
    content_block: { type: 'tool_use', id: 'toolu_1', name: 'bash', input: {} },
  },
  {
    type: 'content_block_delta',
    index: 0,
    delta: { type: 'input_json_delta', partial_json: JSON.stringify({ command }) },
  },
];

/** Answers one after the other; the last again and again. */
async function behind(...answers: readonly Answering[]) {
  let asked = 0;
  provider = await startProvider((body, response, request) => {
    const answer = answers[Math.min(asked, answers.length - 1)];
    asked += 1;
    return answer?.(body, response, request);
  });
  return work({
    protocol: 'anthropic',
    model: 'm',
    seed: 0,
    url: provider.url,
    key: 'none',
    root,
    instructions: 'Work.',
    task: 'Do it.',
    signal: new AbortController().signal,
    emit: () => {},
  });
}

const whole =
  (...events: readonly object[]): Answering =>
  (_body, response) => {
    sse(response, ...events);
    response.end();
  };
/** Breaks off when what was said has been read: there is a request to look at only then. */
const cut =
  (...events: readonly object[]): Answering =>
  async (_body, response) => {
    sse(response, ...events);
    await new Promise((resolve) => response.write(': \n\n', resolve));
    setTimeout(() => response.destroy(), 30);
  };

test('a truncated answer is requested again, and earlier actions are not repeated', async () => {
  tried({
    id: 'coder-answer-cut',
    part: 'Model calls break off',
    what: 'The answer to a coder breaks off.',
    held: "It is requested again; the coder's earlier actions are not repeated.",
  });
  const ended = await behind(
    whole(...runs('echo once >> log.txt'), ...end('tool_use')),
    cut(...says('I have alm')),
    cut(...runs('echo cut >> log.txt')),
    whole(...says('All is there.'), ...end('end_turn')),
  );
  expect(ended).toEqual({ type: 'end', ok: true, text: 'All is there.' });
  expect(await readFile(join(root, 'log.txt'), 'utf8')).toBe('once\n');
  const bodies = provider.seen.map(({ body }) => JSON.parse(body).messages);
  expect(bodies).toHaveLength(4);
  expect(bodies[2]).toEqual(bodies[1]);
  expect(bodies[3]).toEqual(bodies[1]);
});

test('answers that break off repeatedly end the work with a reason', async () => {
  expect(await behind(cut(...says('I')))).toMatchObject({
    ok: false,
    text: expect.stringContaining('no answer'),
  });
  expect(provider.seen).toHaveLength(3);
});

test('a refused call is not retried: the gateway has already retried it', async () => {
  expect(await behind((_body, response) => json(response, 529, {}))).toMatchObject({
    ok: false,
    text: 'The model answered with HTTP 529.',
  });
  expect(provider.seen).toHaveLength(1);
});
