export {
  comparedWith,
  type DetectedRecipe,
  type FailedTry,
  MAX_ALTERNATIVES,
  morePackages,
  nextRecipe,
  recipeFiles,
  type StopReason,
  withRecipe,
} from './alternatives.ts';
export { definesCommands, withBaseScripts } from './base-scripts.ts';
export type { DetectedChecks } from './checks.ts';
export type { CiService } from './ci-services.ts';
export { ciJob, workflowFiles } from './ci-workflow.ts';
export {
  AUTO,
  assignAliases,
  contestants,
  type Entrant,
  fnv1a,
  fullModelName,
  mulberry32,
  PROVIDERS,
} from './contestants.ts';
export { checkFiles, detectChecks } from './detected-checks.ts';
export { Environment } from './environment.ts';
export type { ArtifactsPlace, Bucket } from './environment-problems.ts';
export { isLoopback } from './environment-values.ts';
export { EVALUATORS, type Evaluator, EvaluatorNames, Weights, WHEN, type When } from './evaluator.ts';
export {
  absentContent,
  gitDependencyFiles,
  gitEnvironment,
  lfsPaths,
  sourceRepositoriesNote,
  withArchiveHosts,
} from './git-content.ts';
export { shellQuoted } from './last-resorts.ts';
export { removableInLock } from './left-out-packages.ts';
export {
  type Ceilings,
  capSettings,
  ceilingsOf,
  type DayCaps,
  LONG_UNUSED,
  moreSilence,
  moreTime,
  quotaStep,
  sized,
  type Times,
  timesOf,
  timesWithin,
} from './limits.ts';
export { withNodeHeaders } from './node-managers.ts';
export * from './operator.ts';
export { failureOfPip } from './other-python-setups.ts';
export { type PagesSettings, SIGN_IN_CALLBACK_PATH, SIGN_IN_PATH } from './pages.ts';
export { parseSettings, readSettingsText, type SettingsDefaults } from './parse-settings.ts';
export { problemsOf, suggest } from './problems.ts';
export { shownSetup } from './python-setup.ts';
export { NO_REPORT } from './report-options.ts';
export { type ReportPlan, reportPlan } from './report-plan.ts';
export type { ReportFormat, ReportSource } from './report-source.ts';
export { freshReports, PYTEST_FILE, RSPEC_FILE } from './reports-of-any-runner.ts';
export { COMMAND_NAMES, type CommandName, Recipe, SUGGESTED, settingsOfRecipe } from './repository-recipe.ts';
export { schemaProblem } from './schema-problem.ts';
export {
  type FoundService,
  MYSQL_PATH,
  SERVICE_NOT_STARTED,
  SERVICE_REFUSED,
  type ServiceName,
} from './service-scripts.ts';
export {
  missingServices,
  missingServicesNote,
  type ServicePlan,
  serviceNotes,
  servicePlan,
} from './services.ts';
export { Argv, CoderSetting, duration, MODEL_PROTOCOLS, type ModelProtocol, Settings } from './settings.ts';
export {
  declaredSubmodules,
  hostObstacle,
  isPlainPath,
  type SubmoduleAccess,
  submoduleAddress,
} from './submodules.ts';
export { alone, type CommandForm, inForm, plainCommand, type TestCommand } from './test-command.ts';
export { testSteps } from './test-steps.ts';
export { readPlainToml } from './toml-and-yaml.ts';
export {
  type FoundTool,
  languagesOf,
  type NodeManager,
  toolchainFiles,
  type WantedManager,
  type WantedTools,
  wantedTools,
} from './toolchain.ts';
export { decoded } from './traces.ts';
export { isRunByCi, isTypeCheckStep, type TypeCheck, typeChecks } from './type-checks.ts';
export {
  isVersionRange,
  parseVersion,
  type RuntimeLanguage,
  satisfies,
  type Version,
  type WantedVersion,
} from './versions.ts';
export { venvPath } from './virtual-environment.ts';
export {
  affectedPackages,
  packageFiles,
  stepFiles,
  type WorkspacePackage,
  workspaceGraph,
} from './workspace-graph.ts';
