// Imported before a worker: kills the process when it is about to give a file or folder its name for the n-th time.
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

let left = Number(process.env.RUNOFF_TEST_KILL_AT_RENAME);
const { rename } = fs.promises;
fs.promises.rename = (from, to) => {
  left -= 1;
  if (left === 0) process.kill(process.pid, 'SIGKILL');
  return rename(from, to);
};
syncBuiltinESMExports();
