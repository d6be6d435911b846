import { describe, expect, test } from 'vitest';
import { copilotCoder } from '../../../src/adapters/coders/copilot.ts';
import type { CoderInput } from '../../../src/ports/index.ts';
import { coderContract, smallInput } from '../../contracts/coder.suite.ts';

const coder = copilotCoder('/data/agents');
const launch = (protocol: CoderInput['protocol']) => coder.launch(smallInput('claude-sonnet-5', protocol));

/** Recorded with 1.0.102, as all lines below. */
const SAID =
  '{"type":"assistant.message","data":{"messageId":"fbb26266-ede9-45a6-a8e2-0fddb31c2e5a","model":"some-model-1","content":"I will write the file.","toolRequests":[{"toolCallId":"call_a1819ffa","name":"bash","arguments":{"command":"npm test","description":"scripted"},"type":"function","intentionSummary":"scripted","toolTitle":"Running command"}],"turnId":"0","rte":false},"id":"051f7f43-8046-4f14-80d8-72bb88432505","timestamp":"2026-11-21T03:29:24.625Z","parentId":"dbd6e7cc-e6d6-4c30-9ce4-81ad32e58326"}';
const SHELL =
  '{"type":"tool.execution_start","data":{"toolCallId":"call_a1819ffa","toolName":"bash","arguments":{"command":"npm test","description":"scripted"},"turnId":"0","model":"some-model-1","toolTitle":"Running command"},"id":"9ced7a8c-063a-471d-887e-e071c1d6eb6b","timestamp":"2026-11-21T03:29:24.627Z","parentId":"051f7f43-8046-4f14-80d8-72bb88432505"}';
const WRITE =
  '{"type":"tool.execution_start","data":{"toolCallId":"toolu_5634d3b7","toolName":"create","arguments":{"path":"/repo/hello.txt","file_text":"hello from the scripted model\\n"},"turnId":"0","model":"claude-sonnet-4-5","toolTitle":"Creating file"},"id":"e2356968-9eca-40cd-9020-48ee2fd4248b","timestamp":"2026-11-21T03:11:47.250Z","parentId":"87cf2e09-59e5-4e34-91a9-14a2c37efaf0"}';
/** By the format that it has for ends of calls. */
const FAILED =
  '{"type":"tool.execution_complete","data":{"toolCallId":"call_a1819ffa","success":true,"result":{"content":"1 failed\\n<exited with exit code 1>"}},"id":"1"}';
const DONE =
  '{"type":"result","timestamp":"2026-11-21T03:29:24.959Z","sessionId":"442d021b-407b-4eaa-aee4-3acf900dea30","exitCode":0,"usage":{"premiumRequests":0,"totalApiDurationMs":39,"sessionDurationMs":950,"codeChanges":{"linesAdded":0,"linesRemoved":0,"filesModified":[]}}}';
const REFUSED = [
  '{"type":"session.error","data":{"errorType":"query","message":"402 candidate spend cap reached (scripted 402)","statusCode":402,"originatingMessageId":"b03e170c-12f4-4ebf-ac4b-3dca2b178968"},"id":"34d6b9a7-78f4-4177-86a8-4ff1c17891e5","timestamp":"2026-11-21T03:18:12.690Z","parentId":"e0bc04f1-76ab-4abf-a0a2-5259899a5f16"}',
  '{"type":"result","timestamp":"2026-11-21T03:18:12.700Z","sessionId":"4f7014f5-3a17-433b-95bf-a422b33af34f","exitCode":1,"usage":{"premiumRequests":0,"totalApiDurationMs":0,"sessionDurationMs":306,"codeChanges":{"linesAdded":0,"linesRemoved":0,"filesModified":[]}}}',
];
const QUIET_LINES = [
  '{"type":"session.skills_loaded","data":{"skills":[{"name":"x","description":"from the repository","source":"project","path":"/repo/.github/skills/x/SKILL.md"}]},"id":"1"}',
  '{"type":"user.message","data":{"content":"Create the file hello.txt"},"id":"2"}',
  '{"type":"session.background_tasks_changed","data":{},"ephemeral":true,"id":"3"}',
];

coderContract('copilot', () => ({ coder, steps: [SAID, SHELL, WRITE], end: { line: DONE, ok: true } }));

describe('Copilot CLI', () => {
  test('shows what it says and does, and says when the model was refused', () => {
    expect([SAID, SHELL, FAILED, WRITE, ...REFUSED].flatMap((line) => coder.read(line))).toEqual([
      { kind: 'says', text: 'I will write the file.' },
      { kind: 'command', text: 'bash: npm test', call: 'call_a1819ffa' },
      {
        kind: 'result',
        text: '',
        detail: '1 failed\n<exited with exit code 1>',
        call: 'call_a1819ffa',
        exitCode: 1,
        ok: true,
      },
      {
        kind: 'edit',
        text: 'create: /repo/hello.txt',
        detail: '+hello from the scripted model\n+',
        call: 'toolu_5634d3b7',
      },
      { kind: 'says', text: '402 candidate spend cap reached (scripted 402)' },
      { kind: 'end', ok: false, text: 'Copilot ended with exit code 1.' },
    ]);
    for (const line of QUIET_LINES) expect(coder.read(line)).toEqual([]);
  });

  test('speaks to the gateway in the protocol of its model, with no login and no call elsewhere', () => {
    const urls = coder.protocols.map((protocol) => {
      const { env } = launch(protocol);
      expect(env.COPILOT_OFFLINE).toBe('true');
      return [env.COPILOT_PROVIDER_TYPE, env.COPILOT_PROVIDER_WIRE_API, env.COPILOT_PROVIDER_BASE_URL];
    });
    expect(urls).toEqual([
      ['anthropic', undefined, 'http://127.0.0.1:8123'],
      ['openai', 'responses', 'http://127.0.0.1:8123/v1'],
      ['openai', 'completions', 'http://127.0.0.1:8123/v1'],
    ]);
    expect(() => launch('gemini')).toThrow();
  });

  test('takes nothing from the repository, and shows its key to no command', () => {
    const { argv, env } = launch('anthropic');
    expect(argv).toContain('--no-custom-instructions');
    expect(argv).toContain('--secret-env-vars=COPILOT_PROVIDER_API_KEY,GW_KEY');
    expect(argv.find((word) => word.startsWith('--excluded-tools='))).toMatch(/[=,]skill,.*\btask\b/);
    // Either would have it load hooks and MCP servers of the repository.
    expect(argv).not.toContain('--trust-folder');
    expect(env).not.toHaveProperty('COPILOT_ALLOW_ALL');
  });
});
