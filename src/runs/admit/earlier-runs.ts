import { forecast } from '../../core/brief/index.ts';
import {
  agentName,
  type CandidateOutcome,
  chooseField,
  confidenceShift,
  type FieldChoice,
  fieldReasons,
  type Option,
  type SequenceChoice,
  sequenceOf,
  sequenceReason,
  stageTimes,
  workKindOf,
} from '../../core/learning/index.ts';
import {
  Fault,
  type GitHubOrigin,
  type Origin,
  type RunId,
  type StageTimes,
  type Task,
} from '../../core/model/index.ts';
import { AUTO, type Entrant, type Settings } from '../../core/settings/index.ts';
import { contestantsOf, speaksProtocol } from '../contestants.ts';
import { repositoryKeyOf, type World } from '../context.ts';

type EarlierRunsPorts = Pick<World, 'coders' | 'defaults' | 'gateway' | 'prompts' | 'store'>;

/** Runs of a repository that are read; the weight of older ones would be below 1 in 10,000. */
const MAX_EARLIER_RUNS = 500;

/** What earlier runs of a repository change in this one. Frozen with its task, so that a restart does not ask again. */
interface EarlierRuns {
  /** Names the contestants in place of `auto`. */
  chooseField(settings: Settings): Promise<Settings>;
  /** Of settings with a sequential field: names the contestants, and draws the order in which they start. */
  orderField(settings: Settings): Settings;
  /** Of the task; `learned` is absent if nothing changes. */
  learned(): Pick<Task, 'learned'>;
}

export async function readEarlierRuns(
  world: EarlierRunsPorts,
  { id: runId, origin, title }: { readonly id: RunId; readonly origin: Origin; readonly title: string },
): Promise<EarlierRuns> {
  const outcomes = await world.store.outcomes({
    repositories: [repositoryKeyOf(origin)],
    runs: MAX_EARLIER_RUNS,
  });
  const times = origin.kind === 'github' ? await earlierTimes(world, origin) : null;
  // In a local run a person's pick is heard and agreement is not: its verdicts would all be objections.
  const confidence = origin.kind === 'github' ? confidenceShift(outcomes) : null;
  let choice: FieldChoice | null = null;
  let sequenced: SequenceChoice | null = null;
  return {
    async chooseField(settings) {
      const chosen = await fieldFor(world, settings, { runId, title, outcomes });
      choice = chosen.choice;
      return chosen.settings;
    },
    orderField(settings) {
      if (settings.adaptive.field !== 'sequential') return settings;
      const ordered = orderedField(world, settings, { runId, title, outcomes });
      sequenced = ordered.sequenced;
      return ordered.settings;
    },
    learned() {
      const field = [
        ...(choice ? fieldReasons(choice) : []),
        ...(sequenced ? [sequenceReason(sequenced)] : []),
      ];
      if (field.length === 0 && !confidence && !times) return {};
      return {
        learned: {
          ...(field.length > 0 ? { field } : {}),
          ...(confidence ? { confidence } : {}),
          ...(sequenced ? { sequence: sequenced.sequence } : {}),
          ...(times ? { times } : {}),
        },
      };
    },
  };
}

/** Runs whose times are read. Our default: a repository's tests and its machine change. */
const MAX_TIMED_RUNS = 10;

/** Runs that waited for people are left out: how long these take says nothing. */
async function earlierTimes(
  { store }: Pick<World, 'store'>,
  { repositoryId, work }: GitHubOrigin,
): Promise<StageTimes | null> {
  const found = await store.stagesOf({
    repositoryId,
    ...(work === undefined ? {} : { work }),
    states: ['published', 'awaiting_pick', 'merged', 'closed'],
    limit: MAX_TIMED_RUNS,
  });
  return stageTimes(found);
}

interface FieldFacts {
  readonly runId: RunId;
  readonly title: string;
  readonly outcomes: readonly CandidateOutcome[];
}

/** The part of a run's budget that is not for its coders; as in the forecast of a brief. */
const OVERHEAD_SHARE = 0.15;

async function fieldFor(
  world: EarlierRunsPorts,
  settings: Settings,
  { runId, title, outcomes }: FieldFacts,
): Promise<{ readonly settings: Settings; readonly choice: FieldChoice }> {
  if (settings.coders.some(({ agent, ...more }) => agent === AUTO && Object.keys(more).length > 0)) {
    throw new Fault(
      'SETTINGS_INVALID',
      'The coder `auto` takes no model, prompt or argv: it chooses among the models that the operator allows. Leave them out (also `--models`), or name the agent.',
    );
  }
  const named = settings.coders.filter(({ agent }) => agent !== AUTO).slice(0, settings.candidates);
  const byName =
    named.length === 0 ? [] : contestantsOf(world, { ...settings, coders: named, candidates: named.length });
  const choice = chooseField({
    options: await optionsOf(world, settings),
    outcomes,
    kind: workKindOf([title], null),
    count: settings.candidates - named.length,
    named: byName,
    budget: { field: settings.budget.run / (1 + OVERHEAD_SHARE), candidate: settings.budget.candidate },
    runId,
  });
  const chosen = choice.chosen.map(({ option: { agent, model, prompt } }) => ({ agent, model, prompt }));
  const coders = [...named, ...chosen];
  if (coders.length === 0) throw nobodyToChoose(world);
  return { settings: { ...settings, coders, candidates: coders.length }, choice };
}

/**
 * The contestants by name, so that their order stays valid whatever the defaults of the machine become; coders beyond
 * `candidates` stay behind them. They stay in the order of the settings, whose first one's model also plans.
 */
function orderedField(
  world: EarlierRunsPorts,
  settings: Settings,
  { runId, title, outcomes }: FieldFacts,
): { readonly settings: Settings; readonly sequenced: SequenceChoice } {
  const field = contestantsOf(world, settings);
  const sequenced = sequenceOf({
    contestants: field.map((one) => ({
      agent: agentName(one),
      model: one.model,
      prompt: one.prompt,
      forecastUsd: forecastOf(world, settings, one.model),
    })),
    outcomes,
    kind: workKindOf([title], null),
    candidateUsd: settings.budget.candidate,
    runId,
    isBlind: settings.blind,
  });
  const coders = field.map(({ seed: _, argv, ...coder }: Entrant) => {
    return { ...coder, ...(argv ? { argv: [...argv] as [string, ...string[]] } : {}) };
  });
  return {
    settings: { ...settings, coders: [...coders, ...settings.coders.slice(coders.length)] },
    sequenced,
  };
}

function nobodyToChoose({ defaults }: Pick<World, 'defaults'>): Fault {
  return defaults.models.length === 0
    ? new Fault(
        'MODEL_KEY_MISSING',
        '`coders: auto` chooses among the models of MULTI_AGENT_MODELS, or the default models of the providers whose keys are set, and there is none. Name models, or set a key.',
      )
    : new Fault(
        'AGENT_MISSING',
        '`coders: auto` found no installed agent that can use one of the models that the operator allows. Install one, or name the coders.',
      );
}

/** Each installed agent that needs no program, with each allowed model that it can use, and each prompt. */
async function optionsOf(world: EarlierRunsPorts, settings: Settings): Promise<readonly Option[]> {
  const options: Option[] = [];
  for (const [agent, coder] of world.coders) {
    if (coder.wantsArgv || (await coder.version()) === null) continue;
    for (const model of world.defaults.models) {
      if (!speaksProtocol(world, settings, agent, model)) continue;
      const forecastUsd = forecastOf(world, settings, model);
      for (const prompt of world.prompts.coder.keys()) options.push({ agent, model, prompt, forecastUsd });
    }
  }
  return options;
}

/** What one coder with this model probably costs, US dollars: the middle of the forecast for a medium task. */
function forecastOf(
  { gateway }: Pick<World, 'gateway'>,
  settings: Settings,
  model: string,
): Option['forecastUsd'] {
  const cost = forecast({ size: 'medium' }, settings, [(tokens) => gateway.estimate(model, tokens)]);
  return cost && (cost.least + cost.most) / 2;
}
