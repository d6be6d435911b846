export { assignAliases } from './aliases.ts';
export type { ArtifactsPlace, Bucket } from './artifacts-place.ts';
export { type Ceilings, capSettings, ceilingsOf, type DayCaps } from './ceilings.ts';
export { CHECK_FILES, type DetectedChecks, detectChecks } from './checks.ts';
export { contestants, type Entrant, type Field } from './contestants.ts';
export { Environment } from './environment.ts';
export { type KnownProvider, PROVIDERS } from './model-access.ts';
export * from './operator.ts';
export {
  type ParsedSettings,
  parseSettings,
  type SettingsDefaults,
  type SettingsProblem,
} from './parse-settings.ts';
export { moreSilence, moreTime, type Times, timesOf, timesWithin } from './patience.ts';
export { heldSince, LONG_UNUSED, type QuotaStep, quotaStep, type Unused } from './quota.ts';
export {
  plainCommand,
  type ReportFormat,
  type ReportPlan,
  type ReportSource,
  reportPlan,
  type TestCommand,
} from './report-plan.ts';
export { CoderSetting, EVALUATORS, type Evaluator, Settings, Weights } from './settings.ts';
export { storedTask } from './stored-task.ts';
export { suggest } from './suggest.ts';
