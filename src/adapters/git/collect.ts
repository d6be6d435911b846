import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type ChildLost,
  Fault,
  isCrash,
  machineWordsIn,
  programKilled,
  retryLost,
} from '../../core/model/index.ts';
import { quotedPath } from '../../core/patches/index.ts';
import {
  type BaseCheckout,
  DEFAULT_LIMITS,
  type ExecResult,
  type Sandbox,
  type WorkArea,
} from '../../ports/index.ts';
import { BYTE_FOR_BYTE, type CheckoutFacts } from './bases.ts';
import {
  COLLECTOR,
  collectorEnv,
  MAX_LIST_BYTES,
  REFUSED_EXIT,
  UNACCEPTED,
  UNREADABLE,
} from './collector-script.ts';
import { rawEntries, type SetupTraces } from './diff-trees.ts';
import { abortError } from './faults.ts';
import { chownTo, type Layout, readBounded } from './layout.ts';
import { type FileOwner, globLiteral, hasPathWith, isFull, openFolders, removeTree } from './trees.ts';

export interface CollectLimits {
  /** Files that a candidate may change, add and delete together. */
  readonly files: number;
  /** Bytes of the pack that carries the new content to the host. */
  readonly packBytes: number;
  /** Bytes of all changed files, before and after together. */
  readonly contentBytes: number;
  /** Milliseconds that the collector may take. */
  readonly wallMs: number;
}

/** Our defaults; tune them on dev data. */
export const COLLECT_LIMITS: CollectLimits = {
  files: 2_000,
  packBytes: 50_000_000,
  contentBytes: 100_000_000,
  wallMs: 10 * 60_000,
};

// The content of the area counts as disk use of the collector; it was limited when it was written.
const ANY_DISK = 2 ** 42;
const WORD_BYTES = 200;
/** Of a reason, which may end with a path. */
const REASON_BYTES = 5_000;

/** Everything that is known about a setup right after it ran. Lists are NUL-separated. */
export interface SetupResult extends SetupTraces {
  /** Every path in the layer, folders included. */
  readonly wrote: Buffer;
  /** `package.json` or `binding.gyp` of each installed package that runs a script on installation. */
  readonly scripted: Buffer;
}

export type CollectedTree =
  | { readonly kind: 'tree'; readonly tree: string; readonly pack: Buffer }
  | { readonly kind: 'refused'; readonly why: string };

/** Runs the collector over areas; its output is read as untrusted data. */
export interface Collector {
  /** Both reject with AbortError if the signal ends the collector. */
  gather(base: BaseCheckout, area: WorkArea, known: Known, signal?: AbortSignal): Promise<CollectedTree>;
  traces(
    base: BaseCheckout,
    area: WorkArea,
    facts: CheckoutFacts,
    signal?: AbortSignal,
  ): Promise<SetupResult>;
}
export interface Known {
  readonly facts: CheckoutFacts;
  readonly traces: SetupTraces | null;
}

export function openCollector(
  sandbox: Sandbox,
  layout: Layout,
  setting: { readonly owner: FileOwner; readonly limits: CollectLimits },
): Collector {
  const { owner, limits } = setting;

  async function runOnce(
    mode: 'candidate' | 'setup',
    base: BaseCheckout,
    area: WorkArea,
    known: Known,
    signal: AbortSignal | undefined,
  ) {
    const [input, out] = [join(layout.area(area.id), 'in'), join(layout.area(area.id), 'out')];
    await removeTree(input);
    await removeTree(out);
    await mkdir(out, { mode: 0o755 });
    await chownTo(out, owner);
    await writeLists(input, known);
    await openFolders(area.upper, owner);
    const most = mode === 'setup' ? Number.MAX_SAFE_INTEGER : limits.contentBytes;
    const skips = known.facts.links.flatMap((path) => ['-path', `./${globLiteral(path)}`, '-prune', '-o']);
    const clear = () => Promise.all([removeTree(input), removeTree(out)]);
    const exec = sandbox.exec({
      area,
      argv: ['sh', '-c', COLLECTOR, 'collect', mode, base.sha, `${limits.files}`, `${most}`, ...skips],
      env: collectorEnv(BYTE_FOR_BYTE),
      readOnly: true,
      out,
      binds: [
        { from: join(base.lower, '.git'), to: '/run/bridge/base' },
        { from: area.upper, to: '/run/bridge/upper' },
        { from: input, to: '/run/bridge/in' },
      ],
      limits: { ...DEFAULT_LIMITS, wallMs: limits.wallMs, diskBytes: ANY_DISK, outputBytes: 65_536 },
      ...(signal ? { signal } : {}),
    });
    const result = await exec.catch(async (thrown: unknown) => {
      await clear();
      throw thrown;
    });
    return { out, result, clear };
  }

  /** A collector whose programs were killed or could not be started is run again: it only reads. */
  const run = (...job: Parameters<typeof runOnce>) =>
    retryLost(
      sleep,
      () => runOnce(...job),
      ({ result }) => lostReader(result) !== null,
    );

  return {
    async gather(base, area, known, signal) {
      const { out, result, clear } = await run('candidate', base, area, known, signal);
      try {
        const why = await refusal(result, { out, upper: area.upper }, limits);
        if (why !== null) return { kind: 'refused', why };
        const tree = await readBounded(join(out, 'tree'), WORD_BYTES);
        const pack = await readBounded(join(out, 'pack'), limits.packBytes);
        if (!tree || !pack) return { kind: 'refused', why: tooBig(limits.packBytes) };
        return { kind: 'tree', tree: tree.toString('latin1').trim(), pack };
      } finally {
        await clear();
      }
    },

    async traces(base, area, facts, signal) {
      const { out, result, clear } = await run('setup', base, area, { facts, traces: null }, signal);
      try {
        const why = await refusal(result, { out, upper: area.upper }, limits);
        const list = async (name: string) =>
          why === null ? await readBounded(join(out, name), MAX_LIST_BYTES) : null;
        const [brought, raw, wrote, scripted] = [
          await list('brought'),
          await list('raw'),
          await list('wrote'),
          await list('scripted'),
        ];
        if (!brought || !raw || !wrote || !scripted) {
          throw new Fault(
            'INTERNAL',
            `What setup wrote could not be listed: ${why ?? 'the list is too long'}`,
          );
        }
        return { brought, raw, wrote, scripted };
      } finally {
        await clear();
      }
    },
  };
}

async function writeLists(folder: string, { facts, traces }: Known): Promise<void> {
  await mkdir(folder, { mode: 0o755 });
  const altered = traces ? rawEntries(traces.raw).map(({ path }) => Buffer.from(path, 'latin1')) : [];
  const lists = {
    links: joinSorted(facts.links.map((path) => Buffer.from(path))),
    altered: joinSorted(altered),
    brought: traces?.brought ?? Buffer.alloc(0),
  };
  for (const [name, content] of Object.entries(lists)) await writeFile(join(folder, name), content);
}

/** Starts a sentence. */
const READER = 'A program that reads the files of a candidate';

/** Exit codes of xargs for a program that a signal ended, and of xargs and shells for one that they could not start. */
const [XARGS_KILLED, NOT_STARTED, NOT_FOUND] = [125, 126, 127] as const;

/**
 * Why the collector says nothing about the files that it read; null if it does. Its programs exist, and no file's name
 * or content can lead to these ends, except to a crash.
 */
function lostReader({ exitCode, signal, stopped, stderr }: ExecResult): ChildLost | null {
  if (stopped !== null) return null;
  if (exitCode === NOT_STARTED || exitCode === NOT_FOUND)
    return {
      kind: 'lost',
      how: `could not be started: ${stderr.trimEnd().split('\n').at(-1)?.slice(0, 200)}`,
    };
  if (exitCode === null || exitCode === XARGS_KILLED || exitCode > 128)
    return { kind: 'lost', how: signal === undefined ? 'was killed' : `was killed by signal ${signal}` };
  return null;
}

/** Why the candidate cannot be collected; null if it can. Throws for causes other than the candidate. */
async function refusal(
  result: ExecResult,
  { out, upper }: { readonly out: string; readonly upper: string },
  limits: CollectLimits,
): Promise<string | null> {
  if (result.stopped === 'cancelled') throw abortError();
  if (result.stopped === 'wall') return 'Its files could not be read in time.';
  if (result.stopped !== null) return `Reading its files was stopped (${result.stopped}).`;
  if (result.exitCode === 0) return null;
  const lost = lostReader(result);
  // A file may be the cause of a crash, so one that comes each time is no outage: waiting would not help.
  if (lost !== null && isCrash(result.signal))
    return `A program that reads its files crashed each time (signal ${result.signal}).`;
  if (lost !== null) throw programKilled(READER, lost);
  const word =
    result.exitCode === REFUSED_EXIT ? await readBounded(join(out, 'refused'), REASON_BYTES) : null;
  const reason = word?.toString('utf8') ?? null;
  if (reason !== null && reason !== UNREADABLE) return refusalSentence(reason, limits);
  if (await isFull(out)) throw new Fault('DISK_FULL', NO_SPACE);
  const said = machineWordsIn(result.stderr);
  if (said !== null && !(await hasPathWith(upper, said.words)))
    throw new Fault(said.code, said.code === 'DISK_FULL' ? NO_SPACE : `${READER} failed: ${said.words}.`);
  if (result.exitCode === REFUSED_EXIT) return refusalSentence(UNREADABLE, limits);
  throw new Fault(
    'INTERNAL',
    `Collecting a patch failed with exit code ${result.exitCode}: ${result.stderr.slice(-600)}`,
  );
}

const NO_SPACE = 'There was no space left to read what a candidate changed.';

const UNACCEPTED_PATH = new RegExp(`^${UNACCEPTED} (.+)$`, 's');

function refusalSentence(word: string, limits: CollectLimits): string {
  const [, kind, number] = /^(files|bytes) (\d{1,15})$/.exec(word) ?? [];
  if (kind === 'files') return tooMany(Number(number), limits.files);
  if (kind === 'bytes') return tooBig(limits.contentBytes);
  const [, path] = UNACCEPTED_PATH.exec(word) ?? [];
  if (path !== undefined) return `It has a file that git cannot store under its name: ${quotedPath(path)}.`;
  if (word === 'names') return 'It leaves more files, ignored ones included, than can be listed.';
  return 'It has a file that git cannot read.';
}

export const tooMany = (files: number, most: number): string =>
  `It changes ${files} files; at most ${most} are allowed.`;
export const tooBig = (most: number): string =>
  `Its changed files hold more than ${Math.round(most / 1e6)} MB.`;

/** In the order of `LC_ALL=C sort -z`, which `comm` needs. */
function joinSorted(paths: readonly Buffer[]): Buffer {
  const nul = Buffer.from([0]);
  return Buffer.concat([...paths].sort(Buffer.compare).flatMap((path) => [path, nul]));
}
