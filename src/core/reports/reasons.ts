import { chosenOf } from '../decision/index.ts';
import { counted } from './format.ts';
import { details, fill } from './layout.ts';
import { type FailingTests, type Reason, reasons, type ShownInput } from './rows.ts';
import { code, fencedDiff, prose, sentence } from './safe.ts';
import type { RunView } from './view.ts';

/** UTF-16 units of the lines that broke a gate. */
const HUNK_ROOM = 1_500;
/** What folds it away, and the note that it was shortened. */
const HUNK_FRAME = 120;
/** Code points of an input, and of what it gives. */
const VALUE = 160;

/** Why not each other candidate: one sentence, the tests it fails, inputs that show it, the lines that broke a gate. */
export function reasonsSection(view: RunView, room: number, everyone = false): string {
  const all = reasons(view, everyone);
  if (all.length === 0) return '';
  const title =
    chosenOf(view) === null
      ? '#### Why not'
      : everyone
        ? '#### What is known of each'
        : '#### Why not the others';
  const share = Math.floor((room - title.length) / all.length) - 2;
  const entries = all.map((reason) => reasonLines(reason, share)).filter((text) => text !== '');
  return [title, ...entries].join('\n\n');
}

/** One candidate of these. */
export function reasonLines(reason: Reason, room: number): string {
  const lines = [
    `**${reason.alias}**: ${sentence(reason.because)}`,
    ...reason.failing.map(failing),
    ...reason.inputs.map(inputLine),
  ];
  const text = fill(lines, room, {
    separator: '\n',
    more: (left) => `- (${counted(left, 'more line')}, left out for length)`,
  });
  if (reason.hunk === undefined) return text;
  const hunk = fencedDiff(reason.hunk, Math.min(HUNK_ROOM, room - text.length - HUNK_FRAME));
  if (hunk === null) return text;
  const block = details('The lines in question', `${hunk.block}${hunk.whole ? '' : '\n\n(shortened)'}`);
  return `${text}\n\n${block}`;
}

function failing(tests: FailingTests): string {
  const names = tests.names.map((name) => code(name, 140)).join(', ');
  return `- fails ${tests.of}: ${names}${tests.more > 0 ? ` and ${tests.more} more` : ''}`;
}

/** One executed input with what came out. A probe that follows a test from inside has no text of its own. */
const inputLine = ({ input, got, wanted, whose }: ShownInput): string =>
  `- ${input.trim() === '' ? 'one input' : `input ${code(input, VALUE)}`} gives ${prose(got, VALUE)}, ${whose} ${prose(wanted, VALUE)}`;
