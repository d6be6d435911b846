'use strict';
// Writes the observations, one JSON array per line, to <folder>/<pid>-<n>.jsonl; if the folder does not exist, nowhere.
// A `b` line is on disk before its variant starts, and an `e` line as soon as it has ended, so that the supervisor
// knows what hung or crashed. What it writes in turn: `["b", key, 0]` and `["x", call]` for what must not run again,
// `["v", value]` for values that must not be used, and `["u"]` if only unchanged cases run.

const fs = require('node:fs');
const path = require('node:path');

const MAX_BYTES = 1 << 20;

/** @param {string} folder
 *  @returns {{ begun: ReadonlySet<string>, avoided: ReadonlySet<string>, avoidsValueIn(text: string): boolean,
 *    onlyUnchanged: boolean, write(line: unknown[]): void, flush(): void, on: boolean }} */
function openRecorder(folder) {
  const nothing = { begun: new Set(), avoided: new Set(), avoidsValueIn: () => false, onlyUnchanged: false };
  if (!fs.existsSync(folder)) return { ...nothing, on: false, write() {}, flush() {} };
  const lines = fs
    .readdirSync(folder)
    .filter((name) => name.endsWith('.jsonl'))
    .flatMap((name) => fs.readFileSync(path.join(folder, name), 'utf8').split('\n'));
  const secondOf = (type) =>
    lines.filter((line) => line.startsWith(`["${type}",`)).map((line) => JSON.parse(line)[1]);
  const begun = new Set(lines.map((line) => (/^\["b","([^"]+)"/.exec(line) || [])[1]).filter(Boolean));
  const avoided = new Set(secondOf('x'));
  const values = secondOf('v');
  const onlyUnchanged = lines.includes('["u"]');
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
  const isNamed = values.length > 0 ? naming(values) : /(?!)/;
  return {
    on: true,
    begun,
    avoided,
    avoidsValueIn: (text) => isNamed.test(text),
    onlyUnchanged,
    flush,
    write(line) {
      waiting += `${JSON.stringify(line)}\n`;
    },
  };
}

/** As in restarts.ts. */
const naming = (values) => new RegExp(`(?<![\\w.])(?:${values.map(patternOf).join('|')})(?![\\w.])`);

const patternOf = (value) =>
  /^\d{7,}$/.test(value) ? `\\d{${value.length - 1},}` : value.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

module.exports = { openRecorder };
