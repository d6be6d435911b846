import { createHash, randomUUID } from 'node:crypto';
import { sumsOf } from '../../src/adapters/gateway/ledger.ts';
import type { Reply } from '../../src/core/brief/index.ts';
import {
  type ArtifactRef,
  type Candidate,
  Fault,
  isFinal,
  isOver,
  move,
  NO_USAGE,
  type Origin,
  type RunId,
  type RunState,
  STAGES,
  type Usage,
} from '../../src/core/model/index.ts';
import type { Recipe } from '../../src/core/settings/index.ts';
import {
  type Artifacts,
  type Intent,
  type LedgerRow,
  type RunRecord,
  rejectedPickKey,
  type StageTiming,
  type Store,
  type Transition,
  type Whose,
} from '../../src/ports/index.ts';
import { memoryApi } from './memory-api.ts';
import { censusOf, memoryAudit } from './memory-audit.ts';
import { kept, memoryAnswers, memoryCommands, memoryPicks } from './memory-commands.ts';
import { memoryLists, memorySessions } from './memory-lists.ts';
import { memoryLive } from './memory-live.ts';
import { memoryOutcomes } from './memory-outcomes.ts';

interface Entry {
  run: Omit<RunRecord, 'stages'>;
  readonly stages: Map<string, StageTiming>;
  readonly transitions: Transition[];
  readonly candidates: Map<string, Candidate>;
  /** By key, in order. */
  readonly replies: Map<string, Reply>;
}

interface NewRun {
  readonly origin: Origin;
  readonly title: string;
  readonly request: unknown;
  readonly at: number;
}

const newEntry = (id: RunId, { origin, title, request, at }: NewRun): Entry => ({
  run: {
    id,
    origin: kept(origin),
    state: 'queued',
    createdAt: at,
    updatedAt: at,
    title,
    request: kept(request),
  },
  stages: new Map(),
  transitions: [],
  candidates: new Map(),
  replies: new Map(),
});

const recordOf = ({ run, stages }: Entry): RunRecord =>
  kept({
    ...run,
    stages: [...stages.values()].toSorted((a, b) => STAGES.indexOf(a.stage) - STAGES.indexOf(b.stage)),
  });

const byAge = (a: RunRecord, b: RunRecord): number => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1);

/** As admission counts: on GitHub, with a task. */
const belongsTo = (run: Pick<RunRecord, 'origin' | 'task'>, whose: Whose): boolean =>
  run.task !== undefined && isOf(run, whose);

function isOf({ origin }: Pick<RunRecord, 'origin'>, { kind, id }: Whose): boolean {
  if (origin.kind !== 'github') return false;
  const ids = {
    repository: origin.repositoryId,
    installation: origin.installationId,
    user: origin.requestedBy.id,
  };
  return ids[kind] === id;
}

/** The store port over plain maps: same promises, no disk. Nothing survives the process. */
export function memoryStore(): Store {
  const entries = new Map<RunId, Entry>();
  const audit = memoryAudit();
  const deliveries = new Set<string>();
  const semanticKeys = new Set<string>();
  const calls: LedgerRow[] = [];
  const answers = new Map<string, ArtifactRef>();
  const recipes = new Map<string, Recipe>();
  const intents = new Map<string, Map<string, Intent>>();
  let name: string | null = null;
  const { keepAnswer, ...modelAnswers } = memoryAnswers();
  const picked = memoryPicks((id) => entry(id));

  const entry = (id: RunId): Entry => {
    const found = entries.get(id);
    if (found === undefined) throw new Fault('RUN_UNKNOWN', `There is no run ${id}.`);
    return found;
  };
  const usageOf = (id: RunId, spender?: string): Usage =>
    calls
      .filter((call) => call.runId === id && (spender === undefined || call.spender === spender))
      .reduce(
        (sum, call) => ({
          usd: sum.usd + call.usd,
          tokensIn: sum.tokensIn + call.tokensIn,
          tokensOut: sum.tokensOut + call.tokensOut,
          calls: sum.calls + (call.status === 402 && call.usd === 0 ? 0 : 1),
        }),
        NO_USAGE,
      );
  const records = (counts: (run: Entry['run']) => boolean = () => true): RunRecord[] =>
    [...entries.values()]
      .filter(({ run }) => counts(run))
      .map(recordOf)
      .toSorted(byAge);
  const { forget, ...live } = memoryLive({
    require: (id) => entry(id),
    records,
    candidates: (id) => [...(entries.get(id)?.candidates.values() ?? [])],
    calls,
    others: async (id) => [
      [...(entries.get(id)?.replies.keys() ?? [])],
      await picked.votes(id),
      await picked.picks(id),
    ],
  });
  const living = (): RunRecord[] => records((run) => !isFinal(run.state));
  const inStates = (states: readonly RunState[]): RunRecord[] =>
    records(({ state }) => states.includes(state));

  return {
    async createRun(run) {
      if (entries.has(run.id)) return false;
      entries.set(run.id, newEntry(run.id, run));
      return true;
    },
    async acceptDelivery(delivery, run) {
      if (deliveries.has(delivery.id) || semanticKeys.has(delivery.semanticKey)) return false;
      if (entries.has(delivery.runId)) {
        throw new Fault('INTERNAL', `Delivery ${delivery.id} asks for run ${delivery.runId}, which exists.`);
      }
      deliveries.add(delivery.id);
      semanticKeys.add(delivery.semanticKey);
      entries.set(delivery.runId, newEntry(delivery.runId, run));
      return true;
    },
    async run(id) {
      const found = entries.get(id);
      return found === undefined ? null : recordOf(found);
    },
    async runs(limit) {
      return records().toReversed().slice(0, limit);
    },
    async activeRuns(repositoryId, issue) {
      return living().filter(
        ({ origin }) =>
          origin.kind === 'github' && origin.repositoryId === repositoryId && origin.issue === issue,
      );
    },
    async endedWithout(key, since, limit) {
      const unfulfilled = ({ id }: RunRecord): boolean => {
        const intent = intents.get(id)?.get(key);
        return intent?.state !== 'done' || intent.result !== true;
      };
      return records()
        .filter(({ origin, state }) => origin.kind === 'github' && isOver(state))
        .filter(({ updatedAt }) => updatedAt >= since)
        .filter(
          ({ task, queueEntry, state }) =>
            task !== undefined || (queueEntry !== undefined && state === 'cancelled'),
        )
        .filter(unfulfilled)
        .toSorted((a, b) => a.updatedAt - b.updatedAt || (a.id < b.id ? -1 : 1))
        .slice(0, limit);
    },
    async runsIn(states) {
      return inStates(states);
    },
    async idsIn(states) {
      return inStates(states).map(({ id }) => id);
    },
    async updateRun(id, patch, at) {
      const found = entry(id);
      const given = typeof patch === 'function' ? patch(recordOf(found)) : patch;
      const set = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
      found.run = { ...found.run, ...kept(set), updatedAt: at };
    },
    async transition(id, to, cause, at) {
      const found = entry(id);
      const from = found.run.state;
      if (move(from, to).kind !== 'moved') return from;
      audit.moved(found.run, to, cause, at);
      found.run = { ...found.run, state: to, updatedAt: at };
      found.transitions.push({ from, to, cause, at });
      return to;
    },
    async transitions(id) {
      return [...(entries.get(id)?.transitions ?? [])];
    },
    async markStage(id, stage, mark, at) {
      const { stages } = entry(id);
      const timing = stages.get(stage);
      if (mark === 'start') stages.set(stage, { stage, startedAt: timing?.startedAt ?? at });
      else if (timing !== undefined) stages.set(stage, { ...timing, endedAt: at });
    },
    async putCandidate(candidate) {
      entry(candidate.runId).candidates.set(candidate.alias, kept(candidate));
    },
    async candidates(id) {
      const found = [...(entries.get(id)?.candidates.values() ?? [])];
      return found.map(kept).toSorted((a, b) => (a.alias < b.alias ? -1 : 1));
    },
    async bookCall(whose, decide) {
      const runCap = entries.get(whose.runId)?.run.task?.settings.budget.run ?? null;
      const row = decide({ ...sumsOf(calls, whose), runCap });
      return row && calls.push({ ...row }) - 1;
    },
    async settleCall(call, row, answer) {
      if (calls[call] === undefined) {
        throw new Fault('INTERNAL', `There is no call ${call} in the ledger.`);
      }
      calls[call] = { ...row };
      if (answer) keepAnswer(row, answer);
    },
    ...modelAnswers,
    ...live,
    usage: async (id, spender) => usageOf(id, spender),
    async addReply(runId, key, reply) {
      const { replies } = entry(runId);
      if (replies.has(key)) return null;
      const numbered = kept({ ...reply, number: replies.size + 1 });
      replies.set(key, numbered);
      return kept(numbered);
    },
    async replies(runId) {
      return kept([...(entries.get(runId)?.replies.values() ?? [])]);
    },
    async kept(scope, key) {
      return answers.get(JSON.stringify([scope, key])) ?? null;
    },
    async keep(scope, key, answer) {
      const name = JSON.stringify([scope, key]);
      if (!answers.has(name)) answers.set(name, kept(answer));
    },
    async intend(scope, key) {
      const own = intents.get(scope) ?? new Map<string, Intent>();
      intents.set(scope, own);
      const found = own.get(key);
      if (found !== undefined) return { fresh: false, intent: kept(found) };
      own.set(key, { state: 'planned' });
      return { fresh: true, intent: { state: 'planned' } };
    },
    async fulfil(scope, key, result) {
      const own = intents.get(scope);
      if (!own?.has(key)) {
        throw new Fault('INTERNAL', `${scope} has no intent \`${key}\` that could be fulfilled.`);
      }
      own.set(key, { state: 'done', result: kept(result) });
    },
    async intent(scope, key) {
      return kept(intents.get(scope)?.get(key) ?? null);
    },
    async runsAt(repositoryId, thread) {
      const at = records().filter(
        ({ origin, outcome }) =>
          origin.kind === 'github' &&
          origin.repositoryId === repositoryId &&
          (origin.issue === thread || (outcome?.kind === 'pull' && outcome.number === thread)),
      );
      const rank = ({ state, task, queueEntry }: RunRecord): number =>
        (isFinal(state) ? 2 : 0) + (task === undefined && queueEntry === undefined ? 1 : 0);
      const newest = at.toReversed().toSorted((one, other) => rank(one) - rank(other));
      return newest.slice(0, 50).toSorted(byAge).toReversed();
    },
    async expire(before, dry) {
      const expired: RunId[] = [];
      for (const run of records()) {
        const over = isFinal(run.state) || (run.state === 'published' && run.outcome?.kind !== 'pull');
        const goes =
          run.updatedAt < before.runs &&
          over &&
          !before.except?.includes(run.id) &&
          (await picked.picks(run.id)).length === 0;
        if (goes) expired.push(run.id);
      }
      const old = calls.filter(({ at }) => at < before.ledger).length;
      if (!dry) {
        for (const id of expired) {
          entries.delete(id);
          forget(id);
          intents.delete(id);
        }
        calls.splice(0, calls.length, ...calls.filter(({ at }) => at >= before.ledger));
      }
      return { runs: expired, calls: old, audit: 0, answers: 0 };
    },
    databaseName: async (owner) => {
      if (owner === null) name ??= randomUUID();
      return name ?? '';
    },
    async artifactsInUse() {
      const rows = [...entries.values()].map(({ run, candidates }) => [run, ...candidates.values()]);
      const text = JSON.stringify([
        rows,
        [...answers.values()],
        [...intents.values()].map((one) => [...one]),
      ]);
      return new Set(text.match(/(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])/g));
    },
    async queuedRuns() {
      const working = ['queued', 'admitted', 'briefed', 'coded', 'examined', 'judged'];
      const known = records().flatMap(({ id, queueEntry, state, stages, origin }) =>
        queueEntry && origin.kind === 'github' && working.includes(state)
          ? [{ id, entry: queueEntry, waits: state === 'queued' && stages.length === 0 }]
          : [],
      );
      return {
        waiting: known
          .filter(({ waits }) => waits)
          .map(({ id, entry }) => ({ id, ...entry, returning: false })),
        holders: known.filter(({ waits }) => !waits).map(({ entry }) => ({ share: entry.share })),
      };
    },
    async startedSince(at, whose) {
      return [...entries.values()].filter(({ run }) => run.createdAt >= at && belongsTo(run, whose)).length;
    },
    async spentSince(at, whose) {
      const asked = (id: RunId): boolean => {
        if (!whose) return true;
        const found = entries.get(id);
        return found !== undefined && isOf(found.run, whose);
      };
      return calls
        .filter((call) => call.at >= at && asked(call.runId))
        .reduce((sum, call) => sum + call.usd, 0);
    },
    async isLabelRecorded(repositoryId, issue, at) {
      const prefix = `labeled:${repositoryId}:${issue}:`;
      return [...semanticKeys].some(
        (key) =>
          key.startsWith(prefix) &&
          /^\d{1,15}$/.test(key.slice(prefix.length)) &&
          Number(key.slice(prefix.length)) >= at,
      );
    },
    ...memoryApi(),
    ...memoryCommands(audit.add),
    recipe: async (repository, key) => recipes.get(JSON.stringify([repository, key])) ?? null,
    async keepRecipe(repository, key, recipe) {
      recipes.set(JSON.stringify([repository, key]), kept(recipe));
    },
    ...picked,
    ...memoryLists({
      calls,
      records,
      picks: async (id) =>
        (await picked.picks(id)).filter(
          ({ key }) => intents.get(id)?.get(rejectedPickKey(key))?.state !== 'done',
        ),
      usage: async (id) => usageOf(id),
    }),
    ...memorySessions(),
    ...memoryOutcomes(records, picked.picks),
    executors: async () => [],
    ...audit.store,
    async census() {
      const queued = ({ id }: RunRecord) =>
        [...entry(id).candidates.values()].filter(({ state }) => state === 'queued').length;
      return censusOf(records(), queued);
    },
    async close() {},
  };
}

/** The artifacts port over a map. */
export function memoryArtifacts(): Artifacts {
  const contents = new Map<string, string>();
  const times = new Map<string, number>();
  let owner: string | null = null;
  return {
    async claim(nameOf) {
      const database = await nameOf(owner);
      owner ??= database;
      if (owner !== database) throw new Fault('ENVIRONMENT_INVALID', 'They belong to another database.');
    },
    async put(content) {
      const bytes = Buffer.from(content, 'utf8');
      const sha256 = createHash('sha256').update(bytes).digest('hex');
      contents.set(sha256, bytes.toString('utf8'));
      times.set(sha256, Date.now());
      return { sha256, bytes: bytes.length };
    },
    async get({ sha256, bytes }) {
      const content = contents.get(sha256);
      if (content === undefined || Buffer.byteLength(content) !== bytes) {
        throw new Fault('STORED_DATA_DAMAGED', `The artifact ${sha256} is gone.`);
      }
      return content;
    },
    async sweep({ keep, before }) {
      const swept = { files: 0, bytes: 0 };
      for (const [sha256, content] of contents) {
        if ((times.get(sha256) ?? 0) >= before || keep(sha256)) continue;
        contents.delete(sha256);
        swept.files += 1;
        swept.bytes += Buffer.byteLength(content);
      }
      return swept;
    },
  };
}
