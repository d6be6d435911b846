import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Fault } from '../../core/model/index.ts';
import type { WorkArea } from '../../ports/index.ts';
import { runCommand } from './command.ts';
import type { Owner } from './owner.ts';
import { bytesIn } from './watchdog.ts';

/**
 * The stand-in for overlay mounts: `upper` is filled with a copy of the layers and used as it is. A later area that
 * names this `upper` as a layer gets the whole tree from it and from no layer below, so deletions carry as well; only
 * those in a layer that was moved since do not.
 */
export interface Copies {
  /** Fills the area unless that was done before; returns the bytes that the copy takes. */
  ensure(area: WorkArea): Promise<number>;
}

export function openCopies(scratch: string, owner: Owner | null): Copies {
  const underWay = new Map<string, Promise<number>>();
  const marks = join(scratch, 'copies');

  // The mark lies where no sandbox can reach it, and names the folder's inode: an area made anew is filled anew.
  const markOf = (upper: string): string => {
    const { ino, birthtimeMs } = statSync(upper);
    const key = createHash('sha256').update(`${upper}\0${ino}\0${birthtimeMs}`).digest('hex');
    return join(marks, key);
  };
  // What stands in the way is removed first: it may be read-only, or a link that would be written through.
  const cp = ['cp', '-a', '--remove-destination', '--reflink=auto', '--'] as const;
  const fill = async (area: WorkArea, mark: string): Promise<number> => {
    const whole = area.lowers.findIndex((layer) => existsSync(layer) && existsSync(markOf(layer)));
    const layers = whole < 0 ? area.lowers : area.lowers.slice(0, whole + 1);
    for (const layer of layers.toReversed()) {
      const copy = await runCommand([...cp, `${layer}/.`, area.upper], owner);
      if (copy.code !== 0) {
        throw new Fault('SANDBOX_UNAVAILABLE', `${layer} could not be copied: ${copy.stderr.trim()}`);
      }
    }
    const bytes = await bytesIn([area.upper], owner);
    mkdirSync(marks, { recursive: true });
    writeFileSync(mark, String(bytes));
    return bytes;
  };

  return {
    async ensure(area) {
      const mark = markOf(area.upper);
      if (existsSync(mark)) return Number(readFileSync(mark, 'utf8'));
      const filling = underWay.get(mark) ?? fill(area, mark).finally(() => underWay.delete(mark));
      underWay.set(mark, filling);
      return await filling;
    },
  };
}
