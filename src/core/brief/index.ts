export {
  briefFrom,
  type CheckedBrief,
  checkBrief,
  type RepositoryMap,
  repositoryMap,
  specOf,
  type Triage,
  triage,
} from './brief.ts';
export {
  type Dialogue,
  durationText,
  expiryReason,
  type Inquiry,
  type InquiryContext,
  MAX_QUESTIONS_ASKED,
  matchReply,
  type NewReply,
  type NextStep,
  NO_DIALOGUE,
  nextInquiry,
  openInquiry,
  type Reply,
  type ReplyMatch,
  type Settlement,
  settleInquiry,
  withAssumed,
  withInquiry,
} from './dialogue.ts';
export { type CostOf, type Forecast, forecast, TOKENS_BY_SIZE } from './forecast.ts';
export { type FailingCheck, type PullFindings, pullTask, type ReviewRemark } from './pull-task.ts';
