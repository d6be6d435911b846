export { type Checked, checkBrief } from './check.ts';
export { type CostOf, type Forecast, forecast, TOKENS } from './forecast.ts';
export { type RepositoryMap, repositoryMap } from './map.ts';
export { type FailingCheck, type PullFindings, pullTask, type ReviewRemark } from './pull-task.ts';
export { briefFrom, specOf } from './spec.ts';
export { type Triage, triage } from './triage.ts';
