import { expect, test } from 'vitest';
import { opencodeCoder } from '../../../src/adapters/coders/opencode.ts';
import { coderContract, smallInput } from '../../contracts/coder.suite.ts';

const coder = opencodeCoder('/data/agents');
const input = smallInput('claude-sonnet-5', 'anthropic');

/** Recorded with 1.18.33, as all lines below; sessions and times left out. */
const TEXT =
  '{"type":"text","timestamp":1795231207328,"part":{"id":"prt_1fc1e4e99001ep3LRMpbEPQH81","type":"text","text":"I will write the file.","time":{"start":1795231207065,"end":1795231207068}}}';
const WRITE =
  '{"type":"tool_use","timestamp":1795231207328,"part":{"type":"tool","tool":"write","callID":"toolu_e6510cff","state":{"status":"completed","input":{"filePath":"/repo/out.txt","content":"hello\\n"},"output":"Wrote file successfully.","metadata":{"diagnostics":{},"exists":false,"truncated":false},"title":"out.txt"},"id":"prt_1fc1e4e9f001QhnfPeDiBKImV4"}}';
const DONE =
  '{"type":"step_finish","timestamp":1795231207328,"part":{"id":"prt_1fc1e4f880011cBcG47Zu376LL","reason":"stop","type":"step-finish","tokens":{"total":1280,"input":1000,"output":50,"reasoning":0,"cache":{"write":30,"read":200}},"cost":0}}';
const AWAY =
  '{"type":"error","timestamp":1795231207328,"error":{"name":"APIError","data":{"message":"Cannot connect to API: Unable to connect. Is the computer able to access the url?","isRetryable":true,"metadata":{"url":"http://127.0.0.1:9/v1/messages"}}}}';
/** By the format of its bash tool; the scripted model runs none. */
const FAILED =
  '{"type":"tool_use","part":{"type":"tool","tool":"bash","callID":"call_1","state":{"status":"completed","input":{"command":"npm test"},"output":"1 failed","metadata":{"exit":1,"output":"1 failed"}}}}';
const QUIET_LINES = [
  '{"type":"step_start","timestamp":1795231207328,"part":{"id":"prt_1fc1e4e94001AEOCLV5DSOJZuv","type":"step-start"}}',
  '{"type":"step_finish","timestamp":1795231207328,"part":{"id":"prt_1fc1e4ed4001o3MTW03T5rp7TE","reason":"tool-calls","type":"step-finish","cost":0}}',
];

coderContract('opencode', () => ({ coder, steps: [TEXT, WRITE], end: { line: DONE, ok: true } }));

test('opencode shows what it does, and says when the model cannot be reached', () => {
  expect([TEXT, WRITE, FAILED, DONE, AWAY].flatMap((line) => coder.read(line))).toEqual([
    { kind: 'says', text: 'I will write the file.' },
    { kind: 'edit', text: 'write: /repo/out.txt', detail: '+hello\n+', call: 'toolu_e6510cff' },
    { kind: 'result', text: '', detail: 'Wrote file successfully.', call: 'toolu_e6510cff', ok: true },
    { kind: 'command', text: 'bash: npm test', call: 'call_1' },
    { kind: 'result', text: '', detail: '1 failed', call: 'call_1', exitCode: 1, ok: false },
    { kind: 'end', ok: true, text: 'done' },
    { kind: 'end', ok: false, text: expect.stringContaining('Cannot connect to API') },
  ]);
  for (const line of QUIET_LINES) expect(coder.read(line)).toEqual([]);
});

test.each(['{env:HOME}', '{file:/etc/hostname}', '{{env:HOME}}'])(
  'opencode is not given a model name that it would replace: %s',
  (model) => {
    const text = coder.launch({ ...input, model }).env.OPENCODE_CONFIG_CONTENT ?? '';
    expect(text).not.toMatch(/\{(env|file):/);
    expect(JSON.parse(text).provider.gateway.models.model.id).toBe(model);
  },
);

test('opencode takes no settings and instructions from the repository, and knows no provider but the gateway', () => {
  const { argv, env } = coder.launch(input);
  expect(argv).toContain('--pure');
  expect(env.OPENCODE_DISABLE_PROJECT_CONFIG).toBe('1');
  expect(JSON.parse(env.OPENCODE_CONFIG_CONTENT ?? '')).toMatchObject({
    enabled_providers: ['gateway'],
    small_model: 'gateway/model',
    share: 'disabled',
  });
});

test.each([
  ['anthropic', '@ai-sdk/anthropic'],
  ['openai-responses', '@ai-sdk/openai'],
  ['openai-chat', '@ai-sdk/openai-compatible'],
] as const)('opencode speaks %s', (protocol, npm) => {
  const { env } = coder.launch({ ...input, protocol });
  expect(JSON.parse(env.OPENCODE_CONFIG_CONTENT ?? '').provider.gateway.npm).toBe(npm);
});
