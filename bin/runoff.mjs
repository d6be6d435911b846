#!/usr/bin/env -S node --
// Starts Runoff on the Node 24 that it ships with, whatever Node the host has. `--` stands before the program wherever Node
// is started: Node would take an `--env-file` behind it for its own, and run what NODE_OPTIONS in that file names.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const shipped = join(root, 'node_modules', '.bin', 'node');
const node = existsSync(shipped) ? shipped : process.execPath;
if (node === process.execPath && Number(process.versions.node.split('.')[0]) < 24) {
  process.stderr.write(`Runoff is not set up yet. First: npm run setup (in ${root})\n`);
  process.exit(1);
}
const child = spawn(node, ['--', join(root, 'src', 'main.ts'), ...process.argv.slice(2)], {
  stdio: 'inherit',
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
child.on('exit', (code, signal) => process.exit(code ?? (signal === 'SIGINT' ? 130 : 1)));
