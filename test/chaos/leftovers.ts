import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { type ChaosEnvironment, TEMPORARY } from './chaos-environment.ts';

/** What stopped processes and their stopped database left on this machine, in these data folders, and in TMPDIR. */
export async function findLeftovers(
  { home }: ChaosEnvironment,
  folders: readonly string[],
): Promise<readonly string[]> {
  const files = await Promise.all(folders.map((folder) => filesOf(join(home, folder))));
  const temporary = (await readdir(join(home, TEMPORARY))).map((name) => `file ${TEMPORARY}/${name}`);
  return [...(await processesOf(home)), ...files.flat(), ...temporary];
}

/** The same before the database is stopped: it outlives an App some of whose connections were still closing. */
export async function findLeftoversExceptDatabase(
  environment: ChaosEnvironment,
  folders: readonly string[],
): Promise<readonly string[]> {
  return (await findLeftovers(environment, folders)).filter(
    (line) => !/^process (?:postgres: |\S+\/bin\/postgres )/.test(line),
  );
}

/** Processes that name the folder, or see it in their file system: sandboxes have it as mounts only. */
async function processesOf(home: string): Promise<readonly string[]> {
  const [name, disk] = [basename(home), join(home, 'data')];
  const found: string[] = [];
  for (const pid of (await readdir('/proc')).filter((entry) => /^\d+$/.test(entry))) {
    if (Number(pid) === process.pid) continue;
    const read = (file: string) => readFile(`/proc/${pid}/${file}`, 'utf8').catch(() => '');
    const line = (await read('cmdline')).replaceAll('\0', ' ');
    // Every process of this machine sees a disk that a round mounted below its home.
    const mounts = (await read('mountinfo')).split('\n').filter((one) => one.split(' ')[4] !== disk);
    if ([line, ...mounts].some((one) => one.includes(name))) found.push(`process ${line.slice(0, 200)}`);
  }
  return found;
}

/** Folders that hold something only while somebody works. */
const EMPTY_AFTERWARDS = [
  'areas',
  'gw',
  'scratch',
  'scratch/egress',
  'scratch/containers',
  'scratch/tmp',
] as const;
/** What all sandboxes share. */
const SHARED = /^(?:etc|container-files|empty|egress|containers|tmp|copies|pipes)$/;

/** Names of what is being made or removed, and of locks, anywhere. */
const UNFINISHED = [
  /\.(?:lock|tmp|draft)$/,
  /^\.(?:tmp|trash)-/,
  // A folder of one process, with whose it is.
  /^[a-z]+-\d+-\d+-\d+-[0-9a-f]{12}$/,
  /\.[0-9a-f]{12}$/,
  /^pg\.(?:json|lock)\../,
] as const;

/** The server's own files. Half-written artifacts: other machines may be writing them, so they are removed by age. */
const NOT_OURS = /^(?:pg\/pg\d+|artifacts)\//;

async function filesOf(data: string): Promise<readonly string[]> {
  const found: string[] = [];
  for (const folder of EMPTY_AFTERWARDS) {
    const names = await readdir(join(data, folder)).catch(() => []);
    found.push(...names.filter((name) => !SHARED.test(name)).map((name) => `file ${folder}/${name}`));
  }
  const all = await readdir(data, { recursive: true }).catch(() => []);
  const unfinished = all.filter(
    (path) => !NOT_OURS.test(path) && UNFINISHED.some((pattern) => pattern.test(basename(path))),
  );
  return [...new Set([...found, ...unfinished.map((path) => `file ${path}`)])];
}
