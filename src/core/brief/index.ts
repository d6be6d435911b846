export { briefFrom, type Checked, checkBrief, specOf, type Triage, triage } from './brief.ts';
export {
  asked,
  type Dialogue,
  type Fit,
  fits,
  type Inquiry,
  MOST_QUESTIONS,
  type NewReply,
  type Next,
  NO_DIALOGUE,
  nextInquiry,
  openInquiry,
  type Reply,
  type Settled,
  settle,
  span,
  type Wanted,
  whyStopped,
  withAssumed,
} from './dialogue.ts';
export { type CostOf, type Forecast, forecast, TOKENS } from './forecast.ts';
export { type RepositoryMap, repositoryMap } from './map.ts';
export { type FailingCheck, type PullFindings, pullTask, type ReviewRemark } from './pull-task.ts';
