'use strict';
// Writes the observations, one JSON array per line, to <folder>/<pid>-<n>.jsonl; if the folder does not exist, nowhere.
// A `b` line is on disk before its variant starts, and an `e` line as soon as it has ended, so that the supervisor
// knows what hung or crashed.

const fs = require('node:fs');
const path = require('node:path');

const MAX_BYTES = 1 << 20;

/** @param {string} folder
 *  @returns {{ begun: ReadonlySet<string>, avoided: ReadonlySet<string>, write(line: unknown[]): void, flush(): void, on: boolean }} */
function openRecorder(folder) {
  if (!fs.existsSync(folder))
    return { on: false, begun: new Set(), avoided: new Set(), write() {}, flush() {} };
  const begun = new Set();
  const avoided = new Set();
  for (const name of fs.readdirSync(folder)) {
    if (!name.endsWith('.jsonl')) continue;
    for (const line of fs.readFileSync(path.join(folder, name), 'utf8').split('\n')) {
      const [, key] = /^\["b","([^"]+)"/.exec(line) ?? [];
      if (key) begun.add(key);
      if (line.startsWith('["x",')) avoided.add(JSON.parse(line)[1]);
    }
  }
  let nth = 0;
  while (fs.existsSync(path.join(folder, `${process.pid}-${nth}.jsonl`))) nth += 1;
  const file = fs.openSync(path.join(folder, `${process.pid}-${nth}.jsonl`), 'a');
  let waiting = '';
  let written = 0;
  const flush = () => {
    if (waiting === '') return;
    const text = waiting;
    waiting = '';
    written += text.length;
    if (written <= MAX_BYTES) fs.writeSync(file, text);
  };
  process.on('exit', flush);
  return {
    on: true,
    begun,
    avoided,
    flush,
    write(line) {
      waiting += `${JSON.stringify(line)}\n`;
    },
  };
}

module.exports = { openRecorder };
