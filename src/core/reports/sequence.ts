import type { Usd } from '../model/index.ts';
import { counted, money, stageOf } from './format.ts';
import type { RunView } from './view.ts';

/**
 * How many contestants of a sequential field start, and what they probably cost, in one sentence; null for other runs,
 * for a field of one, and once it is known. `shown`: how a text writes dollars.
 */
export function sequencePlan(view: RunView, shown: (usd: Usd) => string = money): string | null {
  const { sequence } = view;
  if (!sequence || sequence.end || stageOf(view) === null) return null;
  const { first, of, firstUsd, allUsd } = sequence;
  if (of === 1) return null;
  if (first === of) return `Both contestants start at once, because no test could confirm a single one.`;
  const now = firstUsd === null ? '' : `, for about ${shown(firstUsd)}`;
  const all = allUsd === null ? '' : `; all ${of} would cost about ${shown(allUsd)}`;
  return `Contestants start one after the other: ${first} of ${of} first${now}, and more only if needed${all}.`;
}

/**
 * How many contestants of a sequential field were started, why no more, and what that saved; null for other runs and
 * if all started at once.
 */
export function sequenceResult({ sequence }: Pick<RunView, 'sequence'>): string | null {
  if (!sequence?.end) return null;
  const { started, of, because, savedUsd } = sequence.end;
  if (sequence.first === of) return null;
  if (started === of) return `All ${counted(of, 'contestant')} were started.`;
  const saved = savedUsd === null || savedUsd === 0 ? '' : ` That saved about ${money(savedUsd)}.`;
  return `${started} of ${counted(of, 'contestant')} ${started === 1 ? 'was' : 'were'} started (\`adaptive.field: sequential\`). ${because}${saved}`;
}
