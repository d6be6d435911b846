import { z } from 'zod';
import type { CoderEvent } from '../../core/model/index.ts';
import type { ModelProtocol } from '../../core/settings/index.ts';
import type { Coder, CoderInput } from '../../ports/index.ts';
import { installedAgent } from './catalogue.ts';
import { callEvent, endEvent, exitCodeIn, MAX_SHOWN, resultEvent, saysEvent } from './events.ts';
import { lineReader } from './progress.ts';

/** GitHub Copilot CLI with a model of the gateway instead of GitHub's. Flags and variables: its help, 1.0.102. */
export function copilotCoder(agentsFolder: string): Coder {
  const { start, binds, version } = installedAgent(agentsFolder, 'copilot');
  return {
    name: 'copilot',
    protocols: ['anthropic', 'openai-responses', 'openai-chat'],
    wantsArgv: false,
    experimental: false,
    launch: (input) => ({
      argv: [...start, ...COPILOT_FLAGS],
      env: copilotEnvironment(input),
      // A task that begins with `/` would be interpreted as a command.
      stdin: `Task:\n\n${input.prompt}`,
      binds,
    }),
    read: lineReader(CopilotLine, toCopilotEvents),
    version,
    trial: () => ({ argv: [...start, '--version'], env: COPILOT_ENVIRONMENT, binds }),
  };
}

/**
 * Tools for skills, subagents and its own database. With these enabled, it presents the repository's skills and agents
 * to the model.
 */
const WITHOUT_TOOLS = [
  'skill',
  'task',
  'read_agent',
  'list_agents',
  'write_agent',
  'sql',
  'session_store_sql',
  'fetch_copilot_cli_documentation',
  'web_fetch',
  'web_search',
];

/** Without `--trust-folder` it reads no hooks, MCP servers or settings from the repository. */
const COPILOT_FLAGS = [
  // The sandbox is the boundary; no one is available to answer.
  '--allow-all',
  '--no-ask-user',
  '--output-format=json',
  '--stream=off',
  '--no-color',
  '--log-level=none',
  // AGENTS.md and similar files: the prompt contains those of the base commit.
  '--no-custom-instructions',
  '--disable-builtin-mcps',
  '--no-bash-env',
  '--no-experimental',
  '--no-remote',
  '--no-remote-export',
  '--no-auto-update',
  '--disable-client-telemetry',
  // Commands of the model do not see the key.
  '--secret-env-vars=COPILOT_PROVIDER_API_KEY,GW_KEY',
  `--excluded-tools=${WITHOUT_TOOLS.join(',')}`,
] as const;

/** No login, telemetry or update; only `true` itself turns `COPILOT_ALLOW_ALL` into trust, so it is not set at all. */
const COPILOT_ENVIRONMENT = { COPILOT_OFFLINE: 'true', COPILOT_AUTO_UPDATE: 'false' } as const;

const copilotEnvironment = (input: CoderInput): Readonly<Record<string, string>> => ({
  ...COPILOT_ENVIRONMENT,
  ...provider(input.protocol, input.gateway.url),
  COPILOT_PROVIDER_API_KEY: input.gateway.key,
  COPILOT_MODEL: input.model,
});

function provider(protocol: ModelProtocol, url: string): Readonly<Record<string, string>> {
  const openai = { COPILOT_PROVIDER_TYPE: 'openai', COPILOT_PROVIDER_BASE_URL: `${url}/v1` };
  switch (protocol) {
    case 'openai-responses':
      return { ...openai, COPILOT_PROVIDER_WIRE_API: 'responses' };
    case 'openai-chat':
      return { ...openai, COPILOT_PROVIDER_WIRE_API: 'completions' };
    case 'anthropic':
      return { COPILOT_PROVIDER_TYPE: 'anthropic', COPILOT_PROVIDER_BASE_URL: url };
    case 'gemini':
      throw new Error('Copilot does not speak gemini.');
  }
}

/** Lines of `--output-format=json`, 1.0.102: a few of its many types. */
const CopilotLine = z.discriminatedUnion('type', [
  z.object({ type: z.literal('assistant.message'), data: z.object({ content: z.string() }) }),
  z.object({
    type: z.literal('tool.execution_start'),
    data: z.object({
      toolCallId: z.string().optional(),
      toolName: z.string(),
      arguments: z.unknown().optional(),
    }),
  }),
  z.object({
    type: z.literal('tool.execution_complete'),
    data: z.object({
      toolCallId: z.string().optional(),
      success: z.boolean(),
      result: z
        .object({ content: z.string().catch('') })
        .nullish()
        .catch(null),
      error: z
        .object({ message: z.string().catch('') })
        .nullish()
        .catch(null),
    }),
  }),
  z.object({ type: z.literal('session.error'), data: z.object({ message: z.string() }) }),
  z.object({ type: z.literal('result'), exitCode: z.number() }),
]);

function toCopilotEvents(event: z.infer<typeof CopilotLine>): readonly CoderEvent[] {
  switch (event.type) {
    case 'assistant.message':
      return [saysEvent(event.data.content)];
    case 'tool.execution_start':
      return [callEvent(event.data.toolName, event.data.arguments, event.data.toolCallId)];
    case 'tool.execution_complete': {
      const { toolCallId: call, success: ok, result, error } = event.data;
      const output = result?.content || error?.message || '';
      // The last line of a command's output, in its own brackets.
      const exitCode = exitCodeIn(output.slice(-MAX_SHOWN), /<exited with exit code (\d{1,10})>\s*$/);
      return [resultEvent({ ok, output, call, exitCode })];
    }
    case 'session.error':
      return [saysEvent(event.data.message)];
    case 'result':
      return [
        endEvent(
          event.exitCode === 0,
          event.exitCode === 0 ? 'Done.' : `Copilot ended with exit code ${event.exitCode}.`,
        ),
      ];
  }
}
