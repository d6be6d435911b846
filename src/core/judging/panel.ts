import type { Alias } from '../model/index.ts';
import type { Settings } from '../settings/index.ts';
import type { Author } from './types.ts';

/** Calls of one judgement at most, and judges of one pair. Our defaults. */
export const MAX_CALLS = 36;
const MAX_JUDGES = 3;
/** Each pair is shown in both orders. */
const ORDERS = 2;

export interface Pair {
  readonly a: Alias;
  readonly b: Alias;
}

/** Who is asked, and how. Judges are models; the same at most once for a pair. */
export interface JudgingPlan {
  readonly format: 'round-robin' | 'knockout';
  /** Judges of one pair at most. */
  readonly judges: number;
  /** In order of evidence; those that are judged at all. */
  readonly aliases: readonly Alias[];
  /** What had to be left out, a sentence each. */
  readonly notes: readonly string[];
}

interface JudgingPlanOptions {
  /** Calls at most; absent: our default. */
  readonly maxCalls?: number | undefined;
  /** A knockout also where all pairs would fit. */
  readonly knockout?: boolean | undefined;
}

/** As much as fits into the calls: every pair with as many judges as there are, down to two; else a knockout. */
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
  /** One of the two candidates is by its own family. */
  readonly isAuthorFamily: boolean;
}

/**
 * The judges of one pair, in the order in which models are listed: of families that wrote neither candidate, one model
 * for each family first. Where those are fewer than two families, the authors' families fill up: both alike, as far as
 * the limit allows it, so that the preference for one's own cuts both ways.
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
  // One for each family, then second models of a family: they err together more than others.
  const firsts = eligible.filter(
    (judge, i) => eligible.findIndex(({ family }) => family === judge.family) === i,
  );
  const seconds = eligible.filter((judge) => !firsts.includes(judge));
  return [...firsts, ...seconds].slice(0, most);
}

/** Every pair once; by alias, so that the order of the candidates plays no part. */
export function allPairs(aliases: readonly Alias[]): readonly Pair[] {
  const sorted = [...aliases].sort();
  return sorted.flatMap((a, i) => sorted.slice(i + 1).map((b) => ({ a, b })));
}

/** Models that may judge, and write tests: those of the settings' coders, then those whose keys are set. */
export const judgeModels = (
  settings: Pick<Settings, 'coders'>,
  defaults: readonly string[],
): readonly string[] => [
  ...new Set([...settings.coders.flatMap(({ model }) => (model ? [model] : [])), ...defaults]),
];

/** A model family and what in a name tells it: the maker of the weights, by any name its models go by. */
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
 * The maker of a model's weights, not who serves it: `openrouter/anthropic/claude-…` is `claude`. Where a name tells
 * several, the first: a distilled model is its distiller's. Models that nobody knows are one family for each provider,
 * rather too few families than too many.
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

/** One round: who meets whom, and who goes on without a match. In order of seed, best first. */
interface KnockoutRound {
  readonly matches: readonly Pair[];
  readonly byes: readonly Alias[];
}

/**
 * The round of those who are left, given in order of seed: the best meets the last, and where a round is not full the best
 * have byes, so that the number left becomes a power of two. Empty when one is left.
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

/** Those who go on, in order of seed. Without a winner the better seed does: evidence decided it. */
export function advancing(
  left: readonly Alias[],
  round: KnockoutRound,
  winnerOf: (match: Pair) => Alias | null,
): readonly Alias[] {
  const on = new Set([...round.byes, ...round.matches.map((match) => winnerOf(match) ?? match.a)]);
  return left.filter((alias) => on.has(alias));
}
