import { z } from 'zod';
import type { CoderEvent } from '../../core/model/index.ts';
import type { Coder, CoderInput } from '../../ports/index.ts';
import { installedAgent } from './catalogue.ts';
import { callEvent, endEvent, resultEvent, saysEvent, shortLine } from './events.ts';
import { lineReader } from './progress.ts';

/** Codex by OpenAI, headless. Flags: `codex exec --help` and `codex features list` of 0.169.0. */
export function codexCoder(agentsFolder: string): Coder {
  const { start, binds, version } = installedAgent(agentsFolder, 'codex');
  return {
    name: 'codex',
    protocols: ['openai-responses'],
    wantsArgv: false,
    experimental: false,
    launch: (input) => ({ argv: [...start, ...codexFlags(input)], env: {}, stdin: input.prompt, binds }),
    read: lineReader(CodexLine, toCodexEvents),
    version,
    trial: () => ({ argv: [...start, '--version'], env: {}, binds }),
  };
}

const codexFlags = ({ model, gateway }: CoderInput): readonly string[] => [
  'exec',
  '--json',
  '--color=never',
  '--skip-git-repo-check',
  '--ephemeral',
  '--ignore-rules',
  // The sandbox is the boundary; Codex's own does not work inside it, and no one is available to answer.
  '--dangerously-bypass-approvals-and-sandbox',
  ...Object.entries({ ...provider(gateway.url), model: toml(model), ...CODEX_SETTINGS }).map(
    ([name, value]) => `--config=${name}=${value}`,
  ),
  '-',
];

const provider = (url: string) => ({
  model_provider: '"gateway"',
  'model_providers.gateway.name': '"gateway"',
  'model_providers.gateway.base_url': toml(`${url}/v1`),
  'model_providers.gateway.env_key': '"GW_KEY"',
  'model_providers.gateway.wire_api': '"responses"',
  'model_providers.gateway.supports_websockets': 'false',
  // It retries after a 402 as after a broken stream; five retries would only delay the end.
  'model_providers.gateway.stream_max_retries': '2',
});

/** Values are TOML. */
const CODEX_SETTINGS = {
  // The prompt contains the instructions of the base commit; those in the working tree may be a candidate's own.
  project_doc_max_bytes: '0',
  'skills.include_instructions': 'false',
  // Commands that the model runs do not need access to the model.
  'shell_environment_policy.exclude': '["GW_*"]',
  check_for_update_on_startup: 'false',
  'analytics.enabled': 'false',
  'feedback.enabled': 'false',
  'otel.exporter': '"none"',
  'otel.metrics_exporter': '"none"',
  'history.persistence': '"none"',
  web_search: '"disabled"',
  ...Object.fromEntries(
    [
      'apps',
      'api_key_model_discovery',
      'enable_request_compression',
      'goals',
      'hooks',
      'image_generation',
      'memories',
      'multi_agent',
      'plugins',
      'remote_plugin',
      'skill_mcp_dependency_install',
      'tool_suggest',
    ].map((feature) => [`features.${feature}`, 'false']),
  ),
};

/**
 * A TOML basic string. JSON's escapes are valid in TOML, but TOML requires DEL to be escaped and has no unpaired
 * surrogates.
 */
const toml = (text: string): string => JSON.stringify(text.toWellFormed()).replaceAll('\u007f', '\\u007f');

const Started = z.discriminatedUnion('type', [
  z.object({ type: z.literal('command_execution'), id: z.string().optional(), command: z.string() }),
  z.object({ type: z.literal('mcp_tool_call'), id: z.string().optional(), tool: z.string() }),
]);
const Completed = z.discriminatedUnion('type', [
  z.object({ type: z.literal('agent_message'), text: z.string() }),
  z.object({
    type: z.literal('command_execution'),
    id: z.string().optional(),
    aggregated_output: z.string().catch(''),
    exit_code: z.number().nullish(),
    status: z.string().catch(''),
  }),
  z.object({ type: z.literal('mcp_tool_call'), id: z.string().optional(), status: z.string().catch('') }),
  z.object({ type: z.literal('file_change'), changes: z.array(z.object({ path: z.string() })) }),
]);
/** The lines of `codex exec --json` that describe progress; others are ignored. */
const CodexLine = z.discriminatedUnion('type', [
  z.object({ type: z.literal('item.started'), item: Started }),
  z.object({ type: z.literal('item.completed'), item: Completed }),
  z.object({ type: z.literal('turn.completed') }),
  z.object({ type: z.literal('turn.failed'), error: z.object({ message: z.string() }) }),
]);

/** Commands are shown when they start, as they may take long; file changes when they are complete. */
function toCodexEvents(event: z.infer<typeof CodexLine>): readonly CoderEvent[] {
  switch (event.type) {
    case 'item.started':
      return [startedEvent(event.item)];
    case 'item.completed':
      return [completedEvent(event.item)];
    case 'turn.completed':
      return [endEvent(true, 'done')];
    case 'turn.failed':
      return [endEvent(false, event.error.message)];
  }
}

function startedEvent(item: z.infer<typeof Started>): CoderEvent {
  if (item.type === 'mcp_tool_call') return callEvent(item.tool, {}, item.id);
  return callEvent('bash', { command: item.command.replace(/^\S*sh -l?c /, '') }, item.id);
}

function completedEvent(item: z.infer<typeof Completed>): CoderEvent {
  switch (item.type) {
    case 'agent_message':
      return saysEvent(item.text);
    case 'file_change':
      return { kind: 'edit', text: shortLine(`edit: ${item.changes.map(({ path }) => path).join(', ')}`) };
    case 'mcp_tool_call':
      return resultEvent({ ok: item.status === 'completed', output: '', call: item.id });
    case 'command_execution': {
      const { id: call, aggregated_output: output, exit_code: exitCode, status } = item;
      return resultEvent({ ok: status === 'completed' && (exitCode ?? 0) === 0, output, call, exitCode });
    }
  }
}
