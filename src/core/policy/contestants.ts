import type { Settings } from './settings.ts';

/** The shape of a contestant in the model. */
export interface Entrant {
  readonly agent: string;
  readonly model: string;
  readonly prompt: string;
  readonly argv?: readonly [string, ...string[]];
  /** Which repetition of the same agent, model and prompt this is; absent: the first. */
  readonly seed?: number;
}

/** Stands where no model is named and no key is set: the gateway answers that the key is missing. */
const NO_MODEL = 'anthropic/default';
const PLAIN = 'plain';

/** What the operator's machine offers to fill the gaps of the settings. */
export interface Field {
  /** `provider/model` for coders that name none. */
  readonly models: readonly string[];
  readonly prompts: readonly string[];
  /** Whether an agent can speak to a model; false as well where either is unknown. */
  readonly fits: (agent: string, model: string) => boolean;
}

/**
 * As many contestants as `candidates`: the coders in turn. One without a model takes the next default model that it can
 * speak to; one without a prompt, or that comes round again, the next prompt variant that its agent and model have had
 * least often; what then still repeats differs by its seed.
 */
export function contestants(
  settings: Pick<Settings, 'coders' | 'candidates'>,
  { models, prompts, fits }: Field,
): readonly Entrant[] {
  const variants = prompts.length > 0 ? prompts : [PLAIN];
  const had = new Map<string, string[]>();
  const chosen: string[] = [];
  const entrants: Entrant[] = [];
  for (let i = 0; i < settings.candidates; i++) {
    const { agent, argv, ...coder } = settings.coders[
      i % settings.coders.length
    ] as Settings['coders'][number];
    const fitting = models.filter((model) => fits(agent, model));
    // Where none fits the first, so that the fault names a model that exists.
    const model = coder.model ?? leastTaken(fitting, chosen) ?? models[0] ?? NO_MODEL;
    if (!coder.model) chosen.push(model);
    const key = JSON.stringify([agent, argv ?? null, model]);
    const taken = had.get(key) ?? [];
    const prompt =
      (i < settings.coders.length ? coder.prompt : undefined) ?? (leastTaken(variants, taken) as string);
    had.set(key, [...taken, prompt]);
    const seed = taken.filter((one) => one === prompt).length;
    entrants.push({ agent, model, prompt, ...(argv ? { argv } : {}), ...(seed > 0 ? { seed } : {}) });
  }
  return entrants;
}

/** The first of those that were taken least often; undefined where there are none. */
function leastTaken(options: readonly string[], taken: readonly string[]): string | undefined {
  const times = (option: string) => taken.filter((one) => one === option).length;
  const fewest = Math.min(...options.map(times));
  return options.find((option) => times(option) === fewest);
}
