import { chosenOf } from '../decision/index.ts';
import { briefSection } from './brief-section.ts';
import { debateSection } from './debate-section.ts';
import { diffEntries } from './diffs-section.ts';
import { evidenceSection } from './evidence-section.ts';
import { judgesSection } from './judges-section.ts';
import type { ReportKind } from './marker.ts';
import { inParts, type Parts } from './parts.ts';
import { rankingSection } from './ranking-table.ts';
import { reasonsSection } from './reasons.ts';
import { reviewSection } from './review-section.ts';
import { verdictSection } from './verdict.ts';
import type { Diffs, RunView } from './view.ts';

/**
 * Most that each section may take, in UTF-16 units. Names and sentences that grow when escaped can fill these; ordinary
 * runs use a tenth, and the diffs get the rest.
 */
const SECTION_ROOM = {
  ranking: 13_000,
  reasons: 12_000,
  evidence: 8_000,
  judges: 4_000,
  review: 4_000,
  brief: 6_000,
  debate: 4_000,
} as const;

/** The comparison of all candidates, for the pull request of the chosen one. One comment, or up to five. */
export function comparison(view: RunView, diffs: Diffs): Parts {
  return told('comparison', view, diffs, { head: verdictSection(view), next: [], everyone: false });
}

/** What differs between the places where candidates are compared. */
export interface Frame {
  readonly head: string;
  /** What the reader can do now, below the table. */
  readonly next: readonly string[];
  /** Whoever stands first is shown like all others: its reasons and its diff are nowhere else. */
  readonly everyone: boolean;
}

/** One screen first, in the order in which it is read: what was executed apart from what models said; then the diffs. */
export function told(kind: ReportKind, view: RunView, diffs: Diffs, frame: Frame): Parts {
  const blocks = [
    frame.head,
    rankingSection(view, SECTION_ROOM.ranking),
    ...frame.next,
    reasonsSection(view, SECTION_ROOM.reasons, frame.everyone),
    evidenceSection(view, diffs, SECTION_ROOM.evidence),
    judgesSection(view, SECTION_ROOM.judges),
    reviewSection(view, SECTION_ROOM.review),
    briefSection(view, SECTION_ROOM.brief),
    debateSection(view, SECTION_ROOM.debate),
  ];
  const others = !frame.everyone && chosenOf(view) !== null;
  return inParts(kind, view.id, blocks, {
    title: others ? 'The other diffs' : 'The diffs',
    entries: diffEntries(view, diffs, frame.everyone),
  });
}
