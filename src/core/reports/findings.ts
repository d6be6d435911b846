import {
  findingsOf,
  findingText,
  questionsOf,
  type TamperingFinding,
  unlockedOf,
} from '../evidence/index.ts';
import { type Alias, formatList } from '../model/index.ts';
import { chosenOf } from '../ranking/index.ts';
import { byText, counted, strongList } from './format.ts';
import { details, fencedDiff, fill, inertSentence } from './markdown.ts';
import type { RunView } from './view.ts';

/** Maximum findings named in one sentence; the rest is counted. */
const MAX_FINDINGS_NAMED = 3;
/** Maximum code points of one finding. */
const MAX_FINDING = 500;
/** Maximum UTF-16 units of the lines of one finding. */
const MAX_FINDING_LINES = 1_500;

/** The chosen candidate, or those that a person should look at: tied ones, and survivors that all break tests. */
function candidatesInQuestion(view: RunView): readonly Alias[] {
  const { decision, picks = [] } = view;
  if (picks.length === 0 && decision?.kind === 'toss-up') return decision.among;
  if (picks.length === 0 && decision?.kind === 'none')
    return view.evidence.flatMap(({ alias, survivor }) => (survivor ? [alias] : []));
  const chosen = chosenOf(view);
  return chosen === null ? [] : [chosen];
}

const ofCandidate = (view: RunView, alias: Alias) => view.evidence.find((one) => one.alias === alias);

/** A finding with what settles it or makes it urgent, as plain text. */
const sentenceOf = (finding: TamperingFinding): string =>
  `${findingText(finding)}${finding.settled ? ` (${finding.settled.replace(/\.$/, '')})` : ''}`;

/** What a person should look at in these candidates: plain text, not yet escaped for Markdown or a terminal. */
interface LookAtNote {
  readonly aliases: readonly Alias[];
  readonly text: string;
}

/** What a person should look at before they merge, each text once, however many candidates in question it is about. */
export const lookAtNotes = (
  view: RunView,
  aliases: readonly Alias[] = candidatesInQuestion(view),
): readonly LookAtNote[] =>
  byText(
    aliases.flatMap((alias) => {
      const evidence = ofCandidate(view, alias);
      const questions = evidence ? questionsOf(evidence).map(sentenceOf) : [];
      const superseded = evidence?.baseTests?.superseded ?? [];
      return [
        ...(questions.length > 0 ? [{ alias, text: `${firstOf(questions)}.` }] : []),
        ...(superseded.length > 0 ? [{ alias, text: supersededText(superseded) }] : []),
      ];
    }),
  );

const supersededText = (tests: readonly string[]): string =>
  `${tests.length === 1 ? '1 existing test fails that the brief says must change, and its new version passes' : `${tests.length} existing tests fail that the brief says must change, and their new versions pass`}: ${firstOf(tests)}.`;

/** `A and C: 1 test was removed.`, as plain text. */
export const lookAtText = ({ aliases, text }: LookAtNote): string => `${formatList(aliases)}: ${text}`;

function firstOf(texts: readonly string[]): string {
  const named = texts.slice(0, MAX_FINDINGS_NAMED).join('; ');
  const more = texts.length - MAX_FINDINGS_NAMED;
  return more > 0 ? `${named}; and ${more} more` : named;
}

/** Where assertion libraries could not be locked, one sentence each: plain text. */
export function lockNotes({ evidence }: Pick<RunView, 'evidence'>): readonly string[] {
  const survivors = evidence.filter(({ survivor }) => survivor);
  const unrecorded = survivors.filter((one) => ['unrecorded', 'differs'].includes(unlockedOf(one) ?? ''));
  return [
    ...(survivors.some((one) => unlockedOf(one) === 'base')
      ? [
          'Assertion libraries were not locked in the second environment, because more tests of the base commit fail with the lock. So only reading a patch shows whether it replaces an assertion.',
        ]
      : []),
    ...(unrecorded.length > 0
      ? [
          `Nothing shows that assertion libraries were locked when the tests ran again on ${formatList(unrecorded.map(({ alias }) => alias))}, unlike on the base commit. Please look for code that replaces assertions or removes files.`,
        ]
      : []),
  ];
}

const LINES_SUMMARY = 'The lines to look at';

/** The lines that these sentences are about, folded, for the comparison; empty if there are none. */
export function lookAtLines(view: RunView, maxLength: number): string {
  const places = candidatesInQuestion(view).flatMap((alias) => {
    const evidence = ofCandidate(view, alias);
    return (evidence ? questionsOf(evidence) : []).flatMap((finding) => {
      const { text, lines } = findingParts(finding, '');
      return lines === null ? [] : [{ alias, text: `${text}\n\n${lines.block}` }];
    });
  });
  const entries = byText(places).map(({ aliases, text }) => `${strongList(aliases)} ${text}`);
  const body = asManyPlaces(entries, maxLength - details(LINES_SUMMARY, '').length);
  return body === '' ? '' : details(LINES_SUMMARY, body);
}

const SEVERITY_TEXTS = {
  gate: '**fails the gate** ',
  question: '**to look at** ',
  note: '',
} as const;

/** All findings of one candidate, with their lines. */
export const findingsSection = (view: RunView, alias: Alias, maxLength: number): string => {
  const evidence = ofCandidate(view, alias);
  const entries = (evidence ? findingsOf(evidence) : []).map((one) =>
    findingEntry(one, SEVERITY_TEXTS[one.severity]),
  );
  return section('Changes of tests, and code that may detect them', entries, maxLength);
};

const section = (title: string, entries: readonly string[], maxLength: number): string =>
  entries.length === 0 ? '' : `#### ${title}\n\n${asManyPlaces(entries, maxLength)}`;

const asManyPlaces = (entries: readonly string[], maxLength: number): string =>
  fill(entries, maxLength, {
    separator: '\n\n',
    more: (left) => `(${counted(left, 'more place')}, omitted for length)`,
  });

const findingParts = (finding: TamperingFinding, before: string) => ({
  text: `${before}${inertSentence(sentenceOf(finding), MAX_FINDING)}`,
  lines: finding.hunk === undefined ? null : fencedDiff(finding.hunk, MAX_FINDING_LINES),
});

function findingEntry(finding: TamperingFinding, before: string): string {
  const { text, lines } = findingParts(finding, before);
  return lines === null ? text : `${text}\n\n${details('The lines in question', lines.block)}`;
}
