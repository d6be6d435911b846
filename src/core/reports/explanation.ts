import type { Evidence, PeerTests } from '../evidence/index.ts';
import type { Alias } from '../model/index.ts';
import { blindNote } from './blind.ts';
import { checkCommands } from './commands.ts';
import { fittingBlocks, whereToRead } from './diff-pages.ts';
import { findingsSection } from './findings.ts';
import { counted, elapsed, escapedMoney, money, plusMinus, tokens } from './format.ts';
import { code, fill, inertSentence, prose, report } from './markdown.ts';
import { reasonOf } from './rank-reasons.ts';
import { baseTestsText, type CandidateStanding, rankRows, standings } from './ranking-table.ts';
import { judgesOn, reviewSection } from './sections.ts';
import type { Diffs, Report, RunView } from './view.ts';
import { reasonText } from './why-not.ts';

/** Maximum UTF-16 units: below GitHub's limit, and long enough for readers. */
const MAX_BODY = 58_000;
/** Maximum UTF-16 units of each part. */
const MAX_SECTION = {
  head: 4_000,
  against: 12_000,
  gates: 8_000,
  findings: 10_000,
  tests: 12_000,
  judges: 10_000,
  review: 10_000,
} as const;
/** Maximum code points of one gate's reason. */
const MAX_REASON = 400;

/** All details of one candidate: the reply to `/auto-dev explain B` in the comment with this id. */
export function explanation(view: RunView, diffs: Diffs, alias: Alias, comment: number): Report {
  const standing = standings(view).find(({ candidate }) => candidate.alias === alias);
  const blocks = standing ? candidateSections(view, diffs, standing) : [unknownCandidateText(view, alias)];
  return report('reply', `c${comment}`, fittingBlocks(blocks, MAX_BODY));
}

function unknownCandidateText(view: RunView, alias: Alias): string {
  const all = view.candidates.map((one) => one.alias).toSorted();
  const who = all.length === 0 ? 'The run has no candidates yet.' : `Its candidates are ${all.join(', ')}.`;
  return `Run ${code(view.id)} has no candidate ${code(alias, 20)}. ${who}`;
}

function candidateSections(view: RunView, diffs: Diffs, standing: CandidateStanding): readonly string[] {
  const { candidate, evidence } = standing;
  const { alias } = candidate;
  const diff = diffs[alias];
  const judgeLines = judgesOn(view, alias);
  const review = (view.review ?? []).filter((one) => one.alias === alias);
  return [
    head(view, standing),
    contestant(view, standing),
    `#### What decided its place\n\n${reasonText(reasonOf(view, standing), MAX_SECTION.against)}`,
    gates(evidence),
    findingsSection(view, alias, MAX_SECTION.findings),
    tests(view, evidence),
    scores(view, standing),
    limits(view, alias),
    judgeLines.length === 0
      ? ''
      : titled(
          'Model opinions',
          ['Blind judges said this; none of it was executed.\n', ...judgeLines],
          MAX_SECTION.judges,
        ),
    review.length === 0 ? '' : reviewSection({ ...view, review }, MAX_SECTION.review),
    diff ? whereToRead(view, alias, diff) : candidate.patch ? '' : 'It produced no patch.',
  ];
}

function head(view: RunView, { candidate, ranked }: CandidateStanding): string {
  const row = rankRows(view).find(({ alias }) => alias === candidate.alias);
  const where = ranked?.survivor ? `, place ${ranked.place} of ${view.ranking.length}` : '';
  return `### Candidate ${candidate.alias}: ${row?.result ?? candidate.state}${where}\n\nRun ${code(view.id)}, ${counted(view.candidates.length, 'candidate')}.`;
}

function contestant(view: RunView, { candidate }: CandidateStanding): string {
  const { contestant: who, usage, ms, patch, note, coderVersion } = candidate;
  const version = coderVersion ? ` (${code(coderVersion, 60)})` : '';
  const most = view.budget.candidate === undefined ? '' : ` of ${escapedMoney(view.budget.candidate)}`;
  const lines = [
    ...(who && usage
      ? [
          `- Written by agent ${code(who.agent, 60)}${version} with model ${code(who.model, 80)}, prompt ${code(who.prompt, 60)}`,
          `- Cost: ${money(usage.usd)}${most} in ${counted(usage.calls, 'call')} and ${tokens(usage.tokensIn + usage.tokensOut)} tokens, ${elapsed(ms)}`,
        ]
      : [`- ${blindNote(view)}`, `- Time: ${elapsed(ms)}`]),
    ...(patch ? [`- Patch: ${plusMinus(patch)} in ${counted(patch.files, 'file')}`] : []),
    ...(note.trim() === '' ? [] : [`- ${inertSentence(note, MAX_REASON)}`]),
  ];
  return filled(lines, MAX_SECTION.head);
}

function gates(evidence: Evidence | undefined): string {
  if (!evidence) return '';
  const lines = evidence.gates.map(
    ({ gate, passed, because }) =>
      `- \`${gate}\` ${passed ? 'passed' : '**failed**'}: ${inertSentence(because, MAX_REASON)}`,
  );
  return titled('Gates', lines, MAX_SECTION.gates);
}

/** Tests executed on it: base tests with exit code and base commit, each suite of new tests, behaviour. */
function tests(view: RunView, evidence: Evidence | undefined): string {
  if (!evidence) return '';
  const { baseTests, independentTests, peerTests, behaviour, alike = [] } = evidence;
  const on = view.base ? ` on base commit ${code(view.base.sha)}` : '';
  const same = alike.filter((one) => one !== evidence.alias);
  const superseded = baseTests?.superseded ?? [];
  const lines = [
    ...(view.checks ? [`- Commands: ${checkCommands(view.checks)}`] : []),
    baseTests
      ? `- Existing tests: ${baseTestsText(evidence)}, ${baseTests.regressions.length} broken, ${baseTests.fixed.length} fixed, exit code ${baseTests.exitCode ?? 'none'}${on}, ${elapsed(baseTests.ms)}`
      : '- Existing tests: not run',
    ...(superseded.length > 0
      ? [
          `- Broken as the brief says, and no regression: ${superseded
            .slice(0, 5)
            .map((id) => code(id, 140))
            .join(', ')}`,
        ]
      : []),
    ...(independentTests
      ? [`- Independent tests: ${independentTests.passed} of ${independentTests.total} pass`]
      : []),
    ...(independentTests?.failing ?? []).flatMap(({ id, title, message }) =>
      message ? [`- ${code(title ?? id, 140)} says: ${prose(message, MAX_REASON)}`] : [],
    ),
    ...peerTests.map(peerLine),
    `- Its own new tests: ${evidence.addedTests}${evidence.provenTests === undefined ? '' : `, of which ${evidence.provenTests} fail without its change`}`,
    ...(same.length > 0 ? [`- Same change as ${same.join(', ')}, apart from comments and layout`] : []),
    ...(behaviour
      ? [
          `- Behaviour: candidates return different results on ${behaviour.contested} of ${counted(behaviour.observed, 'input')} from tests and issue${behaviour.contested > 0 ? `; there it returns what the others return ${Math.round(behaviour.agreement * 100)}% of the time` : ''}`,
        ]
      : []),
  ];
  return titled('What was executed', lines, MAX_SECTION.tests);
}

/** The score of each strategy, including those that did not decide; they compare candidates that passed every gate. */
function scores(view: RunView, { candidate, evidence, ranked }: CandidateStanding): string {
  if (!ranked?.survivor) return '';
  const { signals, support, metrics, votes, weighted } = ranked;
  const judged = view.judgement?.standings.find((one) => one.alias === candidate.alias);
  const share = (value: number | null) => (value === null ? 'none' : value.toFixed(2));
  const form = evidence?.staticScore;
  const lines = [
    `- Evidence: ${support.toFixed(2)} (tests ${share(signals.tests)}, behaviour ${share(signals.behaviour)}, agreement ${share(signals.agreement)}), ${counted(ranked.fixed, 'existing test')} fixed`,
    `- Metrics: ${metrics.total.toFixed(1)} (tests ${share(metrics.tests)}, simplicity ${share(metrics.simplicity)}, speed ${share(metrics.speed)})`,
    ...(form
      ? [`- Patch score: ${form.score} (100; ${inertSentence(form.because.join(' '), MAX_REASON)})`]
      : []),
    `- Votes: ${counted(votes, 'model family', 'model families')}`,
    ...(judged ? [`- Blind judges: strength ${judged.strength.toFixed(2)}`] : []),
    ...(weighted === undefined ? [] : [`- Weighted mean of these scores: ${weighted.toFixed(2)}`]),
  ];
  return titled('Scores', lines, MAX_SECTION.head);
}

/** What limits the estimated chance of the pick. */
function limits({ decision }: RunView, alias: Alias): string {
  if (!decision || decision.kind === 'none' || decision.alias !== alias || !decision.caps) return '';
  const lines = decision.caps.map(
    ({ most, because }) => `- At most ${most}: ${inertSentence(because, MAX_REASON)}`,
  );
  return titled('What limits the confidence', lines, MAX_SECTION.head);
}

function peerLine({ author, passed, total, guards }: PeerTests): string {
  const stays = guards ? `; ${guards.passed} of ${guards.total} that also pass on the base` : '';
  return `- Tests of ${author}: ${passed} of ${total} pass${stays}`;
}

const titled = (title: string, lines: readonly string[], maxLength: number): string =>
  `#### ${title}\n\n${filled(lines, maxLength)}`;

const filled = (lines: readonly string[], maxLength: number): string =>
  fill(lines, maxLength, {
    separator: '\n',
    more: (left) => `- (${counted(left, 'more line')}, omitted for length)`,
  });
