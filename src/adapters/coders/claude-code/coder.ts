import type { Coder, CoderInput } from '../../../ports/index.ts';
import { installedAgent } from '../installed.ts';
import { readLine } from './events.ts';

/** Claude Code by Anthropic, headless. Flags and variables: `claude --help` and docs of 2.1.329. */
export function claudeCodeCoder(agentsFolder: string): Coder {
  const { start, binds, version } = installedAgent(agentsFolder, 'claude-code');
  return {
    name: 'claude-code',
    protocols: ['anthropic'],
    wantsArgv: false,
    experimental: false,
    launch: (input) => ({
      argv: [...start, ...flags(input)],
      env: environment(input),
      stdin: input.prompt,
      binds,
    }),
    read: readLine,
    version,
    trial: () => ({ argv: [...start, '--version'], env: QUIET, binds }),
  };
}

const flags = ({ model }: CoderInput): readonly string[] => [
  '--print',
  '--output-format=stream-json',
  '--verbose',
  `--model=${model}`,
  // The sandbox is the wall; nobody is there to be asked.
  '--permission-mode=bypassPermissions',
  // Nothing from the repository: settings, hooks, MCP servers, skills and commands.
  '--setting-sources=',
  '--strict-mcp-config',
  '--disable-slash-commands',
  '--no-session-persistence',
];

/** No telemetry, error reports, feature flags, update or title. */
const QUIET = {
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  DISABLE_AUTOUPDATER: '1',
  CLAUDE_CODE_DISABLE_TERMINAL_TITLE: '1',
  // Without it, it refuses to skip permissions where the sandbox's user has the number 0.
  IS_SANDBOX: '1',
} as const;

const environment = ({ model, gateway }: CoderInput): Readonly<Record<string, string>> => ({
  ...QUIET,
  ANTHROPIC_BASE_URL: gateway.url,
  ANTHROPIC_API_KEY: gateway.key,
  // Side jobs and subagents ask for other models, which the gateway refuses.
  ANTHROPIC_SMALL_FAST_MODEL: model,
  ANTHROPIC_DEFAULT_HAIKU_MODEL: model,
  ANTHROPIC_DEFAULT_SONNET_MODEL: model,
  ANTHROPIC_DEFAULT_OPUS_MODEL: model,
  ANTHROPIC_DEFAULT_FABLE_MODEL: model,
  CLAUDE_CODE_SUBAGENT_MODEL: model,
  // The prompt holds the instructions of the base commit; those in the working tree may be a candidate's own.
  CLAUDE_CODE_DISABLE_CLAUDE_MDS: '1',
  // It goes on with 429 and 5xx ten times by itself. Our default, tune on dev data.
  CLAUDE_CODE_MAX_RETRIES: '5',
});
