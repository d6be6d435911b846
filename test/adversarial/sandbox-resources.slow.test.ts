import { openWorkbench } from '../adapters/sandbox/workbench.ts';
import { BUBBLEWRAP } from './escape/answers.ts';
import { resourcesSuite } from './escape/resources.ts';

resourcesSuite('bubblewrap', BUBBLEWRAP, openWorkbench);
