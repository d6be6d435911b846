import {
  type Author,
  blindPatch,
  type ExecutionFacts,
  type Identities,
  type ShownCandidate,
  type TestFact,
} from '../judging/index.ts';
import { type PatchFile, readDiff, roleOf } from '../patches/index.ts';
import { timesDecided, voterKey } from './ballots.ts';
import { NO_AGENT } from './contest.ts';
import { pairKey, type SamplePair } from './pairs.ts';
import type { Sample, TestCounts } from './records.ts';
import type { Standing } from './standing.ts';
import type { ResolvedTask } from './versions.ts';
import { pairsInTurn } from './voting.ts';

/** The names of a contestant, which judges must not see. */
export const contestantAuthor = ({
  agent,
  model,
  prompt,
}: Pick<Author, 'agent' | 'model' | 'prompt'>): Author => ({
  agent: agent === NO_AGENT ? '' : agent,
  model,
  prompt,
});

/** The task as judges read it. Untrusted text. */
export function judgedTask(task: ResolvedTask): string {
  if (task.kind === 'repo') return task.statement;
  const reference =
    task.reference === undefined ? [] : ['', 'A good answer, for comparison:', task.reference];
  return [`Each candidate answers this in the file ${ANSWER_FILE}:`, '', task.prompt, ...reference].join(
    '\n',
  );
}

const ANSWER_FILE = 'answer.txt';

/** An answer without names and words that address judges. A text is shown as a new file with its lines. */
export function judgedAnswer(
  { form, answer, verification }: Sample,
  identities: Identities,
  { showResults }: { readonly showResults: boolean },
): ShownCandidate {
  const text = answer ?? '';
  const files = form === 'diff' ? diffFiles(text) : [textFile(text)];
  const counts = showResults && verification ? verification : { tests: null, hiddenTests: null };
  const facts: ExecutionFacts = {
    ...(counts.tests ? { base: factOf(counts.tests) } : {}),
    ...(counts.hiddenTests ? { independent: factOf(counts.hiddenTests) } : {}),
    inputs: [],
    differences: [],
  };
  return { patch: blindPatch(files, identities), facts };
}

/** Names of failed tests are left out: a contestant may have written them. */
const factOf = ({ passed, failed }: TestCounts): TestFact => ({
  passed,
  total: passed + failed,
  failing: [],
});

const diffFiles = (diff: string): readonly PatchFile[] =>
  readDiff(diff).map(({ path, created, deleted, binary, hunks }) => ({
    ...shownFile(path, hunks),
    change: created ? 'added' : deleted ? 'deleted' : 'modified',
    binary,
    role: roleOf(path),
  }));

function textFile(text: string): PatchFile {
  const lines = text.replace(/\n$/, '').split('\n');
  const shown = lines.map((line, i) => ({ kind: 'added', text: line, line: i + 1, base: 1 }) as const);
  const counts = { oldStart: 0, oldCount: 0, newStart: 1, newCount: lines.length };
  return shownFile(ANSWER_FILE, [{ ...counts, heading: '', lines: shown }]);
}

function shownFile(path: string, hunks: PatchFile['hunks']): PatchFile {
  const lines = hunks.flatMap((hunk) => hunk.lines);
  const count = (kind: 'added' | 'removed') => lines.filter((line) => line.kind === kind).length;
  return {
    path,
    change: 'added',
    oldMode: '000000',
    newMode: '100644',
    role: 'production',
    additions: count('added'),
    deletions: count('removed'),
    binary: false,
    hunks,
    section: '',
  };
}

/** The pairs that judges are asked about: first those that people decided, because agreement can be measured there. */
export function pairsForJudges(
  { pairs, people }: Pick<Standing, 'pairs' | 'people'>,
  seed: number,
  most: number,
): readonly SamplePair[] {
  const byPeople = timesDecided(people);
  const first = pairs.filter(({ key, alike }) => !alike && byPeople.has(key)).slice(0, most);
  const rest = pairs.filter(({ key }) => !byPeople.has(key));
  return [
    ...first,
    ...pairsInTurn({ people: [] }, rest, { seed, limit: most - first.length, before: first }),
  ];
}

/** Whether a judge was asked about a pair with this sample on the left. */
export function judgedOrders(
  votes: Standing['votes'],
): (model: string, left: string, right: string) => boolean {
  const asked = new Set(
    votes.map(({ by, left, right }) => JSON.stringify([voterKey(by), left, pairKey(left, right)])),
  );
  return (model, left, right) =>
    asked.has(JSON.stringify([voterKey({ kind: 'judge', model }), left, pairKey(left, right)]));
}
