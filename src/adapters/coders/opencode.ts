import { z } from 'zod';
import type { CoderEvent } from '../../core/model/index.ts';
import type { ModelProtocol } from '../../core/settings/index.ts';
import type { Coder, CoderInput } from '../../ports/index.ts';
import { installedAgent } from './catalogue.ts';
import { callEvent, endEvent, resultEvent, saysEvent } from './events.ts';
import { lineReader } from './progress.ts';

/** AI SDK packages that opencode includes. */
const PROVIDER = {
  'openai-chat': '@ai-sdk/openai-compatible',
  anthropic: '@ai-sdk/anthropic',
  'openai-responses': '@ai-sdk/openai',
} as const satisfies Partial<Record<ModelProtocol, string>>;

/** opencode by Anomaly, headless. Flags: `opencode run --help` of 1.18.33; settings: its config schema. */
export function opencodeCoder(agentsFolder: string): Coder {
  const { start, binds, version } = installedAgent(agentsFolder, 'opencode');
  return {
    name: 'opencode',
    protocols: Object.keys(PROVIDER) as (keyof typeof PROVIDER)[],
    wantsArgv: false,
    experimental: false,
    launch: (input) => ({
      argv: [...start, ...OPENCODE_FLAGS],
      env: { ...OPENCODE_ENVIRONMENT, OPENCODE_CONFIG_CONTENT: config(input) },
      stdin: input.prompt,
      binds,
    }),
    read: lineReader(OpencodeLine, toOpencodeEvents),
    version,
    trial: () => ({ argv: [...start, '--version'], env: OPENCODE_ENVIRONMENT, binds }),
  };
}

const OPENCODE_FLAGS = [
  'run',
  '--format=json',
  // The sandbox is the boundary; no one is available to answer.
  '--auto',
  // Without plugins, which it would fetch.
  '--pure',
  // Without one, a model is asked for it.
  '--title=candidate',
  '--model=gateway/model',
] as const;

/**
 * Disables settings and instructions from the repository, and downloads. Plugins in the base commit's
 * `.opencode/plugin` are still loaded by 1.18.33, which no option prevents: like the repository's tests, they run in
 * the sandbox.
 */
const OPENCODE_ENVIRONMENT = {
  OPENCODE_DISABLE_PROJECT_CONFIG: '1',
  OPENCODE_DISABLE_CLAUDE_CODE: '1',
  OPENCODE_DISABLE_EXTERNAL_SKILLS: '1',
  OPENCODE_DISABLE_AUTOUPDATE: '1',
  OPENCODE_DISABLE_MODELS_FETCH: '1',
  OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
  OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
  OPENCODE_DISABLE_SHARE: '1',
} as const;

function config({ protocol, model, gateway }: CoderInput): string {
  const text = JSON.stringify({
    autoupdate: false,
    share: 'disabled',
    snapshot: false,
    permission: 'allow',
    model: 'gateway/model',
    small_model: 'gateway/model',
    enabled_providers: ['gateway'],
    provider: {
      gateway: {
        name: 'gateway',
        npm: PROVIDER[protocol as keyof typeof PROVIDER],
        env: ['GW_KEY'],
        options: { baseURL: `${gateway.url}/v1` },
        models: { model: { id: model, name: model, limit: LIMIT, tool_call: true } },
      },
    },
  });
  // It expands `{env:…}` and `{file:…}` before it parses the JSON.
  return text.replaceAll('{env:', '\\u007benv:').replaceAll('{file:', '\\u007bfile:');
}

/** Token limits for models without known limits: it compacts the conversation accordingly. Our default. */
const LIMIT = { context: 200_000, output: 32_000 } as const;

const ToolPart = z.object({
  tool: z.string(),
  callID: z.string().optional(),
  state: z.object({
    status: z.string().catch('completed'),
    input: z.unknown(),
    output: z.string().nullish().catch(null),
    error: z.string().nullish().catch(null),
    metadata: z
      .object({ exit: z.number().nullish().catch(null) })
      .nullish()
      .catch(null),
  }),
});
const Failure = z.object({ name: z.string(), data: z.object({ message: z.string() }).optional() });
/** The lines of `opencode run --format=json` that describe progress; others are ignored. */
const OpencodeLine = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), part: z.object({ text: z.string() }) }),
  z.object({ type: z.literal('tool_use'), part: ToolPart }),
  z.object({ type: z.literal('step_finish'), part: z.object({ reason: z.literal('stop') }) }),
  z.object({ type: z.literal('error'), error: Failure }),
]);

function toOpencodeEvents(event: z.infer<typeof OpencodeLine>): readonly CoderEvent[] {
  switch (event.type) {
    case 'text':
      return [saysEvent(event.part.text)];
    case 'tool_use':
      return calledAndEnded(event.part);
    case 'step_finish':
      return [endEvent(true, 'done')];
    case 'error':
      return [endEvent(false, event.error.data?.message ?? event.error.name)];
  }
}

/** A call is printed once, when it has ended. */
function calledAndEnded({ tool, callID: call, state }: z.infer<typeof ToolPart>): readonly CoderEvent[] {
  const exitCode = state.metadata?.exit ?? null;
  const ok = state.status === 'completed' && (exitCode ?? 0) === 0;
  const output = state.output || state.error || '';
  return [callEvent(tool, state.input, call), resultEvent({ ok, output, call, exitCode })];
}
