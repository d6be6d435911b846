// Loaded before Runoff where it is installed below `node_modules`: Node itself strips no types there. Only Runoff's own
// sources, and by the same function that Node uses elsewhere, so that lines and columns stay.
import { readFileSync } from 'node:fs';
import { registerHooks, stripTypeScriptTypes } from 'node:module';

const OWN = new URL('..', import.meta.url).href;

registerHooks({
  load(url, context, nextLoad) {
    if (!url.startsWith(OWN) || !url.endsWith('.ts')) return nextLoad(url, context);
    const source = stripTypeScriptTypes(readFileSync(new URL(url), 'utf8'));
    return { format: 'module', source, shortCircuit: true };
  },
});
