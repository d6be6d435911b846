import { asFault, Fault } from '../core/model/index.ts';
import { AUTO, contestants, type Entrant, type Settings, suggest } from '../core/settings/index.ts';
import type { Coder, ModelRoute } from '../ports/index.ts';
import type { World } from './context.ts';

/** The contestants under these settings on this machine. */
export function contestantsOf(
  world: Pick<World, 'coders' | 'defaults' | 'gateway' | 'prompts'>,
  settings: Settings,
): readonly Entrant[] {
  return contestants(settings, {
    models: world.defaults.models,
    prompts: [...world.prompts.coder.keys()],
    fits: (agent, model) => speaksProtocol(world, settings, agent, model),
  });
}

/** Whether contestants are still to be chosen from earlier runs. */
export const leavesFieldOpen = ({ coders }: Pick<Settings, 'coders'>): boolean =>
  coders.some(({ agent }) => agent === AUTO);

/** The contestant that would have been added if one more had been requested at the start. */
export function oneMoreContestant(
  world: Pick<World, 'coders' | 'defaults' | 'gateway' | 'prompts'>,
  settings: Settings,
): Entrant {
  const wider = { ...settings, candidates: settings.candidates + 1 };
  return contestantsOf(world, wider).at(-1) as Entrant;
}

/** Whether this contestant's spending is known in dollars. */
export function hasPrice(
  world: Pick<World, 'coders' | 'gateway'>,
  { agent, model }: Pick<Entrant, 'agent' | 'model'>,
): boolean {
  return isRouted(() => world.gateway.route(model, { protocols: coderOf(world, agent).protocols }));
}

/** Whether a model is available under these settings, by any protocol. */
export function isUsableModel(
  { gateway }: Pick<World, 'gateway'>,
  { budget }: Settings,
  model: string,
): boolean {
  const { tokens } = budget;
  return isRouted(() => gateway.route(model, tokens === undefined ? {} : { capTokens: tokens }));
}

function isRouted(route: () => unknown): boolean {
  try {
    route();
    return true;
  } catch (thrown) {
    if (asFault(thrown).code === 'INTERNAL') throw thrown;
    return false;
  }
}

/** Whether this agent can use this model here, under these settings. */
export function speaksProtocol(
  world: Pick<World, 'coders' | 'gateway'>,
  settings: Settings,
  agent: string,
  model: string,
): boolean {
  const coder = world.coders.get(agent);
  return coder !== undefined && isRouted(() => routeOf(world, coder, model, settings));
}

/** The route by which this coder calls this model. Faults as `Gateway.route`. */
export function routeOf(
  world: Pick<World, 'gateway'>,
  coder: Coder,
  model: string,
  { budget }: Settings,
): ModelRoute {
  return world.gateway.route(model, {
    protocols: coder.protocols,
    ...(budget.tokens === undefined ? {} : { capTokens: budget.tokens }),
  });
}

export function coderOf(world: Pick<World, 'coders'>, agent: string): Coder {
  const coder = world.coders.get(agent);
  if (coder) return coder;
  const known = [...world.coders.keys()].join(', ');
  const meant = suggest(agent, [...world.coders.keys(), AUTO]);
  const hint = meant ? ` Did you mean ${meant}?` : '';
  throw new Fault(
    'AGENT_UNKNOWN',
    `There is no coder named ${JSON.stringify(agent)}; known: ${known}.${hint}`,
  );
}

/**
 * Faults if an agent is unknown, not installed or incompatible with its model, a key is missing, or a price is unknown.
 */
export async function requireCoders(
  world: Pick<World, 'coders' | 'defaults' | 'gateway' | 'prompts'>,
  settings: Settings,
): Promise<void> {
  // First, so that a mistyped name is not hidden behind a missing key.
  requireNames(world, settings);
  if (world.defaults.models.length === 0 && settings.coders.some(({ model }) => model === undefined)) {
    throw new Fault(
      'MODEL_KEY_MISSING',
      'The coders name no model, and no provider with a default model has a key. Name a model, or set a key.',
    );
  }
  for (const { agent, model, argv } of contestantsOf(world, settings)) {
    const coder = coderOf(world, agent);
    if (coder.wantsArgv !== (argv !== undefined)) {
      const what = coder.wantsArgv
        ? `\`agent: ${agent}\` needs \`argv\`, the program to run.`
        : `\`argv\` is set for \`agent: ${agent}\`, which is not a custom program; use it with \`agent: command\` or \`agent: acp\`.`;
      throw new Fault('SETTINGS_INVALID', what);
    }
    if ((await coder.version()) === null)
      throw new Fault(
        'AGENT_MISSING',
        `The coder ${agent} is not installed on this machine, or the folder of a custom program (AGENT_COMMANDS) is missing.`,
      );
    requireRoute(world, coder, model, settings);
  }
}

/** Faults if a configured critic has no persona text. */
export function requirePersonas({ prompts }: Pick<World, 'prompts'>, names: readonly string[]): void {
  const unknown = firstUnknown(names, [...prompts.personas.keys()]);
  if (unknown === null) return;
  const { name, known } = unknown;
  throw new Fault('SETTINGS_INVALID', `There is no persona ${name} for a critic; known: ${known}`);
}

/** Faults if there is no text for a prompt variant: its coder would find out after others are paid. */
function requireVariants({ prompts }: Pick<World, 'prompts'>, names: readonly string[]): void {
  const unknown = firstUnknown(names, [...prompts.coder.keys()]);
  if (unknown === null) return;
  const { name, known } = unknown;
  throw new Fault('SETTINGS_INVALID', `There is no prompt variant ${name}; known: ${known}`);
}

/** Quoted, and the known ones with a full stop and which of them was meant. */
function firstUnknown(names: readonly string[], among: readonly string[]) {
  const unknown = names.find((name) => !among.includes(name));
  if (unknown === undefined) return null;
  const meant = suggest(unknown, among);
  const name = JSON.stringify(unknown.slice(0, 60));
  return { name, known: `${among.join(', ')}.${meant ? ` Did you mean ${meant}?` : ''}` };
}

/** Faults if an agent, prompt variant or provider of a model is not there, whatever keys are set. */
export function requireNames(
  world: Pick<World, 'coders' | 'gateway' | 'prompts'>,
  { coders, prompts = [] }: Pick<Settings, 'coders'> & { readonly prompts?: readonly string[] },
): void {
  for (const { agent } of coders) if (agent !== AUTO) coderOf(world, agent);
  requireVariants(world, [...prompts, ...coders.flatMap(({ prompt }) => prompt ?? [])]);
  for (const { model } of coders) if (model !== undefined) requireModelName(world, model);
}

/** A missing key or price is no typing error. */
function requireModelName({ gateway }: Pick<World, 'gateway'>, model: string): void {
  try {
    gateway.route(model);
  } catch (thrown) {
    if (asFault(thrown).code === 'MODEL_UNKNOWN') throw thrown;
  }
}

/** If an agent cannot speak to its model, the fault suggests a fix, with more detail if the model was a default. */
function requireRoute(world: Pick<World, 'gateway'>, coder: Coder, model: string, settings: Settings): void {
  try {
    routeOf(world, coder, model, settings);
  } catch (thrown) {
    const fault = asFault(thrown);
    if (fault.code !== 'MODEL_MISMATCH') throw thrown;
    const named = settings.coders.some((one) => one.agent === coder.name && one.model === model);
    const hint = named
      ? ''
      : ` No model is named for it and no default model fits: name one, or set the key of a provider that speaks ${coder.protocols.join(' or ')}.`;
    throw new Fault('MODEL_MISMATCH', `The coder ${coder.name}: ${fault.message}${hint}`);
  }
}
