import type { Settings } from './settings.ts';

/** The shape of a contestant in the model. */
export interface Entrant {
  readonly agent: string;
  readonly model: string;
  readonly prompt: string;
}

/** Stands where no model is named and no key is set: the gateway answers that the key is missing. */
const NO_MODEL = 'anthropic/default';
const PLAIN = 'plain';

/**
 * As many contestants as `candidates`: the coders in turn. One without a model takes the next default model, one
 * without a prompt, or that comes round again, the next prompt variant that its agent and model have not had yet.
 */
export function contestants(
  settings: Pick<Settings, 'coders' | 'candidates'>,
  defaultModels: readonly string[],
  promptVariants: readonly string[],
): readonly Entrant[] {
  const variants = promptVariants.length > 0 ? promptVariants : [PLAIN];
  const had = new Map<string, string[]>();
  const entrants: Entrant[] = [];
  let unnamed = 0;
  for (let i = 0; i < settings.candidates; i++) {
    const coder = settings.coders[i % settings.coders.length] as Settings['coders'][number];
    const model = coder.model ?? defaultModels[unnamed++ % defaultModels.length] ?? NO_MODEL;
    const key = JSON.stringify([coder.agent, model]);
    const prompts = had.get(key) ?? [];
    const first = i < settings.coders.length ? coder.prompt : undefined;
    const prompt = first ?? nextVariant(variants, prompts);
    had.set(key, [...prompts, prompt]);
    entrants.push({ agent: coder.agent, model, prompt });
  }
  return entrants;
}

/** The first variant that was taken least often. */
function nextVariant(variants: readonly string[], taken: readonly string[]): string {
  const times = (variant: string) => taken.filter((one) => one === variant).length;
  const fewest = Math.min(...variants.map(times));
  return variants.find((variant) => times(variant) === fewest) as string;
}
