import { decide } from '../core/decision/index.ts';
import type { Evidence } from '../core/evidence/index.ts';
import { Fault } from '../core/model/index.ts';
import { Settings } from '../core/policy/index.ts';
import { rank, type Signal } from '../core/ranking/index.ts';
import {
  type SelectAnswer,
  type SelectCandidate,
  type SelectRequest,
  selectStored,
} from '../core/selection/index.ts';
import type { BaseCheckout } from '../ports/index.ts';
import {
  type Bench,
  benchOver,
  collectText,
  type Entry,
  gatherEvidence,
  type Tools,
  testBase,
} from './examine/index.ts';
import { inParallel } from './parallel.ts';

/** What choosing among given patches takes of the world: no GitHub, no database, and no model. */
export interface SelectTools extends Tools {
  /** The base, and under it what stands installed in its work tree without being part of it, such as `node_modules`. */
  lend(base: BaseCheckout, top: string): Promise<BaseCheckout>;
  newRunId(): string;
}

export interface SelectOptions {
  readonly alwaysPick: boolean;
  /** Signals that shall not count, to see what each adds. */
  readonly without?: readonly Signal[];
}

/**
 * Answers one request of `runoff select`. `tools` are opened by the first request that names a repository to execute in.
 * The candidates' order and names play no part.
 */
export async function select(
  request: SelectRequest,
  tools: () => Promise<SelectTools>,
  options: SelectOptions,
  signal: AbortSignal,
): Promise<SelectAnswer> {
  const path = request.repoDir ?? null;
  if (path === null) return selectStored(request, options);
  return execute(await tools(), request, { options, signal, path });
}

interface How {
  readonly options: SelectOptions;
  readonly signal: AbortSignal;
  readonly path: string;
}

async function execute(tools: SelectTools, request: SelectRequest, how: How): Promise<SelectAnswer> {
  const { bench, bare } = await openBench(tools, request, how);
  // By their content: neither the order nor the names they were given decide who is called what.
  const named = request.candidates
    .toSorted((a, b) => byText(a.patch ?? '', b.patch ?? '') || byText(a.id, b.id))
    .map((candidate, ordinal) => ({ candidate, alias: aliasOf(ordinal), ordinal }));
  const entries: Entry[] = [];
  await inParallel(tools.parallelChecks, named, async ({ candidate, alias, ordinal }) => {
    // What is lent stands beside the repository: no patch is about it.
    entries.push(await entryOf({ ...bench, base: bare }, candidate, { alias, ordinal }));
  });
  const { evidence } = await gatherEvidence(bench, entries, await testBase(bench, 'take it as it is'));
  return answer(request, evidence, new Map(named.map(({ alias, candidate }) => [alias, candidate.id])), how);
}

function statementOf({ issue }: SelectRequest): string {
  return (typeof issue === 'string' ? issue : issue?.statement) ?? '';
}

const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** `A` to `Z`, then `A2`, `B2`, … */
const aliasOf = (ordinal: number): string =>
  `${String.fromCharCode(65 + (ordinal % 26))}${ordinal < 26 ? '' : Math.floor(ordinal / 26) + 1}`;

async function openBench(
  tools: SelectTools,
  request: SelectRequest,
  { path, signal }: How,
): Promise<{ readonly bench: Bench; readonly bare: BaseCheckout }> {
  const { top } = await tools.workspaces.describe(path);
  const source = { kind: 'local', path: top } as const;
  const sha = await tools.workspaces.resolve(source, 'HEAD');
  if (!sha) throw new Fault('REPOSITORY_EMPTY', `${path} has no commit yet.`);
  const bare = await tools.workspaces.prepare(source, sha);
  const base = await tools.lend(bare, top);
  const checks = request.testCommand ? { test: request.testCommand } : {};
  const task = {
    runId: tools.newRunId(),
    base: { ref: 'HEAD', sha },
    // Whoever asks has said what is to be compared: nothing is out of bounds but the tests.
    settings: Settings.parse({ checks, protect: [] }),
  };
  const bench = await benchOver(tools, { task, source, base, asked: statementOf(request), signal });
  return { bench, bare };
}

async function entryOf(
  bench: Bench,
  candidate: SelectCandidate,
  as: Pick<Entry, 'alias' | 'ordinal'>,
): Promise<Entry> {
  const collected = await collectText(bench, as.alias, candidate.patch ?? '');
  return { ...as, runId: bench.task.runId, ms: 0, ...collected };
}

function answer(
  request: SelectRequest,
  evidence: readonly Evidence[],
  ids: ReadonlyMap<string, string>,
  { options }: How,
): SelectAnswer {
  const ranking = rank(evidence, {
    weights: Settings.parse({}).weights,
    strategies: ['evidence'],
    without: options.without ?? [],
  });
  const decision = decide(ranking, evidence);
  const best = ranking[0];
  const alias = decision.kind === 'winner' ? decision.alias : options.alwaysPick ? best?.alias : undefined;
  return {
    id: request.id,
    pick: (alias && ids.get(alias)) ?? null,
    confidence: decision.kind === 'none' ? 0 : decision.chance,
    ranking: ranking.map((one) => ({
      id: ids.get(one.alias) ?? one.alias,
      score: one.support,
      because: one.because,
    })),
    decidedBy: decision.decidedBy,
    because: decision.because,
  };
}
