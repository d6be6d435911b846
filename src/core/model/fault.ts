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
    advice: 'Run `runoff doctor`; it names what is missing. On Debian: `sudo apt-get install bubblewrap`.',
  },
  DATABASE_UNAVAILABLE: {
    retry: 'later',
    advice: 'Check DATABASE_URL, or unset it to use the embedded database. `runoff doctor` tells which.',
  },
  SETTINGS_INVALID: { retry: 'no', advice: 'Correct the named line and start the run again.' },
  ENVIRONMENT_INVALID: { retry: 'no', advice: 'Correct the variable; `.env.example` describes each.' },
  MODEL_KEY_MISSING: {
    retry: 'no',
    advice: 'Set ANTHROPIC_API_KEY, or OPENAI_API_KEY (with OPENAI_BASE_URL for another provider).',
  },
  MODEL_UNAVAILABLE: {
    retry: 'later',
    advice: 'Check the key and the model name with `runoff doctor`, then start the run again.',
  },
  MODEL_PRICE_UNKNOWN: {
    retry: 'no',
    advice:
      'Set MODEL_PRICES for this model (dollars per million tokens), or choose a model with a known price.',
  },
  AGENT_UNKNOWN: { retry: 'no', advice: 'Name one of the coders that `runoff doctor` lists.' },
  NOT_A_REPOSITORY: { retry: 'no', advice: 'Give `--repo` the top folder of a git repository.' },
  REPOSITORY_EMPTY: {
    retry: 'no',
    advice: 'Commit something first: candidates need a commit to start from.',
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
  DISK_FULL: {
    retry: 'later',
    advice: 'Free disk space where RUNOFF_DATA points to, then start the run again.',
  },
  GITHUB_UNAVAILABLE: { retry: 'later', advice: 'GitHub did not answer. The run can be started again.' },
  GITHUB_REFUSED: {
    retry: 'no',
    advice:
      "Check the App's permissions against `app.yml` and the repository's rules for `auto-dev/*` branches.",
  },
  RUN_UNKNOWN: { retry: 'no', advice: '`runoff runs` lists the runs on this machine.' },
  BUDGET_TOO_SMALL: {
    retry: 'no',
    advice: 'Raise `budget.run` (`--budget`), or lower the number of candidates.',
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
