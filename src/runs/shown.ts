import type { Alias, Candidate, CoderStep, RunId } from '../core/model/index.ts';
import {
  ALL_CODERS,
  type CandidateView,
  type HiddenNames,
  hiddenCandidate,
  hiddenNames,
  hidesNames,
  leavesChoiceToPerson,
  type RunView,
  withHiddenNames,
  withoutNames,
  withoutOptions,
} from '../core/reports/index.ts';
import type { NumberedCall, RunRecord, Spending, StepQuery, Store } from '../ports/index.ts';
import { standingPicks } from './picks.ts';

/** A call of a model as readers see it: with nothing that tells the model, if that is hidden. */
export type ShownCall =
  | NumberedCall
  | (Pick<NumberedCall, 'number' | 'at' | 'status' | 'ms'> & { readonly model: null });

/**
 * What readers may know about the candidates of a run, as of now. The only way by which pages, API, comments and
 * command line read them, so that blind mode is applied to all (decision 160).
 */
export interface ShownWork {
  readonly namesHidden: boolean;
  readonly candidates: readonly CandidateView[];
  /** The view of the run without what its other parts tell. */
  readonly view: (view: RunView) => RunView;
  /** A text that may repeat what an agent or a model said, such as the cause of a change of state. */
  readonly text: (text: string) => string;
  /** What somebody asked for, which may name the contestants that it asked for. */
  readonly command: (text: string) => string;
  readonly steps: (query: StepQuery) => Promise<readonly CoderStep[]>;
  readonly calls: (
    alias: Alias,
    which: { readonly after: number; readonly limit: number },
  ) => Promise<readonly ShownCall[]>;
  /** By spender and model; of all coders together, if that is hidden. */
  readonly spending: () => Promise<readonly (Omit<Spending, 'model'> & { readonly model: string | null })[]>;
}

type BlindRun = Pick<RunRecord, 'decision' | 'id' | 'origin' | 'state' | 'task'>;
type ShownPorts = Pick<Store, 'callsOf' | 'candidates' | 'intent' | 'picks' | 'spendingOf' | 'steps'>;

/** `names`: `shown` by who publishes a result that ends the run. */
export async function shownWork(
  store: ShownPorts,
  run: BlindRun,
  names: 'as-the-run-says' | 'shown' = 'as-the-run-says',
): Promise<ShownWork> {
  const candidates = await store.candidates(run.id);
  const hides = names !== 'shown' && (await areNamesHidden(store, run));
  return hides ? hiddenWork(store, run.id, candidates) : openWork(store, run.id, candidates);
}

/** Whether blind mode hides the contestants of a run now. */
export async function areNamesHidden(
  store: Pick<Store, 'intent' | 'picks'>,
  run: BlindRun,
): Promise<boolean> {
  const { id, state, task } = run;
  const blind = task?.settings.blind;
  const leavesChoice = leavesChoiceToPerson(run);
  const isPicked = blind === true && leavesChoice && (await standingPicks(store, id)).length > 0;
  return hidesNames({ blind, state, leavesChoice, isPicked });
}

const openWork = (store: ShownPorts, id: RunId, candidates: readonly Candidate[]): ShownWork => ({
  namesHidden: false,
  candidates,
  view: (view) => view,
  text: (text) => text,
  command: (text) => text,
  steps: (query) => store.steps(id, query),
  calls: (alias, which) => store.callsOf(id, alias, which),
  spending: () => store.spendingOf(id),
});

function hiddenWork(store: ShownPorts, id: RunId, candidates: readonly Candidate[]): ShownWork {
  const names = hiddenNames(candidates.map(({ contestant }) => contestant));
  return {
    namesHidden: true,
    candidates: candidates.map((one) => hiddenCandidate(one, names)),
    view: (view) => withHiddenNames(view, names),
    text: (text) => withoutNames(text, names),
    command: (text) => withoutOptions(text, names),
    steps: (query) => hiddenSteps(store, id, query, names),
    calls: async (alias, which) =>
      (await store.callsOf(id, alias, which)).map(({ number, at, status, ms }) => ({
        ...{ number, at, status, ms },
        model: null,
      })),
    spending: async () =>
      hiddenSpending(await store.spendingOf(id), new Set(candidates.map(({ alias }) => alias))),
  };
}

/**
 * A search for a name must not find the steps that it was taken out of. As these are found by the store, it is asked
 * until there are as many others as the query wants.
 */
async function hiddenSteps(
  store: Pick<Store, 'steps'>,
  id: RunId,
  query: StepQuery,
  names: HiddenNames,
): Promise<readonly CoderStep[]> {
  const { before, limit, text } = query;
  let shown: readonly CoderStep[] = [];
  let next = query;
  for (;;) {
    const found = await store.steps(id, next);
    const fit = found
      .map((step) => hiddenStep(step, names))
      .filter((step) => text === undefined || contains(step, text));
    shown = before === undefined ? [...shown, ...fit].slice(0, limit) : [...fit, ...shown].slice(-limit);
    const [first, last] = [found.at(0), found.at(-1)];
    if (!first || !last || found.length < limit || shown.length === limit) return shown;
    next = { ...query, ...(before === undefined ? { after: last.number } : { before: first.number }) };
  }
}

/** Without the agent's own name of a call, whose form tells the agent. */
const hiddenStep = ({ detail, call: _, ...step }: CoderStep, names: HiddenNames): CoderStep => ({
  ...step,
  text: withoutNames(step.text, names),
  ...(detail === undefined ? {} : { detail: withoutNames(detail, names) }),
});

const contains = ({ text, detail = '' }: CoderStep, wanted: string): boolean =>
  [text, detail].some((part) => part.toLowerCase().includes(wanted.toLowerCase()));

/** The cost of one candidate would tell its model, so all candidates are one spender. */
function hiddenSpending(rows: readonly Spending[], aliases: ReadonlySet<Alias>) {
  const bySpender = Map.groupBy(rows, ({ spender }) => (aliases.has(spender) ? ALL_CODERS : spender));
  return [...bySpender].map(([spender, own]) => {
    const sum = (of: (row: Spending) => number): number => own.reduce((total, row) => total + of(row), 0);
    return {
      spender,
      model: null,
      usd: sum(({ usd }) => usd),
      tokensIn: sum(({ tokensIn }) => tokensIn),
      tokensOut: sum(({ tokensOut }) => tokensOut),
      calls: sum(({ calls }) => calls),
      ms: sum(({ ms }) => ms),
      estimated: sum(({ estimated }) => estimated),
    };
  });
}
