import { type Alias, formatList, lowerFirst } from '../model/index.ts';
import { chosenOf, leftToPerson, type Picked, pickable } from '../ranking/index.ts';
import { type DistinguishingInput, distinguishingInput, strengthOf, testFaultOf } from './executed.ts';
import { counted, plusMinus, SEPARATOR_LABELS } from './format.ts';
import { MARKDOWN, type Markup, personFirst, personIn } from './markup.ts';
import { standings } from './ranking-table.ts';
import type { RunView } from './view.ts';

type StoredPick = NonNullable<RunView['picks']>[number];

/** The current pick; undefined if no person picked. */
export const lastPick = ({ picks = [] }: Pick<RunView, 'picks'>): StoredPick | undefined => picks.at(-1);

/** ``picked by `mona` ``, after a candidate's letter; empty if no person picked it. */
export function pickedBy(view: RunView, to: Markup = MARKDOWN): string {
  const pick = lastPick(view);
  return pick && pick.alias !== null ? `picked by ${personIn(pick.by, to)}` : '';
}

/** The chosen candidate and how sure that is, for a heading; empty without a decision. */
export function chosenText(view: RunView, to: Markup = MARKDOWN): string {
  const pick = lastPick(view);
  if (pick) {
    return pick.alias === null
      ? `${personFirst(pick.by, to)} rejected all candidates`
      : `${to.own(`**${pick.alias}** — picked by `)}${personIn(pick.by, to)}`;
  }
  const { decision } = view;
  if (!decision || decision.kind === 'none') return '';
  return decision.kind === 'winner'
    ? to.own(`**${decision.alias}** is the pick — ${decision.confidence}`)
    : to.own(`**${decision.alias}** is ranked first, but the evidence does not decide`);
}

/** Maximum code points of the reason of a decision without a candidate, and of a limit of the confidence. */
const MAX_BECAUSE = 600;
/** Maximum other candidates named with what is wrong with them. */
const MAX_FAULTS = 3;

/** What execution showed for the first candidate and against the others, and how sure that is. */
export function evidenceText(view: RunView, to: Markup = MARKDOWN): string {
  const { decision } = view;
  if (decision === undefined) return '';
  if (decision.kind === 'none') {
    const because = to.sentence(decision.because, MAX_BECAUSE);
    return lastPick(view) ? `The evidence ranks no candidate first. ${because}` : because;
  }
  const { alias } = decision;
  const chosen = chosenOf(view);
  const clause = evidenceClause(view, decision, to);
  if (!lastPick(view)) return `It ${clause}`;
  const whom = chosen === alias ? 'it first too' : `**${alias}** first`;
  const how = decision.kind === 'winner' ? decision.confidence : 'but does not decide';
  return `${to.own(`The evidence ranks ${whom} — ${how}:`)} it ${clause}`;
}

/** What execution showed for the first candidate, without its subject: `passes all 3 existing tests; B fails 1.` */
const evidenceClause = (view: RunView, { alias }: Picked, to: Markup): string =>
  `${strengthOf(view, alias)}${faultsOfOthers(view, alias, to)}.${doubtText(view, to)}`;

function faultsOfOthers(view: RunView, alias: Alias, to: Markup): string {
  const faults = standings(view).flatMap(({ candidate }) => {
    const fault = candidate.alias === alias ? null : testFaultOf(view, candidate.alias);
    return fault === null ? [] : [to.own(`**${candidate.alias}** ${fault}`)];
  });
  const more = faults.length - MAX_FAULTS;
  const named = faults.slice(0, MAX_FAULTS).join(', ');
  return faults.length === 0 ? '' : `; ${named}${more > 0 ? `, and ${more} more fail` : ''}`;
}

/** What decided without execution, and why a pick is not clear. */
function doubtText(view: RunView, to: Markup): string {
  const { decision } = view;
  if (!decision || decision.kind === 'none') return '';
  const { decidedBy } = decision;
  const verb = decision.kind === 'winner' ? 'Decided' : 'Ranked first';
  const by = NOT_SHOWN_BY_TESTS.has(decidedBy) ? ` ${verb} by ${SEPARATOR_LABELS[decidedBy]}.` : '';
  return `${by}${capText(view, to)}`;
}

function capText({ decision }: RunView, to: Markup): string {
  if (!decision || decision.kind === 'none') return '';
  const [lowest] = (decision.caps ?? []).toSorted((one, other) => one.most - other.most);
  const isSure = decision.kind === 'winner' && decision.confidence === 'clear';
  return lowest && !isSure
    ? ` Not clear, because ${to.sentence(lowerFirst(lowest.because), MAX_BECAUSE)}`
    : '';
}

/** What the counts of tests in a headline do not show. */
const NOT_SHOWN_BY_TESTS: ReadonlySet<string> = new Set([
  'behaviour',
  'agreement',
  'judges',
  'vote',
  'score',
  'metrics',
  'weights',
  'objections',
]);

/** Maximum code points of an input and of a result in a heading; what is longer goes into a list. */
const MAX_IN_HEADING = 60;
/** The same in a list. */
const MAX_IN_LIST = 200;

/**
 * What a person decides, as a heading and the blocks below it: between candidates, whose difference comes first, or
 * whether the only one in question is good enough.
 */
export function choiceText(
  view: RunView,
  to: Markup = MARKDOWN,
): { readonly title: string; readonly blocks: readonly string[] } {
  const { decision } = view;
  if (decision?.kind !== 'toss-up') return { title: 'Please choose', blocks: [] };
  const left = onlyCandidate(view);
  if (left !== null) return onlyCandidateText(view, left, to);
  if (leftToPerson(decision)) {
    return {
      title: 'Please choose: your settings leave the choice to you',
      blocks: [
        `${to.own(`The evidence favours **${decision.alias}**:`)} it ${evidenceClause(view, decision, to)}`,
      ],
    };
  }
  if (decision.among.length === 1) return onlyCandidateText(view, decision.alias, to);
  const distinguishing = distinguishingInput(view, decision.among);
  const names = decision.among.map((alias) => `**${alias}**`);
  if (distinguishing) return differenceText(distinguishing, view, decision, to);
  const [first = ''] = names;
  const faults = faultsOfOthers(view, decision.alias, to);
  const isFaultless = decision.among.every((alias) => testFaultOf(view, alias) === null);
  const isEqual = isFaultless && new Set(decision.among.map((alias) => strengthOf(view, alias))).size === 1;
  return {
    title: to.own(`Which do you want: ${names.join(' or ')}?`),
    blocks: [
      isEqual ? to.own(`Execution shows no difference between ${formatList(names)}.`) : '',
      `${to.own(first)} ${strengthOf(view, decision.alias)}${faults}.${doubtText(view, to)}`,
      sizesText(view, decision.among, to),
    ].filter((block) => block !== ''),
  };
}

/** The one candidate that can still be picked; null if there are several, or none. */
export function onlyCandidate(view: Pick<RunView, 'ranking' | 'candidates'>): Alias | null {
  const [first = null, ...others] = pickable(view);
  return others.length === 0 ? first : null;
}

/** Nothing comes close to this candidate, so that a person decides whether it is good enough. */
function onlyCandidateText(view: RunView, alias: Alias, to: Markup) {
  const name = to.own(`**${alias}**`);
  const isLocal = view.origin.kind === 'local';
  const title =
    onlyCandidate(view) === null
      ? `Is **${alias}** good enough ${isLocal ? 'for you' : 'for a pull request'}?`
      : `${view.candidates.length === 1 ? `**${alias}** is the only candidate` : `Only **${alias}** passed`}: ${isLocal ? 'do you want it?' : 'open a pull request for it?'}`;
  const why = leftToPerson(view.decision) ? [to.own('Your settings leave the decision to you.')] : [];
  const facts = `${name} ${strengthOf(view, alias)}${faultsOfOthers(view, alias, to)}.${capText(view, to)}`;
  return { title: to.own(title), blocks: [facts, ...why] };
}

function differenceText(distinguishing: DistinguishingInput, view: RunView, decision: Picked, to: Markup) {
  const byResult = new Map<string, Alias[]>();
  for (const { alias, result } of distinguishing.results)
    byResult.set(result, [...(byResult.get(result) ?? []), alias]);
  const groups = [...byResult];
  const isShort = [distinguishing.input, ...byResult.keys()].every((text) => text.length <= MAX_IN_HEADING);
  const who = (aliases: readonly Alias[]) =>
    to.own(
      `${formatList(aliases.map((alias) => `**${alias}**`))} ${aliases.length > 1 ? 'return' : 'returns'}`,
    );
  const what = groups.map(([result, aliases]) => `${who(aliases)} ${to.code(result, MAX_IN_LIST)}`);
  const input = to.code(distinguishing.input, MAX_IN_LIST);
  const facts = `${to.own(`**${decision.alias}**`)} ${evidenceClause(view, decision, to)}`;
  return isShort
    ? { title: `For ${input}, ${what.join(', ')}: which do you want?`, blocks: [facts] }
    : {
        title: to.own('These candidates behave differently: which do you want?'),
        blocks: [`For ${input}, ${what.join(', ')}.`, facts],
      };
}

function sizesText(view: RunView, among: readonly Alias[], to: Markup): string {
  const sizes = among.flatMap((alias) => {
    const patch = view.candidates.find((one) => one.alias === alias)?.patch;
    return patch
      ? [to.own(`**${alias}** changes ${plusMinus(patch)} in ${counted(patch.files, 'file')}`)]
      : [];
  });
  return sizes.length === 0 ? '' : `${sizes.join(', ')}.`;
}
