import { createHash } from 'node:crypto';
import { chownSync, lstatSync, mkdirSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { ExecSpec } from '../../ports/index.ts';
import type { Owner } from './owner.ts';

/**
 * A folder of the host that a sandbox sees through an overlay mount. /proc/self/mountinfo tells every process from where
 * in its file system a bound folder comes; of an overlay mount it tells the options only, in the words they were given
 * in. Those are names of links here, so that no path of the host is among them.
 */
export interface View {
  /** Options of the mount: `lowerdir`, `upperdir` and `workdir` are names in the area's folder for the mount. */
  readonly options: string;
  /** Where it is mounted: over the folder itself. */
  readonly at: string;
  /** What cannot be mounted so is bound as it is: its path shows, and nothing else is lost. */
  readonly optional: boolean;
}

export interface Shown {
  readonly spec: ExecSpec;
  /** Folder of the synthetic /etc. */
  readonly etc: string;
  /** Host folder to see as /opt/runoff. */
  readonly toolchain: string;
  /** An empty folder: a read-only overlay mount needs two layers. */
  readonly empty: string;
  readonly owner: Owner | null;
}

/**
 * The overlay mounts of one run, and the links that name their layers, made in the folder that the area's mount covers.
 * What our own programs read in a read-only run is bound as it is.
 */
export function makeViews({ spec, etc, toolchain, empty, owner }: Shown): readonly View[] {
  const { area } = spec;
  const names = new Map<string, string>();
  const name = (path: string): string => {
    const known = names.get(path) ?? createHash('sha256').update(path).digest('hex').slice(0, 12);
    if (!names.has(path)) linkOnce(path, join(area.merged, known));
    names.set(path, known);
    return known;
  };
  const through = (at: string, layers: Layers, optional = false): View => ({
    options: [...optionsOf(layers, name), 'userxattr', 'nosuid', 'nodev'].join(','),
    at,
    optional,
  });
  if (spec.readOnly) return [through(area.merged, { lowers: [area.upper, ...area.lowers] })];
  const work = join(area.work, 'home');
  ownFolder(work, owner);
  const folders = [etc, toolchain, ...(spec.binds ?? []).map(({ from }) => from)];
  return [
    ...folders.filter(isFolder).map((path) => through(path, { lowers: [path, empty] }, true)),
    through(area.home, { lowers: [empty], upper: area.home, work }),
    through(area.merged, { lowers: area.lowers, upper: area.upper, work: area.work }),
  ];
}

interface Layers {
  readonly lowers: readonly string[];
  readonly upper?: string;
  readonly work?: string;
}

const optionsOf = ({ lowers, upper, work }: Layers, name: (path: string) => string): readonly string[] => [
  `lowerdir=${lowers.map(name).join(':')}`,
  ...(upper === undefined ? [] : [`upperdir=${name(upper)}`]),
  ...(work === undefined ? [] : [`workdir=${name(work)}`]),
];

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;

/** The name comes from the path, so a link that is there already is the same. */
function linkOnce(path: string, link: string): void {
  if (lstatSync(link, { throwIfNoEntry: false }) === undefined) symlinkSync(path, link);
}

function ownFolder(path: string, owner: Owner | null): void {
  if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) return;
  mkdirSync(path, { mode: 0o755 });
  if (owner !== null) chownSync(path, owner.uid, owner.gid);
}
