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
 * names this `upper` as a layer gets the whole tree from it, so layers keep their meaning (only deletions do not carry).
 */
export interface Copies {
  /** Fills the area unless that was done before; returns the bytes that the copy takes. */
  ensure(area: WorkArea): Promise<number>;
}

export function openCopies(scratch: string, owner: Owner | null): Copies {
  const underWay = new Map<string, Promise<number>>();
  const marks = join(scratch, 'copies');

  // The mark lies where no sandbox can reach it, and names the folder's inode: an area made anew is filled anew.
  const markOf = (area: WorkArea): string => {
    const { ino, birthtimeMs } = statSync(area.upper);
    const key = createHash('sha256').update(`${area.upper}\0${ino}\0${birthtimeMs}`).digest('hex');
    return join(marks, key);
  };
  const fill = async (area: WorkArea, mark: string): Promise<number> => {
    for (const layer of area.lowers.toReversed()) {
      const copy = await runCommand(['cp', '-a', '--reflink=auto', '--', `${layer}/.`, area.upper], owner);
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
      const mark = markOf(area);
      if (existsSync(mark)) return Number(readFileSync(mark, 'utf8'));
      const filling = underWay.get(mark) ?? fill(area, mark).finally(() => underWay.delete(mark));
      underWay.set(mark, filling);
      return await filling;
    },
  };
}
