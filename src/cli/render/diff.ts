import { visibleCode } from '../../core/reports/index.ts';
import type { Paint, Tone } from './terminal.ts';

/** A patch for a terminal: coloured as git does it, with what a terminal would act on made visible. */
export function diffText(patch: string, paint: Paint): string {
  let inHunk = false;
  return patch
    .split('\n')
    .map((line) => {
      if (line.startsWith('diff --git ')) inHunk = false;
      else if (line.startsWith('@@ ')) inHunk = true;
      const tone = inHunk ? hunkTone(line) : 'strong';
      const shown = visibleCode(line);
      return tone === null ? shown : paint(tone, shown);
    })
    .join('\n');
}

function hunkTone(line: string): Tone | null {
  switch (line[0]) {
    case '+':
      return 'good';
    case '-':
      return 'bad';
    case '@':
      return 'dim';
    default:
      return null;
  }
}
