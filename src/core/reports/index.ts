export { branchName, branchOf, localBranch } from './branches.ts';
export { type CheckText, checkText } from './check-text.ts';
export { choice, choicesOf } from './choice.ts';
export { comparison } from './comparison.ts';
export { debateWords } from './debate-section.ts';
export { explanation } from './explanation.ts';
export { counted, dollars, elapsed, money, plusMinus, shortSha, tokens } from './format.ts';
export { type HostFolder, withoutHostPaths } from './host-paths.ts';
export { BODY_LIMIT } from './layout.ts';
export {
  findMarker,
  type Marker,
  marker,
  REPORT_KINDS,
  type ReportKind,
  replyScope,
  report,
} from './marker.ts';
export { afterNobody, noWinner } from './outcome.ts';
export { MOST_PARTS, type Parts } from './parts.ts';
export { personFirst, personIn } from './people.ts';
export { votesLine } from './picked.ts';
export { type Advance, advanceMessage, commitMessage, type PullText, pullRequest } from './pull.ts';
export { type Otherwise, questionComment, type Tick, tickIn } from './question-comment.ts';
export { type DayCap, type Refusal, type RefusalWords, refusalComment, refusalWords } from './refusal.ts';
export { helpReply, noteReply, statusReply, unknownReply } from './replies.ts';
export { criticSaid, FATE_WORDS, placeAfter } from './review-section.ts';
export {
  type FailingTests,
  type RankRow,
  type Reason,
  rankRows,
  reasons,
  type ShownInput,
  standings,
} from './rows.ts';
export { code, fencedDiff, htmlCode, link, plain, prose, sentence } from './safe.ts';
export { statusComment } from './status.ts';
export { agreementNote, contestedQuestion, testNotes } from './test-facts.ts';
export type {
  ChecksView,
  Diffs,
  DiffView,
  OriginView,
  OutcomeView,
  Report,
  RunView,
  SandboxView,
  StageView,
  TroubleView,
} from './view.ts';
export { type Bounds, cut, oneLine, tailOf, visible, visibleCode, withoutEscapes } from './visible.ts';
export { leftNothing } from './what-next.ts';
export { JUDGED_ALL_THE_SAME } from './where.ts';
export {
  CANDIDATE_WORDS,
  contestantName,
  doingWords,
  GATE_WORDS,
  lineWords,
  nth,
  SEPARATOR_WORDS,
  STAGE_WORDS,
  STOP_WORDS,
  shortContestantNames,
  stageNumber,
  stageOf,
  standsWords,
  verdictWords,
} from './words.ts';
