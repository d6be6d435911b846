import type { TestOutcome } from '../evidence/index.ts';
import { Outcomes, reportLines } from './outcomes.ts';

/**
 * What `cargo test` writes, both streams in one: cargo names each target, the target's own runner names its tests
 * (library/test/src/formatters/pretty.rs in rust-lang/rust). Ids begin with the target. Throws an Error
 * where no target was run.
 *
 * A test of a target prints into the same stream only where the runner does not capture it; lines outside the list of
 * a target, after its `test result:`, are not read as tests.
 */
export function readCargo(text: string): Outcomes {
  const outcomes = new Outcomes();
  const lines = reportLines(text);
  const said = failureOutputs(lines);
  let target = '';
  let open = false;
  let targets = 0;
  for (const line of lines) {
    const named = targetOf(line);
    if (named) target = named;
    else if (/^running \d+ tests?$/.test(line)) {
      open = true;
      targets += 1;
    } else if (/^(?:failures:|test result:)/.test(line)) open = false;
    else if (open) {
      const found = TEST_LINE.exec(line);
      if (!found) continue;
      const name = (found[1] as string).replace(/ - should panic$/, '');
      outcomes.add([target, name], CARGO_OUTCOMES[found[2] as string] ?? 'failed', said.get(name));
    }
  }
  if (targets === 0) throw new Error('it shows no target whose tests ran');
  return outcomes;
}

/** Its program and, since Rust 1.56, its source file: a name that stays when other code is compiled. */
function targetOf(line: string): string | null {
  const docs = /^ {3,5}Doc-tests (\S+)$/.exec(line);
  if (docs) return `doc ${docs[1]}`;
  const found = /^ {3,5}Running (?:unittests )?(?:([^\s(]\S*) )?\(?(?:\S*\/)?(\S+?)-[0-9a-f]{16}\)?$/.exec(
    line,
  );
  return found ? [found[2], found[1]].filter((part) => part !== undefined).join(' ') : null;
}

const TEST_LINE = /^test (.{1,1000}) \.\.\. (ok|FAILED|ignored|bench:)(?:[ ,].*)?$/;
const CARGO_OUTCOMES: Readonly<Record<string, TestOutcome>> = {
  ok: 'passed',
  'bench:': 'passed',
  ignored: 'skipped',
};

/** Lines of one failure that are kept. */
const MAX_FAILURE_LINES = 30;

/** What failing tests printed, by name: a name that two targets share has the words of the last. */
function failureOutputs(lines: readonly string[]): ReadonlyMap<string, string> {
  const said = new Map<string, string[]>();
  let own: string[] | null = null;
  for (const line of lines) {
    const head = /^---- (.{1,1000}) stdout ----$/.exec(line);
    if (head) {
      own = [];
      said.set(head[1] as string, own);
    } else if (/^(?:failures:|test result:|running \d)/.test(line)) own = null;
    else if (own && own.length < MAX_FAILURE_LINES) own.push(line);
  }
  return new Map([...said].map(([name, text]) => [name, text.join('\n')]));
}
