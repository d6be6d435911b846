import { type DiffLineKind, diffLineKinds, visibleCode } from '../../core/reports/index.ts';
import type { Paint, Tone } from './terminal.ts';

/** A patch for a terminal: coloured as git does it, with what a terminal would act on made visible. */
export function diffText(patch: string, paint: Paint): string {
  const lines = patch.split('\n');
  const kinds = diffLineKinds(lines);
  return lines
    .map((line, at) => {
      const tone = DIFF_TONES[kinds[at] ?? 'context'];
      const shown = visibleCode(line);
      return tone === null ? shown : paint(tone, shown);
    })
    .join('\n');
}

export const DIFF_TONES: Readonly<Record<DiffLineKind, Tone | null>> = {
  header: 'strong',
  hunk: 'dim',
  added: 'good',
  removed: 'bad',
  context: null,
};
