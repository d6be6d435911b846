import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { quantile } from '../numbers.ts';
import { isRight, readList } from './candidates.ts';

/** What became of one repository: one line of the file of results. */
export interface Result {
  readonly name: string;
  /** The day on which it was measured, as `2026-11-27`. */
  readonly measuredOn: string;
  readonly language: string;
  /** Whether set-up and build worked, and tests of the base passed with a report. */
  readonly prepared: boolean;
  readonly passed: number;
  readonly failed: number;
  readonly source: string;
  /** Milliseconds of the set-up, the first time and the second. */
  readonly setupMs: readonly (number | null)[];
  readonly decision: string | null;
  /** Candidates by their program's name: the winner alone, or those among which a person chooses, best first. */
  readonly among: readonly string[];
  /** All candidates, the first of the ranking first. */
  readonly ranking: readonly string[];
  readonly runMs: number | null;
  /** The reason of the decision, or the last lines of a run without one. */
  readonly because: string;
  /** The last lines of what the person was told where preparing failed. */
  readonly told: string;
}

const share = (count: number, of: number): string =>
  of === 0 ? '–' : `${count} of ${of} (${Math.round((100 * count) / of)}%)`;
const seconds = (ms: number | null | undefined): string =>
  ms == null ? '–' : `${(ms / 1000).toFixed(ms < 9_950 ? 1 : 0)} s`;

/** What Runoff says where the cause lies outside of it: a tool or a registry that this machine does not have. */
const OUT_OF_REACH = /Install it on this machine|could not get its packages|may not reach/;

/** Whether the winner or, without one, the first of the ranking is right; null without a ranking. */
function firstRight({ among, ranking }: Result): boolean | null {
  const first = among[0] ?? ranking[0];
  return first === undefined ? null : isRight(first);
}

const rightText = (right: boolean | null): string => (right === null ? '–' : right ? 'yes' : '**no**');

const withinReach = ({ prepared, told }: Result): boolean => prepared || !OUT_OF_REACH.test(told);

/** What a person has to do before it works: nothing, or what the first sentence of the failure says. */
function needed({ prepared, told }: Result): string {
  if (prepared) return 'nothing';
  // Progress ends with an ellipsis, advice begins with an arrow: what stands last beside them is the failure.
  const failure = told.split('\n').findLast((line) => line.trim() !== '' && !/^→|^Tools:|…$/.test(line));
  const [sentence = ''] = (failure ?? '').split(/(?<=[.!?]) (?=[A-Z])/);
  // Whose package registry it was depends on the machine.
  const plain = sentence.replace(
    /(?<=: |, )[\w-]+(?:\.[\w-]+)+ (has no address|does not answer)/g,
    'the registry $1',
  );
  const limit = 240;
  const cut = plain.length > limit ? `${plain.slice(0, limit)} …` : plain;
  return cut.replaceAll('|', '\\|') || 'see the output';
}

const testsText = ({ source, prepared, passed, failed }: Result): string => {
  if (source === 'report') return `${passed} passed${failed > 0 ? `, ${failed} failed` : ''}`;
  return prepared ? 'exit code only' : '–';
};

/**
 * The results as a table in Markdown, with their totals: of all, and of those alone whose fix was chosen by the rule, because
 * no rule of Runoff was changed after a run on such a fix.
 */
export function table(results: readonly Result[]): string {
  const byRule = new Set(readList().flatMap((one) => (one.byRule ? [one.name] : [])));
  const untouched = results.filter(({ name }) => byRule.has(name));
  const rows = results
    .toSorted((a, b) => a.language.localeCompare(b.language) || a.name.localeCompare(b.name))
    .map((one) =>
      [
        one.name,
        one.language,
        one.prepared ? 'yes' : 'no',
        testsText(one),
        seconds(one.setupMs[0]),
        seconds(one.setupMs[1]),
        one.decision ?? '–',
        one.among.join(' or ') || '–',
        rightText(firstRight(one)),
        seconds(one.runMs),
        one.measuredOn.slice(5),
        needed(one),
      ].join(' | '),
    );
  return [
    '| repository | language | prepared | tests of the base | set-up | again | decision | winner, or a person chooses | first is right | run | on | to do first |',
    '| --- | --- | --- | --- | --: | --: | --- | --- | --- | --: | --- | --- |',
    ...rows.map((row) => `| ${row} |`),
    '',
    summary(results),
    ...(untouched.length === 0 || untouched.length === results.length
      ? []
      : ['', `The same for the ${untouched.length} whose fix was chosen by the rule. ${summary(untouched)}`]),
  ].join('\n');
}

function summary(results: readonly Result[]): string {
  const reached = results.filter(withinReach);
  const prepared = results.filter((one) => one.prepared);
  const tried = results.filter((one) => one.runMs !== null);
  const decided = tried.filter((one) => one.decision?.startsWith('winner'));
  const right = decided.filter(firstRight);
  const others = tried.filter((one) => !decided.includes(one));
  const again = prepared.flatMap(({ setupMs: [first, second] }) =>
    first && second !== null && second !== undefined ? [second / first] : [],
  );
  const median = quantile(again, 0.5);
  return [
    `Prepared and tested without a setting: ${share(prepared.length, reached.length)} of those whose tools and registries were reached; ${share(prepared.length, results.length)} of all.`,
    `Decided: ${share(decided.length, tried.length)} of those that were given candidates. Right, of the decided: ${share(right.length, decided.length)}. Of the others, a right one is first for ${share(others.filter(firstRight).length, others.length)}.`,
    Number.isNaN(median)
      ? ''
      : `Set-up the second time: ${Math.round(100 * median)}% of the first, as the median.`,
  ]
    .filter(Boolean)
    .join(' ');
}

const PAGE = join(import.meta.dirname, '../../docs/repositories.md');
const BEGIN = '<!-- Written by `node bench/repositories.ts --write`. -->';
const END = '<!-- End of what it wrote. -->';
const STORED = join(import.meta.dirname, 'results.jsonl');

/** Puts the results in place of the stored ones of the same repositories, and the table of all into the documentation. */
export function writePage(results: readonly Result[]): void {
  const page = readFileSync(PAGE, 'utf8');
  const from = page.indexOf(BEGIN);
  const to = page.indexOf(END);
  if (from < 0 || to < from) throw new Error(`${PAGE} has no place for the table.`);
  const byName = new Map([...readResults(STORED), ...results].map((one) => [one.name, one]));
  const all = [...byName.values()].toSorted((a, b) => a.name.localeCompare(b.name));
  writeFileSync(STORED, all.map((one) => `${JSON.stringify(one)}\n`).join(''));
  const days = all.map(({ measuredOn }) => measuredOn).toSorted();
  const text = `Measured from ${days[0]} to ${days.at(-1)}, on ${availableParallelism()} cores.\n\n${table(all)}`;
  writeFileSync(PAGE, `${page.slice(0, from)}${BEGIN}\n${text}\n${page.slice(to)}`);
}

/** Those of a file; none if it does not exist. */
export const readResults = (file: string): readonly Result[] =>
  existsSync(file)
    ? readFileSync(file, 'utf8')
        .trim()
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line) as Result)
    : [];
