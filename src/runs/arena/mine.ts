import { readRecords, readTasks, taskLine, unfinishedChars } from '../../core/arena/index.ts';
import {
  classifyChanges,
  type FoundChange,
  latestByCommit,
  MINED_FILE,
  type MinedOutcome,
  MinedRecord,
  type MiningSummary,
  OUTCOMES,
  progressText,
  STATEMENTS,
  type StatementCounts,
  type StatementSource,
  type Stop,
  summaryOf,
} from '../../core/mining/index.ts';
import { asFault, counted, Fault, type Sha } from '../../core/model/index.ts';
import type { ContestFolder } from '../../ports/index.ts';
import { type IssueAccess, openIssues, stateTask } from './issue-text.ts';
import { type MinePorts, type Proof, proveChange } from './prove.ts';

interface MineOptions {
  /** Top folder of a local repository. */
  readonly repository: string;
  /** Opened to be written. */
  readonly folder: ContestFolder;
  /** The dataset, relative to the folder. Hidden tests and reference diffs are written beside it. */
  readonly dataset: string;
  /** Milliseconds since 1970 UTC. */
  readonly since: number;
  /** Tasks in the dataset at most, including earlier ones. */
  readonly limit: number;
  /** Of this call; absent: no limit of time. */
  readonly minutes?: number;
  /** Executes changes again that were dropped before. */
  readonly again: boolean;
  /** Consent to run the repository's commands in a weaker sandbox or with the hosts that it requests. */
  readonly trust: boolean;
  /** A sentence about what happens. */
  readonly onProgress: (text: string) => void;
  readonly signal: AbortSignal;
}

export interface Mined {
  readonly summary: MiningSummary;
  /** Tasks of the dataset that come from elsewhere than the changes that were looked at. */
  readonly others: number;
  /** The repository lacks its older commits. */
  readonly shallow: boolean;
  /** Of this call. */
  readonly dropped: readonly MinedRecord[];
  /** What says the tasks that this call kept. */
  readonly stated: StatementCounts;
}

/**
 * Makes tasks of the repository's own history: changes that brought tests, newest first, of which execution proves that
 * the tests fail without the change and pass with it. What was executed is kept, so that another call goes on from
 * there. Faults: REPOSITORY_EMPTY; CONTEST_INVALID if the dataset is unreadable; CHECKS_UNTRUSTED; GITHUB_UNAVAILABLE
 * if GitHub does not answer and changes name issues.
 */
export async function mineHistory(ports: MinePorts, options: MineOptions): Promise<Mined> {
  const { repository, folder, since } = options;
  const source = { kind: 'local', path: repository } as const;
  const head = await ports.workspaces.resolve(source, 'HEAD');
  if (head === null) throw new Fault('REPOSITORY_EMPTY', `${repository} has no commit yet.`);
  const { changes, shallow } = await ports.workspaces.mainline(source, head, { since });
  const origin = await ports.workspaces.origin(repository);
  const issues = await openIssues(ports, origin, changes);
  if (issues.kind === 'closed')
    options.onProgress(`Tasks are stated by commit messages: ${STATEMENTS[issues.why].because}.`);
  const classified = classifyChanges(changes, issues.kind === 'open' ? issues.repository : null);
  const found = classified.flatMap((one) => (one.kind === 'found' ? [one.found] : []));
  const { outcomes, others } = await earlierOutcomes(folder, options, found);
  const open = found.filter(({ change }) => !outcomes.has(change.commit));
  options.onProgress(openingText(changes.length, found.length, found.length - open.length));
  const { stop, ...now } = await executeInTurn(ports, { ...options, issues, others }, open, outcomes);
  return { summary: summaryOf(classified, [...outcomes.values()], stop), others, shallow, ...now };
}

/** Executes changes until there is a reason to stop; adds what is found out to `outcomes`. */
async function executeInTurn(
  ports: MinePorts,
  options: TryOptions,
  open: readonly FoundChange[],
  outcomes: Map<Sha, MinedOutcome>,
): Promise<Pick<Mined, 'dropped' | 'stated'> & { readonly stop: Stop }> {
  const { limit, onProgress } = options;
  const tasks = () => options.others + keptIn(outcomes);
  const before = tasks();
  const began = ports.clock.elapsed();
  const elapsed = () => (ports.clock.elapsed() - began) / 1_000;
  const dropped: MinedRecord[] = [];
  const stated: Partial<Record<StatementSource, number>> = {};
  let outages = 0;
  for (const [checked, mined] of open.entries()) {
    const started = elapsed();
    const stop = stopNow(options, tasks(), started);
    if (stop !== null) return { stop, dropped, stated };
    const tried = await tryChange(ports, mined, options);
    if (tried.kind === 'stopped') return { stop: 'interrupted', dropped, stated };
    if (tried.kind === 'outage') {
      outages += 1;
      if (outages >= MAX_OUTAGES) throw tried.fault;
      onProgress(
        `${mined.change.commit.slice(0, 10)} ${mined.title}: left for later. ${tried.fault.message}`,
      );
      continue;
    }
    outages = 0;
    const record = recordOf(tried.mined, tried.proof, {
      seconds: elapsed() - started,
      at: ports.clock.now(),
    });
    await keepProof(options, tried.proof, record);
    outcomes.set(record.commit, record.outcome);
    if (record.outcome !== 'kept') dropped.push(record);
    else if (tried.statedBy !== null) stated[tried.statedBy] = (stated[tried.statedBy] ?? 0) + 1;
    const done = { before, kept: tasks(), checked: checked + 1, seconds: elapsed() };
    onProgress(`${recordText(record)} (${progressText(done, { found: open.length, limit })})`);
  }
  return { stop: stopNow(options, tasks(), 0) ?? 'done', dropped, stated };
}

const keptIn = (outcomes: ReadonlyMap<Sha, MinedOutcome>): number =>
  [...outcomes.values()].filter((one) => one === 'kept').length;

const openingText = (commits: number, found: number, before: number): string =>
  `${counted(commits, 'commit')}, ${counted(found, 'change')} with tests among them, ${before} executed before.`;

function stopNow(
  { limit, minutes, signal }: Pick<MineOptions, 'limit' | 'minutes' | 'signal'>,
  tasks: number,
  seconds: number,
): Stop | null {
  if (signal.aborted) return 'interrupted';
  if (tasks >= limit) return 'limit';
  return minutes !== undefined && seconds >= 60 * minutes ? 'time' : null;
}

/** Changes in a row that a registry or GitHub did not answer for, after which it counts as away. Our default. */
const MAX_OUTAGES = 3;

type TryOptions = MineOptions & Pick<Mined, 'others'> & { readonly issues: IssueAccess };

type Tried =
  | {
      readonly kind: 'proof';
      readonly proof: Proof;
      readonly mined: Pick<FoundChange, 'base' | 'change' | 'title'>;
      /** Null: nothing says its task. */
      readonly statedBy: StatementSource | null;
    }
  /** Nothing is known about the change: another call tries it again. */
  | { readonly kind: 'stopped' }
  | { readonly kind: 'outage'; readonly fault: Fault };

async function tryChange(ports: MinePorts, found: FoundChange, options: TryOptions): Promise<Tried> {
  try {
    const stated = await stateTask(options.issues, found);
    if (stated.kind === 'unstated') {
      const proof = { outcome: 'unusable', why: stated.why } as const;
      return { kind: 'proof', proof, mined: found, statedBy: null };
    }
    const { mined, source } = stated;
    const proof = await proveChange(ports, mined, { ...options, statedBy: STATEMENTS[source].from });
    return { kind: 'proof', proof, mined, statedBy: source };
  } catch (thrown) {
    if (options.signal.aborted) return { kind: 'stopped' };
    const fault = asFault(thrown);
    if (fault.code === 'REGISTRY_UNAVAILABLE' || fault.code === 'GITHUB_UNAVAILABLE')
      return { kind: 'outage', fault };
    throw thrown;
  }
}

/** Outcomes of earlier calls, and the number of other tasks. A task that was written by a call that was killed before it noted the outcome counts. */
async function earlierOutcomes(
  folder: ContestFolder,
  { dataset, again }: Pick<MineOptions, 'again' | 'dataset'>,
  found: readonly FoundChange[],
): Promise<{ readonly outcomes: Map<Sha, MinedOutcome>; readonly others: number }> {
  const noted = readRecords(
    (await folder.records(minedFile(dataset))) ?? '',
    minedFile(dataset),
    MinedRecord,
  );
  const text = (await folder.records(dataset)) ?? '';
  // The rest of a line whose writer was killed; who appends next removes it.
  const whole = text.slice(0, text.length - unfinishedChars(text));
  const { tasks, problems } = whole.trim() ? readTasks(whole, dataset) : { tasks: [], problems: [] };
  const wrong = [...noted.problems, ...problems];
  if (wrong.length > 0) throw new Fault('CONTEST_INVALID', wrong.join('\n'));
  const written = new Set(tasks.flatMap((task) => (task.kind === 'repo' ? (task.origin?.commit ?? []) : [])));
  const latest = latestByCommit(noted.records);
  const outcomes = new Map<Sha, MinedOutcome>();
  for (const { change } of found) {
    const outcome = latest.get(change.commit)?.outcome;
    if (written.has(change.commit)) outcomes.set(change.commit, 'kept');
    // A task that somebody removed from the dataset stays removed.
    else if (outcome === 'kept') outcomes.set(change.commit, 'removed');
    else if (outcome !== undefined && !again) outcomes.set(change.commit, outcome);
  }
  return { outcomes, others: tasks.length - keptIn(outcomes) };
}

function recordOf(
  { change, base, title }: Pick<FoundChange, 'base' | 'change' | 'title'>,
  proof: Proof,
  { seconds, at }: { readonly seconds: number; readonly at: number },
): MinedRecord {
  const time = new Date(at).toISOString();
  return {
    version: 1,
    id: `${change.commit} ${time}`,
    commit: change.commit,
    base,
    title,
    outcome: proof.outcome,
    why: proof.outcome === 'kept' ? null : proof.why.slice(0, MAX_WHY),
    task: proof.outcome === 'kept' ? proof.task.id : null,
    seconds: Math.round(10 * seconds) / 10,
    at: time,
  };
}

const MAX_WHY = 4_000;

/** The files of a task are complete before the dataset names them, and the task before its outcome is noted. */
async function keepProof(
  { folder, dataset }: Pick<MineOptions, 'dataset' | 'folder'>,
  proof: Proof,
  record: MinedRecord,
): Promise<void> {
  if (proof.outcome === 'kept') {
    const { task, hidden, reference } = proof;
    for (const [path, text] of Object.entries(hidden))
      await folder.write(beside(dataset, `${task.hiddenTests}/${path}`), text);
    await folder.write(beside(dataset, task.reference ?? ''), reference);
    await folder.append(dataset, taskLine(task));
  }
  await folder.append(minedFile(dataset), `${JSON.stringify(record)}\n`);
}

/** A path of a dataset is relative to the folder of the dataset. */
const beside = (dataset: string, path: string): string =>
  `${dataset.slice(0, dataset.lastIndexOf('/') + 1)}${path}`;
const minedFile = (dataset: string): string => beside(dataset, MINED_FILE);

function recordText({ commit, title, outcome, why }: MinedRecord): string {
  const what = outcome === 'kept' ? 'kept' : `dropped, because ${OUTCOMES[outcome]}`;
  const reason = outcome === 'base-broken' || outcome === 'unusable' ? `: ${firstSentence(why ?? '')}` : '';
  return `${commit.slice(0, 10)} ${title}: ${what}${reason}`;
}

const firstSentence = (text: string): string => /^.*?[.!?](?= [A-Z]|$)/s.exec(text)?.[0] ?? text;
