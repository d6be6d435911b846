export { type Agreement, agreementOf, type TwoVerdicts } from './agreement.ts';
export {
  type Ballot,
  judgeBallots,
  matchesOf,
  personBallots,
  voterKey,
} from './ballots.ts';
export { capContest } from './ceilings.ts';
export {
  type Competition,
  competitionOf,
  decisionId,
  poolsOf,
  type SamplePool,
  WAYS,
} from './competition.ts';
export { competitionSection } from './competition-section.ts';
export {
  CONTEST_FILE,
  type Contest,
  isContestName,
  NO_AGENT,
  readContest,
} from './contest.ts';
export { contestTemplate } from './contest-template.ts';
export { diffIn } from './diff-answer.ts';
export { frontPicture } from './front-picture.ts';
export { contestantAuthor, judgedAnswer, judgedOrders, judgedTask, pairsForJudges } from './judging.ts';
export { readRecords, unfinishedChars } from './lines.ts';
export {
  alikeMatches,
  type ComparableSample,
  mostInformative,
  pairKey,
  pairsOf,
  type SamplePair,
  sidesOf,
} from './pairs.ts';
export { askedIdentity, type PlannedSample, planSamples, reusable } from './plan.ts';
export { eloOf, type Match, type Rating, type RatingTable, rate } from './rating.ts';
export type { ReportSection, ReportTable } from './rating-section.ts';
export {
  BASES_FILE,
  BaseResult,
  type CastVote,
  countedVotes,
  DECISION_CLASSES,
  DECISIONS_FILE,
  PoolDecision,
  recordLine,
  SAMPLES_FILE,
  Sample,
  TestCounts,
  VERDICTS,
  Verification,
  VOTES_FILE,
  VoteRecord,
  type Voter,
} from './records.ts';
export { type ArenaReport, arenaReport } from './report.ts';
export { REPORT_FILES, reportHtml, reportJson, reportMarkdown } from './report-files.ts';
export { reportSections, reportSummary, reportTitle } from './report-sections.ts';
export { MAX_SHOWN_CHARS, pathsByInterest, repairPrompt, repositoryPrompt } from './repository-prompt.ts';
export { type ExpectedTests, hiddenFile, whyBroken, whyIncomplete } from './required-tests.ts';
export { type ContestRecords, latestBases, type Standing, standingOf } from './standing.ts';
export { type ArenaTask, type RepoTask, readTasks, taskLine } from './tasks.ts';
export {
  checkScripts,
  countsOfRun,
  isBroken,
  notCounting,
  notStarted,
  verificationOf,
  whyUnrated,
} from './verification.ts';
export {
  baseId,
  changedAfterVotes,
  contestDigest,
  type NewVote,
  type ResolvedContest,
  type ResolvedContestant,
  type ResolvedRepoTask,
  type ResolvedTask,
  type Sha256,
  sampleId,
  voteId,
} from './versions.ts';
export {
  type BallotQuestion,
  ballotQuestion,
  executedText,
  lastVote,
  nextQuestion,
  openPairs,
  pairsInTurn,
} from './voting.ts';
