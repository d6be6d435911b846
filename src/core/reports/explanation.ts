import type { Evidence, PeerTests } from '../evidence/index.ts';
import type { Alias } from '../model/index.ts';
import { whereToRead } from './diffs-section.ts';
import { commands } from './evidence-section.ts';
import { counted, dollars, elapsed, money, plusMinus, tokens } from './format.ts';
import { judgesOn } from './judges-section.ts';
import { fill } from './layout.ts';
import { report } from './marker.ts';
import { reasonLines } from './reasons.ts';
import { reviewSection } from './review-section.ts';
import { baseTestsWord, rankRows, reasonOf, type Standing, standings } from './rows.ts';
import { code, prose, sentence } from './safe.ts';
import type { Diffs, Report, RunView } from './view.ts';

/** UTF-16 units: below what GitHub takes, and below what anybody reads. */
const ROOM = 58_000;
/** UTF-16 units of what each part may take. */
const PART = {
  head: 4_000,
  against: 12_000,
  gates: 8_000,
  tests: 12_000,
  judges: 10_000,
  review: 10_000,
} as const;
/** Code points of one gate's reason. */
const BECAUSE = 400;

/** Everything about one candidate, as the answer to `/auto-dev explain B` in the comment of this id. */
export function explanation(view: RunView, diffs: Diffs, alias: Alias, comment: number): Report {
  const standing = standings(view).find(({ candidate }) => candidate.alias === alias);
  const blocks = standing ? about(view, diffs, standing) : [nobodyThere(view, alias)];
  let left = ROOM;
  const fitting = blocks.filter((block) => {
    if (block.length + 2 > left) return false;
    left -= block.length + 2;
    return true;
  });
  return report('reply', `c${comment}`, fitting);
}

function nobodyThere(view: RunView, alias: Alias): string {
  const all = view.candidates.map((one) => one.alias).toSorted();
  const who = all.length === 0 ? 'It has no candidate yet.' : `It has ${all.join(', ')}.`;
  return `There is no candidate ${code(alias, 20)} in the run ${code(view.id)}. ${who} Name one of them.`;
}

function about(view: RunView, diffs: Diffs, standing: Standing): readonly string[] {
  const { candidate, evidence } = standing;
  const { alias } = candidate;
  const diff = diffs[alias];
  const said = judgesOn(view, alias);
  const review = (view.review ?? []).filter((one) => one.alias === alias);
  return [
    head(view, standing),
    contestant(view, standing),
    `#### What decided on it\n\n${reasonLines(reasonOf(view, standing), PART.against)}`,
    gates(evidence),
    tests(view, evidence),
    said.length === 0
      ? ''
      : titled(
          'What models said of it',
          ['Blind judges; none of this was executed.\n', ...said],
          PART.judges,
        ),
    review.length === 0 ? '' : reviewSection({ ...view, review }, PART.review),
    diff ? whereToRead(view, alias, diff) : candidate.patch ? '' : 'It left no patch.',
  ];
}

function head(view: RunView, { candidate }: Standing): string {
  const row = rankRows(view).find(({ alias }) => alias === candidate.alias);
  const place = view.ranking.find(({ alias }) => alias === candidate.alias)?.place;
  const where = place === undefined ? '' : `, place ${place} of ${view.ranking.length}`;
  return `### Candidate ${candidate.alias}: ${row?.verdict ?? candidate.state}${where}\n\nOf the run ${code(view.id)}, of ${counted(view.candidates.length, 'candidate')}.`;
}

function contestant(view: RunView, { candidate }: Standing): string {
  const { contestant: who, usage, ms, patch, note, coderVersion } = candidate;
  const version = coderVersion ? ` (${code(coderVersion, 60)})` : '';
  const most = view.budget.candidate === undefined ? '' : ` of ${dollars(view.budget.candidate)}`;
  const lines = [
    `- Written by agent ${code(who.agent, 60)}${version} with model ${code(who.model, 80)}, prompt ${code(who.prompt, 60)}`,
    `- Cost: ${money(usage.usd)}${most} in ${counted(usage.calls, 'call')} and ${tokens(usage.tokensIn + usage.tokensOut)} tokens, ${elapsed(ms)}`,
    ...(patch ? [`- Patch: ${plusMinus(patch)} in ${counted(patch.files, 'file')}`] : []),
    ...(note.trim() === '' ? [] : [`- ${sentence(note, BECAUSE)}`]),
  ];
  return filled(lines, PART.head);
}

function gates(evidence: Evidence | undefined): string {
  if (!evidence) return '';
  const lines = evidence.gates.map(
    ({ gate, passed, because }) =>
      `- \`${gate}\` ${passed ? 'passed' : '**failed**'}: ${sentence(because, BECAUSE)}`,
  );
  return titled('Gates', lines, PART.gates);
}

/** What was executed on it: base tests with exit code and base commit, new tests one suite after another, behaviour. */
function tests(view: RunView, evidence: Evidence | undefined): string {
  if (!evidence) return '';
  const { baseTests, neutralTests, peerTests, behaviour, alike = [] } = evidence;
  const on = view.base ? ` on base commit ${code(view.base.sha)}` : '';
  const same = alike.filter((one) => one !== evidence.alias);
  const lines = [
    ...(view.checks ? [`- Commands: ${commands(view.checks)}`] : []),
    baseTests
      ? `- Base tests: ${baseTestsWord(evidence)}, ${baseTests.regressions.length} broken, ${baseTests.fixed.length} fixed, exit code ${baseTests.exitCode ?? 'none'}${on}, ${elapsed(baseTests.ms)}`
      : '- Base tests: were not run',
    ...(neutralTests ? [`- Neutral tests: ${neutralTests.passed} of ${neutralTests.total} pass`] : []),
    ...(neutralTests?.failing ?? []).flatMap(({ id, said }) =>
      said ? [`- ${code(id, 140)} says: ${prose(said, BECAUSE)}`] : [],
    ),
    ...peerTests.map(peerLine),
    `- Its own new tests: ${evidence.addedTests}${evidence.provenTests === undefined ? '' : `, of which ${evidence.provenTests} fail without its change`}`,
    ...(same.length > 0 ? [`- The same change as ${same.join(', ')} but for comments and layout`] : []),
    ...(behaviour
      ? [
          `- Behaviour: ${Math.round(behaviour.agreement * 100)} % alike on the ${behaviour.contested} of ${counted(behaviour.observed, 'input')} on which not all agree`,
        ]
      : []),
  ];
  return titled('What was executed', lines, PART.tests);
}

function peerLine({ author, passed, total, guards }: PeerTests): string {
  const stays = guards ? `; ${guards.passed} of ${guards.total} that pass on the base` : '';
  return `- Tests of ${author}: ${passed} of ${total} pass${stays}`;
}

const titled = (title: string, lines: readonly string[], room: number): string =>
  `#### ${title}\n\n${filled(lines, room)}`;

const filled = (lines: readonly string[], room: number): string =>
  fill(lines, room, {
    separator: '\n',
    more: (left) => `- (${counted(left, 'more line')}, left out for length)`,
  });
