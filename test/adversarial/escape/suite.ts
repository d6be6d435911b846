import { filesSuite } from './files.ts';
import { kernelSuite } from './kernel.ts';
import { networkSuite } from './network.ts';
import { processesSuite } from './processes.ts';
import type { OpenWorld } from './world.ts';

/**
 * Every attack that asks nothing of a backend but the port: files, processes, kernel, network. A backend's test file
 * calls it with its own world; the default one's stands in three files, which run side by side.
 */
export function escapeSuite(name: string, open: OpenWorld): void {
  filesSuite(name, open);
  processesSuite(name, open);
  kernelSuite(name, open);
  networkSuite(name, open);
}
