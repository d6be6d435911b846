import type { Language } from '../languages.ts';
import { type Block, type Guard, guardOf, inlineGuard, nesting } from './blocks.ts';
import { argumentsOf, type Call, endOf, statementStart, statementsOf } from './calls.ts';
import { callForm, chainForm, type Form, type Link, matcherIn } from './forms.ts';
import { squeeze } from './matchers.ts';
import { lineAt, type Side } from './view.ts';

/** One place in a test that can make it fail. */
export interface Assertion {
  readonly at: number;
  readonly end: number;
  /** Squeezed: two that say the same in other white space are equal. */
  readonly text: string;
  readonly form: Form;
  /** Its promise is waited for. */
  readonly awaited: boolean;
  /** What around it keeps it from running or from being seen to fail. */
  readonly guards: readonly Guard[];
}

/** Paths of calls that assert. `expect.any` and its like are values. */
const CALLS: Readonly<Record<Language, RegExp>> = {
  js: /^(?:\w+\.)?expect(?:\.(?:soft|poll|assertions|hasAssertions|unreachable))?$|^(?:[\w$]+\.)*assert(?:\.\w+)*$|^(?:[\w$]+\.)*assert[A-Z_]\w*$|^(?:t|tt|st|tap|is|td)\.(?:is|not|ok|notOk|equals?|notEqual|deepEquals?|notDeepEqual|same|notSame|strictEqual|strictSame|like|unlike|has|hasStrict|match|notMatch|true|false|truthy|falsy|assert|throws\w*|doesNotThrow|notThrows\w*|rejects|resolves|resolveMatch|regex|notRegex|snapshot|matchSnapshot|pass|fail|error|iferror|ifError|type|plan|looseEqual|deepLooseEqual)$|(?:^|\.)should(?:\.\w+)*$|^(?:expectTypeOf|assertType|expectType|expectError|verify)$|^(?:equal|deepEqual|strictEqual|deepStrictEqual|notEqual|notStrictEqual|notDeepEqual|notDeepStrictEqual|throws|rejects|doesNotThrow|doesNotReject|doesNotMatch)$/,
  python:
    /^(?:\w+\.)+assert\w*$|^assert\w+$|^(?:pytest|self)\.(?:raises|warns|deprecated_call|fail)$|^(?:raises|warns)$|^expect$/i,
  go: /^(?:t|b|tb|f)\.(?:Errorf?|Fatalf?|Fail|FailNow)$|^(?:assert|require|must|is|qt|s|suite|c|g|a|r|check)\.[A-Z]\w*$|^(?:Expect|Ω|So|Eventually|Consistently|Fail)$|^g\.Expect$/,
  rust: /^(?:\w+\.)*(?:\w*assert\w*|panic|unreachable)!$/,
  jvm: /^(?:\w+\.)*(?:assert\w*|fail|verify\w*|andExpect\w*|expect\w*)$/i,
  ruby: /^(?:expect|assert\w*|refute\w*|_|value|flunk)$/,
  php: /^(?:[\w$]+\.)*(?:assert\w*|expect\w*|fail)$/,
  dotnet:
    /^(?:\w+\.)*\w*Assert(?:\.\w+)*$|^(?:\w+\.)*\w*Assert\.\w+$|^XCT\w+$|^(?:expect\w*|#expect|#require)$|\.(?:Should|Verify)$/,
  c: /^(?:EXPECT|ASSERT|CHECK|REQUIRE|STATIC_REQUIRE|INFO_CHECK|BOOST_(?:CHECK|REQUIRE|TEST)|TEST_ASSERT|ck_assert|cr_assert|cr_expect|g_assert|assert|cmocka_\w+)\w*$|^(?:\w+\.)*expect\w*$|^FAIL\w*$/,
  shell: /^(?:is|isnt|ok|like|unlike|is_deeply|cmp_ok|pass|fail|assert\w*)$/,
  prose: /(?!)/,
  other: /(?!)/,
};
/** Calls on a value that assert: `.expect(200)`, `.Should()`, `.assert()`. */
const CHAINED =
  /^(?:expect|should(?:\.\w+)*|Should|assert|and_?[eE]xpect|assert_called\w*|assert_has_calls|assert_awaited\w*|assert_not_called|(?:must|wont)_\w+|Verify|assert[A-Z]\w*)$/;
interface Reading {
  readonly side: Side;
  readonly language: Language;
  readonly brackets: ReadonlyMap<number, number>;
}
/** `own`: a failure that a test reports by hand. `nested`: stands in a function inside of another one. */
type Found = Omit<Assertion, 'guards'> & { readonly own?: boolean; readonly nested?: boolean };

/** All assertions of a text, in order. */
export function assertionsOf(
  side: Side,
  language: Language,
  calls: readonly Call[],
  brackets: ReadonlyMap<number, number>,
  blocks: readonly Block[],
): readonly Assertion[] {
  const reading = { side, language, brackets };
  const found = withoutNested(
    [...fromCalls(reading, calls), ...statementsOf(side, language, brackets)].sort(
      (a, b) => a.at - b.at || b.end - a.end,
    ),
  ).slice(0, MOST_ASSERTIONS);
  const around = nesting(
    blocks,
    found.map(({ at }) => at),
  );
  const known = new Map<Block, Guard | null>();
  const guard = (block: Block) => {
    if (!known.has(block)) known.set(block, guardOf(block, side, blocks));
    return known.get(block) ?? null;
  };
  return found.map(({ own, nested: _, ...one }, i) => {
    const inside = around[i] ?? [];
    // A failure that is reported by hand stands below the condition that it reports.
    const condition = own ? inside.at(-1) : undefined;
    const guards = inside.filter((block) => block !== condition).map(guard);
    const inline = inlineGuard(side, lineAt(side, one.at), one.at);
    const all = [...guards, inline].filter((kind) => kind !== null);
    if (!condition || !/^(?:\}?\s*else\s+)?if\b/.test(condition.head)) return { ...one, guards: all };
    const text = `${squeeze(condition.head)}:fail`;
    return {
      ...one,
      text,
      guards: all,
      form: { ...one.form, subject: squeeze(condition.head), expected: '', matcher: 'fail' },
    };
  });
}

/** A call within a statement that asserts is part of it. */
function withoutNested(found: readonly Found[]): readonly Found[] {
  let reach = 0;
  return found.filter(({ at, end, nested = false }) => {
    const inside = at < reach && end <= reach;
    reach = Math.max(reach, end);
    return !inside || nested;
  });
}

/** More of one text are not looked at. */
const MOST_ASSERTIONS = 20_000;
/** Longest assertion inside of another one. */
const LONGEST_NESTED = 1_000;

/** Calls that assert. One inside the arguments of another counts only where it stands in a function. */
function assertingCalls(
  { side, language }: Reading,
  calls: readonly Call[],
): readonly (Call & { nested: boolean })[] {
  let reach = 0;
  let from = 0;
  let inFunction = false;
  return calls.flatMap((call) => {
    const { path, chained } = call;
    const asserts = chained
      ? CHAINED.test(path)
      : CALLS[language].test(path) || /\.(?:must|wont)_\w+$|\.should(?:\.\w+)*$|\.assert$/.test(path);
    if (!asserts) return [];
    const nested = call.at < reach;
    inFunction =
      nested && (inFunction || /=>|[{:]|\bfunction\b|\blambda\b/.test(side.mask.slice(from, call.at)));
    from = call.at;
    if (!nested) reach = call.end;
    return !nested || (inFunction && call.end - call.open <= LONGEST_NESTED) ? [{ ...call, nested }] : [];
  });
}

function fromCalls(reading: Reading, calls: readonly Call[]): readonly Found[] {
  const { side, language, brackets } = reading;
  let last = -1;
  return assertingCalls(reading, calls).flatMap((call) => {
    const { path, chained, nested } = call;
    const at = chained ? statementStart(side, call.at) : call.at;
    // The first call of a chain has read the others.
    if (chained && at === last) return [];
    if (chained) last = at;
    const links: Link[] = [];
    const end = readChain(side, brackets, call.end, links);
    const own = language === 'go' && /^(?:t|b|tb|f)\./.test(path);
    const args = argumentsOf(side, call.open, call.end);
    const rest = language === 'ruby' ? restOfLine(side, end) : '';
    const text = squeeze(side.code.slice(at, end) + rest);
    const awaited =
      /\b(?:await|return)\s+$/.test(side.mask.slice(Math.max(0, at - 12), at)) ||
      links.some(({ name }) => name === 'await');
    const form = formFrom(side, call, at, args, links, rest);
    return [{ at, end: end + rest.length, text, awaited, own, nested, form }];
  });
}

function formFrom(
  side: Side,
  call: Call,
  at: number,
  args: readonly string[],
  links: readonly Link[],
  rest: string,
): Form {
  const name = call.path.split('.').at(-1) as string;
  const before = squeeze(side.code.slice(at, call.at).replace(/\.\s*$/, ''));
  if (rest !== '') {
    const inner = matcherIn(rest);
    return chainForm(squeeze(args.join(',')), [
      ...links,
      { name: inner?.name ?? '', args: inner?.args ?? [] },
    ]);
  }
  if (call.chained || /\.should\b|\.(?:must|wont)_/.test(call.path)) {
    const subject = call.chained
      ? before
      : squeeze(call.path.replace(/\.(?:should|must_|wont_|assert$).*$/, ''));
    return chainForm(
      subject,
      [{ name, args }, ...links].filter((link) => link.name !== 'Should' && link.name !== 'assert'),
    );
  }
  if (links.length === 0) return callForm(name, args);
  return chainForm(squeeze(args.join(',')), links);
}

/** `.not.toBe(3)`, `->toBe(3)`, over line ends too; gives the offset behind it. */
function readChain(side: Side, brackets: ReadonlyMap<number, number>, from: number, links: Link[]): number {
  let at = from;
  while (links.length < 40) {
    const next = /^\s*(?:\?\.|!?\.|->|::)\s*([\w$]+[?!]?)/.exec(side.mask.slice(at, at + 400));
    if (!next) return at;
    const open = at + next[0].length;
    const gap = /^(?:<[^<>\n]{0,80}>)?[ \t]*\(/.exec(side.mask.slice(open, open + 100));
    if (!gap) {
      links.push({ name: next[1] as string, args: null });
      at = open;
      continue;
    }
    const bracket = open + gap[0].length - 1;
    const end = endOf(side.mask, bracket, brackets);
    links.push({ name: next[1] as string, args: argumentsOf(side, bracket, end) });
    at = end;
  }
  return at;
}

/** Ruby's matchers follow without brackets: `.to eq 3`. */
function restOfLine(side: Side, from: number): string {
  const line = lineAt(side, from);
  const rest = side.code.slice(from, (side.starts[line + 1] ?? from) - 1);
  return /^[ \t]+[\w:]/.test(rest) && !/^[ \t]+(?:do|if|unless|and|or|then)\b/.test(rest) ? rest : '';
}
