import { randomBytes } from 'node:crypto';
import { startedAt } from '../processes.ts';
import type { Engine } from './engine.ts';

/** Its value names the scratch folder, so that one Runoff leaves the containers of another alone. */
export const LABEL = 'runoff.sandbox';

/** `app` is this process: its id and when it started. */
export const nameOf = (app: string): string => `runoff-${app}-${randomBytes(6).toString('hex')}`;

/** Removes the containers whose Runoff is gone: their watcher was killed with it, or the machine stopped. */
export async function sweep(engine: Engine, place: string): Promise<void> {
  const list = ['ps', '--all', '--filter', `label=${LABEL}=${place}`, '--format', '{{.Names}}'];
  const { stdout } = await engine.run(list);
  const left = stdout.split('\n').filter((name) => {
    const [, pid, start] = /^runoff-(\d+)-(\d+)-[0-9a-f]+$/.exec(name.trim()) ?? [];
    return pid !== undefined && startedAt(Number(pid)) !== start;
  });
  if (left.length > 0) await engine.run(['rm', '--force', ...left]);
}
