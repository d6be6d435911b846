import { expect, test } from 'vitest';
import { piCoder } from '../../../src/adapters/coders/pi.ts';
import { coderContract, smallInput } from '../../contracts/coder.suite.ts';

const coder = piCoder('/data/agents');
const input = smallInput('claude-sonnet-5', 'anthropic');

/** Recorded with 0.87.1, as all lines below; usage left out. */
const TEXT =
  '{"type":"message_end","message":{"role":"assistant","content":[{"type":"text","text":"I will write the file."},{"type":"toolCall","id":"toolu_76ace541","name":"write","arguments":{"path":"/repo/out.txt","content":"hello\\n"}}],"api":"anthropic-messages","provider":"gateway","model":"claude-sonnet-4-5","stopReason":"toolUse","timestamp":1795232508371}}';
const WRITE =
  '{"type":"tool_execution_start","toolCallId":"toolu_76ace541","toolName":"write","args":{"path":"/repo/out.txt","content":"hello\\n"}}';
const DONE =
  '{"type":"message_end","message":{"role":"assistant","content":[{"type":"text","text":"Done. The file was written by the scripted model."}],"api":"anthropic-messages","provider":"gateway","model":"claude-sonnet-4-5","stopReason":"stop","timestamp":1795232508571}}';
const REFUSED =
  '{"type":"message_end","message":{"role":"assistant","content":[],"api":"openai-completions","provider":"gateway","model":"gpt-4.1","stopReason":"error","timestamp":1795232659687,"errorMessage":"402: {\\"message\\":\\"candidate spend cap reached (scripted 402)\\"}"}}';
/** By the format of its bash tool; the scripted model runs none. */
const FAILED =
  '{"type":"tool_execution_end","toolCallId":"call_1","toolName":"bash","result":{"content":[{"type":"text","text":"1 failed\\n\\nCommand exited with code 1"}]},"isError":true}';
const QUIET_LINES = [
  '{"type":"session","version":3,"id":"01a1fc32-291a-73a1-ad10-651d2a2ee718","timestamp":"2026-11-21T03:41:48.187Z","cwd":"/repo"}',
  '{"type":"message_end","message":{"role":"user","content":[{"type":"text","text":"Write the file."}],"timestamp":1795232508371}}',
  '{"type":"message_update","assistantMessageEvent":{"type":"text_delta","contentIndex":0,"delta":"I will write the file."}}',
  '{"type":"message_end","message":{"role":"toolResult","toolCallId":"toolu_76ace541","toolName":"write","content":[{"type":"text","text":"Successfully wrote to /repo/out.txt"}],"isError":false,"timestamp":1795232508547}}',
  '{"type":"agent_settled"}',
];

coderContract('pi', () => ({ coder, steps: [TEXT, WRITE], end: { line: DONE, ok: true } }));

test('pi shows what it does, and says when the model was refused', () => {
  expect([TEXT, WRITE, FAILED, DONE, REFUSED].flatMap((line) => coder.read(line))).toEqual([
    { kind: 'says', text: 'I will write the file.' },
    { kind: 'edit', text: 'write: /repo/out.txt', detail: '+hello\n+', call: 'toolu_76ace541' },
    {
      kind: 'result',
      text: '',
      detail: '1 failed\n\nCommand exited with code 1',
      call: 'call_1',
      exitCode: 1,
      ok: false,
    },
    { kind: 'end', ok: true, text: 'Done. The file was written by the scripted model.' },
    { kind: 'end', ok: false, text: expect.stringContaining('spend cap reached') },
  ]);
  for (const line of QUIET_LINES) expect(coder.read(line)).toEqual([]);
});

test.each([
  ['anthropic', 'anthropic-messages', 'http://127.0.0.1:8123'],
  ['openai-chat', 'openai-completions', 'http://127.0.0.1:8123/v1'],
  ['openai-responses', 'openai-responses', 'http://127.0.0.1:8123/v1'],
  ['gemini', 'google-generative-ai', 'http://127.0.0.1:8123/v1beta'],
] as const)('pi finds the gateway by a file, and the key by a variable (%s)', (protocol, api, baseUrl) => {
  const { files = {} } = coder.launch({ ...input, protocol });
  expect(JSON.parse(files['.pi/agent/models.json'] ?? '').providers.gateway).toMatchObject({
    api,
    baseUrl,
    apiKey: '$GW_KEY',
  });
});

test('pi takes no extensions, settings or instructions from the repository', () => {
  const { argv } = coder.launch(input);
  for (const word of ['--no-approve', '--no-extensions', '--no-skills', '--no-context-files', '--offline'])
    expect(argv).toContain(word);
});
