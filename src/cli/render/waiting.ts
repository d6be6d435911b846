import { openInquiry } from '../../core/dialogue/index.ts';
import { elapsed, lineWords, type RunView } from '../../core/reports/index.ts';
import { shown } from './terminal.ts';

/** What the run waits for and the commands that answer it, a line each; none where it waits for nobody. */
export function waitingLines(view: RunView): readonly string[] {
  if (view.line) return [lineWords(view)];
  const waits = view.state === 'awaiting_answer' || view.state === 'awaiting_approval';
  const open = waits && view.dialogue ? openInquiry(view.dialogue) : null;
  if (!open) return [];
  const left = `${elapsed(open.until - view.now)} left`;
  if (open.kind === 'approval') {
    return [
      `It waits for an approval of its plan (${left}):`,
      ...(view.brief?.plan ?? []).map((step, at) => `  ${at + 1}. ${shown(step, 500)}`),
      `  → runoff approve ${view.id}`,
      `  → runoff revise ${view.id} "what should be different"`,
    ];
  }
  const { text, options } = open.question;
  return [
    `It asks (${left}): ${shown(text, 400)}`,
    ...options.map((option, at) => `  ${at + 1}. ${shown(option, 200)}`),
    ...(options.length > 0 ? [`  → runoff answer ${view.id} 1`] : []),
    `  → runoff answer ${view.id} "in your own words"`,
  ];
}
