// Runs inside the sandbox: parses texts by their grammars and prints the trees. Never executes them.
// stdin: JSON array of { grammar, text }; stdout: JSON array of trees in the same order, as `PrintedTree` in
// src/core/source has them; null where a text was too much.
import { readFileSync } from 'node:fs';
import { parseAll } from './trees.mjs';

process.stdout.write(JSON.stringify(await parseAll(JSON.parse(readFileSync(0, 'utf8')))));
