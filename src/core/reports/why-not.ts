import type { Alias } from '../model/index.ts';
import { chosenOf, failedGate, pickOf } from '../ranking/index.ts';
import { distinguishingInput, newTestsOf } from './executed.ts';
import { byText, counted, strongLikewise } from './format.ts';
import { code, details, fencedDiff, fill, inertSentence, prose } from './markdown.ts';
import {
  type FailingTests,
  type InputExample,
  passedOverText,
  type RankReason,
  reasonOf,
  reasonsOnce,
} from './rank-reasons.ts';
import { type CandidateStanding, standings } from './ranking-table.ts';
import type { RunView } from './view.ts';

/** Maximum code points of one fact, and facts of one candidate in a line. */
const MAX_FACT = 400;
const MAX_FACTS = 2;

/** One line for each candidate that was not chosen, with the strongest facts against it first. */
export function whyNotSection(view: RunView, maxLength: number, everyone = false): string {
  const facts = standings(view)
    .filter(({ chosen, candidate }) => !chosen && !(everyone && shownAbove(view).includes(candidate.alias)))
    .map((standing) => ({
      alias: standing.candidate.alias,
      text: factsAgainst(view, standing).join(' '),
    }));
  const lines = byText(facts).map(({ aliases, text }) => `- ${strongLikewise(aliases)}: ${text}`);
  if (lines.length === 0) return '';
  const title = chosenOf(view) === null ? 'Why no candidate won' : 'Why not the others';
  const list = fill(lines, maxLength - title.length - 10, {
    separator: '\n',
    more: (left) => `- (${left} more, omitted for length)`,
  });
  return `#### ${title}\n\n${list}`;
}

/** Where a person must choose, the headline says how those differ. */
const shownAbove = ({ decision }: RunView): readonly Alias[] =>
  decision?.kind === 'toss-up' ? decision.among : decision?.kind === 'winner' ? [decision.alias] : [];

/** An input with two results says more than a test's name, and that more than a count. */
function factsAgainst(view: RunView, standing: CandidateStanding): readonly string[] {
  const { candidate, evidence, chosen } = standing;
  const { alias } = candidate;
  const gate = evidence && failedGate(evidence);
  if (gate) return [inertSentence(firstFinding(gate.because), MAX_FACT)];
  const first = chosenOf(view) ?? pickOf(view.decision);
  const reason = reasonOf(view, standing);
  const facts = [
    ...(!chosen && alias === pickOf(view.decision) ? [passedOverText(view)] : []),
    brokenFact(reason),
    inputFact(view, alias, first, reason),
    newTestsFact(view, alias, reason),
  ].filter((fact) => fact !== '');
  return facts.length > 0 ? facts.slice(0, MAX_FACTS) : [inertSentence(reason.because, MAX_FACT)];
}

/** Up to a full stop that a space follows. What stands between backticks or quotes may contain the same signs. */
const FIRST_SENTENCE = /^(?:`[^`]*`|"[^"]*"|[^`"])*?[.?!](?= )/;

/** A gate lists all that it found; the rest is in the fold below. */
const firstFinding = (text: string): string => FIRST_SENTENCE.exec(text)?.[0] ?? text;

function brokenFact({ failing }: RankReason): string {
  const tests = failing.find(({ kind }) => kind === 'existing');
  if (!tests) return '';
  const count = tests.names.length + tests.more;
  return `It breaks ${counted(count, 'existing test')}: ${code(tests.names[0] ?? '', 140)}${count > 1 ? ` and ${count - 1} more` : ''}.`;
}

function inputFact(view: RunView, alias: Alias, first: Alias | null, { inputs }: RankReason): string {
  const confirmed = inputs.find(({ source }) => source === 'critic');
  if (confirmed) return `${sentenceOfInput(confirmed)}.`;
  const distinguishing = first === null || first === alias ? null : distinguishingInput(view, [alias, first]);
  const [own, other] = distinguishing?.results ?? [];
  if (distinguishing && own && other) {
    return `For ${code(distinguishing.input, MAX_VALUE)} it returns ${code(own.result, MAX_VALUE)}, **${first}** ${code(other.result, MAX_VALUE)}.`;
  }
  const [known] = inputs;
  return known ? `${sentenceOfInput(known)}.` : '';
}

function newTestsFact(view: RunView, alias: Alias, { failing }: RankReason): string {
  const { passed, ran } = newTestsOf(view, alias);
  const [named] = failing.filter(({ kind }) => kind !== 'existing').flatMap(({ names }) => names);
  if (passed === ran) return '';
  return `It fails ${ran - passed} of ${counted(ran, 'new test')}${named === undefined ? '' : `, such as ${code(named, 140)}`}.`;
}

/** Maximum UTF-16 units of the lines that failed a gate. */
const MAX_HUNK = 1_500;
/** The share of a candidate's space that other reasons leave to these lines, however long they are. Our default. */
const HUNK_SHARE = 1 / 3;
/** UTF-16 units of the fold around them and the note that they were shortened. */
const HUNK_FRAME_SIZE = 120;
/** Maximum code points of an input, and of its result. */
const MAX_VALUE = 160;

const REASONS_SUMMARY = 'More about each of them: failing tests, inputs, lines in question';

/** All that speaks against each candidate, folded; `everyone`: for the first one too. */
export function reasonsSection(view: RunView, maxLength: number, everyone = false): string {
  const all = reasonsOnce(view, everyone);
  if (all.length === 0) return '';
  const share = Math.floor((maxLength - details(REASONS_SUMMARY, '').length) / all.length) - 2;
  const entries = all.map((reason) => reasonText(reason, share)).filter((text) => text !== '');
  return details(REASONS_SUMMARY, entries.join('\n\n'));
}

/** The reasons of one candidate. */
export function reasonText(reason: RankReason, maxLength: number): string {
  const lines = [
    `**${reason.alias}**: ${inertSentence(reason.because)}`,
    ...reason.failing.map(failing),
    ...reason.inputs.map(inputLine),
  ];
  const text = fill(lines, maxLength - (reason.hunk === undefined ? 0 : Math.floor(maxLength * HUNK_SHARE)), {
    separator: '\n',
    more: (left) => `- (${counted(left, 'more line')}, omitted for length)`,
  });
  if (reason.hunk === undefined) return text;
  const hunk = fencedDiff(reason.hunk, Math.min(MAX_HUNK, maxLength - text.length - HUNK_FRAME_SIZE));
  if (hunk === null) return `${text}\n- (the lines in question, omitted for length)`;
  const block = details('The lines in question', `${hunk.block}${hunk.whole ? '' : '\n\n(shortened)'}`);
  return `${text}\n\n${block}`;
}

function failing(tests: FailingTests): string {
  const names = tests.names.map((name) => code(name, 140)).join(', ');
  return `- fails ${tests.of}: ${names}${tests.more > 0 ? ` and ${tests.more} more` : ''}`;
}

const inputLine = (example: InputExample): string => `- ${sentenceOfInput(example)}`;

/** One executed input with its result. A probe inside a test has no text of its own. */
const sentenceOfInput = ({ input, got, wanted, whose }: InputExample): string =>
  `For ${input.trim() === '' ? 'an input inside a test' : code(input, MAX_VALUE)} it returns ${prose(got, MAX_VALUE)}, ${whose} ${prose(wanted, MAX_VALUE)}`;
