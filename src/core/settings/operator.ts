import { fullModelName, type ModelAccess, modelsOf } from './contestants.ts';
import { Environment } from './environment.ts';
import {
  type ArtifactsPlace,
  artifactsPlace,
  contradictions,
  type EnvironmentProblem,
  where,
} from './environment-problems.ts';
import { type PagesSettings, pagesOf } from './pages.ts';
import { schemaProblem } from './schema-problem.ts';
import type { ModelProtocol } from './settings.ts';
import { type TraceSettings, tracesOf } from './traces.ts';

interface GitHubApp {
  readonly appId: number;
  /** PEM. */
  readonly privateKey: string;
  readonly webhookSecret: string;
}

/** A program of the operator that works as a coder under its own name. */
export interface AgentCommand {
  readonly argv: readonly [string, ...string[]];
  /** `command`: the task on standard input; `acp`: it speaks the Agent Client Protocol. */
  readonly speaks: 'command' | 'acp';
  /** Folder of the host that holds it, seen read-only at the same path below /opt, else at /opt/agents/NAME. */
  readonly folder?: string;
  readonly protocols: readonly ModelProtocol[];
  readonly env: Readonly<Record<string, string>>;
}

export interface SandboxChoice {
  readonly backend: 'bubblewrap' | 'container' | 'none';
  /** Image of the container backend. */
  readonly image?: string;
  /** Program of the container backend; absent: the first of podman and docker that works. */
  readonly engine?: 'podman' | 'docker';
  /** Weaker protections may be used if this host does not allow the default; every report names them. */
  readonly allowWeaker: boolean;
  /** Maximum bytes of memory of one sandbox; absent: as this machine has. */
  readonly memory?: number;
}

/** US dollars for a million tokens. */
interface ModelPrice {
  readonly input: number;
  readonly output: number;
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
}

/**
 * The operator's configuration from the environment. Contains secrets: never log it or pass it to a stage as a whole.
 */
export interface Operator extends TraceSettings {
  /** Absent until all of APP_ID, PRIVATE_KEY and WEBHOOK_SECRET are set; the command line needs none of them. */
  readonly app?: GitHubApp;
  /** Missing variables of the App. */
  readonly appLacks: readonly string[];
  readonly github: {
    readonly apiUrl: string;
    /** Where repositories are cloned from, without a final slash. */
    readonly gitUrl: string;
  };
  readonly http: { readonly host: string; readonly port: number; readonly portIsSet: boolean };
  readonly pages: PagesSettings;
  /** Data folder. */
  readonly data: string;
  readonly prompts?: string;
  /** File that the App's key was read from. */
  readonly privateKeyPath?: string;
  readonly databaseUrl?: string;
  /** Where artifacts are kept; absent: below the data folder. */
  readonly artifacts?: ArtifactsPlace;
  /** Providers that have a key, or an address of their own, by name. */
  readonly models: Readonly<Record<string, ModelAccess>>;
  /** By `provider/model`. */
  readonly modelPrices: Readonly<Record<string, ModelPrice>>;
  readonly max: {
    readonly candidates: number;
    readonly budgetRun: number;
    readonly budgetCandidate: number;
    readonly timeoutSeconds: number;
    readonly runSeconds: number;
    /** US dollars in one day (UTC), of everything and of one repository. */
    readonly budgetDay: number;
    readonly budgetRepositoryDay: number;
    /** US dollars in one day (UTC) of the runs that one user asked for. */
    readonly budgetUserDay: number;
    /** US dollars in one day (UTC) of all repositories of one installation. */
    readonly budgetInstallationDay: number;
    /** Runs on GitHub that start in one day (UTC). */
    readonly runsRepositoryDay: number;
    readonly runsUserDay: number;
    readonly runsInstallationDay: number;
    readonly tokensCandidate?: number;
  };
  readonly codersPerWorker: number;
  readonly codersPerRepository: number;
  readonly examinationsPerWorker: number;
  /** Distinguishes workers on one machine. */
  readonly workerName?: string;
  /** How long things are kept, milliseconds. */
  readonly keep: { readonly runs: number; readonly ledger: number };
  /** Minimum free bytes of the data folder for starting a run. */
  readonly minFreeDisk: number;
  /** Maximum bytes of the data folder; 0: no limit. */
  readonly maxDisk: number;
  /** Maximum concurrent runs in one process. */
  readonly runsAtOnce: number;
  readonly networkAllow: readonly string[];
  /** Set-up commands may reach the package registries that this machine's own clients use. */
  readonly registries: boolean;
  readonly logLevel: Environment['LOG_LEVEL'];
  /** Token required for reading /metrics; absent: there is no such page. */
  readonly metricsToken?: string;
  readonly multiAgent: {
    /** False: one candidate per run. */
    readonly enabled: boolean;
    /** Number of candidates if the repository does not set it. */
    readonly count?: number;
    /** Models for coders without a model; empty: the gateway's defaults. */
    readonly models: readonly string[];
  };
  /** ENABLE_PRE_EXECUTION_DEBATE; absent: as repositories say. */
  readonly debates?: 'always' | 'never';
  readonly sandboxUid: number;
  readonly sandbox: SandboxChoice;
  /** Folder of the agents that `runoff agents install` puts there; absent: below the data folder. */
  readonly agentsFolder?: string;
  /** By the name used in settings. */
  readonly agentCommands: Readonly<Record<string, AgentCommand>>;
}

type ParsedEnvironment =
  | { readonly kind: 'ok'; readonly operator: Operator }
  | { readonly kind: 'invalid'; readonly problems: readonly EnvironmentProblem[] };

/** Reads the environment; ignores other variables, treats empty ones as not set. */
export function parseEnvironment(env: Readonly<Record<string, string | undefined>>): ParsedEnvironment {
  const set = Object.fromEntries(
    Object.keys(Environment.shape).flatMap((name) => {
      const value = env[name]?.trim();
      return value ? [[name, value]] : [];
    }),
  );
  const parsed = Environment.safeParse(set);
  if (!parsed.success) {
    const problems = parsed.error.issues.map((issue) => ({
      name: String(issue.path[0]),
      message:
        issue.code === 'invalid_type' && issue.path.length === 1
          ? 'is not set'
          : where(issue.path.slice(1)) + schemaProblem(issue),
    }));
    return { kind: 'invalid', problems };
  }
  const problems = contradictions(parsed.data);
  return problems.length > 0
    ? { kind: 'invalid', problems }
    : { kind: 'ok', operator: operatorOf(parsed.data) };
}

const DEFAULT_PORT = 3000;

function operatorOf(env: Environment): Operator {
  const { APP_ID, PRIVATE_KEY, WEBHOOK_SECRET } = env;
  const artifacts = artifactsPlace(env);
  const ofApp = { APP_ID, PRIVATE_KEY, WEBHOOK_SECRET };
  const missingVariables = Object.entries(ofApp).filter(([, value]) => value === undefined);
  return {
    ...(APP_ID !== undefined && PRIVATE_KEY && WEBHOOK_SECRET
      ? { app: { appId: APP_ID, privateKey: PRIVATE_KEY, webhookSecret: WEBHOOK_SECRET } }
      : {}),
    appLacks: missingVariables.map(([name]) => name),
    github: githubOf(env),
    http: { host: env.HOST, port: env.PORT ?? DEFAULT_PORT, portIsSet: env.PORT !== undefined },
    pages: pagesOf(env),
    data: env.RUNOFF_DATA,
    ...(env.PRIVATE_KEY_PATH ? { privateKeyPath: env.PRIVATE_KEY_PATH } : {}),
    ...(env.RUNOFF_PROMPTS ? { prompts: env.RUNOFF_PROMPTS } : {}),
    ...(env.DATABASE_URL ? { databaseUrl: env.DATABASE_URL } : {}),
    ...(artifacts ? { artifacts } : {}),
    models: modelsOf(env),
    modelPrices: env.MODEL_PRICES as Readonly<Record<string, ModelPrice>>,
    max: maxOf(env),
    codersPerWorker: env.CODERS_PER_WORKER,
    codersPerRepository: env.CODERS_PER_REPOSITORY,
    examinationsPerWorker: env.EXAMINATIONS_PER_WORKER,
    ...(env.RUNOFF_WORKER_NAME ? { workerName: env.RUNOFF_WORKER_NAME } : {}),
    runsAtOnce: env.RUNS_AT_ONCE,
    ...keepingOf(env),
    networkAllow: env.NETWORK_ALLOW.filter((word) => word !== 'registries' && word !== 'none'),
    registries: env.NETWORK_ALLOW.includes('registries'),
    logLevel: env.LOG_LEVEL,
    ...(env.METRICS_TOKEN ? { metricsToken: env.METRICS_TOKEN } : {}),
    ...tracesOf(env),
    multiAgent: {
      enabled: env.MULTI_AGENT_MODE,
      ...(env.MULTI_AGENT_COUNT === undefined ? {} : { count: env.MULTI_AGENT_COUNT }),
      models: env.MULTI_AGENT_MODELS.map((name) => fullModelName(name, Object.keys(modelsOf(env)))),
    },
    ...(env.ENABLE_PRE_EXECUTION_DEBATE === undefined
      ? {}
      : { debates: env.ENABLE_PRE_EXECUTION_DEBATE ? ('always' as const) : ('never' as const) }),
    sandboxUid: env.RUNOFF_SANDBOX_UID,
    sandbox: sandboxOf(env),
    ...(env.RUNOFF_AGENTS ? { agentsFolder: env.RUNOFF_AGENTS } : {}),
    agentCommands: env.AGENT_COMMANDS as Readonly<Record<string, AgentCommand>>,
  };
}

const sandboxOf = (env: Environment): SandboxChoice => ({
  backend: env.RUNOFF_SANDBOX,
  allowWeaker: env.RUNOFF_SANDBOX_WEAKER,
  ...(env.RUNOFF_SANDBOX_MEMORY > 0 ? { memory: env.RUNOFF_SANDBOX_MEMORY } : {}),
  ...(env.RUNOFF_SANDBOX_IMAGE ? { image: env.RUNOFF_SANDBOX_IMAGE } : {}),
  ...(env.RUNOFF_SANDBOX_ENGINE ? { engine: env.RUNOFF_SANDBOX_ENGINE } : {}),
});

const keepingOf = (env: Environment): Pick<Operator, 'minFreeDisk' | 'maxDisk' | 'keep'> => ({
  minFreeDisk: env.MIN_FREE_DISK,
  maxDisk: env.MAX_DISK,
  keep: { runs: env.KEEP_RUNS, ledger: env.KEEP_LEDGER },
});

const maxOf = (env: Environment): Operator['max'] => ({
  candidates: env.MAX_CANDIDATES,
  budgetRun: env.MAX_BUDGET_RUN,
  budgetCandidate: env.MAX_BUDGET_CANDIDATE,
  timeoutSeconds: env.MAX_TIMEOUT,
  runSeconds: env.MAX_RUN_TIME,
  budgetDay: env.MAX_BUDGET_DAY,
  budgetRepositoryDay: env.MAX_BUDGET_REPOSITORY_DAY,
  budgetUserDay: env.MAX_BUDGET_USER_DAY ?? env.MAX_BUDGET_REPOSITORY_DAY,
  budgetInstallationDay: env.MAX_BUDGET_INSTALLATION_DAY ?? env.MAX_BUDGET_DAY,
  runsRepositoryDay: env.MAX_RUNS_REPOSITORY_DAY,
  runsUserDay: env.MAX_RUNS_USER_DAY,
  runsInstallationDay: env.MAX_RUNS_INSTALLATION_DAY,
  ...(env.MAX_TOKENS_CANDIDATE === undefined ? {} : { tokensCandidate: env.MAX_TOKENS_CANDIDATE }),
});

/** github.com, a host of GitHub Enterprise Cloud (`api.TENANT.ghe.com`), or a server with its API under `/api/v3`. */
function githubOf(env: Environment): Operator['github'] {
  if (env.GHE_HOST) {
    const gitUrl = `${env.GHE_PROTOCOL}://${env.GHE_HOST}`;
    return { apiUrl: `${gitUrl}/api/v3`, gitUrl };
  }
  const apiUrl = env.GITHUB_API_URL ?? 'https://api.github.com';
  const { protocol, host } = new URL(apiUrl);
  const web = host === 'api.github.com' || host.endsWith('.ghe.com') ? host.replace(/^api\./, '') : host;
  return { apiUrl, gitUrl: `${protocol}//${web}` };
}

/** Missing requirements of `runoff serve`; empty if it can start. */
export const missingForServe = (operator: Operator): readonly EnvironmentProblem[] =>
  operator.appLacks.map((name) => ({
    name,
    message: `is not set; the GitHub App needs it (${Environment.shape[name as 'APP_ID'].description ?? ''})`,
  }));
