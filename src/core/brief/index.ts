export {
  briefFrom,
  briefSpec,
  checkBrief,
  forecast,
  repositoryMap,
  TOKENS_BY_SIZE,
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
  type Settlement,
  settleInquiry,
  withAssumed,
  withInquiry,
} from './dialogue.ts';
export { type PullFindings, pullTask, type ReviewRemark } from './pull-task.ts';
