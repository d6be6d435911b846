/** When it makes sense to try again without changing anything. */
type Retry = 'now' | 'later' | 'no';

interface FaultEntry {
  readonly retry: Retry;
  /** What the person who reads it should do next: one or two sentences. */
  readonly advice: string;
}

/**
 * Every fault a user can meet. `docs/troubleshooting.md` has one section for each; `test/docs.test.ts` keeps them equal.
 * Expected outcomes (nothing survived, a run refused) are values, not faults.
 */
export const FAULTS = {
  SANDBOX_UNAVAILABLE: {
    retry: 'no',
    advice:
      'Run `runoff doctor`; it names what is missing and what mends it. docs/sandbox.md has every kind of host.',
  },
  DATABASE_UNAVAILABLE: {
    retry: 'later',
    advice: 'Check DATABASE_URL, or unset it to use the embedded database. `runoff doctor` tells which.',
  },
  ARTIFACTS_UNAVAILABLE: {
    retry: 'later',
    advice:
      'Check ARTIFACTS_URL and, for s3://, S3_ENDPOINT, S3_REGION and the access key. `runoff doctor` tries the store.',
  },
  SETTINGS_INVALID: { retry: 'no', advice: 'Correct the named line and start the run again.' },
  ENVIRONMENT_INVALID: {
    retry: 'no',
    advice: 'Correct what is named above; `.env.example` describes each variable.',
  },
  MODEL_KEY_MISSING: {
    retry: 'no',
    advice:
      "Set the provider's key, such as ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY; docs/configuration.md lists all.",
  },
  MODEL_UNAVAILABLE: {
    retry: 'later',
    advice: 'Check the key and the model name with `runoff doctor`, then start the run again.',
  },
  MODEL_PRICE_UNKNOWN: {
    retry: 'no',
    advice:
      'Choose a model with a known price, or set MODEL_PRICES for it (dollars per million tokens); with MAX_TOKENS_CANDIDATE and `budget.tokens` it is capped by tokens instead.',
  },
  MODEL_MISMATCH: {
    retry: 'no',
    advice: 'Give this agent a model of a provider that it can speak to; `runoff doctor` lists the agents.',
  },
  AGENT_MISSING: {
    retry: 'no',
    advice: 'Install it with `runoff agents install NAME`, put the folder back, or name another coder.',
  },
  AGENT_INSTALL_FAILED: {
    retry: 'later',
    advice: 'Check the network and what `npm config get registry` names, then install again.',
  },
  AGENT_UNKNOWN: {
    retry: 'no',
    advice: '`runoff agents` lists the coders and the versions that were tried.',
  },
  NOT_A_REPOSITORY: { retry: 'no', advice: 'Give `--repo` the top folder of a git repository.' },
  REPOSITORY_EMPTY: {
    retry: 'no',
    advice: 'Commit something first: candidates need a commit to start from.',
  },
  REPOSITORY_READ_ONLY: {
    retry: 'no',
    advice: 'Make its `.git` folder writable for you: every candidate is left as a branch there.',
  },
  REPOSITORY_DIRTY: {
    retry: 'no',
    advice:
      'Commit or stash your changes, or pass `--base BRANCH` to start from a branch as it is committed.',
  },
  BASE_MISSING: { retry: 'no', advice: 'Name a branch that exists; `git branch --list` shows them.' },
  PROMPT_EMPTY: { retry: 'no', advice: 'Say what to do: `runoff run "Fix the …"`, or `--file TASK.md`.' },
  NO_TEST_COMMAND: {
    retry: 'no',
    advice:
      'Set `checks.test` in `.github/auto-dev.yml`: Runoff decides by what runs, so it needs a test command.',
  },
  BASE_BROKEN: {
    retry: 'no',
    advice:
      'Make build and tests run on the base commit first (set `checks.setup` if packages must be installed).',
  },
  CHECKS_UNTRUSTED: {
    retry: 'no',
    advice:
      'Start the run at a terminal and answer the question, or pass `--trust-checks` if you trust this repository.',
  },
  DISK_FULL: {
    retry: 'later',
    advice: 'Free disk space where RUNOFF_DATA points to, then start the run again.',
  },
  PROGRAM_KILLED: {
    retry: 'later',
    advice:
      'Start the run again. If it happens again, look for what kills programs on the machine that runs Runoff: the kernel logs what it ends for want of memory (`journalctl -k`, `dmesg`).',
  },
  STORED_DATA_DAMAGED: {
    retry: 'later',
    advice:
      'Start the run again: it makes anew what it needs. The log of Runoff names the damaged file; if it happens again, check that disk.',
  },
  GITHUB_UNAVAILABLE: { retry: 'later', advice: 'GitHub did not answer. The run can be started again.' },
  GITHUB_REFUSED: {
    retry: 'no',
    advice:
      "Check the App's permissions against `app.yml` and the repository's rules for `auto-dev/*` branches.",
  },
  OUTPUT_UNWRITABLE: {
    retry: 'no',
    advice: 'Name a file in a folder that is there and that you may write to.',
  },
  SPEC_MISSING: {
    retry: 'no',
    advice: 'Name a Markdown file, `runoff debate SPEC.md`, or pipe its text in.',
  },
  SPEC_TOO_LONG: {
    retry: 'no',
    advice: 'Debate it in parts: a file for each thing that can be decided by itself.',
  },
  RUN_UNKNOWN: { retry: 'no', advice: '`runoff runs` lists the runs on this machine.' },
  RUN_NOT_WAITING: {
    retry: 'no',
    advice: '`runoff status RUN` tells what the run does, and what it waits for if it does.',
  },
  REPLY_UNFIT: {
    retry: 'no',
    advice:
      '`runoff status RUN` shows the question and its options: `runoff answer RUN 2`, or in your own words; a plan takes `runoff approve RUN` or `runoff revise RUN TEXT`.',
  },
  CANDIDATE_UNKNOWN: {
    retry: 'no',
    advice: '`runoff show RUN` lists the candidates of a run, and says of each whether it left a patch.',
  },
  BUDGET_TOO_SMALL: {
    retry: 'no',
    advice: 'Raise `budget.run` (`--budget`), or lower the number of candidates.',
  },
  ALREADY_RUNNING: {
    retry: 'no',
    advice: 'End the other process first, or let it go on: one process works under one name at a time.',
  },
  EXECUTOR_EXPIRED: {
    retry: 'no',
    advice:
      'Nothing is to be done: its work goes on elsewhere, and it starts anew. If it happens again, look at what stops this machine for a minute (memory, sleep, network).',
  },
  DAY_BUDGET_REACHED: {
    retry: 'later',
    advice:
      'It starts anew at midnight UTC. The operator sets it by MAX_BUDGET_DAY and MAX_BUDGET_REPOSITORY_DAY.',
  },
  RUN_TOO_LONG: {
    retry: 'no',
    advice:
      'Give it less to do: fewer candidates or rounds, shorter `timeout` in the settings. The operator sets the longest time by MAX_RUN_TIME.',
  },
  MOVE_REFUSED: {
    retry: 'no',
    advice:
      'Stop every Runoff of both databases, on all machines, and name with --to a database that answers and has no runs; docs/operations.md has the steps.',
  },
  INTERNAL: {
    retry: 'now',
    advice: 'This is a defect in Runoff. Please report it with the log lines around it.',
  },
} as const satisfies Record<string, FaultEntry>;
export type FaultCode = keyof typeof FAULTS;

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

/** The fault behind any thrown value; what is not from the catalogue is `INTERNAL`. */
export function asFault(thrown: unknown): Fault {
  if (thrown instanceof Fault) return thrown;
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  if (/ENOSPC|no space left/i.test(message)) return new Fault('DISK_FULL', message, { cause: thrown });
  return new Fault('INTERNAL', message, { cause: thrown });
}
