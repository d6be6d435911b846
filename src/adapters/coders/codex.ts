import { z } from 'zod';
import type { Coder, CoderEvent, CoderInput } from '../../ports/index.ts';
import { installedAgent } from './catalogue.ts';
import { lineReader, shortLine, shownCall } from './progress.ts';

/** Codex by OpenAI, headless. Flags: `codex exec --help` and `codex features list` of 0.169.0. */
export function codexCoder(agentsFolder: string): Coder {
  const { start, binds, version } = installedAgent(agentsFolder, 'codex');
  return {
    name: 'codex',
    protocols: ['openai-responses'],
    wantsArgv: false,
    experimental: false,
    launch: (input) => ({ argv: [...start, ...codexFlags(input)], env: {}, stdin: input.prompt, binds }),
    read: lineReader(CodexLine, toCodexEvent),
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
  z.object({ type: z.literal('command_execution'), command: z.string() }),
  z.object({ type: z.literal('mcp_tool_call'), tool: z.string() }),
]);
const Completed = z.discriminatedUnion('type', [
  z.object({ type: z.literal('agent_message'), text: z.string() }),
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
function toCodexEvent(event: z.infer<typeof CodexLine>): CoderEvent | null {
  switch (event.type) {
    case 'item.started':
      return { kind: 'step', text: startedText(event.item) };
    case 'item.completed':
      return { kind: 'step', text: completedText(event.item) };
    case 'turn.completed':
      return { kind: 'end', ok: true, text: 'done' };
    case 'turn.failed':
      return { kind: 'end', ok: false, text: shortLine(event.error.message) };
  }
}

function startedText(item: z.infer<typeof Started>): string {
  if (item.type === 'mcp_tool_call') return shortLine(item.tool);
  return shownCall('bash', { command: item.command.replace(/^\S*sh -l?c /, '') });
}

function completedText(item: z.infer<typeof Completed>): string {
  if (item.type === 'agent_message') return shortLine(item.text);
  return shortLine(`edit: ${item.changes.map(({ path }) => path).join(', ')}`);
}
