import { createTwoFilesPatch, diffLines } from 'diff';

export interface Difference {
  /** Unified diff; empty where the texts are the same. */
  readonly text: string;
  /** Part of the lines that changed, 0 to 1: the larger of those added and those removed. */
  readonly changed: number;
}

export function differenceOf(before: string, after: string): Difference {
  if (before === after) return { text: '', changed: 0 };
  let added = 0;
  let removed = 0;
  for (const part of diffLines(before, after)) {
    if (part.added) added += part.count;
    if (part.removed) removed += part.count;
  }
  const lines = Math.max(linesOf(before), linesOf(after), 1);
  const text = createTwoFilesPatch('spec', 'spec', before, after, '', '', { context: 2 });
  // The first lines name files, which there are none of.
  return { text: text.slice(text.indexOf('@@')), changed: Math.min(1, Math.max(added, removed) / lines) };
}

const linesOf = (text: string): number => text.trimEnd().split('\n').length;

/** The parts of a Markdown text between headings, each with its own. */
export function sectionsOf(spec: string): readonly string[] {
  return spec
    .split(/^(?=#{1,6} )/m)
    .map((section) => section.trimEnd())
    .filter((section) => section !== '');
}

/** Sections of the newer text that are not in the older one as they stand. */
export function changedSections(before: string, after: string): readonly string[] {
  const old = new Set(sectionsOf(before));
  return sectionsOf(after).filter((section) => !old.has(section));
}
