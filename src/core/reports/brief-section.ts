import type { Inquiry } from '../dialogue/index.ts';
import type { Brief, Question } from '../model/index.ts';
import { details, fill } from './layout.ts';
import { code, sentence } from './safe.ts';
import type { RunView } from './view.ts';

const SUMMARY = 'The brief that every coder gets';

/** The brief, folded away. A model wrote it, so every line is made inert. */
export function briefSection(view: RunView, room: number): string {
  if (view.brief === undefined) return '';
  const frame = details(SUMMARY, '').length;
  const body = fill(lines(view.brief, view), room - frame, {
    separator: '\n',
    more: (left) => `\n(${left} more lines, left out for length)`,
  });
  return body === '' ? '' : details(SUMMARY, body);
}

function lines(brief: Brief, { dialogue, checks }: RunView): readonly string[] {
  const { testCommand } = brief;
  return [
    `**Goal.** ${sentence(brief.goal, 2_000)}`,
    ...list('Definition of done', brief.definitionOfDone),
    ...list('Plan', brief.plan),
    ...list('Assumptions', brief.assumptions),
    ...list('Maintainers said', dialogue?.inquiries.flatMap(said) ?? []),
    ...list('Open questions', brief.questions.map(asked)),
    ...list('Tests that critics of the brief named', brief.acceptance ?? []),
    ...(brief.files.length === 0
      ? []
      : [`\n**Files that will probably change**\n`, ...brief.files.map((path) => `- ${code(path, 300)}`)]),
    ...(brief.risk ? [`\n**Risk:** ${brief.risk.level}. ${sentence(brief.risk.because, 400)}`] : []),
    ...(brief.changedTests?.length
      ? [`\n**Tests that must change**\n`, ...brief.changedTests.map((path) => `- ${code(path, 300)}`)]
      : []),
    ...(testCommand && checks && testCommand !== checks.test
      ? [
          `\nThe planner takes ${code(testCommand, 200)} for the test command; what is run is ${code(checks.test, 200)}.`,
        ]
      : []),
    ...list("Left out of the planner's answer", brief.notes ?? []),
  ];
}

function said(inquiry: Inquiry): readonly string[] {
  const { settled } = inquiry;
  if (settled?.kind === 'answered' && inquiry.kind === 'answer') {
    return [`${inquiry.question.text} ${settled.text}`];
  }
  return settled?.kind === 'revised' ? [settled.text] : [];
}

/** Of a brief that is agreed no question is open: what was not answered stands among the assumptions. */
const asked = ({ text, assume }: Question): string => `${text} Proposed: ${assume}`;

const list = (title: string, items: readonly string[]): readonly string[] =>
  items.length === 0 ? [] : [`\n**${title}**\n`, ...items.map((item) => `- ${sentence(item, 500)}`)];
