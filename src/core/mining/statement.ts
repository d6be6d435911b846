import { visibleMarkdown, visiblePlain } from '../prompts/index.ts';
import { cut, visible } from '../reports/index.ts';

/** Code points of a statement. Our default: longer messages are logs or generated. */
const MAX_STATEMENT = 8_000;
/** Characters of a message that are read. Our default. */
const MAX_MESSAGE = 20_000;
/** Letters that a statement needs besides words that say nothing; a syllable or ideograph counts as three. */
const MIN_LETTERS = 12;

/** `Signed-off-by: …`, and the same for every other name of a trailer that ends so. */
const TRAILER =
  /^\s*(?:[a-z][a-z-]*-(?:by|to|on|with)|cc|change-id|pr-url|pr|pull-request|reviewed|refs?|issue|link|bug|git-svn-id|gitorigin-revid|original-commit|commit-id|differential revision|phabricator|x-[a-z-]+)\s*:\s/i;
/** What tools add to a message: where a commit was taken from, and what it reverts. */
const PROVENANCE =
  /^\s*(?:\(?(?:cherry[- ]picked|backported|adapted|taken|imported) from |this (?:partially )?reverts commit |co-authored |squashed commit of|# conflicts:|\[(?:skip[ -]ci|ci[ -]skip)\])/i;
/** A line that only closes an issue or names a pull request. */
const ONLY_REFERENCE =
  /^\s*(?:[-*]\s*)?(?:(?:closes?|closed|fix|fixes|fixed|resolves?|resolved|see|also|refs?|references|part of|pr)[:\s]+){0,3}(?:[\w.-]{1,100}\/[\w.-]{1,100})?(?:#|gh-)\d+[\s,.;)]*$/i;

const DIFF_LINE =
  /^(?:diff --git |index [0-9a-f]{7,}\.\.|@@ -\d|--- (?:a\/|\/dev\/null)|\+\+\+ (?:b\/|\/dev\/null))/;
const FENCE = /^\s*(?:`{3,}|~{3,})/;
/** Addresses of commits, pull requests and comparisons show the change itself. */
const FIX_LINK =
  /\bhttps?:\/\/[^\s<>()"'`]*\/(?:commits?|pull|pulls|merge_requests|compare|-\/commit)\/[^\s<>()"'`]*/gi;
const LONG_HASH = /\b[0-9a-f]{40}\b|\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,39}\b/gi;
/** `(#123)`, which squash merges add to their titles. */
const PULL_SUFFIX = /\s*\((?:[\w.-]+\/[\w.-]+)?(?:#|gh-|!)\d+\)\s*$/i;
/** `fix(parser): `, and `[parser] `: kind and scope of a change say nothing by themselves. */
const KIND_PREFIX = /^(?:[a-z]+(?:\([^)]*\))?!?:\s+|\[[^\]]*\]\s+)/i;

const MERGE_TITLE =
  /^Merge (?:pull request|branch|branches|remote-tracking branch|tag|commit|pr|#|!|[0-9a-f]{7,})\b.*$/i;

const EMPTY_WORDS: ReadonlySet<string> = new Set(
  `a an and the of for in on to with from by at is are be as it its this that some more all few
  fix fixes fixed fixing bug bugs bugfix issue issues problem problems error errors patch hotfix
  add adds added adding update updates updated change changes changed make use remove removes removed
  improve improves improved minor small various misc miscellaneous stuff things work wip tmp temp cleanup clean
  refactor refactoring test tests testing spec specs lint linting format formatting style typo typos
  doc docs documentation comment comments review feedback address addresses code build ci chore feat feature
  support pr merge branch commit squash release version bump initial final new old files file`.split(/\s+/),
);

/**
 * The task that a commit message describes, without what would give the change itself away or helps nobody: diffs, trailers,
 * references to its own commit and pull request, marks of merges. Null if what remains says nothing.
 */
export function statementOf(message: string): string | null {
  const lines = withoutDiffs(visible(message.slice(0, MAX_MESSAGE)).split('\n'));
  const start = skipBlank(lines);
  const isMerge = MERGE_TITLE.test(start[0]?.trim() ?? '');
  const [first = '', ...rest] = isMerge ? skipBlank(start.slice(1)) : start;
  const kept = [first.replace(PULL_SUFFIX, ''), ...rest]
    .filter((line) => !TRAILER.test(line) && !PROVENANCE.test(line) && !ONLY_REFERENCE.test(line))
    .map((line) => line.replace(FIX_LINK, '').replace(LONG_HASH, '').trimEnd());
  const text = cut(
    kept
      .join('\n')
      .replace(/\n{3,}/g, '\n\n')
      .trim(),
    { codePoints: MAX_STATEMENT },
  );
  return saysSomething(text) ? text : null;
}

/** The first line of a message and, if it is that of a merge, the first line about what was merged. */
export function titlesOf(message: string): readonly string[] {
  const [first = '', ...rest] = skipBlank(message.slice(0, MAX_MESSAGE).split('\n'));
  return MERGE_TITLE.test(first.trim()) ? [first, skipBlank(rest)[0] ?? ''] : [first];
}

/**
 * The task that issues describe together: what their pages show, without diffs and links to changes. Null if it says
 * nothing.
 */
export function statementOfIssues(
  issues: readonly { readonly title: string; readonly body: string }[],
): string | null {
  const texts = issues.map(({ title, body }) => {
    const page = visible(`${visiblePlain(title).text}\n\n${visibleMarkdown(body).text}`);
    const lines = withoutDiffs(page.split('\n')).map((line) => line.replace(FIX_LINK, '').trimEnd());
    return lines.join('\n').trim();
  });
  const text = cut(texts.join('\n\n').replace(/\n{3,}/g, '\n\n'), { codePoints: MAX_STATEMENT });
  return saysSomething(text) ? text : null;
}

function skipBlank(lines: readonly string[]): readonly string[] {
  const start = lines.findIndex((line) => line.trim() !== '');
  return start < 0 ? [] : lines.slice(start);
}

/** Without fenced or plain diffs. A plain one reaches from its header to the next line that is no part of a hunk. */
function withoutDiffs(lines: readonly string[]): readonly string[] {
  const kept: string[] = [];
  let at = 0;
  while (at < lines.length) {
    const line = lines[at] ?? '';
    if (DIFF_LINE.test(line)) at = endOfDiff(lines, at);
    else if (FENCE.test(line)) {
      const end = endOfFence(lines, at);
      const body = lines.slice(at, end);
      if (!isDiff(body)) kept.push(...body);
      at = end;
    } else {
      kept.push(line);
      at += 1;
    }
  }
  return kept;
}

function endOfDiff(lines: readonly string[], from: number): number {
  let at = from + 1;
  while (
    at < lines.length &&
    (DIFF_LINE.test(lines[at] ?? '') ||
      /^(?:[ +\-\\]|new file|deleted file|similarity|rename )/.test(lines[at] ?? ''))
  )
    at += 1;
  return at;
}

/** After the closing fence; the end of the text if it is missing. */
function endOfFence(lines: readonly string[], from: number): number {
  const closing = lines.findIndex((line, at) => at > from && FENCE.test(line));
  return closing < 0 ? lines.length : closing + 1;
}

const isDiff = ([fence = '', ...body]: readonly string[]): boolean =>
  /\b(?:diff|patch)\b/i.test(fence) || body.some((line) => DIFF_LINE.test(line));

function saysSomething(text: string): boolean {
  const words = text.replace(KIND_PREFIX, '').match(/\p{L}[\p{L}\p{M}\p{N}_]*/gu) ?? [];
  let letters = 0;
  for (const word of words) {
    if (EMPTY_WORDS.has(word.toLowerCase())) continue;
    letters += /\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Hangul}/u.test(word)
      ? 3 * word.length
      : word.length;
    if (letters >= MIN_LETTERS) return true;
  }
  return false;
}

/** The first line of a statement, for lists. */
export const statementTitle = (statement: string): string =>
  cut(statement.split('\n', 1)[0] ?? '', { codePoints: 100 });
