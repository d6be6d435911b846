#!/usr/bin/env node
import { readFile } from 'node:fs/promises';
import { run } from '../src/cli.js';

process.exitCode = await run(process.argv.slice(2), {
  readFile: (path) => readFile(path, 'utf8'),
  out: (text) => process.stdout.write(`${text}\n`),
  error: (text) => process.stderr.write(`${text}\n`),
});
