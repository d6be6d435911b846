import type { TestOutcome } from '../evidence/index.ts';
import { failureBlocks, Outcomes, reportLines } from './outcomes.ts';

/**
 * Parses the output of `cargo test`, both streams in one: cargo names each target, and the target's own runner names
 * its tests (library/test/src/formatters/pretty.rs in rust-lang/rust). Ids begin with the target. Throws an Error if
 * no target was run, or if the tests of a target are not those that its `test result:` counts.
 * A test prints into the same stream if the runner does not capture it, also into the same line. Lines outside a
 * target's list, after its `test result:`, are not parsed as tests. Tests in documentation are named by their item,
 * several of one item in the order of their lines: any change above them moves the lines.
 */
export function readCargo(text: string): Outcomes {
  const outcomes = new Outcomes();
  const tests = cargoTargets(text).flatMap(testsOfTarget);
  for (const { parts, outcome, message } of tests.toSorted((a, b) => a.line - b.line))
    outcomes.add(parts, outcome, message);
  return outcomes;
}

interface CargoTarget {
  readonly name: string;
  /** The lines of its list of tests, and those behind it. */
  readonly list: string[];
  readonly rest: string[];
  /** How many tests passed, failed, were ignored and measured; null if it ended early. */
  total: string | null;
}

function cargoTargets(text: string): readonly CargoTarget[] {
  const targets: CargoTarget[] = [];
  let name = '';
  let open = false;
  for (const line of reportLines(text)) {
    const last = targets.at(-1);
    const named = cargoTargetIn(line);
    if (named) name = named;
    else if (/^running \d+ tests?$/.test(line)) {
      open = true;
      targets.push({ name, list: [], rest: [], total: null });
    } else if (/^(?:failures:|test result:)/.test(line)) {
      open = false;
      last?.rest.push(line);
      const total = CARGO_TOTAL.exec(line);
      if (last && total) last.total ??= total.slice(1).map(Number).join();
    } else (open ? last?.list : last?.rest)?.push(line);
  }
  if (targets.length === 0) throw new Error('it shows no target whose tests ran');
  return targets;
}

/** Its program and, since Rust 1.56, its source file: a name that does not change when other code is compiled. */
function cargoTargetIn(line: string): string | null {
  const docs = /^ {3,5}Doc-tests (\S+)$/.exec(line);
  if (docs) return `doc ${docs[1]}`;
  const found = /^ {3,5}Running (?:unittests )?(?:([^\s(]\S*) )?\(?(?:\S*\/)?(\S+?)-[0-9a-f]{16}\)?$/.exec(
    line,
  );
  return found ? [found[2], found[1]].filter((part) => part !== undefined).join(' ') : null;
}

const CARGO_TOTAL =
  /^test result: \w+\. (\d{1,7}) passed; (\d{1,7}) failed; (\d{1,7}) ignored; (\d{1,7}) measured/;

/** A path of Rust, or the place of a test in documentation. Tests that a test itself runs have other names. */
const RUST_PATH = String.raw`[\p{L}\p{N}_#]{1,200}(?:::[\p{L}\p{N}_#]{1,200}){0,50}(?: - should panic)?`;
const RUST_PLACE = String.raw`\S{1,500} - .{0,900}?\(line \d{1,7}\)(?: - [a-z ]{1,40})?`;
/** The code under test may have printed something before a path in the same line. */
const CARGO_NAME = String.raw`(?:test (?<path>${RUST_PATH})|^test (?<place>${RUST_PLACE})) +\.\.\. `;
const CARGO_RESULT = String.raw`((?:ok|FAILED)(?: \(.{1,80}\))?(?: <[\d.]+s>)?|ignored(?:, .*)?|bench: .*)$`;
/** With several threads, a test's output ends before this, and with one it is between name and result. */
const CARGO_TEST = new RegExp(`${CARGO_NAME}(?<said>${CARGO_RESULT})`, 'u');
const CARGO_BEGUN = new RegExp(`${CARGO_NAME}(?<said>.*)$`, 'u');
const CARGO_ENDED = new RegExp(CARGO_RESULT);
const OTHER_TEST = new RegExp(String.raw`^test (.{1,1000}?) \.\.\. ${CARGO_RESULT}`);

interface CargoLine {
  readonly name: string;
  readonly result: string;
  /** Whether its name is one of the target's own runner. */
  readonly isOwn: boolean;
}

/** The results in a list of tests. In one that ended early, the last line of the last test is its own output. */
function cargoLines(list: readonly string[], isWhole: boolean): readonly CargoLine[] {
  const found: CargoLine[] = [];
  let begun: { readonly name: string; last: string } | null = null;
  const end = () => {
    const result = begun && CARGO_ENDED.exec(begun.last)?.[1];
    if (begun && result) found.push({ name: begun.name, result, isOwn: true });
    begun = null;
  };
  for (const line of list) {
    const whole = CARGO_TEST.exec(line);
    const { path, place, said = '' } = (whole ?? CARGO_BEGUN.exec(line))?.groups ?? {};
    const name = path ?? place;
    if (name !== undefined) {
      end();
      if (whole) found.push({ name, result: said, isOwn: true });
      else begun = { name, last: said };
      continue;
    }
    const other = OTHER_TEST.exec(line);
    if (other) found.push({ name: other[1] as string, result: other[2] as string, isOwn: false });
    else if (begun && line !== '') begun.last = line;
  }
  if (isWhole) end();
  return found;
}

interface CargoTest {
  readonly parts: readonly string[];
  /** Of a test in documentation; else 0. */
  readonly line: number;
  readonly outcome: TestOutcome;
  readonly message: string | undefined;
}

function testsOfTarget({ name: target, list, rest, total }: CargoTarget): readonly CargoTest[] {
  const found = cargoLines(list, total !== null);
  const isCounted = (lines: readonly CargoLine[]) => total === null || total === cargoTotal(lines);
  if (!isCounted(found) && !isCounted(found.filter(({ isOwn }) => isOwn)))
    throw new Error(`it names ${found.length} tests of ${target || 'a target'}, not those that it counts`);
  const messages = failureBlocks(rest, (line) =>
    /^(?:failures:|test result:)/.test(line) ? null : /^---- (.{1,1000}) stdout ----$/.exec(line)?.[1],
  );
  return found.map(({ name, result }) => {
    const test = name.replace(/ - should panic$/, '');
    const doc = target.startsWith('doc ') ? /^(.*) \(line (\d{1,7})\)(.*)$/.exec(test) : null;
    return {
      parts: [target, doc ? `${doc[1]}${doc[3]}` : test],
      line: Number(doc?.[2] ?? 0),
      outcome: CARGO_OUTCOMES[resultKind(result)] ?? 'failed',
      message: messages.get(test),
    };
  });
}

const resultKind = (result: string): string => /^\w+/.exec(result)?.[0] ?? '';
const cargoTotal = (lines: readonly CargoLine[]): string =>
  ['ok', 'FAILED', 'ignored', 'bench']
    .map((kind) => lines.filter(({ result }) => resultKind(result) === kind).length)
    .join();

const CARGO_OUTCOMES: Readonly<Record<string, TestOutcome>> = {
  ok: 'passed',
  bench: 'passed',
  ignored: 'skipped',
};
