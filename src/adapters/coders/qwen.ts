import { z } from 'zod';
import type { CoderEvent } from '../../core/model/index.ts';
import type { Coder, CoderInput } from '../../ports/index.ts';
import { installedAgent } from './catalogue.ts';
import { callEvent, endEvent, saysEvent, ToolResult, toolResultEvent } from './events.ts';
import { lineReader } from './progress.ts';

/** Qwen Code, headless, for any model of the gateway. Flags and variables: its help and sources, 0.24.4. */
export function qwenCoder(agentsFolder: string): Coder {
  const { start, binds, version } = installedAgent(agentsFolder, 'qwen');
  return {
    name: 'qwen',
    protocols: ['openai-chat', 'anthropic'],
    wantsArgv: false,
    experimental: false,
    launch: (input) => ({
      argv: [...start, ...qwenFlags(input)],
      env: qwenEnvironment(input),
      // A task that begins with `/` would be interpreted as a command.
      stdin: `Task:\n\n${input.prompt}`,
      files: HOME_FILES,
      binds,
    }),
    read: lineReader(QwenLine, toQwenEvents),
    version,
    trial: () => ({ argv: [...start, '--version'], env: QWEN_ENVIRONMENT, binds }),
  };
}

const qwenFlags = ({ model, protocol }: CoderInput): readonly string[] => [
  // No extensions, hooks, MCP servers, skills or QWEN.md.
  '--bare',
  '--output-format=stream-json',
  `--auth-type=${protocol === 'anthropic' ? 'anthropic' : 'openai'}`,
  `--model=${model}`,
  // The tools that `yolo` would allow, which it rejects in untrusted folders. The sandbox is the boundary.
  '--allowed-tools=run_shell_command,edit,write_file,read_file,notebook_edit',
];

/**
 * Marks the folder as untrusted: otherwise `--bare` still reads `.env` files and the `env` of settings from the
 * repository, except for variables that the environment sets.
 */
const HOME_FILES: Readonly<Record<string, string>> = {
  '.qwen/settings.json': `${JSON.stringify({
    security: { folderTrust: { enabled: true } },
    privacy: { usageStatisticsEnabled: false },
    telemetry: { enabled: false },
    general: { enableAutoUpdate: false },
  })}\n`,
  '.qwen/trustedFolders.json': `${JSON.stringify({ '/repo': 'DO_NOT_TRUST' })}\n`,
};

const QWEN_ENVIRONMENT = {
  QWEN_USAGE_STATISTICS_ENABLED: 'false',
} as const;

const qwenEnvironment = ({ protocol, gateway }: CoderInput): Readonly<Record<string, string>> => ({
  ...QWEN_ENVIRONMENT,
  ...(protocol === 'anthropic'
    ? { ANTHROPIC_API_KEY: gateway.key, ANTHROPIC_BASE_URL: gateway.url }
    : { OPENAI_API_KEY: gateway.key, OPENAI_BASE_URL: `${gateway.url}/v1` }),
});

const QwenBlock = z.object({
  type: z.string(),
  id: z.string().optional(),
  text: z.string().optional(),
  name: z.string().optional(),
  input: z.unknown().optional(),
});

/** Lines of `--output-format=stream-json`, 0.24.4. */
const QwenLine = z.discriminatedUnion('type', [
  z.object({ type: z.literal('assistant'), message: z.object({ content: z.array(QwenBlock) }) }),
  z.object({ type: z.literal('user'), message: z.object({ content: z.array(ToolResult) }) }),
  z.object({
    type: z.literal('result'),
    is_error: z.boolean(),
    result: z.string().optional(),
    error: z.object({ message: z.string() }).optional(),
  }),
]);

function toQwenEvents(event: z.infer<typeof QwenLine>): readonly CoderEvent[] {
  switch (event.type) {
    case 'assistant':
      return event.message.content.flatMap(blockEvents);
    case 'user':
      return event.message.content.map(toolResultEvent);
    case 'result': {
      const message = event.is_error ? event.error?.message : event.result;
      return [
        endEvent(!event.is_error, message || (event.is_error ? 'Qwen Code ended with an error.' : 'Done.')),
      ];
    }
  }
}

function blockEvents({ type, id, text = '', name = 'tool', input }: z.infer<typeof QwenBlock>) {
  if (type === 'tool_use') return [callEvent(name, input, id)];
  return type === 'text' ? [saysEvent(text)] : [];
}
