#!/usr/bin/env -S node --
// Starts Runoff on the Node 24 that it ships with, whatever Node the host has. `--` stands before the program wherever Node
// is started: Node would take an `--env-file` behind it for its own, and run what NODE_OPTIONS in that file names.
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
// Node strips the types of no file below a folder of this name (docs/decisions/0180-installed-from-a-package.md).
const isPackage = root.split(sep).includes('node_modules');

/** npm may put the package of Node beside Runoff or below it, so it is resolved as any other. */
function shippedNode() {
  try {
    return createRequire(import.meta.url).resolve(`node-${process.platform}-${process.arch}/bin/node`);
  } catch {
    return null;
  }
}

const node = shippedNode() ?? process.execPath;
if (node === process.execPath && Number(process.versions.node.split('.')[0]) < 24) {
  process.stderr.write(
    isPackage
      ? `Runoff runs on Node 24, and this is ${process.version}: npm did not install the package node-${process.platform}-${process.arch}.\n→ Install Runoff again with its optional packages (without --omit=optional). They exist for Linux x64 and arm64; elsewhere use the container.\n`
      : `Runoff is not set up yet. First: npm run setup (in ${root})\n`,
  );
  process.exit(1);
}
const stripping = [
  '--disable-warning=ExperimentalWarning',
  `--import=${pathToFileURL(join(root, 'bin', 'strip-types.mjs'))}`,
];
const child = spawn(
  node,
  [...(isPackage ? stripping : []), '--', join(root, 'src', 'main.ts'), ...process.argv.slice(2)],
  { stdio: 'inherit' },
);
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
child.on('exit', (code, signal) => process.exit(code ?? (signal === 'SIGINT' ? 130 : 1)));
