import { z } from 'zod';
import type { CoderEvent } from '../../core/model/index.ts';
import type { Coder, CoderInput } from '../../ports/index.ts';
import { installedAgent } from './catalogue.ts';
import { callEvent, endEvent, excerpt, resultEvent, saysEvent } from './events.ts';
import { lineReader } from './progress.ts';

/** Gemini CLI by Google, headless. Flags and variables: its bundled docs of 0.61.0. */
export function geminiCoder(agentsFolder: string): Coder {
  const { start, binds, version } = installedAgent(agentsFolder, 'gemini');
  return {
    name: 'gemini',
    protocols: ['gemini'],
    wantsArgv: false,
    experimental: false,
    launch: (input) => ({
      argv: [...start, '--output-format=stream-json', `--model=${input.model}`],
      env: geminiEnvironment(input),
      // A task that begins with `/` would be interpreted as a command.
      stdin: `Task:\n\n${input.prompt}`,
      files: HOME_FILES,
      binds,
    }),
    read: lineReader(GeminiLine, toGeminiEvents),
    version,
    trial: () => ({ argv: [...start, '--version'], env: GEMINI_ENVIRONMENT, binds }),
  };
}

const GEMINI_ENVIRONMENT = {
  GEMINI_TELEMETRY_ENABLED: 'false',
  // Otherwise it restarts itself to get a larger heap.
  GEMINI_CLI_NO_RELAUNCH: 'true',
  GEMINI_SANDBOX: 'false',
  /**
   * Nothing from the repository: settings, hooks, MCP servers, `.env`, skills, policies and GEMINI.md. The policy among
   * its files answers the confirmations required in such a folder.
   */
  GEMINI_CLI_TRUST_WORKSPACE: 'false',
} as const;

const geminiEnvironment = ({ model, gateway }: CoderInput): Readonly<Record<string, string>> => ({
  ...GEMINI_ENVIRONMENT,
  GEMINI_API_KEY: gateway.key,
  GOOGLE_GEMINI_BASE_URL: gateway.url,
  // Its settings refer to the model for background tasks by this variable: a name in them would itself be expanded.
  GEMINI_MODEL: model,
});

/**
 * Background tasks that request models of their own, which the gateway refuses. Names: `modelConfigs.aliases` in the
 * bundled docs/reference/configuration.md of 0.61.0.
 */
const SIDE_JOBS = [
  'summarizer-default',
  'summarizer-shell',
  'edit-corrector',
  'llm-edit-fixer',
  'next-speaker-checker',
  'loop-detection',
  'loop-detection-double-check',
  'context-snapshotter',
  'agent-history-provider-summarizer',
  'chat-compression-default',
  'chat-compression-3-pro',
  'chat-compression-3-flash',
  'chat-compression-3.1-flash-lite',
  'chat-compression-2.5-pro',
  'chat-compression-2.5-flash',
  'chat-compression-2.5-flash-lite',
] as const;

const GEMINI_SETTINGS = {
  security: {
    auth: { selectedType: 'gemini-api-key' },
    // If enabled, it refuses to run headless in an untrusted folder.
    folderTrust: { enabled: false },
    // Commands of the model do not see the key.
    environmentVariableRedaction: { enabled: true },
  },
  privacy: { usageStatisticsEnabled: false },
  telemetry: { enabled: false },
  general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
  hooksConfig: { enabled: false },
  skills: { enabled: false },
  // Subagents request models of their own, and a repository may define some.
  experimental: { enableAgents: false },
  modelConfigs: {
    customOverrides: SIDE_JOBS.map((job) => ({
      match: { model: job },
      modelConfig: { model: '$GEMINI_MODEL' },
    })),
  },
} as const;

/**
 * The sandbox is the boundary, and no one is available to answer. `argsPattern` prevents prompts about git, which it
 * shows in untrusted folders (`applyShellHeuristics` in 0.61.0). Denied tools are hidden from the model: they need the
 * network, or unavailable models and skills.
 */
const POLICY = `[[rule]]
toolName = "*"
decision = "allow"
priority = 990

[[rule]]
toolName = "run_shell_command"
argsPattern = "."
decision = "allow"
priority = 995
allowRedirection = true

[[rule]]
toolName = ["google_web_search", "web_fetch", "invoke_agent", "activate_skill", "enter_plan_mode", "ask_user"]
decision = "deny"
priority = 999
`;

/** Its settings, which no file of the repository overrides, since the folder is untrusted. */
const HOME_FILES: Readonly<Record<string, string>> = {
  '.gemini/settings.json': `${JSON.stringify(GEMINI_SETTINGS, null, 2)}\n`,
  '.gemini/policies/runoff.toml': POLICY,
};

/** Lines of `--output-format=stream-json`, 0.61.0. The model's text arrives in pieces. */
const GeminiLine = z.discriminatedUnion('type', [
  z.object({ type: z.literal('message'), role: z.literal('assistant'), content: z.string() }),
  z.object({
    type: z.literal('tool_use'),
    tool_name: z.string(),
    tool_id: z.string().optional(),
    parameters: z.unknown().optional(),
  }),
  z.object({
    type: z.literal('tool_result'),
    tool_id: z.string().optional(),
    status: z.string(),
    output: z.string().nullish().catch(null),
    error: z.object({ message: z.string() }).nullish().catch(null),
  }),
  z.object({ type: z.literal('error'), message: z.string() }),
  z.object({
    type: z.literal('result'),
    status: z.string(),
    error: z.object({ message: z.string() }).optional(),
  }),
]);

function toGeminiEvents(event: z.infer<typeof GeminiLine>): readonly CoderEvent[] {
  switch (event.type) {
    case 'message':
      return [{ kind: 'says', text: '', detail: excerpt(event.content), piece: true }];
    case 'tool_use':
      return [callEvent(event.tool_name, event.parameters, event.tool_id)];
    case 'tool_result': {
      const output = event.output || event.error?.message || '';
      return [resultEvent({ ok: event.status === 'success', output, call: event.tool_id })];
    }
    case 'error':
      return [saysEvent(event.message)];
    case 'result':
      return [endEvent(event.status === 'success', event.error?.message ?? 'Done.')];
  }
}
