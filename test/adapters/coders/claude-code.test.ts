import { expect, test } from 'vitest';
import { claudeCodeCoder } from '../../../src/adapters/coders/claude-code.ts';
import { coderContract, smallInput } from '../../contracts/coder.suite.ts';

const coder = claudeCodeCoder('/data/agents');
const input = smallInput('claude-sonnet-5', 'anthropic');

/** Recorded with 2.1.329, as all lines below; usage left out. */
const TEXT =
  '{"type":"assistant","message":{"id":"msg_98f9a05b","type":"message","role":"assistant","model":"claude-sonnet-4-5","content":[{"type":"text","text":"I will write the file."}],"stop_reason":null,"context_management":null},"parent_tool_use_id":null,"session_id":"9a539e74-1c2b-40b1-b05c-d895e7d06afd","timestamp":"2026-11-21T03:16:57.302Z"}';
const BASH =
  '{"type":"assistant","message":{"id":"msg_9f383456","type":"message","role":"assistant","model":"claude-sonnet-4-5","content":[{"type":"tool_use","id":"toolu_47752765","name":"Bash","input":{"command":"printf \'%s\' hello > /repo/out.txt"}}],"stop_reason":null},"parent_tool_use_id":null}';
const WRITE =
  '{"type":"assistant","message":{"id":"msg_98f9a05b","type":"message","role":"assistant","model":"claude-sonnet-4-5","content":[{"type":"tool_use","id":"toolu_4117a07d","name":"Write","input":{"file_path":"/repo/out.txt","content":"hello\\n"}}],"stop_reason":null},"parent_tool_use_id":null}';
const DONE =
  '{"duration_api_ms":55,"stop_reason":"end_turn","session_id":"9a539e74-1c2b-40b1-b05c-d895e7d06afd","total_cost_usd":0.007845,"is_error":false,"api_error_status":null,"result":"Done. The file was written by the scripted model.","ttft_ms":143,"type":"result","duration_ms":239}';
const REFUSED =
  '{"duration_api_ms":0,"stop_reason":"stop_sequence","is_error":true,"terminal_reason":"api_error","result":"API Error: 402 candidate spend cap reached (scripted 402)","type":"result","duration_ms":900}';
const QUIET_LINES = [
  '{"type":"system","subtype":"init","cwd":"/repo","session_id":"9a539e74","tools":["Task","Bash"],"mcp_servers":[],"model":"claude-sonnet-4-5"}',
];
const WROTE =
  '{"type":"user","message":{"role":"user","content":[{"tool_use_id":"toolu_4117a07d","type":"tool_result","content":"File created successfully at: /repo/out.txt"}]},"parent_tool_use_id":null}';
/** By the format of its Bash tool; the scripted model's commands succeed. */
const FAILED =
  '{"type":"user","message":{"role":"user","content":[{"tool_use_id":"toolu_1","type":"tool_result","is_error":true,"content":[{"type":"text","text":"Exit code 2\\nno such test"}]}]}}';

coderContract('claude-code', () => ({ coder, steps: [TEXT, BASH, WRITE], end: { line: DONE, ok: true } }));

test('Claude Code shows what it does, and says when the model was refused', () => {
  expect([TEXT, BASH, WRITE, WROTE, FAILED, DONE, REFUSED].flatMap((line) => coder.read(line))).toEqual([
    { kind: 'says', text: 'I will write the file.' },
    { kind: 'command', text: "Bash: printf '%s' hello > /repo/out.txt", call: expect.any(String) },
    { kind: 'edit', text: 'Write: /repo/out.txt', detail: '+hello\n+', call: 'toolu_4117a07d' },
    {
      kind: 'result',
      text: '',
      detail: 'File created successfully at: /repo/out.txt',
      call: 'toolu_4117a07d',
      ok: true,
    },
    {
      kind: 'result',
      text: '',
      detail: 'Exit code 2\nno such test',
      call: 'toolu_1',
      exitCode: 2,
      ok: false,
    },
    { kind: 'end', ok: true, text: 'Done. The file was written by the scripted model.' },
    { kind: 'end', ok: false, text: 'API Error: 402 candidate spend cap reached (scripted 402)' },
  ]);
  for (const line of QUIET_LINES) expect(coder.read(line)).toEqual([]);
});

test('Claude Code takes no settings, servers or instructions from the repository', () => {
  const { argv, env } = coder.launch(input);
  expect(argv).toEqual(expect.arrayContaining(['--setting-sources=', '--strict-mcp-config']));
  expect(env.CLAUDE_CODE_DISABLE_CLAUDE_MDS).toBe('1');
});

test('Claude Code does its side jobs with the same model', () => {
  const { env } = coder.launch(input);
  const models = Object.entries(env).filter(([name]) => name.endsWith('_MODEL'));
  expect(models.length).toBeGreaterThan(4);
  for (const [, model] of models) expect(model).toBe(input.model);
});
