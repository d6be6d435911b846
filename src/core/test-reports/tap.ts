import type { TestOutcome } from '../evidence/index.ts';
import { Outcomes, relativePath, reportLines } from './outcomes.ts';
import {
  BARE_POINT,
  NUMBERED_POINT,
  POINT_BEHIND_OUTPUT,
  parseDescription,
  withoutHooksOfAva,
} from './tap-lines.ts';

/**
 * Parses TAP 12 to 14, with subtests and YAML diagnostics (testanything.org, tap-version-14-specification), as
 * written by tape, tap, ava, mocha and node:test. Ids are the subtests above a point and its description; for runners
 * that announce tests by comments, such as tape, the last comment above a point. A subtest's own point is omitted if
 * the points below it give the same result. Throws an Error for anything that is not TAP, and if a plan behind the
 * points counts more of them than there are.
 * Most of these runners write to standard output, where the code under test may print as well. Injected lines that
 * look like points exceed the runner's plan; the text is then untrustworthy and unreadable. A candidate that injects
 * points into a document thus loses its report, and a complete forged report next to the runner's does not help: if
 * two documents report a test, the worse outcome counts. A candidate that silences the runner, and writes all of the
 * base's tests itself, is not detected here. The numbers of points prove nothing: node:test itself repeats them for
 * two files.
 */
export function readTap(text: string): Outcomes {
  const lines = withoutHooksOfAva(reportLines(text));
  const isNumbered = lines.some((line) => NUMBERED_POINT.test(line));
  const strict = new TapReader({ isNumbered, isLenient: false });
  for (const line of lines) strict.read(line);
  if (!strict.hasLost) return strict.outcomes();
  // Those that are missing may stand behind output in the same line.
  const lenient = new TapReader({ isNumbered, isLenient: true });
  for (const line of lines) lenient.read(line);
  if (lenient.hasLost) throw new Error('its plan counts more points than it has');
  return lenient.outcomes();
}

interface TapPoint {
  /** Index of the document that contains it. */
  readonly document: number;
  readonly path: readonly string[];
  readonly outcome: TestOutcome;
  readonly messages: string[];
  /** The results of the points below it. */
  readonly below: SubtestTally;
}

interface SubtestTally {
  any: boolean;
  failed: boolean;
}

/** One list of points with a plan. */
interface TapLevel {
  readonly indent: number;
  readonly path: readonly string[];
  /** The last comment above the next points, for runners that announce tests by comments. */
  comment: string;
  count: number;
  plan: number | null;
  /** Its plan came after points, as the runner writes it that has counted them. */
  counted: boolean;
  readonly tally: SubtestTally;
  /** Opened by `{` after its point; otherwise its point comes last. */
  readonly braced: boolean;
}

/** Maximum depth of subtests; no real report is deeper. */
const MAX_SUBTEST_DEPTH = 60;
/** Maximum programs that one command runs in sequence. */
const MAX_DOCUMENTS = 200;
/** Maximum lines of diagnostics kept for a point. */
const MAX_DIAGNOSTIC_LINES = 40;
/** Lines of diagnostics, kept or not, after which a block counts as unclosed. */
const MAX_BLOCK_LINES = 20_000;

interface TapForm {
  /** Whether points have numbers; without, a line that begins with `ok` would often be a test's own output. */
  readonly isNumbered: boolean;
  /** Points are missing, so they may stand behind output in the same line. */
  readonly isLenient: boolean;
}

class TapReader {
  readonly #points: TapPoint[] = [];
  #levels: TapLevel[] = [newLevel(0, [])];
  /** Indentation of the open YAML block. */
  #block: { readonly indent: number; lines: number } | null = null;
  #document = 0;
  #isTap = false;
  /** Tests are announced by `# Subtest:`, so other comments have no meaning. */
  #subtests = false;
  #over = false;
  readonly #form: TapForm;
  #lost = false;

  constructor(form: TapForm) {
    this.#form = form;
  }

  /** Whether a plan that came after points counts more of them. An interrupted run does not write such a plan. */
  get hasLost(): boolean {
    return this.#lost || (!this.#over && this.#levels.some(isShort));
  }

  read(line: string): void {
    if (this.#over || this.#inBlock(line)) return;
    const indent = line.length - line.trimStart().length;
    const rest = line.slice(indent);
    if (rest === '') return;
    if (indent === 0 && /^TAP version \d+$/.test(rest)) this.#begin();
    else if (/^Bail out!/.test(rest)) this.#over = true;
    else if (rest.startsWith('#')) this.#comment(indent, rest);
    else if (rest === '{') this.#brace(indent);
    else if (rest === '}') this.#close(indent);
    else if (!this.#point(indent, rest) && !this.#plan(indent, rest) && !this.#pointBehindOutput(rest))
      this.#diagnose(indent, line);
  }

  /** It has the next number. */
  #pointBehindOutput(rest: string): boolean {
    const own = this.#levels.at(-1);
    const found = this.#form.isLenient ? POINT_BEHIND_OUTPUT.exec(rest) : null;
    return (
      own !== undefined && Number(found?.[1]) === own.count + 1 && this.#point(own.indent, found?.[0] ?? '')
    );
  }

  outcomes(): Outcomes {
    if (!this.#isTap) throw new Error('it is no TAP');
    if (this.#points.length === 0) throw new Error('it is TAP without any test');
    const parts = new Map<number, Outcomes>();
    for (const { document, path, outcome, messages, below } of this.#points) {
      if (below.any && (outcome !== 'failed' || below.failed)) continue;
      const part = parts.get(document) ?? new Outcomes();
      parts.set(document, part);
      part.add(path, outcome, messages.join('\n'));
    }
    const whole = new Outcomes();
    for (const part of parts.values()) whole.include(part);
    return whole;
  }

  /** Another document may follow, from another program. */
  #begin(): void {
    const [top] = this.#levels;
    if (top && top.count > 0 && top.plan === null) throw new Error('it begins anew without a plan before');
    this.#lost ||= this.#levels.some(isShort);
    if (this.#document >= MAX_DOCUMENTS) throw new Error('it has too many parts');
    this.#document += 1;
    this.#isTap = true;
    this.#levels = [newLevel(0, [])];
  }

  /** Whether the line is part of a YAML block. A block ends with its point's indentation, closed or not. */
  #inBlock(line: string): boolean {
    const block = this.#block;
    if (!block) return false;
    block.lines += 1;
    const inside = line.trim() === '' || line.startsWith(' '.repeat(block.indent));
    if (!inside || block.lines > MAX_BLOCK_LINES) {
      this.#block = null;
      return false;
    }
    if (line.slice(block.indent) === '...') this.#block = null;
    else this.#keep(line);
    return true;
  }

  #keep(line: string): void {
    const last = this.#points.at(-1);
    if (last && last.messages.length < MAX_DIAGNOSTIC_LINES) last.messages.push(line.trim());
  }

  /** Text below a point: the start of a YAML block, or a stack trace as mocha writes it. */
  #diagnose(indent: number, line: string): void {
    const own = this.#levels.at(-1);
    if (this.#points.length === 0 || !own || indent <= own.indent) return;
    if (line.trim() === '---') this.#block = { indent, lines: 0 };
    else this.#keep(line);
  }

  #comment(indent: number, rest: string): void {
    const text = rest.slice(1).trim();
    const subtest = /^Subtest:? (.*)$/.exec(text);
    if (!subtest) {
      const here = this.#levelAt(indent);
      if (here && !this.#subtests) here.comment = text;
      // tap noticed it itself, and says that the test failed.
      if (here && /^test count\(\d+\) != plan\(\d+\)$/.test(text)) here.counted = false;
      return;
    }
    this.#subtests = true;
    const parent = this.#levels.findLast((one) => one.indent <= indent);
    if (!parent) return;
    // TAP 14 indents the comment like the points; node:test and tap indent it like the point that follows.
    const own = indent > parent.indent ? indent : indent + 4;
    this.#leave(parent);
    this.#open(newLevel(own, [...parent.path, subtest[1] as string]));
  }

  #open(next: TapLevel): void {
    if (this.#levels.length >= MAX_SUBTEST_DEPTH) throw new Error('its subtests are nested too deep');
    this.#levels.push(next);
  }

  /** The following lines are below the last point. */
  #brace(indent: number): void {
    const last = this.#points.at(-1);
    const parent = this.#levelAt(indent);
    if (last && parent) {
      this.#leave(parent);
      this.#open({ ...newLevel(indent + 4, last.path), tally: last.below, braced: true });
    }
  }

  #close(indent: number): void {
    const at = this.#levels.findLastIndex((one) => one.braced);
    const parent = this.#levels[at - 1];
    if (parent?.indent === indent) this.#leave(parent);
  }

  #levelAt(indent: number): TapLevel | undefined {
    return this.#levels.findLast((one) => one.indent === indent);
  }

  #leave(parent: TapLevel): TapLevel | undefined {
    const at = this.#levels.indexOf(parent);
    const child = this.#levels[at + 1];
    this.#lost ||= this.#levels.slice(at + 1).some(isShort);
    this.#levels = this.#levels.slice(0, at + 1);
    return child;
  }

  #point(indent: number, rest: string): boolean {
    const found = (this.#form.isNumbered ? NUMBERED_POINT : BARE_POINT).exec(rest);
    const own = found && this.#levelAt(indent);
    if (!found || !own) return false;
    const child = this.#leave(own);
    own.count += 1;
    if (own.plan !== null && own.count > own.plan) throw new Error('it has more points than it planned');
    const { name, directive, braced } = parseDescription(found[2] ?? '');
    const outcome = directive ? 'skipped' : found[1] ? 'failed' : 'passed';
    own.tally.any = true;
    own.tally.failed ||= outcome === 'failed';
    const comment = this.#subtests ? '' : own.comment;
    const path = [...own.path, comment, relativePath(name || 'unnamed')];
    const below = child?.tally ?? { any: false, failed: false };
    this.#points.push({ document: this.#document, path, outcome, messages: [], below });
    if (braced) this.#brace(indent);
    return true;
  }

  #plan(indent: number, rest: string): boolean {
    const found = /^1\.\.(\d{1,7})(?:\s*#.*)?$/.exec(rest);
    const [top] = this.#levels;
    // Old versions of mocha write no version line, and a command may start several.
    if (found && indent === 0 && top && !top.counted && top.count === top.plan) this.#begin();
    const own = found && this.#levelAt(indent);
    if (!found || !own) return false;
    this.#leave(own);
    if (own.plan !== null) throw new Error('it has two plans');
    own.plan = Number(found[1]);
    own.counted = own.count > 0;
    if (own.count > own.plan) throw new Error('it has more points than it planned');
    if (indent === 0) this.#isTap = true;
    return true;
  }
}

const isShort = ({ counted, count, plan }: TapLevel): boolean => counted && plan !== null && count < plan;

function newLevel(indent: number, path: readonly string[]): TapLevel {
  return {
    indent,
    path: path.map(relativePath),
    comment: '',
    count: 0,
    plan: null,
    counted: false,
    tally: { any: false, failed: false },
    braced: false,
  };
}
