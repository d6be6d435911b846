import {
  type Debate,
  type DebateRound,
  differenceOf,
  type Hearing,
  type LedgerEntry,
} from '../debate/index.ts';
import { counted, money } from './format.ts';
import { details, fill, table } from './layout.ts';
import { code, fencedDiff, sentence } from './safe.ts';
import type { RunView } from './view.ts';
import { STOP_WORDS } from './words.ts';

/** The debate in one line; empty where there was none. */
export function debateLine({ debate }: Pick<RunView, 'debate'>): string {
  return debate ? `**Debate of the brief:** ${debateWords(debate, (critic) => code(critic, 41))}` : '';
}

/** How it ended, after how many rounds of whom, with how many issues, at what price. */
export function debateWords(debate: Debate, named: (critic: string) => string): string {
  const { rounds, end, cost } = debate;
  const critics = [...new Set(rounds.flatMap(({ critiques }) => critiques.map(({ critic }) => critic)))];
  const how = end ? STOP_WORDS[end.stop] : 'goes on';
  return `${how} after ${counted(rounds.length, 'round')} of ${critics.map(named).join(', ')}; ${issueCounts(debate)}; ${money(cost.usd)}.`;
}

function issueCounts({ ledger }: Debate): string {
  const of = (kind: LedgerEntry['fate']['kind']) => ledger.filter(({ fate }) => fate.kind === kind).length;
  const parts = (['accepted', 'rejected', 'asked', 'open'] as const)
    .map((kind) => [of(kind), kind] as const)
    .filter(([count]) => count > 0)
    .map(([count, kind]) => `${count} ${kind}`);
  return ledger.length === 0 ? 'no issue' : `${counted(ledger.length, 'issue')} (${parts.join(', ')})`;
}

/** Rounds, what became of each issue, and what the debate changed, folded away. Models wrote it: every line is made inert. */
export function debateSection({ debate }: Pick<RunView, 'debate'>, room: number): string {
  if (!debate) return '';
  const summary = 'The debate, and what it changed in the brief';
  const frame = details(summary, '').length;
  const rounds = table(['round', 'critics', 'changed', 'cost'], 'llrr', debate.rounds.map(roundRow));
  const left = room - frame - rounds.length - 20;
  if (left < 0) return '';
  const why = debate.end ? [sentence(debate.end.because, 400)] : [];
  const text = [...why, ...debate.ledger.map(entryLine)];
  const issues = fill(text, Math.floor(left / 2), {
    separator: '\n',
    more: (more) => `\n(${counted(more, 'more issue')}, left out for length)`,
  });
  const diff = differenceOf(debate.original, debate.spec).text;
  const shown = diff === '' ? null : fencedDiff(diff, left - issues.length - 60);
  const cut = shown && !shown.whole ? `\n\n(${shown.shownLines} of ${shown.totalLines} lines)` : '';
  const body = [rounds, issues, shown ? `${shown.block}${cut}` : ''].filter((part) => part !== '');
  return details(summary, body.join('\n\n'));
}

const roundRow = ({ roundNumber, critiques, changed, cost }: DebateRound): readonly string[] => [
  String(roundNumber + 1),
  critiques.map(hearingWords).join('; '),
  `${Math.round(changed * 100)} %`,
  money(cost.usd),
];

function hearingWords(hearing: Hearing): string {
  const who = code(hearing.critic, 41);
  if (hearing.kind === 'failed') return `${who} failed: ${sentence(hearing.why, 120)}`;
  if (hearing.kind === 'stands') return `${who} approved before`;
  const raised = hearing.raised.length + hearing.insists.length;
  if (hearing.approved) return `${who} approves${raised > 0 ? `, ${counted(raised, 'minor issue')}` : ''}`;
  return `${who} raises ${counted(raised, 'issue')}`;
}

function entryLine({ id, severity, title, scenario, fate, lowered }: LedgerEntry): string {
  const because = fate.kind === 'open' ? '' : `: ${sentence(fate.because, 200)}`;
  const case_ = scenario.trim() === '' ? '' : ` (${sentence(scenario, 200)})`;
  const low = lowered ? ` ${sentence(lowered, 120)}` : '';
  return `- **${id}** ${severity}, ${fate.kind}: ${sentence(title, 120)}${case_}${because}${low}`;
}
