// Loads every module, which finds syntax errors and broken imports, then writes them to dist/.
import { cp, mkdir, readdir, rm, writeFile } from 'node:fs/promises';

const root = new URL('../', import.meta.url);
const modules = (await readdir(new URL('src/', root))).filter((name) => name.endsWith('.js')).sort();

const listed = {};
for (const name of modules) {
  listed[name] = Object.keys(await import(new URL(`src/${name}`, root))).sort();
}

await rm(new URL('dist/', root), { recursive: true, force: true });
await mkdir(new URL('dist/', root));
for (const name of modules) await cp(new URL(`src/${name}`, root), new URL(`dist/${name}`, root));
await writeFile(new URL('dist/manifest.json', root), `${JSON.stringify(listed, null, 2)}\n`);
console.log(`built ${modules.length} modules`);
