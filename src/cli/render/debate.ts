import {
  type CriticTurn,
  type Debate,
  type DebateRound,
  questionsOf,
  specDiff,
} from '../../core/debate/index.ts';
import type { Objection } from '../../core/judging/index.ts';
import type { Usd } from '../../core/model/index.ts';
import {
  counted,
  criticText,
  DEBATE_STOP_LABELS,
  money,
  OBJECTION_RESULT_LABELS,
  type RunView,
  reviewOutcome,
  tokens,
  visibleCode,
} from '../../core/reports/index.ts';
import type { DebateEvent } from '../../runs/index.ts';
import { type Paint, printable, wrap } from './terminal.ts';

interface EndedDebate {
  readonly id: string;
  readonly debate: Debate;
  /** US dollars of this call; less than the cost of the debate if answers were stored by an earlier call. */
  readonly paid: Usd;
}

/** One progress line within a round. */
export function debateProgress(news: DebateEvent): string {
  const round = `round ${news.round + 1}`;
  switch (news.kind) {
    case 'asked':
      return `${round}  ${news.assignment.critic.padEnd(12)} reads (${printable(news.assignment.model, 80)})`;
    case 'synthesis':
      return `${round}  ${'synthesis'.padEnd(12)} ${counted(news.open, 'open issue')} (${printable(news.model, 80)})`;
    case 'answered':
      return `${round}  ${news.assignment.critic.padEnd(12)} ${critiqueResult(news.turned)}`;
  }
}

function critiqueResult(turned: Extract<DebateEvent, { kind: 'answered' }>['turned']): string {
  if (turned.kind === 'stands') return 'approved before, nothing changed';
  if (turned.kind === 'failed') return `failed: ${printable(turned.why)}`;
  const { issues, approved } = turned.critique;
  const pressed = turned.checks.length > 0 ? ', challenged' : '';
  return `${approved ? `approves${pressed}` : 'does not approve'}, ${counted(issues.length, 'issue')}, ${money(turned.cost.usd)}`;
}

/** The line at the end of a round. */
export const roundLine = ({ roundNumber, hasConsensus, changed, cost }: DebateRound): string =>
  `round ${roundNumber + 1}  ${hasConsensus ? 'consensus' : 'no consensus yet'}; ${Math.round(changed * 100)}% of the lines changed; ${tokens(cost.inputTokens + cost.outputTokens)} tokens, ${money(cost.usd)}\n`;

/** The whole debate as Markdown, for people and for pipes. */
export function debateReport({ id, debate, paid }: EndedDebate, out: string | undefined): string {
  const { rounds, ledger, end, cost, spec, original, acceptance } = debate;
  const diff = specDiff(original, spec).text;
  const questions = questionsOf(debate);
  const price = `${tokens(cost.inputTokens)} tokens in, ${tokens(cost.outputTokens)} out, ${money(cost.usd)}${paid < cost.usd ? `, of which ${money(paid)} in this call` : ''}`;
  const parts = [
    `# Debate ${id}: ${end ? DEBATE_STOP_LABELS[end.stop] : 'in progress'}`,
    `${printable(end?.because ?? '', 400)}\n${counted(rounds.length, 'round')}, ${price}.`,
    section('Rounds', rounds.flatMap(roundLines)),
    section('Issues', ledger.map(issueLines)),
    section(
      'For you to decide',
      questions.map(({ text, options, assume }) =>
        [
          `- ${printable(text, 400)}`,
          ...options.map((option, i) => `  ${i + 1}. ${printable(option)}`),
          `  Assumed: ${printable(assume)}`,
        ].join('\n'),
      ),
    ),
    section(
      'Acceptance tests',
      acceptance.map(
        ({ given, expect, catches }) =>
          `- Given ${printable(given, 400)}: ${printable(expect, 400)} (catches: ${printable(catches)})`,
      ),
    ),
    section(
      'What changed',
      diff === '' ? ['Nothing.'] : [`\`\`\`diff\n${visibleCode(diff).trimEnd()}\n\`\`\``],
    ),
    out === undefined ? `## The spec\n\n${visibleCode(spec).trimEnd()}` : `The spec is in ${printable(out)}.`,
  ];
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`;
}

const section = (title: string, lines: readonly string[]): string =>
  lines.length === 0 ? '' : `## ${title}\n\n${lines.join('\n')}`;

const roundLines = (round: DebateRound): readonly string[] => [
  `${round.roundNumber + 1}. ${round.critiques.map(critiqueLine).join('; ')} (${money(round.cost.usd)})`,
  ...(round.synthesis?.failed ? [`   the synthesis failed: ${printable(round.synthesis.failed)}`] : []),
  ...(round.synthesis?.refused ?? []).map((why) => `   edit not applied: ${printable(why)}`),
];

function critiqueLine(one: CriticTurn): string {
  const who = printable(one.critic, 41);
  if (one.kind === 'failed') return `${who} failed: ${printable(one.why, 120)}`;
  if (one.kind === 'stands') return `${who} approved before`;
  const ids = [...one.raised, ...one.upheldIssues].join(', ');
  return `${who} ${one.approved ? 'approves' : 'does not approve'}${ids ? ` (${ids})` : ''}`;
}

function issueLines({
  id,
  severity,
  critic,
  title,
  scenario,
  status,
  loweredBecause,
}: Debate['ledger'][number]): string {
  return [
    `- ${id} (${severity}, ${printable(critic, 41)}) ${status.kind}: ${printable(title)}`,
    ...(scenario.trim() ? [`  case: ${printable(scenario, 600)}`] : []),
    ...(loweredBecause ? [`  ${printable(loweredBecause)}`] : []),
    ...(status.kind === 'open' ? [] : [`  because: ${printable(status.because, 400)}`]),
  ].join('\n');
}

/** The debate as it is stored, for programs. */
export const debateJson = ({ id, debate, paid }: EndedDebate) => ({
  id,
  stop: debate.end?.stop,
  because: debate.end?.because,
  hasConsensus: debate.rounds.at(-1)?.hasConsensus ?? false,
  spec: debate.spec,
  original: debate.original,
  rounds: debate.rounds,
  ledger: debate.ledger,
  acceptance: debate.acceptance,
  questions: questionsOf(debate),
  cost: { ...debate.cost, paidNow: paid },
});

const INDENT = '     ';

/** The critics' findings on the leading candidates, for a terminal. */
export function review({ review: all = [] }: RunView, width: number, paint: Paint): readonly string[] {
  if (all.length === 0) return [];
  const inner = width - INDENT.length;
  const item = (text: string, mark: string) =>
    wrap(printable(text, 700), inner - 2).map((line, i) => `${i === 0 ? mark : `${INDENT}  `}${line}`);
  return [
    paint('strong', 'Review of the winner'),
    ...all.flatMap((one) => [
      ...wrap(
        printable(reviewOutcome(one, all) || `Reviewed by ${counted(one.critics.length, 'critic')}.`, 600),
        inner,
      ).map((line, i) => (i === 0 ? `  ${one.alias}  ${line}` : `${INDENT}${line}`)),
      ...one.critics.flatMap((report) => [
        ...item(`${report.critic} ${criticText(report)}`, `${INDENT}- `),
        ...('objections' in report
          ? report.objections.flatMap((each) => item(objection(each), `${INDENT}  `))
          : []),
      ]),
    ]),
  ];
}

const objection = ({ file, line, input, expected, got, outcome }: Objection): string =>
  `${OBJECTION_RESULT_LABELS[outcome]}: ${file}:${line}, input ${input}: expected ${expected}, got ${got}`;
