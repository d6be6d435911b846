export { absentContent, absentContentFiles, lfsPaths } from './absent-content.ts';
export {
  comparedWith,
  type DetectedRecipe,
  type FailedTry,
  MAX_ALTERNATIVES,
  nextRecipe,
  recipeFiles,
  withRecipe,
} from './alternatives.ts';
export { checkFiles, type DetectedChecks, detectChecks } from './checks.ts';
export { type CiService, ciJob, workflowFiles } from './ci-workflow.ts';
export { assignAliases, contestants, type Entrant, fnv1a, PROVIDERS } from './contestants.ts';
export { Environment } from './environment.ts';
export type { ArtifactsPlace, Bucket } from './environment-problems.ts';
export { EVALUATORS, type Evaluator, EvaluatorNames, Weights } from './evaluator.ts';
export { gitDependencyFiles, gitEnvironment } from './git-dependencies.ts';
export { shellQuoted } from './last-resorts.ts';
export {
  type Ceilings,
  capSettings,
  ceilingsOf,
  type DayCaps,
  LONG_UNUSED,
  moreSilence,
  moreTime,
  quotaStep,
  type Times,
  timesOf,
  timesWithin,
} from './limits.ts';
export * from './operator.ts';
export { parseSettings, type SettingsDefaults } from './parse-settings.ts';
export type { RuntimeLanguage, WantedVersion } from './pinned-versions.ts';
export { readPlainToml } from './plain-toml.ts';
export { shownSetup } from './python-tools.ts';
export { plainCommand, type ReportPlan, reportPlan, type TestCommand } from './report-plan.ts';
export { COMMAND_NAMES, type CommandName, Recipe, SUGGESTED } from './repository-recipe.ts';
export type { ReportFormat, ReportSource } from './runner-forms.ts';
export { type FoundService, missingServices, type ServicePlan, servicePlan } from './services.ts';
export { CoderSetting, MODEL_PROTOCOLS, type ModelProtocol, Settings } from './settings.ts';
export { settingsOfRecipe } from './settings-of-recipe.ts';
export { readSettingsText } from './settings-text.ts';
export { suggest } from './suggest.ts';
export { type TestStep, testSteps } from './test-steps.ts';
export {
  type FoundTool,
  type NodeManager,
  toolchainFiles,
  type WantedManager,
  type WantedTools,
  wantedTools,
} from './toolchain.ts';
export { parseVersion, satisfies, type Version } from './version-range.ts';
export {
  affectedPackages,
  packageFiles,
  stepFiles,
  type WorkspacePackage,
  workspaceGraph,
} from './workspace-graph.ts';
