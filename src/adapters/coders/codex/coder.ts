import type { Coder, CoderInput } from '../../../ports/index.ts';
import { installedAgent } from '../installed.ts';
import { readLine } from './events.ts';

/** Codex by OpenAI, headless. Flags: `codex exec --help` and `codex features list` of 0.169.0. */
export function codexCoder(agentsFolder: string): Coder {
  const { start, binds, version } = installedAgent(agentsFolder, 'codex');
  return {
    name: 'codex',
    protocols: ['openai-responses'],
    wantsArgv: false,
    experimental: false,
    launch: (input) => ({ argv: [...start, ...flags(input)], env: {}, stdin: input.prompt, binds }),
    read: readLine,
    version,
    trial: () => ({ argv: [...start, '--version'], env: {}, binds }),
  };
}

const flags = ({ model, gateway }: CoderInput): readonly string[] => [
  'exec',
  '--json',
  '--color=never',
  '--skip-git-repo-check',
  '--ephemeral',
  '--ignore-rules',
  // The sandbox is the wall; its own cannot be set up inside of it, and nobody is there to be asked.
  '--dangerously-bypass-approvals-and-sandbox',
  ...Object.entries({ ...provider(gateway.url), model: toml(model), ...SETTINGS }).map(
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
  // It tries again after a 402 as after a broken stream; five times would only delay the end.
  'model_providers.gateway.stream_max_retries': '2',
});

/** Values are TOML. */
const SETTINGS = {
  // The prompt holds the instructions of the base commit; those in the working tree may be a candidate's own.
  project_doc_max_bytes: '0',
  'skills.include_instructions': 'false',
  // What the model runs needs no way to the model.
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

/** A TOML basic string. JSON's escapes are TOML's too, but TOML wants DEL escaped and knows no half of a pair. */
const toml = (text: string): string => JSON.stringify(text.toWellFormed()).replaceAll('\u007f', '\\u007f');
