import { Fault, type RunId } from '../../src/core/model/index.ts';
import type {
  AuditEntry,
  AuditPlace,
  CommandRecord,
  KeptAnswer,
  LedgerRow,
  PickRecord,
  Store,
  Vote,
} from '../../src/ports/index.ts';

/** As a database would keep it: no shared references, no `undefined`, no class instances. */
export const kept = <T>(value: T): T => JSON.parse(JSON.stringify(value ?? null)) as T;

/** By `at`, then by the number of the comment. */
const inOrder = (a: CommandRecord, b: CommandRecord): number =>
  a.at - b.at || a.place.comment - b.place.comment || (a.id < b.id ? -1 : 1);

/** The part of the store that keeps commands. */
export function memoryCommands(audit: (entry: AuditEntry, place: AuditPlace) => void) {
  const commands = new Map<string, CommandRecord>();
  const sorted = () => kept([...commands.values()].toSorted(inOrder));
  return {
    async recordCommand(command) {
      if (commands.has(command.id)) return false;
      commands.set(command.id, kept(command));
      return true;
    },
    async command(id) {
      return kept(commands.get(id) ?? null);
    },
    async settleCommand(id, outcome, at, runId) {
      const heard = commands.get(id);
      if (!heard) throw new Fault('INTERNAL', `There is no command ${id} that could be settled.`);
      const settled = { ...heard, outcome, settledAt: at, ...(runId === undefined ? {} : { runId }) };
      if (heard.outcome) return;
      commands.set(id, kept(settled));
      const { by, text, place, token } = heard;
      audit(
        {
          ...{ kind: 'command', command: id, by, text, thread: place.thread, outcome },
          ...(token === undefined ? {} : { token }),
        },
        { repositoryId: place.repositoryId, at, ...(runId === undefined ? {} : { run: runId }) },
      );
    },
    async unsettledCommands() {
      return sorted().filter((command) => !command.outcome);
    },
    async commands(repositoryId, limit) {
      const own = sorted().filter(({ place }) => place.repositoryId === repositoryId);
      return own.toReversed().slice(0, limit);
    },
  } satisfies Partial<Store>;
}

/** The part of the store that keeps votes and picks; `exists` rejects for an unknown run. */
export function memoryPicks(exists: (runId: RunId) => unknown) {
  const votes = new Map<RunId, Map<number, Vote>>();
  const picks = new Map<RunId, PickRecord[]>();
  return {
    async vote(runId, vote) {
      exists(runId);
      const cast = votes.get(runId) ?? new Map<number, Vote>();
      votes.set(runId, cast);
      if ((cast.get(vote.by.id)?.at ?? vote.at) <= vote.at) cast.set(vote.by.id, kept(vote));
    },
    async votes(runId) {
      const cast = [...(votes.get(runId)?.values() ?? [])];
      return kept(cast.toSorted((a, b) => a.at - b.at || a.by.id - b.by.id));
    },
    async addPick(runId, pick) {
      exists(runId);
      const made = picks.get(runId) ?? [];
      const known = made.find(({ key }) => key === pick.key);
      if (known) return kept(known);
      const numbered = kept({ ...pick, number: made.length + 1 });
      picks.set(runId, [...made, numbered]);
      return kept(numbered);
    },
    async picks(runId) {
      return kept(picks.get(runId) ?? []);
    },
  } satisfies Partial<Store>;
}

/** The part of the store that keeps answers of models. */
export function memoryAnswers() {
  const answers = new Map<string, { readonly row: LedgerRow; readonly answer: KeptAnswer }>();
  return {
    keepAnswer(row: LedgerRow, answer: KeptAnswer): void {
      answers.set(
        JSON.stringify([row.runId, row.spender, answer.question, answer.number]),
        kept({ row, answer }),
      );
    },
    async keptAnswers(runId: RunId, spender: string): Promise<readonly KeptAnswer[]> {
      const own = [...answers.values()].filter(({ row }) => row.runId === runId && row.spender === spender);
      return kept(own.map(({ answer }) => answer));
    },
  };
}
