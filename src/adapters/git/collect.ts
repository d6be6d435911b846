import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Fault, programKilled } from '../../core/model/index.ts';
import {
  type BaseCheckout,
  DEFAULT_LIMITS,
  type ExecResult,
  type Sandbox,
  type WorkArea,
} from '../../ports/index.ts';
import { BYTE_FOR_BYTE, type CheckoutFacts } from './bases.ts';
import { COLLECTOR, collectorEnv, MAX_LIST_BYTES, REFUSED_EXIT } from './collector-script.ts';
import { rawEntries, type SetupTraces } from './diff-trees.ts';
import { abortError } from './faults.ts';
import { chownTo, type Layout, readBounded } from './layout.ts';
import { type FileOwner, isFull, openFolders, removeTree } from './trees.ts';

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

  async function run(
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

  return {
    async gather(base, area, known, signal) {
      const { out, result, clear } = await run('candidate', base, area, known, signal);
      try {
        const why = await refusal(result, out, limits);
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
        const why = await refusal(result, out, limits);
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

/**
 * The last line of git's after a write that failed, whole: names of a candidate's files, which may contain line breaks
 * and any words, are in other messages and lines.
 */
const NO_SPACE =
  /^fatal: (?:write error|sha1 file '<stdout>' write error)(?:: (?:No space left on device|Disk quota exceeded)|\. Out of diskspace)$/;

const KILLED = { kind: 'lost', how: 'was killed' } as const;

/** Why the candidate cannot be collected; null if it can. Throws for causes other than the candidate. */
async function refusal(result: ExecResult, out: string, limits: CollectLimits): Promise<string | null> {
  if (result.stopped === 'cancelled') throw abortError();
  if (result.stopped === 'wall') return 'Its files could not be read in time.';
  if (result.stopped !== null) return `Reading its files was stopped (${result.stopped}).`;
  if (result.exitCode === 0) return null;
  // No candidate process runs now, so only the machine can have sent a signal.
  if (result.exitCode === null || result.exitCode > 128)
    throw programKilled('The program that reads the files of a candidate', KILLED);
  if (result.exitCode === REFUSED_EXIT) {
    const word = await readBounded(join(out, 'refused'), WORD_BYTES);
    return refusalSentence(word?.toString('latin1') ?? '', limits);
  }
  const said = result.stderr.trimEnd();
  if (NO_SPACE.test(said.slice(said.lastIndexOf('\n') + 1)) || (await isFull(out))) {
    throw new Fault('DISK_FULL', 'There was no space left to read what a candidate changed.');
  }
  throw new Fault(
    'INTERNAL',
    `Collecting a patch failed with exit code ${result.exitCode}: ${result.stderr.slice(-600)}`,
  );
}

function refusalSentence(word: string, limits: CollectLimits): string {
  const [, kind, number] = /^(files|bytes) (\d{1,15})$/.exec(word) ?? [];
  if (kind === 'files') return tooMany(Number(number), limits.files);
  if (kind === 'bytes') return tooBig(limits.contentBytes);
  if (word === 'names') return 'It leaves more files, ignored ones included, than can be listed.';
  return 'It has a file that git cannot store: a name git does not accept, or a file that may not be read.';
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

/** Escapes a path for `find -path`, whose argument is a pattern. */
export const globLiteral = (path: string): string => path.replace(/[\\*?[\]]/g, '\\$&');
