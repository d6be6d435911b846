#!/usr/bin/env node
// `release-notes.mjs v1.2.3` prints what CHANGELOG.md says of this version. Fails if package.json names another one.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const read = (path) => readFileSync(join(root, path), 'utf8');
const stop = (text) => {
  process.stderr.write(`${text}\n`);
  process.exit(1);
};

const tag = process.argv[2] ?? '';
const { version } = JSON.parse(read('package.json'));
if (tag !== `v${version}`)
  stop(`The tag is ${tag}, but package.json has version ${version}: the tag must be v${version}.`);

const sections = read('CHANGELOG.md').split(/^## /m).slice(1);
const section = sections.find((text) => text.startsWith(`[${version}] - `));
if (section === undefined)
  stop(`CHANGELOG.md has no section “## [${version}] - YYYY-MM-DD”: rename “Unreleased”.`);
process.stdout.write(`${section.slice(section.indexOf('\n')).trim()}\n`);
