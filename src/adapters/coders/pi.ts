import { z } from 'zod';
import type { CoderEvent } from '../../core/model/index.ts';
import type { ModelProtocol } from '../../core/settings/index.ts';
import type { Coder, CoderInput } from '../../ports/index.ts';
import { installedAgent } from './catalogue.ts';
import { callEvent, endEvent, exitCodeIn, MAX_SHOWN, resultEvent, saysEvent } from './events.ts';
import { lineReader } from './progress.ts';

/** Pi's names of the protocols, and the paths that it expects after the gateway's address. */
const APIS = {
  anthropic: { api: 'anthropic-messages', path: '' },
  'openai-responses': { api: 'openai-responses', path: '/v1' },
  'openai-chat': { api: 'openai-completions', path: '/v1' },
  gemini: { api: 'google-generative-ai', path: '/v1beta' },
} as const satisfies Record<ModelProtocol, { api: string; path: string }>;

/** pi by Earendil, headless. Flags: `pi --help`; files: `docs/models.md` and `docs/settings.md` of 0.87.1. */
export function piCoder(agentsFolder: string): Coder {
  const { start, binds, version } = installedAgent(agentsFolder, 'pi');
  return {
    name: 'pi',
    protocols: Object.keys(APIS) as (keyof typeof APIS)[],
    wantsArgv: false,
    experimental: false,
    launch: (input) => ({
      argv: [...start, ...PI_FLAGS],
      env: PI_ENVIRONMENT,
      stdin: input.prompt,
      files: {
        '.pi/agent/models.json': JSON.stringify(models(input)),
        '.pi/agent/settings.json': JSON.stringify(settings(input)),
      },
      binds,
    }),
    read: lineReader(PiLine, toPiEvents),
    version,
    trial: () => ({ argv: [...start, '--version'], env: PI_ENVIRONMENT, binds }),
  };
}

const PI_FLAGS = [
  '--print',
  '--mode',
  'json',
  '--no-session',
  // Nothing from the repository: extensions, skills, prompts, themes, settings. The prompt contains the instructions of
  // the base commit; those in the working tree may be a candidate's own.
  '--no-approve',
  '--no-extensions',
  '--no-skills',
  '--no-prompt-templates',
  '--no-themes',
  '--no-context-files',
  '--offline',
] as const;

const PI_ENVIRONMENT = { PI_OFFLINE: '1', PI_TELEMETRY: '0', PI_SKIP_VERSION_CHECK: '1' } as const;

const models = ({ protocol, model, gateway }: CoderInput) => ({
  providers: {
    gateway: {
      baseUrl: gateway.url + APIS[protocol].path,
      api: APIS[protocol].api,
      apiKey: '$GW_KEY',
      models: [{ id: model, name: model, reasoning: false, input: ['text'], ...LIMIT, cost: PI_NO_COST }],
    },
  },
});

/** The model is set here because the command-line flag interprets it as a pattern. */
const settings = ({ model }: CoderInput) => ({
  defaultProvider: 'gateway',
  defaultModel: model,
  enableInstallTelemetry: false,
});

/** Token limits for models without known limits: it compacts the conversation accordingly. Our defaults. */
const LIMIT = { contextWindow: 200_000, maxTokens: 32_000 } as const;
/** The gateway counts the money. */
const PI_NO_COST = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 } as const;

const Message = z.object({
  role: z.literal('assistant'),
  content: z.array(z.object({ type: z.string(), text: z.string().optional() })),
  stopReason: z.string(),
  errorMessage: z.string().optional(),
});
const PiResult = z.object({ content: z.array(z.object({ text: z.string().optional() })) });
/** The lines of `pi --mode json` that describe progress; others are ignored. */
const PiLine = z.discriminatedUnion('type', [
  z.object({ type: z.literal('message_end'), message: Message }),
  z.object({
    type: z.literal('tool_execution_start'),
    toolCallId: z.string().optional(),
    toolName: z.string(),
    args: z.unknown(),
  }),
  z.object({
    type: z.literal('tool_execution_end'),
    toolCallId: z.string().optional(),
    isError: z.boolean(),
    result: PiResult.nullish().catch(null),
  }),
]);

/** Its exit code is 0 even if the model refuses, so the result is read from the last message. */
function toPiEvents(event: z.infer<typeof PiLine>): readonly CoderEvent[] {
  if (event.type === 'tool_execution_start') return [callEvent(event.toolName, event.args, event.toolCallId)];
  if (event.type === 'tool_execution_end') {
    const output = (event.result?.content ?? []).map((part) => part.text ?? '').join('\n');
    const exitCode = exitCodeIn(output.slice(-MAX_SHOWN), /Command exited with code (\d{1,10})\s*$/);
    return [resultEvent({ ok: !event.isError, output, call: event.toolCallId, exitCode })];
  }
  const { content, stopReason, errorMessage } = event.message;
  const said = content.map((part) => part.text ?? '').join(' ');
  switch (stopReason) {
    case 'stop':
      return [endEvent(true, said.trim() || 'done')];
    case 'error':
    case 'aborted':
      return [endEvent(false, errorMessage ?? stopReason)];
    default:
      return [saysEvent(said)];
  }
}
