import { openDirtyBubblewrap } from './escape/dirty.ts';
import { filesSuite } from './escape/files.ts';

filesSuite('bubblewrap', openDirtyBubblewrap);
