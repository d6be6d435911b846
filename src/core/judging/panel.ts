import type { Alias } from '../model/index.ts';
import type { Settings } from '../settings/index.ts';
import type { Author } from './types.ts';

/** Maximum calls of one judgement, and maximum judges of one pair. Defaults. */
export const MAX_CALLS = 36;
const MAX_JUDGES = 3;
/** Each pair is shown in both orders, to detect position bias. */
const ORDERS = 2;

export interface Pair {
  readonly a: Alias;
  readonly b: Alias;
}

/** Which pairs are judged, and how. Judges are models; each model judges a pair at most once. */
export interface JudgingPlan {
  readonly format: 'round-robin' | 'knockout';
  /** Maximum judges of one pair. */
  readonly judges: number;
  /** The candidates that are judged, in order of evidence. */
  readonly aliases: readonly Alias[];
  /** What was left out, one sentence each. */
  readonly notes: readonly string[];
}

interface JudgingPlanOptions {
  /** Maximum calls; default: `MAX_CALLS`. */
  readonly maxCalls?: number | undefined;
  /** Forces a knockout even when all pairs would fit. */
  readonly knockout?: boolean | undefined;
}

/**
 * Plans as much as the call limit allows: every pair with as many judges as possible, at least two; otherwise a
 * knockout.
 */
export function judgingPlanOf(
  seeds: readonly Alias[],
  models: number,
  options: JudgingPlanOptions = {},
): JudgingPlan {
  const { maxCalls = MAX_CALLS, knockout = false } = options;
  const wanted = Math.min(MAX_JUDGES, models);
  const fits = (pairs: number, judges: number) => pairs * ORDERS * judges <= maxCalls;
  const least = Math.min(2, wanted);
  const pairs = (seeds.length * (seeds.length - 1)) / 2;
  for (let judges = wanted; !knockout && judges >= least && judges > 0; judges--) {
    if (fits(pairs, judges)) {
      return {
        format: 'round-robin',
        judges,
        aliases: seeds,
        notes: fewerJudgesNote(judges, wanted, maxCalls),
      };
    }
  }
  const judges = [3, 2, 1].find((n) => n <= wanted && fits(seeds.length - 1, n)) ?? 1;
  const aliases = seeds.slice(0, Math.max(2, Math.floor(maxCalls / (ORDERS * judges)) + 1));
  const left = seeds.length - aliases.length;
  return {
    format: 'knockout',
    judges,
    aliases,
    notes: [
      ...(knockout
        ? []
        : [`All ${pairs} pairs would take more than ${maxCalls} calls, so they met in a knockout.`]),
      ...fewerJudgesNote(judges, wanted, maxCalls),
      ...(left > 0
        ? [`The ${left} with the least evidence were not judged: ${maxCalls} calls are the most.`]
        : []),
    ],
  };
}

const fewerJudgesNote = (judges: number, wanted: number, most: number): readonly string[] =>
  judges < wanted
    ? [
        `${judges === 1 ? '1 judge sees' : `${judges} judges see`} each pair, not ${wanted}: ${most} calls are the most.`,
      ]
    : [];

interface PanelJudge {
  /** `provider/model`. */
  readonly model: string;
  readonly family: string;
  /** True when this family wrote one of the two candidates. */
  readonly isAuthorFamily: boolean;
}

/**
 * Selects the judges of a pair, in the order of the model list. Families that wrote neither candidate come first, one
 * model each. If there are fewer than two such families, models of the authors' families are added, equally for both
 * authors as far as the limit allows, so that self-preference cancels out.
 */
export function judgesForPair(
  authors: readonly (Author | null)[],
  models: readonly string[],
  most: number,
): readonly PanelJudge[] {
  const own = new Set(authors.flatMap((author) => (author ? [familyOf(author.model)] : [])));
  const judges = [...new Set(models)].map((model) => {
    const family = familyOf(model);
    return { model, family, isAuthorFamily: own.has(family) };
  });
  const outsiders = judges.filter((judge) => !judge.isAuthorFamily);
  const families = (of: readonly PanelJudge[]) => new Set(of.map(({ family }) => family)).size;
  const eligible =
    families(outsiders) >= 2 ? outsiders : [...outsiders, ...judges.filter((judge) => judge.isAuthorFamily)];
  // One model of each family, then second models: models of one family make correlated errors.
  const firsts = eligible.filter(
    (judge, i) => eligible.findIndex(({ family }) => family === judge.family) === i,
  );
  const seconds = eligible.filter((judge) => !firsts.includes(judge));
  return [...firsts, ...seconds].slice(0, most);
}

/** Every pair once, sorted by alias, so that the order of the candidates has no influence. */
export function allPairs(aliases: readonly Alias[]): readonly Pair[] {
  const sorted = [...aliases].sort();
  return sorted.flatMap((a, i) => sorted.slice(i + 1).map((b) => ({ a, b })));
}

/** Models that may judge and write tests: those of the configured coders first, then those whose API keys are set. */
export const judgeModels = (
  settings: Pick<Settings, 'coders'>,
  defaults: readonly string[],
): readonly string[] => [
  ...new Set([...settings.coders.flatMap(({ model }) => (model ? [model] : [])), ...defaults]),
];

/** Model families and the name patterns that identify them. A family is the maker of the weights. */
const FAMILIES: readonly (readonly [family: string, pattern: RegExp])[] = [
  ['claude', /claude|anthropic/],
  ['gpt', /gpt|openai|codex|davinci|(?:^|[/_.-])o[1-9](?=$|[-_.:])/],
  ['gemini', /gemini|gemma|palm-|google/],
  ['deepseek', /deepseek/],
  ['qwen', /qwen|qwq|tongyi/],
  ['llama', /llama(?!-?index)/],
  ['mistral', /mistral|mixtral|codestral|devstral|magistral|ministral|pixtral/],
  ['grok', /grok|x-ai|(?:^|[/_.-])xai(?=$|[/_.-])/],
  ['kimi', /kimi|moonshot/],
  ['glm', /glm|zhipu|z-ai/],
  ['minimax', /minimax|abab/],
  ['command', /command-[ar]|cohere/],
  ['nova', /nova-(?:micro|lite|pro|premier)/],
  ['phi', /(?:^|[/_.-])phi-?\d/],
  ['granite', /granite/],
  ['nemotron', /nemotron/],
];

/**
 * The maker of a model's weights, not the provider that serves it: `openrouter/anthropic/claude-…` is `claude`. If a
 * name matches several families, the first counts: a distilled model belongs to its distiller. Unknown models form
 * one family per provider, because too few families is the safer error.
 */
export function familyOf(model: string): string {
  const name = model.toLowerCase();
  const slash = name.indexOf('/');
  const provider = slash < 0 ? name : name.slice(0, slash);
  return (
    firstFamilyIn(slash < 0 ? name : name.slice(slash + 1)) ??
    firstFamilyIn(provider) ??
    (provider || 'unknown')
  );
}

function firstFamilyIn(name: string): string | null {
  let best: { readonly family: string; readonly at: number } | null = null;
  for (const [family, pattern] of FAMILIES) {
    const at = name.search(pattern);
    if (at >= 0 && (!best || at < best.at)) best = { family, at };
  }
  return best?.family ?? null;
}

/** One round: its matches, and the candidates with a bye. In order of seed, best first. */
interface KnockoutRound {
  readonly matches: readonly Pair[];
  readonly byes: readonly Alias[];
}

/**
 * Pairs the remaining candidates, given in order of seed: the best plays the last. In an uneven round the best get
 * byes, so that the next round has a power of two. Empty when one candidate is left.
 */
export function knockoutRound(left: readonly Alias[]): KnockoutRound {
  const size = 2 ** Math.ceil(Math.log2(Math.max(1, left.length)));
  const byes = left.slice(0, size - left.length);
  const playing = left.slice(byes.length);
  return {
    byes,
    matches: playing
      .slice(0, playing.length / 2)
      .map((a, i) => ({ a, b: playing[playing.length - 1 - i] as Alias })),
  };
}

/**
 * The candidates that advance, in order of seed. Without a winner the better seed advances, because evidence decides
 * the seeds.
 */
export function advancing(
  left: readonly Alias[],
  round: KnockoutRound,
  winnerOf: (match: Pair) => Alias | null,
): readonly Alias[] {
  const on = new Set([...round.byes, ...round.matches.map((match) => winnerOf(match) ?? match.a)]);
  return left.filter((alias) => on.has(alias));
}
