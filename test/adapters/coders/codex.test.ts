import { expect, test } from 'vitest';
import { codexCoder } from '../../../src/adapters/coders/codex.ts';
import { coderContract, smallInput } from '../../contracts/coder.suite.ts';

const coder = codexCoder('/data/agents');
const input = smallInput('gpt-5.5', 'openai-responses');

/** Recorded with 0.169.0, as all lines below. */
const TEXT =
  '{"type":"item.completed","item":{"id":"item_1","type":"agent_message","text":"I will write the file."}}';
const BASH =
  '{"type":"item.started","item":{"id":"item_2","type":"command_execution","command":"/bin/bash -lc \\"printf \'%s\' hello > /repo/out.txt\\"","aggregated_output":"","exit_code":null,"status":"in_progress"}}';
const DONE =
  '{"type":"turn.completed","usage":{"input_tokens":2400,"cached_input_tokens":400,"cache_write_input_tokens":0,"output_tokens":100,"reasoning_output_tokens":20}}';
const REFUSED =
  '{"type":"turn.failed","error":{"message":"unexpected status 402 Payment Required: candidate spend cap reached (scripted 402), url: http://127.0.0.1:28106/v1/responses"}}';
/** By the format that `codex exec --json` has for patches; the scripted model makes none. */
const EDIT =
  '{"type":"item.completed","item":{"id":"item_3","type":"file_change","changes":[{"path":"/repo/a.ts","kind":"update"},{"path":"/repo/b.ts","kind":"add"}],"status":"completed"}}';
const RAN =
  '{"type":"item.completed","item":{"id":"item_2","type":"command_execution","command":"/bin/bash -lc true","aggregated_output":"","exit_code":0,"status":"completed"}}';
const QUIET_LINES = [
  '{"type":"thread.started","thread_id":"01a1fc1c-e928-7220-8786-3b0de69329ff"}',
  '{"type":"turn.started"}',
  '{"type":"item.completed","item":{"id":"item_0","type":"error","message":"Model metadata for `gpt-5.1-codex` not found. Defaulting to fallback metadata; this can degrade performance and cause issues."}}',
  '{"type":"error","message":"Reconnecting... 1/2 (unexpected status 402 Payment Required: candidate spend cap reached (scripted 402), url: http://127.0.0.1:28106/v1/responses)"}',
];

coderContract('codex', () => ({ coder, steps: [TEXT, BASH, EDIT], end: { line: DONE, ok: true } }));

test('Codex shows what it does, and says when the model was refused', () => {
  expect([TEXT, BASH, RAN, EDIT, DONE, REFUSED].flatMap((line) => coder.read(line))).toEqual([
    { kind: 'says', text: 'I will write the file.' },
    { kind: 'command', text: `bash: "printf '%s' hello > /repo/out.txt"`, call: 'item_2' },
    { kind: 'result', text: '', call: 'item_2', exitCode: 0, ok: true },
    { kind: 'edit', text: 'edit: /repo/a.ts, /repo/b.ts' },
    { kind: 'end', ok: true, text: 'done' },
    { kind: 'end', ok: false, text: expect.stringContaining('402 Payment Required') },
  ]);
  for (const line of QUIET_LINES) expect(coder.read(line)).toEqual([]);
});

test('Codex takes its provider from us and no instructions, rules or hooks from the repository', () => {
  const { argv } = coder.launch(input);
  for (const word of [
    '--config=model_provider="gateway"',
    '--config=model_providers.gateway.base_url="http://127.0.0.1:8123/v1"',
    '--config=model_providers.gateway.env_key="GW_KEY"',
    '--config=project_doc_max_bytes=0',
    '--config=features.hooks=false',
    '--ignore-rules',
  ])
    expect(argv).toContain(word);
});

test('Codex is given names of models that TOML can hold', () => {
  const words = coder.launch({ ...input, model: 'a"\n\u007f\ud800b' }).argv;
  expect(words).toContain('--config=model="a\\"\\n\\u007f\ufffdb"');
});
