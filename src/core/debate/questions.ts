import { createTwoFilesPatch, diffLines } from 'diff';
import { redactInjections } from '../judging/index.ts';
import type { Task } from '../model/index.ts';
import { block, commentsBlock, oneLine, repliesBlock } from '../prompts/index.ts';
import type { LedgerEntry, Synthesis } from './types.ts';

/** One seat in a debate. */
export interface CriticAssignment {
  /** Persona. */
  readonly critic: string;
  /** `provider/model`. */
  readonly model: string;
}

/**
 * Assigns models to seats: one of each family first, so that at least two families are asked if available. `rotate`
 * shifts every critic to the next model in each round. `lost` are models that failed to answer before: they are used
 * only if no other is left.
 */
export function assignCritics(
  critics: readonly string[],
  models: readonly string[],
  familyOf: (model: string) => string,
  turn: { readonly round: number; readonly rotate: boolean; readonly unresponsive?: ReadonlySet<string> },
): readonly CriticAssignment[] {
  const responsive = models.filter((model) => !turn.unresponsive?.has(model));
  const order = byFamily(responsive.length > 0 ? responsive : models, familyOf);
  if (order.length === 0) return [];
  const shift = turn.rotate ? turn.round : 0;
  return critics.map((critic, i) => ({ critic, model: order[(i + shift) % order.length] as string }));
}

/** The first models of every family in input order, then second ones, and so on. */
function byFamily(models: readonly string[], familyOf: (model: string) => string): readonly string[] {
  const unique = [...new Set(models)];
  const nth = (model: string, at: number) =>
    unique.slice(0, at).filter((other) => familyOf(other) === familyOf(model)).length;
  return unique
    .map((model, at) => ({ model, at, turn: nth(model, at) }))
    .toSorted((a, b) => a.turn - b.turn || a.at - b.at)
    .map(({ model }) => model);
}

const MAX_TASK_CHARS = 12_000;
const MAX_LEDGER_ENTRIES = 40;

/** The input of a critic or the synthesizer besides the spec. */
export interface PromptContext {
  readonly nonce: string;
  /** The task from which the spec was made; absent: there is only the spec. */
  readonly task?: string;
  /** What maintainers said about the task, oldest first. */
  readonly said?: { readonly comments: Task['comments']; readonly replies: readonly string[] };
  readonly focusAreas: readonly string[];
}

const contextBlocks = ({ nonce, task, said, focusAreas }: PromptContext): readonly string[] => [
  ...(task === undefined ? [] : [block('TASK', nonce, task, MAX_TASK_CHARS)]),
  ...(said ? saidBlocks(said, nonce) : []),
  ...(focusAreas.length === 0 ? [] : [`Look at these first: ${focusAreas.map(oneLine).join('; ')}.`]),
];

const saidBlocks = (
  { comments, replies }: NonNullable<PromptContext['said']>,
  nonce: string,
): readonly string[] => [
  ...commentsBlock(comments, nonce, MAX_TASK_CHARS),
  ...repliesBlock(replies, nonce, MAX_TASK_CHARS),
  ...(replies.length > 0
    ? ['What MAINTAINERS SAID about the work is decided: raise no issue against it.']
    : []),
];

/** A first review of the whole spec. Critics do not see each other's reviews. */
export const initialQuestion = (spec: string, shown: PromptContext): string =>
  [
    ...contextBlocks(shown),
    block('SPEC', shown.nonce, spec, MAX_SPEC_CHARS),
    'Write your critique of the whole spec.',
  ].join('\n\n');

interface FollowUp {
  /** Since this critic's last review. */
  readonly changes: SpecChanges;
  /** Rejected issues of this critic. */
  readonly own: readonly LedgerEntry[];
  readonly ledger: readonly LedgerEntry[];
}

/** A later review: only of changes, and of the critic's own rejected issues. */
export function followUpQuestion({ changes, own, ledger }: FollowUp, shown: PromptContext): string {
  const { isEqual, sections, removed, unchanged } = changes;
  const same = isEqual ? '(nothing changed)' : '(no section has new text)';
  const { nonce } = shown;
  const rejected = own.map(
    (entry) =>
      `${entry.id} (${entry.severity}) ${safeLine(entry.title)}\n  you wanted: ${safeLine(entry.edit)}\n  rejected: ${entry.status.kind === 'rejected' ? safeLine(entry.status.because) : ''}`,
  );
  return [
    ...contextBlocks(shown),
    block('CHANGED', nonce, sections.length > 0 ? sections.join('\n\n') : same, MAX_SPEC_CHARS),
    ...(removed.length > 0
      ? [
          block('REMOVED', nonce, removed.join('\n\n'), MAX_SPEC_CHARS),
          'The spec no longer has what was REMOVED.',
        ]
      : []),
    ...(unchanged.length > 0 ? [block('AS BEFORE', nonce, unchanged.map(oneLine).join('\n'))] : []),
    ...(rejected.length > 0 ? [block('REJECTED', nonce, rejected.join('\n'))] : []),
    block('ISSUES', nonce, ledger.slice(-MAX_LEDGER_ENTRIES).map(anonymousIssue).join('\n')),
    'Check what changed and your rejected issues. Raise nothing about what did not change.',
  ].join('\n\n');
}

/** Without author, votes, or other critics' words: only its content, in the words of the spec. */
const anonymousIssue = ({ id, severity, quote, status, loweredBecause }: LedgerEntry): string =>
  `${id} (${severity}) about ${loweredBecause === undefined ? JSON.stringify(oneLine(quote)) : 'the spec'}: ${status.kind}`;

/** A first approval is challenged: the critic reviews again, and adds a test that the finished work can fail. */
export const challengeQuestion = (spec: string, shown: PromptContext): string =>
  [
    ...contextBlocks(shown),
    block('SPEC', shown.nonce, spec, MAX_SPEC_CHARS),
    'You approved this spec. Before that counts: read it once more against the plausible ways to get it wrong. Name at least three checks that you made, each with the words of the spec that settle it, and write one acceptance test that a plausible wrong implementation fails. If you find that something is missing after all, raise it and do not approve.',
  ].join('\n\n');

/** The open issues without their authors: as many complete ones as fit; the others wait for the next round. */
export const synthesisQuestion = (spec: string, open: readonly LedgerEntry[], shown: PromptContext): string =>
  [
    ...contextBlocks(shown),
    block('SPEC', shown.nonce, spec, MAX_SPEC_CHARS),
    block('ISSUES', shown.nonce, textsThatFit(open.map(issueText)).join('\n\n'), MAX_SPEC_CHARS),
    'Give a verdict on every issue, and the edits for those that you accept.',
  ].join('\n\n');

const issueText = ({ id, severity, title, quote, scenario, edit, needsHuman, upheld }: LedgerEntry): string =>
  [
    `${id} (${severity}${needsHuman ? ', asks for a maintainer' : ''}${upheld > 0 ? ', upheld after a rejection' : ''}): ${safeLine(title)}`,
    `  quote: ${oneLine(quote)}`,
    `  scenario: ${safeLine(scenario) || '(none)'}`,
    `  proposed: ${safeLine(edit)}`,
  ].join('\n');

function textsThatFit(texts: readonly string[]): readonly string[] {
  let size = 0;
  return texts.filter((text) => {
    size += text.length + 2;
    return size <= MAX_SPEC_CHARS;
  });
}

const safeLine = (text: string): string => redactInjections(oneLine(text)).text;

/** Maximum growth of a spec: 40%, or this many characters for short ones, for which a single case would be 40%. */
const MAX_GROWTH = 0.4;
const MIN_GROWTH_CHARS = 1_000;

/** Maximum characters of a spec that are read. Default: some ten pages. */
export const MAX_SPEC_CHARS = 40_000;

export const maxSpecLength = (original: string): number =>
  Math.min(MAX_SPEC_CHARS, Math.max(original.length * (1 + MAX_GROWTH), original.length + MIN_GROWTH_CHARS));

interface EditedSpec {
  readonly spec: string;
  /** One sentence for each rejected edit. */
  readonly refused: readonly string[];
  /** Issues with an applied edit. */
  readonly edited: readonly string[];
  /** An edit was rejected because the spec would have grown too much. */
  readonly grewTooMuch: boolean;
}

interface EditRules {
  readonly original: string;
  /** Whether a text is valid as spec; for a brief, whether it still has its sections. */
  readonly fits: (spec: string) => boolean;
}

/**
 * Applies the synthesizer's edits in order. An edit must belong to an accepted issue and quote the text that it
 * replaces verbatim, so that nothing can be dropped unnoticed.
 */
export function applyEdits(
  spec: string,
  { edits }: Pick<Synthesis, 'edits'>,
  ledger: readonly LedgerEntry[],
  { original, fits }: EditRules,
): EditedSpec {
  const refused: string[] = [];
  const edited: string[] = [];
  let grewTooMuch = false;
  let current = spec;
  for (const { issue, find, replace } of edits) {
    const status = ledger.find(({ id }) => id === issue)?.status.kind;
    const no = (why: string) => refused.push(`${issue}: ${why}`);
    const next = replaceOnly(current, find, replace);
    if (status !== 'accepted') no('an edit for an issue that was not accepted.');
    else if (next === current) no('an edit that changes nothing.');
    else if (next === null) no('an edit whose quote does not stand in the spec exactly once.');
    else if (next.length > maxSpecLength(original)) {
      grewTooMuch = true;
      no('an edit that would make the spec grow by more than it may.');
    } else if (!fits(next)) no('an edit that would break the form of the spec.');
    else {
      current = next;
      edited.push(issue);
    }
  }
  return { spec: current, refused, edited, grewTooMuch };
}

function replaceOnly(text: string, find: string, replace: string): string | null {
  const at = text.indexOf(find);
  if (at < 0 || text.indexOf(find, at + 1) >= 0) return null;
  return `${text.slice(0, at)}${replace}${text.slice(at + find.length)}`;
}

interface SpecDiff {
  /** Unified diff; empty if the texts are equal. */
  readonly text: string;
  /** Share of changed lines, 0 to 1: the larger of added and removed lines. */
  readonly changed: number;
}

export function specDiff(before: string, after: string): SpecDiff {
  if (before === after) return { text: '', changed: 0 };
  let added = 0;
  let removed = 0;
  for (const part of diffLines(before, after)) {
    if (part.added) added += part.count;
    if (part.removed) removed += part.count;
  }
  const lines = Math.max(lineCount(before), lineCount(after), 1);
  const text = createTwoFilesPatch('spec', 'spec', before, after, '', '', { context: 2 });
  // The first lines name files, which do not exist here.
  return { text: text.slice(text.indexOf('@@')), changed: Math.min(1, Math.max(added, removed) / lines) };
}

const lineCount = (text: string): number => text.trimEnd().split('\n').length;

/** The parts of a Markdown text between headings, each with its own. */
export function sectionsOf(spec: string): readonly string[] {
  return spec
    .split(/^(?=#{1,6} )/m)
    .map((section) => section.trimEnd())
    .filter((section) => section !== '');
}

/** How a text differs from an earlier one, in sections. */
export interface SpecChanges {
  readonly isEqual: boolean;
  /** Sections that do not occur unchanged in the earlier text. */
  readonly sections: readonly string[];
  /** Sections of the earlier text that are gone, and not replaced by one with the same heading. */
  readonly removed: readonly string[];
  /** The beginnings of the other sections' headings or first words. */
  readonly unchanged: readonly string[];
}

export function specChanges(before: string, after: string): SpecChanges {
  const [old, now] = [sectionsOf(before), sectionsOf(after)];
  const sections = now.filter((section) => !old.includes(section));
  const [headings, texts] = [sections.map(headingOf), sections.map(textBelow)];
  // By one with the same heading, or, where only the heading changed, with the same text.
  const isReplaced = (section: string): boolean =>
    headings.includes(headingOf(section)) ||
    (textBelow(section) !== '' && texts.includes(textBelow(section)));
  return {
    isEqual: before === after,
    sections,
    removed: old.filter((section) => !now.includes(section) && !isReplaced(section)),
    unchanged: now
      .filter((section) => old.includes(section))
      .map((section) => firstLineOf(section).slice(0, 80)),
  };
}

const firstLineOf = (section: string): string => section.split('\n', 1)[0] ?? '';
/** Empty for the part before the first heading. */
const headingOf = (section: string): string => (section.startsWith('#') ? firstLineOf(section) : '');
const textBelow = (section: string): string => section.slice(headingOf(section).length).trim();
