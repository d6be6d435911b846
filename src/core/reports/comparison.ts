import { briefSection } from './brief-section.ts';
import { debateSection } from './debate-section.ts';
import { diffsSection } from './diffs-section.ts';
import { evidenceSection } from './evidence-section.ts';
import { BODY_ROOM } from './layout.ts';
import { report } from './marker.ts';
import { rankingSection } from './ranking-table.ts';
import { reasonsSection } from './reasons.ts';
import { reviewSection } from './review-section.ts';
import { verdictSection } from './verdict.ts';
import type { Diffs, Report, RunView } from './view.ts';

/**
 * Most that each section may take, in UTF-16 units. Names and sentences that grow when escaped can fill these; ordinary
 * runs use a tenth, and the diffs get the rest.
 */
const SECTION_ROOM = {
  ranking: 14_000,
  reasons: 13_000,
  review: 5_000,
  evidence: 8_000,
  brief: 6_000,
  debate: 5_000,
} as const;

/** The comparison of all candidates, for the pull request of the chosen one. */
export function comparison(view: RunView, diffs: Diffs): Report {
  return report('comparison', view.id, sections(view, diffs, ''));
}

/** The sections in the order in which they are read; `next` says what to do now. Fits into one comment. */
export function sections(view: RunView, diffs: Diffs, next: string): readonly string[] {
  const blocks = [
    verdictSection(view),
    rankingSection(view, SECTION_ROOM.ranking),
    next,
    reasonsSection(view, SECTION_ROOM.reasons),
    reviewSection(view, SECTION_ROOM.review),
    evidenceSection(view, diffs, SECTION_ROOM.evidence),
    briefSection(view, SECTION_ROOM.brief),
    debateSection(view, SECTION_ROOM.debate),
  ];
  const taken = blocks.reduce((sum, block) => sum + block.length + 2, 0);
  const marker = 100;
  return [...blocks, diffsSection(view, diffs, BODY_ROOM - taken - marker)];
}
