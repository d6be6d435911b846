import { sandboxContract } from '../../contracts/sandbox.suite.ts';
import { openWorkbench } from './workbench.ts';

sandboxContract('bubblewrap', openWorkbench);
sandboxContract('bubblewrap without overlay mounts', () => openWorkbench({ overlay: false }));
