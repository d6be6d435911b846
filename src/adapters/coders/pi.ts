import { z } from 'zod';
import type { ModelProtocol } from '../../core/settings/index.ts';
import type { Coder, CoderEvent, CoderInput } from '../../ports/index.ts';
import { installedAgent } from './catalogue.ts';
import { lineReader, shortLine, shownCall } from './progress.ts';

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
    read: lineReader(PiLine, toPiEvent),
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
/** The lines of `pi --mode json` that describe progress; others are ignored. */
const PiLine = z.discriminatedUnion('type', [
  z.object({ type: z.literal('message_end'), message: Message }),
  z.object({ type: z.literal('tool_execution_start'), toolName: z.string(), args: z.unknown() }),
]);

/** Its exit code is 0 even if the model refuses, so the result is read from the last message. */
function toPiEvent(event: z.infer<typeof PiLine>): CoderEvent | null {
  if (event.type === 'tool_execution_start')
    return { kind: 'step', text: shownCall(event.toolName, event.args) };
  const { content, stopReason, errorMessage } = event.message;
  const text = shortLine(content.map((part) => part.text ?? '').join(' '));
  switch (stopReason) {
    case 'stop':
      return { kind: 'end', ok: true, text: text || 'done' };
    case 'error':
    case 'aborted':
      return { kind: 'end', ok: false, text: shortLine(errorMessage ?? stopReason) };
    default:
      return text ? { kind: 'step', text } : null;
  }
}
