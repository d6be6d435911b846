import { machineFaultIn } from './machine-fault.ts';

/** When it makes sense to try again without changing anything. */
type Retry = 'now' | 'later' | 'no';

interface FaultEntry {
  readonly retry: Retry;
  /** What the reader should do next: one or two sentences. */
  readonly advice: string;
}

/**
 * All faults that users can encounter. `docs/troubleshooting.md` has one section for each; `test/docs.test.ts` keeps
 * them in sync. Expected outcomes (no survivor, a refused run) are values, not faults.
 */
export const FAULTS = {
  SANDBOX_UNAVAILABLE: {
    retry: 'no',
    advice:
      'Run `runoff doctor`: it names what is missing and how to fix it. docs/sandbox.md covers every kind of host.',
  },
  DATABASE_UNAVAILABLE: {
    retry: 'later',
    advice:
      'Check DATABASE_URL, or unset it to use the embedded database. `runoff doctor` shows which one is in use.',
  },
  ARTIFACTS_UNAVAILABLE: {
    retry: 'later',
    advice:
      'Check ARTIFACTS_URL and, for s3://, S3_ENDPOINT, S3_REGION and the access key. `runoff doctor` tests the store.',
  },
  SETTINGS_INVALID: {
    retry: 'no',
    advice:
      'Correct it where it is written, in the settings file, the command or the environment, then start the run again.',
  },
  SETTINGS_UNWRITTEN: {
    retry: 'no',
    advice: 'Commit what is there or remove it, then repeat the command.',
  },
  ENVIRONMENT_INVALID: {
    retry: 'no',
    advice: 'Correct the variables named above; `.env.example` describes each one.',
  },
  MODEL_KEY_MISSING: {
    retry: 'no',
    advice:
      "Set the provider's key, such as ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY; docs/configuration.md lists them all.",
  },
  MODEL_UNKNOWN: {
    retry: 'no',
    advice:
      'Name a model as provider/model where it is written, in the settings file, the command or the environment; `runoff models` lists those that your keys can use.',
  },
  MODEL_UNAVAILABLE: {
    retry: 'later',
    advice:
      'Check the key and the model name with `runoff doctor`, then start the run again. If the message says how the model answered, choose another model.',
  },
  MODEL_PRICE_UNKNOWN: {
    retry: 'no',
    advice:
      'Choose a model with a known price, or set MODEL_PRICES for it (US dollars per million tokens). Or set MAX_TOKENS_CANDIDATE and `budget.tokens` to limit it by tokens.',
  },
  MODEL_MISMATCH: {
    retry: 'no',
    advice:
      'Choose a model from a provider that this agent supports, in the settings file, the command or the environment; `runoff agents` lists them.',
  },
  AGENT_MISSING: {
    retry: 'no',
    advice: 'Install it with `runoff agents install NAME`, restore its folder, or choose another coder.',
  },
  AGENT_INSTALL_FAILED: {
    retry: 'later',
    advice: 'Check the network and the registry that `npm config get registry` prints, then install again.',
  },
  AGENT_UNKNOWN: {
    retry: 'no',
    advice:
      'Correct the name where it is written, in the settings file, the command or the environment; `runoff agents` lists coders and tested versions.',
  },
  NOT_A_REPOSITORY: { retry: 'no', advice: 'Name a folder of a git repository.' },
  REPOSITORY_UNKNOWN: {
    retry: 'no',
    advice:
      'Name it as OWNER/NAME, by its path, or by its key; `runoff leaderboard --json` lists the repositories with outcomes.',
  },
  REPOSITORY_INCOMPLETE: {
    retry: 'no',
    advice: 'Complete it: `git fsck` lists what is missing, and `git fetch --refetch` brings it again.',
  },
  REPOSITORY_EMPTY: {
    retry: 'no',
    advice: 'Make a first commit: candidates need a commit to start from.',
  },
  REPOSITORY_READ_ONLY: {
    retry: 'no',
    advice: 'Make its `.git` folder writable: Runoff stores each candidate there as a branch.',
  },
  BASE_MISSING: { retry: 'no', advice: 'Name an existing branch; `git branch --list` shows them.' },
  CHANGES_REFUSED: { retry: 'no', advice: 'Commit what the run should start from, then start it again.' },
  PROMPT_EMPTY: {
    retry: 'no',
    advice: 'Describe the task: `runoff run "Fix the …"` or `runoff run --file TASK.md`.',
  },
  BASE_BROKEN: {
    retry: 'no',
    advice:
      'First make set-up and build run on the base commit (`checks.setup` installs packages), then start the run again.',
  },
  TESTS_NOT_STARTED: {
    retry: 'no',
    advice:
      'Name in `testCommand` a command that starts in the sandbox on the base commit, and install there what it needs, then send the request again.',
  },
  REGISTRY_UNAVAILABLE: {
    retry: 'later',
    advice:
      'Start the run again when the package registry responds. If it happens again, check that this machine reaches the named host, and what its package client is set to.',
  },
  CHECKS_UNTRUSTED: {
    retry: 'no',
    advice:
      'Start the run in a terminal and answer the question, or pass `--trust-checks` if you trust this repository.',
  },
  DISK_FULL: {
    retry: 'later',
    advice: 'Free disk space in the RUNOFF_DATA folder, then start the run again.',
  },
  DISK_FAILING: {
    retry: 'later',
    advice:
      'Check the disk of the RUNOFF_DATA folder on the machine that runs Runoff: it reports errors, does not respond or is read-only (`dmesg`, `mount`). Then start the run again.',
  },
  RESOURCES_EXHAUSTED: {
    retry: 'later',
    advice:
      'Start the run again. If it happens again, give the machine that runs Runoff more memory or a higher limit of open files (`ulimit -n`), or let it do less at a time.',
  },
  PROGRAM_KILLED: {
    retry: 'later',
    advice:
      'Start the run again. If it happens again, find out what kills programs on the machine that runs Runoff: the kernel logs those it kills when memory runs out (`journalctl -k`, `dmesg`).',
  },
  STORED_DATA_DAMAGED: {
    retry: 'later',
    advice:
      'Start the run again: it recreates what it needs. If it happens again, check the disk with the damaged file; the log names it.',
  },
  GITHUB_UNAVAILABLE: { retry: 'later', advice: 'Start the run again when GitHub responds.' },
  GITHUB_REFUSED: {
    retry: 'no',
    advice:
      "Compare the App's permissions with `app.yml`, and check the repository's rules for `auto-dev/*` branches.",
  },
  OUTPUT_UNWRITABLE: {
    retry: 'no',
    advice: 'Name a file in an existing folder, or for a report a folder, that you can write to.',
  },
  COMMAND_LINE_INVALID: {
    retry: 'no',
    advice: 'Correct the command line; `runoff COMMAND --help` lists what each command takes.',
  },
  SPEC_MISSING: {
    retry: 'no',
    advice: 'Name a Markdown file (`runoff debate SPEC.md`) or pipe its text in.',
  },
  SPEC_TOO_LONG: {
    retry: 'no',
    advice: 'Split it into files that can be decided independently, and debate each one.',
  },
  CONTEST_UNKNOWN: {
    retry: 'no',
    advice: 'Create it with `runoff arena init NAME`, or name its folder with `--dir`.',
  },
  CONTEST_INVALID: {
    retry: 'no',
    advice: 'Correct the named lines; docs/arena.md describes every field and file of a contest.',
  },
  CONTEST_CHANGED: {
    retry: 'no',
    advice:
      'Undo the change, start another contest with `runoff arena init`, or go on with `runoff arena gen --new-version`: earlier votes and answers stay in the files and no longer count.',
  },
  CONTEST_INCOMPLETE: {
    retry: 'no',
    advice: '`runoff arena report` shows which answers there are, and what was left out.',
  },
  RUN_UNKNOWN: {
    retry: 'no',
    advice: 'Run `runoff runs` for a list of runs on this machine, or start one: `runoff run "Fix the …"`.',
  },
  RUN_NOT_WAITING: {
    retry: 'no',
    advice: 'Run `runoff status RUN` to see what the run is doing or waiting for.',
  },
  REPLY_UNFIT: {
    retry: 'no',
    advice:
      'Run `runoff status RUN` to see the question and its options, then reply with `runoff answer RUN 2` or in your own words; reply to a plan with `runoff approve RUN` or `runoff revise RUN TEXT`.',
  },
  TOKEN_REFUSED: {
    retry: 'no',
    advice:
      '`runoff token list` shows all tokens, `runoff token create --help` the options; docs/api.md explains them.',
  },
  CANDIDATE_UNKNOWN: {
    retry: 'no',
    advice: 'Run `runoff show RUN` to see the candidates of the run and which of them have a patch.',
  },
  BUDGET_TOO_SMALL: {
    retry: 'no',
    advice:
      'Raise `budget.run` (`--budget`; on GitHub `/auto-dev retry --budget DOLLARS`) or reduce the number of candidates.',
  },
  ALREADY_RUNNING: {
    retry: 'no',
    advice: 'Stop the other process first, or let it finish: only one process can use a name at a time.',
  },
  EXECUTOR_EXPIRED: {
    retry: 'no',
    advice:
      'Nothing to do: other processes continue its work, and it restarts. If it happens again, find out what pauses this machine for a minute (memory, sleep, network).',
  },
  DAY_BUDGET_REACHED: {
    retry: 'later',
    advice:
      'The budget resets at midnight UTC. The operator sets it with MAX_BUDGET_DAY and MAX_BUDGET_REPOSITORY_DAY.',
  },
  RUN_TOO_LONG: {
    retry: 'no',
    advice:
      'Reduce the work: fewer candidates or rounds, or a shorter `timeout` in the settings. The operator sets the limit with MAX_RUN_TIME.',
  },
  MOVE_REFUSED: {
    retry: 'no',
    advice:
      'Stop every Runoff process that uses either database, on all machines, and pass --to a reachable database without runs; docs/operations.md has the steps.',
  },
  INTERNAL: {
    retry: 'now',
    advice: 'This is a bug in Runoff. Please report it with the surrounding log lines.',
  },
} as const satisfies Record<string, FaultEntry>;
export type FaultCode = keyof typeof FAULTS;

/** Faults that resolve by waiting: they reveal nothing about a repository, a candidate or a tool. */
export const OUTAGES: ReadonlySet<FaultCode> = new Set([
  'GITHUB_UNAVAILABLE',
  'DATABASE_UNAVAILABLE',
  'ARTIFACTS_UNAVAILABLE',
  'DISK_FULL',
  'DISK_FAILING',
  'RESOURCES_EXHAUSTED',
  'PROGRAM_KILLED',
  'REGISTRY_UNAVAILABLE',
]);

/** A fault from the catalogue: `message` says what happened and why, `advice` what to do next. */
export class Fault extends Error {
  readonly code: FaultCode;
  readonly advice: string;
  readonly retry: Retry;

  constructor(code: FaultCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'Fault';
    this.code = code;
    this.advice = FAULTS[code].advice;
    this.retry = FAULTS[code].retry;
  }
}

/** The fault for any thrown value; values from outside the catalogue become `INTERNAL`. */
export function asFault(thrown: unknown): Fault {
  if (thrown instanceof Fault) return thrown;
  if (isWithoutHome(thrown)) return new Fault('ENVIRONMENT_INVALID', WITHOUT_HOME, { cause: thrown });
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return new Fault(machineFaultIn(message) ?? 'INTERNAL', message, { cause: thrown });
}

const WITHOUT_HOME =
  'This user has no home folder: HOME is not set, and the system does not know the user. Set HOME to a folder of its own.';

/** What `homedir` of Node throws then, as in a container that runs as a bare number. */
const isWithoutHome = (thrown: unknown): boolean =>
  thrown instanceof Error && 'syscall' in thrown && thrown.syscall === 'uv_os_homedir';
