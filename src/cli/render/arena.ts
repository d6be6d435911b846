import { isBroken } from '../../core/arena/index.ts';
import { counted } from '../../core/model/index.ts';
import type { Generated, GenerateEvent } from '../../runs/index.ts';
import { printable } from './terminal.ts';

const dollars = (usd: number): string => `$${usd.toFixed(usd > 0 && usd < 0.1 ? 4 : 2)}`;

function timeLeft(ms: number): string {
  const seconds = Math.round(ms / 1000);
  return seconds < 90 ? `${seconds} s left` : `${Math.round(seconds / 60)} min left`;
}

/** One line of progress of `runoff arena gen`. `budget`: US dollars. */
export function generateLine(event: GenerateEvent, budget: number): string {
  switch (event.kind) {
    case 'note':
      return printable(event.text, 600);
    case 'base': {
      const { task, rated, why } = event.base;
      if (rated) return `base of ${task}: the task distinguishes contestants`;
      const effect = isBroken(event.base) ? 'nobody is asked' : 'left out of ratings';
      return `base of ${task}: ${effect}. ${printable(why ?? '', 600)}`;
    }
    case 'sample': {
      const { sample, done, total, usd, leftMs } = event;
      const left = done === total ? '' : `  ${timeLeft(leftMs)}`;
      return `${done}/${total}  ${dollars(usd)} of ${dollars(budget)}${left}  ${sample.task}  ${sample.contestant}  ${outcomeText(sample)}`;
    }
    case 'unasked':
      return `not asked: ${event.sample.task.id}  ${event.sample.contestant.id}  ${printable(event.why, 400)}`;
  }
}

type MadeSample = Extract<GenerateEvent, { kind: 'sample' }>['sample'];

function outcomeText({ outcome, why, verification, reusedFrom }: MadeSample): string {
  const reused = reusedFrom === null ? '' : ' (answer of before)';
  if (verification) {
    const said = verification.solved
      ? solvedText(verification)
      : `not solved: ${printable(verification.why ?? '', 200)}`;
    return `${said}${reused}`;
  }
  const words = {
    answered: 'answered',
    refused: 'refused',
    'not-a-diff': 'no diff',
    failed: 'failed',
  } as const;
  return `${words[outcome]}${why === null ? '' : `: ${printable(why, 200)}`}${reused}`;
}

const solvedText = ({ hiddenTests, tests }: NonNullable<MadeSample['verification']>): string =>
  (hiddenTests ?? tests)?.reported === false ? 'solved, by the exit code alone' : 'solved';

/** What `runoff arena gen` made, and what to do `next`. `name`: with its `--dir`, as words of a shell. */
export function generatedText(
  { done, total, made, reused, unasked, unrated, usd }: Generated,
  { name, next }: { readonly name: string; readonly next: 'report' | 'vote' },
): string {
  const reasons = [...new Set(unasked.map(({ why }) => why))];
  return `${[
    `${done} of ${counted(total, 'sample')}; ${made} made now${reused > 0 ? `, ${reused} of them with an answer that was paid before` : ''}. ${dollars(usd)} spent.`,
    ...unrated.map(({ task, why }) => `Left out of ratings: ${task}. ${printable(why ?? '', 600)}`),
    ...(unasked.length > 0
      ? [
          `${counted(unasked.length, 'sample is', 'samples are')} missing: ${reasons.map((why) => printable(why, 400)).join(' ')}`,
          `Next: runoff arena gen ${name}`,
        ]
      : [`Next: runoff arena ${next} ${name}`]),
  ].join('\n')}\n`;
}
