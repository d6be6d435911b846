import { createTwoFilesPatch } from 'diff';
import type { TestOutputs, TestTable } from '../../src/core/evidence/index.ts';
import type { Candidate, CoderStep, PatchSummary } from '../../src/core/model/index.ts';
import type { RunView } from '../../src/core/reports/index.ts';
import type {
  Artifacts,
  AuditRecord,
  RunRecord,
  Spending,
  StepQuery,
  Store,
  Transition,
} from '../../src/ports/index.ts';
import { memoryArtifacts } from '../world/memory-store.ts';
import { githubOrigin } from '../world/origin.ts';
import { type Parts, partial } from '../world/partial.ts';
import { mona, type WebWorld, webWorld } from './web-world.ts';

/** A collected patch: its list of files and its text, as git writes them. */
export interface CollectedText {
  readonly raw: string;
  readonly text: string;
}

export interface StoredParts {
  /** By alias; others have the patch of the view, whose artifacts are missing. */
  readonly patches?: Readonly<Record<string, CollectedText>>;
  readonly table?: TestTable;
  readonly outputs?: TestOutputs;
  /** Whether the artifacts of the results are missing. */
  readonly isDamaged?: true;
  readonly spending?: readonly Spending[];
  readonly audit?: readonly AuditRecord[];
  readonly transitions?: readonly Transition[];
  /** In the order of their numbers. */
  readonly steps?: readonly CoderStep[];
}

/** Pages over one stored run, as this view shows it; mona may write. */
export async function storedRun(view: RunView, parts: StoredParts = {}): Promise<WebWorld> {
  const artifacts = memoryArtifacts();
  const store = partial<Store>(await storeOf(artifacts, view, parts), ['intent']);
  const world = webWorld({ world: { store, artifacts } });
  world.now = view.now;
  world.rights.set('42 5', 'write');
  return Object.assign(world, { store });
}

/** The store of that run alone. */
export async function storeOf(
  artifacts: Artifacts,
  view: RunView,
  parts: StoredParts,
): Promise<Parts<Store>> {
  const candidates = await Promise.all(
    // Views of tests hide nothing.
    (view.candidates as readonly Candidate[]).map(async (candidate) => {
      const patch = parts.patches?.[candidate.alias];
      return patch && candidate.patch
        ? { ...candidate, patch: await storedPatch(artifacts, candidate.patch, patch) }
        : candidate;
    }),
  );
  const run = await recordOf(artifacts, view, parts);
  return {
    originOf: async (id: string) => (id === run.id ? run.origin : null),
    repositoriesWithRuns: async () => [],
    run: async (id: string) => (id === run.id ? run : null),
    candidates: async () => candidates,
    usage: async () => ({ usd: view.budget.spent, tokensIn: 1, tokensOut: 1, calls: 1 }),
    queuedRuns: async () => ({ waiting: [], holders: [] }),
    votes: async () => (view.votes ?? []).map((vote) => ({ ...vote, at: 1 })),
    picks: async () =>
      (view.picks ?? []).map((pick, at) => ({
        ...pick,
        number: at + 1,
        at: 1,
        key: `k${at}`,
        shown: { aliases: [], first: null, votes: {} },
      })),
    intent: async () => null,
    spendingOf: async () => parts.spending ?? [],
    audited: async () => parts.audit ?? [],
    transitions: async () => parts.transitions ?? [],
    steps: async (_id: string, query: StepQuery) =>
      (parts.steps ?? []).filter(({ alias, number }) => alias === query.alias && number > (query.after ?? 0)),
    stepTotals: async () => [],
    callsOf: async () => [],
    runMarks: async () => [{ id: run.id, origin: run.origin, version: '1', steps: {} }],
  };
}

const storedPatch = async (
  artifacts: Artifacts,
  summary: PatchSummary,
  { raw, text }: CollectedText,
): Promise<PatchSummary> => ({ ...summary, raw: await artifacts.put(raw), text: await artifacts.put(text) });

async function recordOf(
  artifacts: Artifacts,
  view: RunView,
  { table, outputs, isDamaged }: StoredParts,
): Promise<RunRecord> {
  const { origin, requestedBy, budget, startedAt, now, base, lowered, leftOut, ...same } = view;
  const {
    candidates: _candidates,
    votes: _votes,
    picks: _picks,
    queue: _queue,
    label: _label,
    ci,
    learned: _learned,
    baseMovedTo: _moved,
    editedSince: _edited,
    ...rest
  } = same;
  const [owner = '', name = ''] = origin.kind === 'github' ? origin.repository.split('/') : [];
  const whole =
    origin.kind === 'github'
      ? githubOrigin({
          owner,
          name,
          issue: origin.issue,
          ...(origin.work ? { work: origin.work } : {}),
          requestedBy: requestedBy ?? { id: 5, login: 'mona' },
        })
      : origin;
  const results =
    table && outputs
      ? {
          testResults: {
            table: isDamaged ? MISSING : await artifacts.put(JSON.stringify(table)),
            outputs: isDamaged ? MISSING : await artifacts.put(JSON.stringify(outputs)),
          },
        }
      : {};
  const settings = {
    timeout: { candidate: 1_800 },
    budget: { run: budget.run, candidate: budget.candidate ?? 0 },
    ci,
  };
  return {
    ...rest,
    ...results,
    origin: whole,
    createdAt: startedAt,
    updatedAt: now,
    request: {},
    ...(base
      ? {
          // What pages read of a task.
          task: partial<NonNullable<RunRecord['task']>>(
            { base, settings, lowered: lowered ?? [], ...(leftOut ? { leftOut } : {}) },
            ['learned', 'leftOut', 'conventionalTitles'],
          ),
        }
      : {}),
  };
}

const MISSING = { sha256: 'f'.repeat(64), bytes: 3 } as const;
const NO_SHA = '0'.repeat(40);
const NO_MODE = '000000';
const MODE = '100644';

type Sides = readonly [before: string | null, after: string | null];

/** A patch of text files as it is collected; a text that is null does not exist on that side. */
export function collected(files: Readonly<Record<string, Sides>>): CollectedText {
  const entries = Object.entries(files).map(([path, sides], nth) => collectedFile(path, sides, nth));
  return { raw: entries.map(({ raw }) => raw).join(''), text: entries.map(({ text }) => text).join('') };
}

function collectedFile(path: string, [before, after]: Sides, nth: number): CollectedText {
  const side = (text: string | null, name: string) =>
    text === null
      ? { sha: NO_SHA, mode: NO_MODE, name: '/dev/null' }
      : { sha: `${name}${nth}`.padEnd(40, '0'), mode: MODE, name: `${name}/${path}` };
  const [old, fresh] = [side(before, 'a'), side(after, 'b')];
  const status = before === null ? 'A' : after === null ? 'D' : 'M';
  const modes = { A: [`new file mode ${MODE}`], D: [`deleted file mode ${MODE}`], M: [] }[status];
  const hunks = createTwoFilesPatch('a', 'b', before ?? '', after ?? '', '', '', { context: 3 });
  const lines = [
    `diff --git a/${path} b/${path}`,
    ...modes,
    `index ${old.sha}..${fresh.sha}${status === 'M' ? ` ${MODE}` : ''}`,
    `--- ${old.name}`,
    `+++ ${fresh.name}`,
    hunks.slice(hunks.indexOf('@@')).replace(/\n$/, ''),
  ];
  return {
    raw: `:${old.mode} ${fresh.mode} ${old.sha} ${fresh.sha} ${status}\0${path}\0`,
    text: `${lines.join('\n')}\n`,
  };
}

/** What mona gets at a path below the run. */
export async function pageOf(
  world: WebWorld,
  view: Pick<RunView, 'id' | 'origin'>,
  path = '',
): Promise<string> {
  const viewer = view.origin.kind === 'local' ? ({ kind: 'local' } as const) : mona;
  const answer = await world.get(`/runs/${view.id}${path}`, viewer);
  if (answer.status !== 200) throw new Error(`${path} answers ${answer.status}: ${await answer.text()}`);
  return answer.text();
}
