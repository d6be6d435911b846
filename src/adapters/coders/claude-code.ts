import { z } from 'zod';
import type { CoderEvent } from '../../core/model/index.ts';
import type { Coder, CoderInput } from '../../ports/index.ts';
import { installedAgent } from './catalogue.ts';
import { callEvent, endEvent, saysEvent, ToolResult, toolResultEvent } from './events.ts';
import { lineReader } from './progress.ts';

/** Claude Code by Anthropic, headless. Flags and variables: `claude --help` and docs of 2.1.329. */
export function claudeCodeCoder(agentsFolder: string): Coder {
  const { start, binds, version } = installedAgent(agentsFolder, 'claude-code');
  return {
    name: 'claude-code',
    protocols: ['anthropic'],
    wantsArgv: false,
    experimental: false,
    launch: (input) => ({
      argv: [...start, ...claudeFlags(input)],
      env: claudeEnvironment(input),
      stdin: input.prompt,
      binds,
    }),
    read: lineReader(ClaudeLine, toClaudeEvents),
    version,
    trial: () => ({ argv: [...start, '--version'], env: CLAUDE_ENVIRONMENT, binds }),
  };
}

const claudeFlags = ({ model }: CoderInput): readonly string[] => [
  '--print',
  '--output-format=stream-json',
  '--verbose',
  `--model=${model}`,
  // The sandbox is the boundary; no one is available to answer.
  '--permission-mode=bypassPermissions',
  // Nothing from the repository: settings, hooks, MCP servers, skills and commands.
  '--setting-sources=',
  '--strict-mcp-config',
  '--disable-slash-commands',
  '--no-session-persistence',
];

/** No telemetry, error reports, feature flags, update or title. */
const CLAUDE_ENVIRONMENT = {
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  DISABLE_AUTOUPDATER: '1',
  CLAUDE_CODE_DISABLE_TERMINAL_TITLE: '1',
  // Otherwise it refuses to skip permissions if the sandbox's user has uid 0.
  IS_SANDBOX: '1',
} as const;

const claudeEnvironment = ({ model, gateway }: CoderInput): Readonly<Record<string, string>> => ({
  ...CLAUDE_ENVIRONMENT,
  ANTHROPIC_BASE_URL: gateway.url,
  ANTHROPIC_API_KEY: gateway.key,
  // Background tasks and subagents request other models, which the gateway refuses.
  ANTHROPIC_SMALL_FAST_MODEL: model,
  ANTHROPIC_DEFAULT_HAIKU_MODEL: model,
  ANTHROPIC_DEFAULT_SONNET_MODEL: model,
  ANTHROPIC_DEFAULT_OPUS_MODEL: model,
  ANTHROPIC_DEFAULT_FABLE_MODEL: model,
  CLAUDE_CODE_SUBAGENT_MODEL: model,
  // The prompt contains the instructions of the base commit; those in the working tree may be a candidate's own.
  CLAUDE_CODE_DISABLE_CLAUDE_MDS: '1',
  // By default it retries 429 and 5xx ten times. Our default, tune on dev data.
  CLAUDE_CODE_MAX_RETRIES: '5',
});

const ClaudeBlock = z.union([
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({ type: z.literal('tool_use'), id: z.string().optional(), name: z.string(), input: z.unknown() }),
  z.object({ type: z.string() }),
]);
/** The lines of `--output-format=stream-json` that describe progress; others are ignored. */
const ClaudeLine = z.discriminatedUnion('type', [
  z.object({ type: z.literal('assistant'), message: z.object({ content: z.array(ClaudeBlock) }) }),
  z.object({ type: z.literal('user'), message: z.object({ content: z.array(ToolResult) }) }),
  z.object({ type: z.literal('result'), is_error: z.boolean(), result: z.string().optional() }),
]);

function toClaudeEvents(event: z.infer<typeof ClaudeLine>): readonly CoderEvent[] {
  switch (event.type) {
    case 'result':
      return [endEvent(!event.is_error, event.result ?? '')];
    case 'user':
      return event.message.content.map(toolResultEvent);
    case 'assistant':
      return event.message.content.flatMap((block): readonly CoderEvent[] => {
        if ('name' in block) return [callEvent(block.name, block.input, block.id)];
        return 'text' in block ? [saysEvent(block.text)] : [];
      });
  }
}
