import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { AGENTS, coders, type InstallableAgent, installAgent } from '../../src/adapters/coders/index.ts';

/** Those that `npm run test:full` always works with. RUNOFF_TEST_AGENTS=all adds the slower ones. */
const USUAL = ['claude-code', 'codex', 'opencode', 'pi'];

/** Agents that the tests about real agents run, by name. */
export const TEST_AGENTS: readonly string[] =
  process.env.RUNOFF_TEST_AGENTS === 'all' ? AGENTS.map(({ name }) => name) : USUAL;

/** Below node_modules, so that it survives from one test run to the next and is never committed. */
const FOLDER = fileURLToPath(new URL('../../node_modules/.cache/runoff-agents', import.meta.url));

/** First installations download some hundred megabytes. */
export const INSTALL_MS = 10 * 60_000;

/**
 * The folder in which these agents are installed in the versions that the catalogue names. What is missing is installed
 * as `runoff agents install` does it; where that fails, so does the test.
 */
export async function installedAgents(names: readonly string[] = TEST_AGENTS): Promise<string> {
  if ((await missingOf(names)).length > 0) {
    await mkdir(FOLDER, { recursive: true, mode: 0o755 });
    await alone(async () => {
      for (const { name, tested } of await missingOf(names)) {
        await installAgent({
          folder: FOLDER,
          newFolder: () => join(FOLDER, `.${name}.${randomUUID()}`),
          name,
          version: tested,
          onLine: () => {},
        });
      }
    });
  }
  return FOLDER;
}

async function missingOf(names: readonly string[]): Promise<readonly InstallableAgent[]> {
  const known = coders({ agentsFolder: FOLDER, commands: {} });
  const wanted = AGENTS.filter(({ name }) => names.includes(name));
  const versions = await Promise.all(wanted.map(({ name }) => known.get(name)?.version()));
  return wanted.filter(({ tested }, index) => versions[index] !== tested);
}

/** One worker installs, the others wait: an agent at work must not be replaced under its feet. */
async function alone(work: () => Promise<void>): Promise<void> {
  const lock = join(FOLDER, 'lock');
  while (!(await taken(lock))) await sleep(200);
  try {
    await work();
  } finally {
    await rm(lock, { force: true });
  }
}

/** False while another living process has it. */
async function taken(lock: string): Promise<boolean> {
  try {
    await writeFile(lock, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  const holder = await readFile(lock, 'utf8').catch(() => '');
  // What a test run left behind that was killed.
  if (holder !== '' && !existsSync(`/proc/${holder}`)) await rm(lock, { force: true });
  return false;
}
