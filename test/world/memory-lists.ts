import type { RunId, Usage } from '../../src/core/model/index.ts';
import type {
  LedgerRow,
  ListedRun,
  PickRecord,
  RepositoryHandle,
  RunLists,
  RunRecord,
  SessionRecord,
  Sessions,
} from '../../src/ports/index.ts';

interface ListParts {
  /** Oldest first. */
  readonly records: () => readonly RunRecord[];
  readonly picks: (id: RunId) => Promise<readonly PickRecord[]>;
  readonly usage: (id: RunId) => Promise<Usage>;
  readonly calls: readonly LedgerRow[];
}

/** The part of the store that pages ask for lists. */
export function memoryLists({ records, picks, usage, calls }: ListParts): RunLists {
  const listed = async (run: RunRecord): Promise<ListedRun> => {
    const pick = (await picks(run.id)).at(-1);
    return {
      id: run.id,
      origin: run.origin,
      state: run.state,
      createdAt: run.createdAt,
      updatedAt: run.updatedAt,
      title: run.title,
      usd: (await usage(run.id)).usd,
      ...(run.decision ? { decision: run.decision } : {}),
      ...(run.trouble ? { trouble: run.trouble } : {}),
      ...(pick ? { pick: { alias: pick.alias, by: pick.by, at: pick.at } } : {}),
    };
  };
  return {
    async spendingOf(id) {
      const own = calls.filter(({ runId }) => runId === id);
      const groups = Map.groupBy(own, ({ spender, model }) => JSON.stringify([spender, model]));
      const sum = (group: readonly LedgerRow[], of: (call: LedgerRow) => number) =>
        group.reduce((total, call) => total + of(call), 0);
      return [...groups.values()]
        .flatMap((group) => {
          const [first] = group;
          return first === undefined
            ? []
            : [
                {
                  spender: first.spender,
                  model: first.model,
                  usd: sum(group, ({ usd }) => usd),
                  tokensIn: sum(group, ({ tokensIn }) => tokensIn),
                  tokensOut: sum(group, ({ tokensOut }) => tokensOut),
                  ms: sum(group, ({ ms }) => ms),
                  calls: sum(group, ({ status, usd }) => (status === 402 && usd === 0 ? 0 : 1)),
                  estimated: sum(group, ({ exact, usd }) => (!exact && usd > 0 ? 1 : 0)),
                },
              ];
        })
        .sort((a, b) => b.usd - a.usd || (a.spender < b.spender ? -1 : 1));
    },
    originOf: async (id) => records().find((run) => run.id === id)?.origin ?? null,
    async repositoriesWithRuns() {
      const found = new Map<number, RepositoryHandle>();
      for (const { origin } of records().toReversed()) {
        if (origin.kind !== 'github' || found.has(origin.repositoryId)) continue;
        const { installationId, repositoryId, owner, name } = origin;
        found.set(repositoryId, { installationId, repositoryId, owner, name });
      }
      return [...found.values()];
    },
    async listRuns({ of, states, by, text, after, limit }) {
      const isAfter = (run: RunRecord): boolean =>
        !after || run.createdAt < after.createdAt || (run.createdAt === after.createdAt && run.id < after.id);
      const found = records()
        .toReversed()
        .filter(({ origin }) =>
          of === 'local' || origin.kind === 'local' ? of === origin.kind : of.includes(origin.repositoryId),
        )
        .filter(({ state }) => !states || states.includes(state))
        .filter(
          ({ origin }) =>
            by === undefined ||
            (origin.kind === 'github' && origin.requestedBy.login.toLowerCase() === by.toLowerCase()),
        )
        .filter(({ title }) => text === undefined || title.toLowerCase().includes(text.toLowerCase()))
        .filter(isAfter);
      return Promise.all(found.slice(0, limit).map(listed));
    },
    stagesOf: async ({ repositoryId, work, states, limit }) =>
      records()
        .toReversed()
        .filter(
          ({ origin, state, dialogue }) =>
            origin.kind === 'github' &&
            origin.repositoryId === repositoryId &&
            origin.work === work &&
            states.includes(state) &&
            !dialogue?.inquiries.length,
        )
        .slice(0, limit)
        .flatMap(({ stages }) => (stages.length > 0 ? [stages] : [])),
    async failedRuns(limit) {
      const found = records()
        .filter(({ trouble }) => trouble && trouble.code !== 'REFUSED')
        .toSorted((a, b) => b.updatedAt - a.updatedAt || (a.id < b.id ? -1 : 1));
      return Promise.all(found.slice(0, limit).map(listed));
    },
  };
}

/** The part of the store that keeps sessions. */
export function memorySessions(): Sessions {
  const sessions = new Map<string, SessionRecord>();
  const endWhere = (over: (session: SessionRecord) => boolean): number => {
    const ended = [...sessions.values()].filter(over);
    for (const { hash } of ended) sessions.delete(hash);
    return ended.length;
  };
  return {
    addSession: async (session) => void sessions.set(session.hash, session),
    async session(hash, at) {
      const found = sessions.get(hash);
      return found && found.expiresAt > at ? found : null;
    },
    async prolongSession(hash, expiresAt) {
      const found = sessions.get(hash);
      if (found) sessions.set(hash, { ...found, expiresAt });
    },
    endSession: async (hash) => void sessions.delete(hash),
    endSessionsOf: async (userId) => void endWhere((session) => session.userId === userId),
    deleteEndedSessions: async (at) => endWhere(({ expiresAt }) => expiresAt <= at),
  };
}
