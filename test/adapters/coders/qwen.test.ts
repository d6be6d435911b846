import { describe, expect, test } from 'vitest';
import { qwenCoder } from '../../../src/adapters/coders/qwen.ts';
import type { CoderInput } from '../../../src/ports/index.ts';
import { coderContract, smallInput } from '../../contracts/coder.suite.ts';

const coder = qwenCoder('/data/agents');
const launch = (protocol: CoderInput['protocol']) => coder.launch(smallInput('qwen3-coder', protocol));

/** Recorded with 0.24.4, as all lines below. */
const SAID =
  '{"type":"assistant","uuid":"aa03ceae-081a-4439-b5b2-20eef592b617","session_id":"43ddfcc7-f550-447b-a273-0f3883307474","parent_tool_use_id":null,"message":{"id":"aa03ceae-081a-4439-b5b2-20eef592b617","type":"message","role":"assistant","model":"some-model-1","content":[{"type":"text","text":"I will write the file."}],"stop_reason":null,"usage":{"input_tokens":0,"output_tokens":0}}}';
const EDIT =
  '{"type":"assistant","uuid":"aad7c5b3-db0f-4098-b033-de46e9e4b42f","session_id":"43ddfcc7-f550-447b-a273-0f3883307474","parent_tool_use_id":null,"message":{"id":"aad7c5b3-db0f-4098-b033-de46e9e4b42f","type":"message","role":"assistant","model":"some-model-1","content":[{"type":"tool_use","id":"call_b12e12ba","name":"edit","input":{"file_path":"/repo/hello.txt","old_string":"","new_string":"hello from the scripted model\\n"}}],"stop_reason":"tool_use","usage":{"input_tokens":1200,"output_tokens":50}}}';
const SHELL =
  '{"type":"assistant","uuid":"9503e397-a8e2-4f5b-9798-85f45bd266ed","session_id":"a1c62c20-76a0-4c77-acb8-7d39a9ae41d1","parent_tool_use_id":null,"message":{"id":"9503e397-a8e2-4f5b-9798-85f45bd266ed","type":"message","role":"assistant","model":"gpt-4.1","content":[{"type":"tool_use","id":"call_40cc45e5","name":"run_shell_command","input":{"command":"npm test"}}],"stop_reason":"tool_use","usage":{"input_tokens":1200,"output_tokens":50}}}';
const DONE =
  '{"type":"result","subtype":"success","uuid":"784ba329-c352-461f-95f9-8244125132ed","session_id":"43ddfcc7-f550-447b-a273-0f3883307474","is_error":false,"duration_ms":1299,"num_turns":2,"result":"Done. The file was written by the scripted model.","usage":{"input_tokens":2400,"output_tokens":100},"permission_denials":[]}';
const REFUSED =
  '{"type":"result","subtype":"error_during_execution","uuid":"e279141c-328e-4686-b6d1-c4a78b7427d8","session_id":"58af6499-f951-4fcb-9380-ca427d9f96c1","is_error":true,"duration_ms":267,"num_turns":1,"usage":{"input_tokens":0,"output_tokens":0},"permission_denials":[],"error":{"message":"[API Error: 402 candidate spend cap reached (scripted 402)]"}}';
const QUIET_LINES = [
  '{"type":"system","subtype":"init","uuid":"a1c62c20-76a0-4c77-acb8-7d39a9ae41d1","cwd":"/repo","tools":["read_file","run_shell_command","edit"],"model":"gpt-4.1"}',
];
const RAN =
  '{"type":"user","uuid":"36ffa1d6-a03c-4d85-b905-d0e67a7c87b1","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_40cc45e5","is_error":false,"content":"Exit Code: 0"}]}}';

coderContract('qwen', () => ({ coder, steps: [SAID, EDIT, SHELL], end: { line: DONE, ok: true } }));

describe('Qwen Code', () => {
  test('shows what it says and does, and says when the model was refused', () => {
    expect([SAID, EDIT, SHELL, RAN, DONE, REFUSED].flatMap((line) => coder.read(line))).toEqual([
      { kind: 'says', text: 'I will write the file.' },
      {
        kind: 'edit',
        text: 'edit: /repo/hello.txt',
        detail: '+hello from the scripted model\n+',
        call: 'call_b12e12ba',
      },
      { kind: 'command', text: 'run_shell_command: npm test', call: 'call_40cc45e5' },
      { kind: 'result', text: '', detail: 'Exit Code: 0', call: 'call_40cc45e5', exitCode: 0, ok: true },
      { kind: 'end', ok: true, text: 'Done. The file was written by the scripted model.' },
      { kind: 'end', ok: false, text: '[API Error: 402 candidate spend cap reached (scripted 402)]' },
    ]);
    for (const line of QUIET_LINES) expect(coder.read(line)).toEqual([]);
  });

  test('speaks to the gateway in the protocol of its model', () => {
    expect(launch('openai-chat')).toMatchObject({
      argv: expect.arrayContaining(['--auth-type=openai', '--model=qwen3-coder']),
      env: { OPENAI_BASE_URL: 'http://127.0.0.1:8123/v1' },
    });
    expect(launch('anthropic')).toMatchObject({
      argv: expect.arrayContaining(['--auth-type=anthropic']),
      env: { ANTHROPIC_BASE_URL: 'http://127.0.0.1:8123' },
    });
  });

  test('takes nothing from the repository, not even its .env', () => {
    const { argv, files = {} } = launch('openai-chat');
    expect(argv).toContain('--bare');
    expect(JSON.parse(files['.qwen/settings.json'] ?? '')).toMatchObject({
      security: { folderTrust: { enabled: true } },
    });
    expect(JSON.parse(files['.qwen/trustedFolders.json'] ?? '')).toEqual({ '/repo': 'DO_NOT_TRUST' });
  });
});
