export {
  type ArenaContestant,
  CONTEST_FILE,
  type Contest,
  NO_AGENT,
  readContest,
} from './contest.ts';
export { readRecords, unfinishedChars } from './lines.ts';
export {
  BASES_FILE,
  BaseResult,
  type CastVote,
  countedVotes,
  recordLine,
  SAMPLES_FILE,
  Sample,
  type SampleOutcome,
  TestCounts,
  VERDICTS,
  Verification,
  VOTES_FILE,
  VoteRecord,
  type Voter,
} from './records.ts';
export { ARENA_VERSION, type ArenaTask, type RepoTask, readTasks, type TextTask, taskLine } from './tasks.ts';
export {
  baseId,
  changedAfterVotes,
  contestDigest,
  type NewVote,
  type ResolvedContest,
  type ResolvedContestant,
  type ResolvedTask,
  type Sha256,
  sampleId,
  voteId,
} from './versions.ts';
