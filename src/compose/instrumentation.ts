import { AsyncLocalStorage } from 'node:async_hooks';
import { type DestinationStream, pino } from 'pino';
import { asFault, fullNameOf } from '../core/model/index.ts';
import { redactor, secretsIn } from '../core/secrets/index.ts';
import type { Operator } from '../core/settings/index.ts';
import type {
  AuditEntry,
  ExternalWrite,
  GitHub,
  LedgerRow,
  Log,
  LogContext,
  Metrics,
  Sandbox,
  Store,
  Tracer,
  Workspaces,
} from '../ports/index.ts';
import type { World } from '../runs/index.ts';
import type { WebhookMiddleware } from '../server/index.ts';
import { standardError } from './standard-error.ts';

/** Where this process records what it does. */
export interface Instruments {
  readonly store: Store;
  readonly log: ContextLog;
  readonly metrics?: Metrics;
  readonly tracer?: Tracer;
}

type Write = Omit<AuditEntry & { kind: 'write' }, 'kind'>;
type When = Pick<ExternalWrite, 'startedAt' | 'endedAt'>;

/**
 * Counts, traces and audits a write to GitHub. Never rejects: the write has been made, whether or not it is recorded.
 */
async function recordWrite(
  instruments: Instruments,
  write: Write,
  when: When,
  repositoryId?: number,
): Promise<void> {
  const { run } = instruments.log.about();
  const { what, outcome, thread } = write;
  instruments.metrics?.githubWrite(what, outcome);
  if (run !== undefined) {
    const attributes = { run, what, outcome, ...(thread === undefined ? {} : { thread }) };
    instruments.tracer?.record(
      { name: 'github write', run, attributes },
      { ...when, failed: outcome !== 'done' },
    );
  }
  const place = {
    at: when.endedAt,
    ...(repositoryId === undefined ? {} : { repositoryId }),
    ...(run === undefined ? {} : { run }),
  };
  await instruments.store.audit({ kind: 'write', ...write }, place).catch((thrown: unknown) => {
    instruments.log.error(
      { err: thrown, what, outcome, thread },
      'a write to GitHub could not be recorded in the audit log',
    );
  });
}

/** The same GitHub; each write is counted, traced and audited. */
export const instrumentedGitHub = (github: GitHub, instruments: Instruments): GitHub => ({
  appId: github.appId,
  people: github.people,
  asPublished: (text) => github.asPublished(text),
  repositories: () => github.repositories(),
  reader: (repository) => github.reader(repository),
  publisher: (repository) =>
    github.publisher(repository, ({ startedAt, endedAt, ...write }) =>
      recordWrite(
        instruments,
        { ...write, repository: fullNameOf(repository) },
        { startedAt, endedAt },
        repository.repositoryId,
      ),
    ),
});

/** The same workspaces; a push is recorded as a write to GitHub. */
export const instrumentedPushes = (
  workspaces: Workspaces,
  instruments: Instruments,
  now: () => number,
): Workspaces => ({
  ...workspaces,
  async push(base, remote, branch, sha, onto) {
    const startedAt = now();
    const tell = async (outcome: Write['outcome']): Promise<void> => {
      const repository = new URL(remote.url).pathname.replace(/^\//, '').replace(/\.git$/, '');
      const write = { what: 'push', repository, branch, outcome };
      await recordWrite(instruments, write, { startedAt, endedAt: now() }, await repositoryOf(instruments));
    };
    try {
      const pushed = await workspaces.push(base, remote, branch, sha, onto);
      await tell(pushed.kind === 'pushed' ? 'done' : 'refused');
      return pushed;
    } catch (thrown) {
      await tell(asFault(thrown).code === 'GITHUB_REFUSED' ? 'refused' : 'failed');
      throw thrown;
    }
  },
});

/** The repository of the current run: a push only knows a URL. */
async function repositoryOf({ store, log }: Instruments): Promise<number | undefined> {
  const { run } = log.about();
  const found = run === undefined ? null : await store.run(run).catch(() => null);
  return found?.origin.kind === 'github' ? found.origin.repositoryId : undefined;
}

type CallLedger = Pick<Store, 'bookCall' | 'settleCall' | 'usage'>;

/** The same ledger; each call is counted and traced when it is settled. */
export const instrumentedLedger = (
  ledger: CallLedger,
  { metrics, tracer }: Pick<Instruments, 'metrics' | 'tracer'>,
): CallLedger => ({
  bookCall: (whose, decide) => ledger.bookCall(whose, decide),
  usage: (id, spender) => ledger.usage(id, spender),
  async settleCall(call, row, answer) {
    await ledger.settleCall(call, row, answer);
    metrics?.modelCall(row);
    const when = {
      startedAt: row.at,
      endedAt: row.at + row.ms,
      failed: row.status >= 400 || row.status === 0,
    };
    tracer?.record({ name: 'model call', run: row.runId, attributes: attributesOf(row) }, when);
  },
});

const attributesOf = ({
  spender,
  model,
  status,
  usd,
  tokensIn,
  tokensOut,
  tokensCached,
  runId,
}: LedgerRow) => ({
  run: runId,
  spender,
  model,
  status,
  usd,
  tokens_in: tokensIn,
  tokens_out: tokensOut,
  tokens_cached: tokensCached,
});

/** The same sandbox; executions are traced, with the names of area and program only. */
export function instrumentedSandbox(
  sandbox: Sandbox,
  { log, tracer }: Pick<Instruments, 'log' | 'tracer'>,
): Sandbox {
  if (!tracer) return sandbox;
  return {
    ...sandbox,
    exec(options) {
      const { run, candidate } = log.about();
      if (run === undefined) return sandbox.exec(options);
      const program = options.argv[0].split('/').at(-1) ?? '';
      const area = options.area.id.replace(`${run}-`, '');
      const attributes = { run, area, program, ...(candidate === undefined ? {} : { candidate }) };
      return tracer.within({ name: 'sandbox', run, attributes }, () => sandbox.exec(options));
    },
  };
}

/** Events that the App subscribes to or that GitHub sends to every App. Senders can use any other name. */
const EVENTS: ReadonlySet<string> = new Set([
  'installation',
  'installation_repositories',
  'issue_comment',
  'issues',
  'ping',
  'pull_request',
  'pull_request_review_comment',
]);
const DELIVERY = /^[\w-]{1,80}$/;

/** The same middleware; its log lines carry the delivery, and the time until the answer is counted. */
export const instrumentedWebhook =
  (
    { log, clock, metrics }: Pick<World, 'log' | 'clock' | 'metrics'>,
    webhook: WebhookMiddleware,
  ): WebhookMiddleware =>
  (request, response) => {
    const began = clock.elapsed();
    const [event, delivery] = [request.headers['x-github-event'], request.headers['x-github-delivery']];
    response.once('close', () => {
      // A sender that closed the connection before the answer got none.
      const status = response.writableFinished ? response.statusCode : 0;
      metrics?.webhook(
        EVENTS.has(String(event)) ? String(event) : 'other',
        status,
        (clock.elapsed() - began) / 1000,
      );
    });
    return log.within({ delivery: DELIVERY.test(String(delivery)) ? String(delivery) : undefined }, () =>
      webhook(request, response),
    );
  };

/** Paths of error fields that can contain a secret. Runoff's own messages never do. */
const REDACTED = [
  'authorization',
  '*.authorization',
  'headers',
  '*.headers',
  '*.*.headers',
  'password',
  '*.password',
];

/** A log whose lines carry their run, command and delivery. */
interface ContextLog extends Log {
  /** The fields of log lines written here. */
  about(): LogContext;
}

export interface OpenLog extends ContextLog {
  /** Redacts these as well from now on. */
  hide(secrets: readonly string[]): void;
}

/**
 * Structured log on standard error; standard output is for results. The operator's secrets, and everything that looks
 * like a secret, are redacted in every field, message and stack.
 */
export function openLog(operator: Operator, to?: DestinationStream): OpenLog {
  const storage = new AsyncLocalStorage<LogContext>();
  let secrets = [...secretsIn(operator), ...secretsIn(proxyAddresses())];
  let redact = redactor(secrets);
  const lines = pino(
    {
      name: 'runoff',
      level: operator.logLevel,
      redact: { paths: REDACTED, censor: '[redacted]' },
      // A new object each time, because pino adds the fields of the line to it.
      mixin: () => ({ ...storage.getStore() }),
      hooks: { streamWrite: (line) => redact(line) },
    },
    to ?? standardError(onLost),
  );
  // Of no run: the lines may be those of any.
  function onLost(count: number): void {
    storage.run({}, () =>
      lines.error({ lines: count }, 'Lines of the log could not be written and are lost.'),
    );
  }
  return {
    info: (fields, message) => lines.info(fields, message),
    warn: (fields, message) => lines.warn(fields, message),
    error: (fields, message) => lines.error(fields, message),
    within: (fields, work) => storage.run({ ...storage.getStore(), ...fields }, work),
    about: () => storage.getStore() ?? {},
    hide(more) {
      const added = more.filter((secret) => !secrets.includes(secret));
      if (added.length === 0) return;
      secrets = [...secrets, ...added];
      redact = redactor(secrets);
    },
  };
}

/** Proxies of this process, whose URLs may contain a password. */
const proxyAddresses = (): readonly string[] =>
  ['https_proxy', 'HTTPS_PROXY', 'all_proxy', 'ALL_PROXY'].flatMap((name) => process.env[name] ?? []);
