import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { ChaosEnvironment } from './chaos-environment.ts';

/** What stopped processes and their stopped database left on this machine, and in these data folders. */
export async function findLeftovers(
  { home }: ChaosEnvironment,
  folders: readonly string[],
): Promise<readonly string[]> {
  const files = await Promise.all(folders.map((folder) => filesOf(join(home, folder))));
  return [...(await processesOf(home)), ...files.flat()];
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
const EMPTY_AFTERWARDS = ['areas', 'gw', 'scratch', 'scratch/egress'] as const;

async function filesOf(data: string): Promise<readonly string[]> {
  const found: string[] = [];
  for (const folder of EMPTY_AFTERWARDS) {
    const names = await readdir(join(data, folder)).catch(() => []);
    // What all sandboxes share.
    const left = names.filter((name) => !/^(?:etc-\d+|empty|egress)$/.test(name));
    found.push(...left.map((name) => `file ${folder}/${name}`));
  }
  const all = await readdir(data, { recursive: true }).catch(() => []);
  return [
    ...found,
    ...all.filter((path) => /(?:^|\/)[^/]*\.(?:lock|tmp|draft)$/.test(path)).map((path) => `file ${path}`),
  ];
}
