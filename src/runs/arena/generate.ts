import { Semaphore } from 'async-mutex';
import {
  BASES_FILE,
  type BaseResult,
  baseId,
  type ContestRecords,
  capContest,
  changedAfterVotes,
  isBroken,
  latestBases,
  NO_AGENT,
  type PlannedSample,
  planSamples,
  type ResolvedContest,
} from '../../core/arena/index.ts';
import { Fault, inParallel, type Usd } from '../../core/model/index.ts';
import { Settings } from '../../core/settings/index.ts';
import type { ContestFolder } from '../../ports/index.ts';
import { requireCoders } from '../contestants.ts';
import { throwIfCancelled } from '../stage.ts';
import { payerOf } from './payer.ts';
import {
  appendRecord,
  type GenerateOptions,
  type GeneratePorts,
  type Generating,
  type MadeSample,
  makeSample,
  openedBase,
} from './sample.ts';
import { brokenBase, verifyBase } from './verdict.ts';

export interface Generated {
  readonly done: number;
  readonly total: number;
  /** Made now. */
  readonly made: number;
  /** Of these, with an answer that was paid for before. */
  readonly reused: number;
  readonly unasked: readonly { readonly task: string; readonly contestant: string; readonly why: string }[];
  readonly unrated: readonly Pick<BaseResult, 'task' | 'why'>[];
  readonly usd: Usd;
}

/**
 * Makes the samples that a contest lacks. What is finished is never repeated, and after a crash the answers that were
 * paid for are given again by the gateway. Faults: CONTEST_CHANGED; those of `Gateway.route`, before anything is spent;
 * AbortError if the signal aborts.
 */
export async function generateSamples(
  ports: GeneratePorts,
  folder: ContestFolder,
  loaded: ContestRecords,
  options: GenerateOptions,
): Promise<Generated> {
  const { digest, samples, votes } = loaded;
  const changed = changedAfterVotes(digest, votes, samples);
  if (changed !== null && !options.newVersion) throw new Fault('CONTEST_CHANGED', changed);
  const { contest, lowered } = capContest(loaded.contest, ports.ceilings);
  for (const text of lowered) options.tell({ kind: 'note', text });
  await requireContestants(ports, contest);
  const payer = await payerOf(ports, folder, { ...loaded, contest });
  // Of the folder and not of the contest: a copy of it may be worked on at the same time.
  const areas = `a${folder.sha256(folder.path).slice(0, 10)}`;
  const work: Generating = {
    ...{ ports, folder, options, payer, areas },
    loaded: { ...loaded, contest },
    bases: new Map(latestBases(loaded.bases, digest)),
    opened: new Map(),
    samples: [...samples],
    questions: new Map(),
  };
  const isExecuted = contest.tasks.some(({ kind }) => kind === 'repo');
  // Of a process that was killed; nobody else works on this contest.
  if (isExecuted) await ports.workspaces.sweep((id) => !id.startsWith(`${areas}-`));
  await verifyBases(work);
  const plan = planSamples(contest, digest, { samples, bases: [...work.bases.values()] }, folder.sha256);
  for (const text of plan.notes) options.tell({ kind: 'note', text });
  const ended = await makeSamples(work, plan.missing, plan.done);
  const unrated = [...work.bases.values()].filter(({ rated }) => !rated);
  return {
    ...ended,
    total: plan.done + plan.missing.length,
    unrated: unrated.map(({ task, why }) => ({ task, why })),
    usd: await spentOn(work),
  };
}

/** US dollars spent on a contest, with what active calls may cost at most. */
const spentOn = async ({ ports, payer }: Pick<Generating, 'payer' | 'ports'>): Promise<Usd> =>
  payer.elsewhereUsd + (await ports.store.usage(payer.runId)).usd;

async function requireContestants(ports: GeneratePorts, { contestants }: ResolvedContest): Promise<void> {
  for (const { agent, model } of contestants) if (agent === NO_AGENT) ports.gateway.route(model);
  const agents = contestants.filter(({ agent }) => agent !== NO_AGENT);
  if (agents.length === 0) return;
  const coders = agents.map(({ agent, model, argv }) => ({
    ...{ agent, model },
    ...(argv ? { argv: [...argv] as [string, ...string[]] } : {}),
  }));
  await requireCoders(ports, { ...Settings.parse({}), coders, candidates: coders.length });
}

/**
 * Executes the base of each repository task once for each version and reference; that of a broken task each time, because
 * what was wrong may be right by now.
 */
async function verifyBases(work: Generating): Promise<void> {
  const { ports, folder, loaded, options, bases } = work;
  for (const [index, task] of loaded.contest.tasks.entries()) {
    if (task.kind !== 'repo') continue;
    const text = task.reference === undefined ? null : await folder.text(task.reference);
    const reference = text === null ? null : folder.sha256(text);
    const known = bases.get(task.id);
    if (known !== undefined && !isBroken(known) && (known.reference ?? null) === reference) continue;
    throwIfCancelled(options.signal);
    const found = await openedBase(work, task).then(
      async (base) => ({ commit: base.commit, ...(await verifyBase(base, `base-${index}`)) }),
      (thrown: unknown) => ({
        commit: 'commit' in task.base ? task.base.commit : NO_COMMIT,
        ...brokenBase(thrown),
      }),
    );
    const at = new Date(ports.clock.now()).toISOString();
    const of = { contest: loaded.digest, task: task.id, at };
    const record: BaseResult = { version: 1, id: baseId(of, folder.sha256), ...of, ...found, reference };
    const isKnown = known?.why === record.why && known.reference === reference;
    if (record.built !== false && !isKnown) await appendRecord(work, BASES_FILE, record);
    bases.set(task.id, record);
    options.tell({ kind: 'base', base: record });
  }
}

/** Of a template whose commit was never made known. */
const NO_COMMIT = '0'.repeat(40);

async function makeSamples(
  work: Generating,
  missing: readonly PlannedSample[],
  before: number,
): Promise<Pick<Generated, 'done' | 'made' | 'reused' | 'unasked'>> {
  const { ports, loaded, options } = work;
  const total = before + missing.length;
  const began = ports.clock.elapsed();
  const unasked: { task: string; contestant: string; why: string }[] = [];
  const verifying = new Semaphore(ports.parallelChecks);
  let made = 0;
  let reused = 0;
  let spent: string | null = null;
  let usd = await spentOn(work);
  await inParallel(loaded.contest.limits.parallel, missing, async (planned) => {
    throwIfCancelled(options.signal);
    const sample: MadeSample =
      spent === null ? await makeSample(work, planned, verifying) : { why: spent, isSpent: true };
    if ('why' in sample) {
      if (sample.isSpent) spent = sample.why;
      unasked.push({ task: planned.task.id, contestant: planned.contestant.id, why: sample.why });
      options.tell({ kind: 'unasked', sample: planned, why: sample.why });
      return;
    }
    made += 1;
    if (sample.sample.reusedFrom !== null) reused += 1;
    usd += sample.paidUsd;
    const leftMs = ((ports.clock.elapsed() - began) / made) * (missing.length - made - unasked.length);
    options.tell({ kind: 'sample', sample: sample.sample, done: before + made, total, usd, leftMs });
  });
  return { done: before + made, made, reused, unasked };
}
