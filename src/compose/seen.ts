import { asFault } from '../core/model/index.ts';
import type {
  AuditEntry,
  ExternalWrite,
  GitHub,
  LedgerRow,
  Metrics,
  RepositoryHandle,
  Sandbox,
  Store,
  Tracer,
  Workspaces,
} from '../ports/index.ts';
import type { OpenLog } from './log.ts';

/** Where this process keeps and tells what it does. */
export interface Eyes {
  readonly store: Store;
  readonly log: OpenLog;
  readonly metrics?: Metrics;
  readonly tracer?: Tracer;
}

type Write = Omit<AuditEntry & { kind: 'write' }, 'kind'>;
type When = Pick<ExternalWrite, 'startedAt' | 'endedAt'>;

/** Counts a write to GitHub, traces it, and keeps it in the audit. Never rejects: the write is made, whatever is known of it. */
async function tellWrite(eyes: Eyes, write: Write, when: When, repositoryId?: number): Promise<void> {
  const { run } = eyes.log.about();
  const { what, outcome, thread } = write;
  eyes.metrics?.githubWrite(what, outcome);
  if (run !== undefined) {
    const attributes = { run, what, outcome, ...(thread === undefined ? {} : { thread }) };
    eyes.tracer?.tell({ name: 'github write', run, attributes }, { ...when, failed: outcome !== 'done' });
  }
  const place = {
    at: when.endedAt,
    ...(repositoryId === undefined ? {} : { repositoryId }),
    ...(run === undefined ? {} : { run }),
  };
  await eyes.store.audit({ kind: 'write', ...write }, place).catch((thrown: unknown) => {
    eyes.log.error(
      { err: thrown, what, outcome, thread },
      'a write to GitHub could not be kept in the audit',
    );
  });
}

/** The same GitHub, each of whose writes is counted, traced and audited. */
export const watchedGitHub = (github: GitHub, eyes: Eyes): GitHub => ({
  appId: github.appId,
  asPublished: (text) => github.asPublished(text),
  repositories: () => github.repositories(),
  reader: (repository) => github.reader(repository),
  publisher: (repository) =>
    github.publisher(repository, ({ startedAt, endedAt, ...write }) =>
      tellWrite(
        eyes,
        { ...write, repository: nameOf(repository) },
        { startedAt, endedAt },
        repository.repositoryId,
      ),
    ),
});

const nameOf = ({ owner, name }: RepositoryHandle): string => `${owner}/${name}`;

/** The same workspaces; a push is a write to GitHub as well. */
export const watchedPushes = (workspaces: Workspaces, eyes: Eyes, now: () => number): Workspaces => ({
  ...workspaces,
  async push(base, remote, branch, sha, onto) {
    const startedAt = now();
    const tell = async (outcome: Write['outcome']): Promise<void> => {
      const repository = new URL(remote.url).pathname.replace(/^\//, '').replace(/\.git$/, '');
      const write = { what: 'push', repository, branch, outcome };
      await tellWrite(eyes, write, { startedAt, endedAt: now() }, await repositoryOf(eyes));
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

/** Of the run that is worked on; a push knows an address only. */
async function repositoryOf({ store, log }: Eyes): Promise<number | undefined> {
  const { run } = log.about();
  const found = run === undefined ? null : await store.run(run).catch(() => null);
  return found?.origin.kind === 'github' ? found.origin.repositoryId : undefined;
}

type Ledger = Pick<Store, 'bookCall' | 'settleCall' | 'usage'>;

/** The same ledger; what calls came to is counted and traced when it is settled. */
export const watchedLedger = (
  ledger: Ledger,
  { metrics, tracer }: Pick<Eyes, 'metrics' | 'tracer'>,
): Ledger => ({
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
    tracer?.tell({ name: 'model call', run: row.runId, attributes: attributesOf(row) }, when);
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

/** The same sandbox, whose executions are traced; of a command only the program's name is told. */
export function watchedSandbox(sandbox: Sandbox, { log, tracer }: Pick<Eyes, 'log' | 'tracer'>): Sandbox {
  if (!tracer) return sandbox;
  return {
    ...sandbox,
    exec(options) {
      const { run, candidate } = log.about();
      if (run === undefined) return sandbox.exec(options);
      const program = options.argv[0].split('/').at(-1) ?? '';
      const attributes = { run, program, ...(candidate === undefined ? {} : { candidate }) };
      return tracer.within({ name: 'sandbox', run, attributes }, () => sandbox.exec(options));
    },
  };
}
