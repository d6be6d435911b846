// What tests that a model writes from the issue are worth, by how good they are. No model is asked: a scripted one answers
// the writer's real prompt with tests that rules make of the assertions which the fix adds (selection/fix-tests.ts), right
// ones and wrong ones. They are executed and admitted by `runoff select --writers` as any other. The table then has the
// decision that follows if the writer submits only some of them. So it shows what the engine does with tests of a given
// quality, not how good tests of models are.
//
//   node bench/written-tests.ts [FOLDER]
//
// FOLDER has requests.jsonl as `runoff select` reads them, labels.jsonl as bench/nested.ts does, and fix-tests.jsonl:
// {"id": "7", "files": {"test/words.js": "the test file as the fix leaves it"}}. Answers are kept there in
// answers.jsonl, so that a bench that was ended goes on. Without FOLDER: small repositories of our own, of whose issues
// the writer and the engine see only the title.
import { execFileSync, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import {
  type Evidence,
  joinTests,
  NO_INDEPENDENT_TESTS,
  withoutWritten,
} from '../src/core/evidence/index.ts';
import { type IndependentTestReport, MAX_WRITTEN_TESTS } from '../src/core/independent-tests/index.ts';
import { familyOf } from '../src/core/judging/index.ts';
import {
  decide,
  rank,
  rankingOptionsOf,
  type SelectRequest,
  statementOf,
} from '../src/core/ranking/index.ts';
import type { DecisionRecord } from '../src/core/reports/index.ts';
import { Settings } from '../src/core/settings/index.ts';
import { startScriptedModels } from '../src/demo/scripted-models/index.ts';
import { type RuleMadeTest, testsOfFix } from './selection/fix-tests.ts';
import { ranges } from './selection/ranges.ts';
import { requestOf } from './selection/task.ts';

interface Pool {
  readonly request: SelectRequest;
  readonly right: Readonly<Record<string, boolean>>;
  readonly fixTests: Readonly<Record<string, string>>;
}

interface Answer {
  readonly id: string | number;
  readonly error?: string;
  readonly explanation?: DecisionRecord & {
    readonly ids: Readonly<Record<string, string>>;
    readonly independentTests?: IndependentTestReport;
  };
}

function linesIn<T>(folder: string, name: string): readonly T[] {
  const lines = readFileSync(join(folder, name), 'utf8').split('\n');
  return lines.filter((line) => line.trim() !== '').map((line) => JSON.parse(line) as T);
}

function poolsIn(folder: string): readonly Pool[] {
  type Id = string | number;
  const labels = linesIn<{ id: Id; right: Pool['right'] }>(folder, 'labels.jsonl');
  const fixes = linesIn<{ id: Id; files: Pool['fixTests'] }>(folder, 'fix-tests.jsonl');
  return linesIn<SelectRequest>(folder, 'requests.jsonl').flatMap((request) => {
    const right = labels.find(({ id }) => id === request.id)?.right;
    const fixTests = fixes.find(({ id }) => id === request.id)?.files;
    return right && fixTests ? [{ request, right, fixTests }] : [];
  });
}

/** A small repository of our own. */
function ownPool(root: string): Pool {
  const [title = ''] = ranges.issue.split('\n');
  return {
    request: requestOf(join(root, randomUUID()), { ...ranges, issue: title }),
    right: Object.fromEntries(ranges.candidates.map(({ name, right }) => [name, right])),
    fixTests: ranges.fixTests ?? {},
  };
}

const MODEL = 'scripted-writer';
const WRITER = familyOf(`openai/${MODEL}`);

/** The tests of all kinds, with their kind as the beginning of their title. */
function submitted({ request, fixTests }: Pool) {
  const tests = Object.entries(fixTests).flatMap(([path, fixed]) =>
    testsOfFix(baseFile(request.repoDir ?? '', path), fixed),
  );
  const quote = (statementOf(request).split('\n', 1)[0] ?? '').replace(/^#+\s*/, '');
  return tests.slice(0, MAX_WRITTEN_TESTS).map(({ kind, now, file }, at) => ({
    title: `${kind} (${at + 1})`,
    quote,
    why: '',
    now,
    file,
  }));
}

function baseFile(repoDir: string, path: string): string {
  try {
    return execFileSync('git', ['show', `HEAD:${path}`], {
      cwd: repoDir,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  } catch {
    return '';
  }
}

/** Has `runoff select` decide one pool as a user would, with the scripted model as the writer. */
async function answerTo(pool: Pool): Promise<Answer> {
  const models = await startScriptedModels({
    scripts: {
      [MODEL]: {
        turns: [],
        answers: [
          {
            holds: 'You write tests for a software task before anybody has solved it',
            structured: { tests: submitted(pool), note: '' },
          },
          {
            holds: 'You write one more test',
            structured: { test: null, note: 'The rules make no such test.' },
          },
        ],
      },
    },
  });
  try {
    const main = join(import.meta.dirname, '../src/main.ts');
    const env = {
      ...process.env,
      MULTI_AGENT_MODELS: `openai/${MODEL}`,
      OPENAI_API_KEY: 'scripted',
      OPENAI_BASE_URL: `${models.url}/v1`,
      MODEL_PRICES: JSON.stringify({ [`openai/${MODEL}`]: { input: 1, output: 1 } }),
    };
    const child = spawn(
      process.execPath,
      [main, 'select', '--explain', '--always-pick', '--writers', '--jobs', '1'],
      {
        stdio: ['pipe', 'pipe', 'inherit'],
        env,
      },
    );
    child.stdin.end(`${JSON.stringify(pool.request)}\n`);
    return JSON.parse(await text(child.stdout)) as Answer;
  } finally {
    await models.close();
  }
}

type Vote = IndependentTestReport['tests'][number];
const kindOf = ({ title }: Vote): string => title.replace(/ \(\d+\)$/, '');

/** The votes of a writer's tests, of one quality. `assumed`: a test that only this wrong candidate would pass. */
type Quality = (votes: readonly Vote[], assumed: Vote | null) => readonly Vote[];

const RIGHT: RuleMadeTest['kind'] = 'right';
const only = (kind: RuleMadeTest['kind']) => (votes: readonly Vote[]) =>
  votes.filter((vote) => kindOf(vote) === kind);
/** Right ones that show something, and tests in which the issue is misread. */
const mixed =
  (right: number, wrong: number): Quality =>
  (votes, assumed) => {
    const shown = only(RIGHT)(votes).filter(({ status }) => status === 'admitted');
    const copies = Array.from({ length: wrong }, (_, i) =>
      assumed ? [{ ...assumed, id: `${assumed.id}-${i}` }] : [],
    );
    return [...shown.slice(0, right), ...copies.flat()];
  };

const QUALITIES: Readonly<Record<string, Quality>> = {
  'no tests': () => [],
  'one right test': mixed(1, 0),
  'all right tests': only(RIGHT),
  'wrong: another value is expected': only('other value'),
  'wrong: the base is taken to be right': only('base is right'),
  'wrong: read as a wrong candidate reads it': mixed(0, 1),
  'wrong: two tests, read as a wrong candidate reads it': mixed(0, 2),
  'three right, one read as a wrong candidate': mixed(3, 1),
  'one right, one read as a wrong candidate': mixed(1, 1),
  'all of these together': (votes, assumed) => [...votes, ...(assumed ? [assumed] : [])],
};

/**
 * The worst misreading: a test that fails on the base and passes on the best-ranked wrong candidate that breaks nothing,
 * and on those with the same change, and on nobody else. Its result is assumed, not executed. Null if there is none.
 */
function misreadAs(wrong: (alias: string) => boolean, { ranking, evidence }: DecisionRecord): Vote | null {
  const first = ranking.find(
    ({ alias, survivor, regressions }) => survivor && regressions === 0 && wrong(alias),
  );
  const alike = evidence.find(({ alias }) => alias === first?.alias)?.alike;
  if (!first) return null;
  const passedBy = alike ?? [first.alias];
  return {
    id: 'assumed',
    origin: 'writer',
    title: 'assumed',
    status: 'admitted',
    because: '',
    passedBy,
    failedBy: evidence.flatMap(({ alias, survivor }) =>
      survivor && !passedBy.includes(alias) ? [alias] : [],
    ),
  };
}

/** The evidence as it would be if the writer had submitted only the tests with these votes. */
function evidenceWith(votes: readonly Vote[], evidence: readonly Evidence[]) {
  const admitted = votes.filter(({ status }) => status === 'admitted');
  return evidence.map(({ independentTests = NO_INDEPENDENT_TESTS, ...one }): Evidence => {
    const passes = admitted.filter(({ passedBy }) => passedBy.includes(one.alias));
    const failing = admitted.filter(({ failedBy }) => failedBy.includes(one.alias));
    const guards = passes.filter((vote) => kindOf(vote) === 'base is right').length;
    const counts = { passed: passes.length, total: passes.length + failing.length };
    const tests = joinTests(withoutWritten(independentTests), {
      ...counts,
      failing: failing.map(({ id, origin, title }) => ({ id, origin, title, family: WRITER })),
      guards,
      written: { ...counts, guards, families: passes.length > guards ? [WRITER] : [] },
    });
    return tests.total > 0 ? { ...one, independentTests: tests } : one;
  });
}

interface Outcome {
  readonly word: 'clear' | 'likely' | 'toss-up' | 'none';
  readonly right: boolean;
}

function outcomeOf(pool: Pool, { explanation }: Answer, quality: Quality): Outcome | null {
  if (!explanation) return null;
  const { ids, evidence, independentTests } = explanation;
  const isRight = (alias = '') => pool.right[ids[alias] ?? ''] === true;
  const all = independentTests?.tests.filter(({ origin }) => origin === 'writer') ?? [];
  const votes = quality(
    all,
    misreadAs((alias) => !isRight(alias), explanation),
  );
  const replayed = evidenceWith(votes, evidence);
  const ranking = rank(replayed, rankingOptionsOf(Settings.parse({})));
  const decision = decide(ranking, replayed);
  const word = decision.kind === 'winner' ? decision.confidence : decision.kind;
  return { word, right: isRight(ranking[0]?.alias) };
}

function row(name: string, outcomes: readonly Outcome[]): string {
  const count = (word: string, right?: boolean) =>
    outcomes.filter((one) => one.word === word && (right === undefined || one.right === right)).length;
  const decided = count('clear') + count('likely');
  const first = outcomes.filter(({ right }) => right).length;
  return `| ${name} | ${count('clear')} | ${count('likely')} | ${count('clear', true) + count('likely', true)} of ${decided} | ${first} of ${outcomes.length} | ${count('clear', false)} | ${count('likely', false)} |`;
}

const [folder] = process.argv.slice(2);
const root = mkdtempSync(join(tmpdir(), 'runoff-written-tests-'));
try {
  const pools = folder ? poolsIn(folder) : [ownPool(root)];
  const kept =
    folder && existsSync(join(folder, 'answers.jsonl')) ? linesIn<Answer>(folder, 'answers.jsonl') : [];
  const answers = [...kept];
  for (const pool of pools) {
    if (answers.some(({ id }) => id === pool.request.id)) continue;
    const answer = await answerTo(pool);
    answers.push(answer);
    if (folder) appendFileSync(join(folder, 'answers.jsonl'), `${JSON.stringify(answer)}\n`);
    const seen = answer.explanation?.independentTests;
    const admitted = (seen?.tests ?? [])
      .filter(({ status }) => status === 'admitted')
      .map(({ title }) => title);
    console.log(
      `${pool.request.id}: ${answer.error ?? (seen ? `admitted: ${admitted.join(', ') || 'none'}` : 'nobody was asked')}`,
    );
  }
  console.log(
    '\n| tests of the writer | clear | likely | right of decided | first right | wrong and clear | wrong and likely |',
  );
  console.log('|---|--:|--:|--:|--:|--:|--:|');
  for (const [name, quality] of Object.entries(QUALITIES)) {
    const outcomes = pools.flatMap((pool) => {
      const answer = answers.find(({ id }) => id === pool.request.id);
      return (answer && outcomeOf(pool, answer, quality)) ?? [];
    });
    console.log(row(name, outcomes));
  }
} finally {
  rmSync(root, { recursive: true, force: true });
}
