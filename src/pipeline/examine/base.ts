import type { Task } from '../../core/model/index.ts';
import { sourceOf } from '../task.ts';
import type { World } from '../world.ts';

/** The base commit's package.json: it says which test runner an `npm` script starts. */
export const readBasePackage = async (world: World, task: Task): Promise<string | null> =>
  world.workspaces.readFile(await sourceOf(world, task), task.base.sha, 'package.json');
