import { describe, expect, test } from 'vitest';
import { geminiCoder } from '../../../src/adapters/coders/gemini.ts';
import { coderContract, smallInput } from '../../contracts/coder.suite.ts';

const coder = geminiCoder('/data/agents');
const input = smallInput('gemini-2.5-pro', 'gemini');

/** Recorded with 0.61.0, as all lines below. */
const SHELL =
  '{"type":"tool_use","timestamp":"2026-11-21T03:29:02.789Z","tool_name":"run_shell_command","tool_id":"run_shell_command__run_shell_command_1795231019769_0","parameters":{"command":"npm test 2>&1 | tail -5"}}';
const WRITE =
  '{"type":"tool_use","timestamp":"2026-11-21T03:10:49.375Z","tool_name":"write_file","tool_id":"write_file__write_file_1795230649353_0","parameters":{"file_path":"/repo/hello.txt","content":"hello from the scripted model\\n"}}';
const DONE =
  '{"type":"result","timestamp":"2026-11-21T03:10:49.421Z","status":"success","stats":{"total_tokens":2500,"input_tokens":2400,"output_tokens":80,"cached":400,"input":2000,"duration_ms":98,"tool_calls":1,"models":{"gemini-2.5-pro":{"total_tokens":2500,"input_tokens":2400,"output_tokens":80,"cached":400,"input":2000}}}}';
const REFUSED =
  '{"type":"result","timestamp":"2026-11-21T03:17:02.240Z","status":"error","error":{"type":"unknown","message":"[API Error: {\\"error\\":{\\"message\\":\\"candidate spend cap reached (scripted 402)\\",\\"type\\":\\"candidate_spend_cap\\"}}]"},"stats":{"total_tokens":0,"tool_calls":0,"models":{}}}';
const QUIET_LINES = [
  '{"type":"init","timestamp":"2026-11-21T03:10:49.323Z","session_id":"b1240c82-8cd4-4fd3-996e-499dc2299ffb","model":"gemini-2.5-pro"}',
  '{"type":"message","timestamp":"2026-11-21T03:10:49.324Z","role":"user","content":"Create the file hello.txt"}',
];
const PIECE =
  '{"type":"message","timestamp":"2026-11-21T03:10:49.414Z","role":"assistant","content":"Done. The file was writt","delta":true}';
const WROTE =
  '{"type":"tool_result","timestamp":"2026-11-21T03:10:49.407Z","tool_id":"write_file__write_file_1795230649353_0","status":"success"}';

coderContract('gemini', () => ({ coder, steps: [SHELL, WRITE], end: { line: DONE, ok: true } }));

describe('Gemini CLI', () => {
  test('shows what it does, and says when the model was refused', () => {
    expect([SHELL, WRITE, WROTE, PIECE, REFUSED].flatMap((line) => coder.read(line))).toEqual([
      { kind: 'command', text: 'run_shell_command: npm test 2>&1 | tail -5', call: expect.any(String) },
      {
        kind: 'edit',
        text: 'write_file: /repo/hello.txt',
        detail: '+hello from the scripted model\n+',
        call: 'write_file__write_file_1795230649353_0',
      },
      { kind: 'result', text: '', call: 'write_file__write_file_1795230649353_0', ok: true },
      { kind: 'says', text: '', detail: 'Done. The file was writt', piece: true },
      {
        kind: 'end',
        ok: false,
        text: expect.stringContaining('candidate spend cap reached'),
      },
    ]);
    for (const line of QUIET_LINES) expect(coder.read(line)).toEqual([]);
  });

  test('takes nothing from the repository, because its folder is untrusted', () => {
    const { argv, env } = coder.launch(input);
    expect(env.GEMINI_CLI_TRUST_WORKSPACE).toBe('false');
    expect(argv.join(' ')).not.toMatch(/trust|yolo/);
  });

  test('may use every tool except those that need the network or other models', () => {
    const policy = coder.launch(input).files?.['.gemini/policies/runoff.toml'];
    expect(policy).toMatch(/toolName = "\*"\ndecision = "allow"/);
    expect(policy).toMatch(/toolName = "run_shell_command"\nargsPattern = "\."\ndecision = "allow"/);
    expect(policy).toMatch(/"web_fetch", "invoke_agent".*\ndecision = "deny"/);
  });

  test('does its side jobs with the same model', () => {
    const { files = {}, env } = coder.launch(input);
    const settings = JSON.parse(files['.gemini/settings.json'] ?? '') as {
      modelConfigs: { customOverrides: { match: { model: string }; modelConfig: { model: string } }[] };
    };
    const models = settings.modelConfigs.customOverrides.map(({ modelConfig }) => modelConfig.model);
    expect(new Set(models)).toEqual(new Set(['$GEMINI_MODEL']));
    expect(env.GEMINI_MODEL).toBe(input.model);
  });
});
