import { openDirtyBubblewrap } from './escape/dirty.ts';
import { kernelSuite } from './escape/kernel.ts';
import { processesSuite } from './escape/processes.ts';

processesSuite('bubblewrap', openDirtyBubblewrap);
kernelSuite('bubblewrap', openDirtyBubblewrap);
