export { decideContest, readDecisions } from './decide.ts';
export { type Generated, generateSamples } from './generate.ts';
export { type ArenaJudging, type JudgingEnd, judgeContest } from './judges.ts';
export { type LoadedContest, loadContest } from './load.ts';
export { type Mined, mineHistory } from './mine.ts';
export { payerOf } from './payer.ts';
export type { MinePorts } from './prove.ts';
export type { GenerateEvent, GeneratePorts } from './sample.ts';
export {
  openTaskBase,
  type TaskBase,
  type VerifyPorts,
  verifyBase,
  verifyDiff,
} from './verify.ts';
export { Voting } from './voting.ts';
