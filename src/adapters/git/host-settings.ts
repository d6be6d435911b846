import { lstat, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Fault } from '../../core/model/index.ts';
import { hasCode, temporaryPath } from './layout.ts';

/**
 * Settings of every git on the host, as a file: `safe.directory` must also reach the upload-pack that a local fetch
 * starts, and git does not pass settings from the environment on to that child.
 */
const GIT_SETTINGS = `[safe]
	directory = *
[init]
	defaultBranch = work
	templateDir =
[core]
	hooksPath = /dev/null
	fsmonitor = false
	quotePath = false
	autocrlf = false
	symlinks = true
	logAllRefUpdates = false
[gc]
	auto = 0
[maintenance]
	auto = false
[protocol]
	allow = never
[protocol "file"]
	allow = always
[protocol "http"]
	allow = always
[protocol "https"]
	allow = always
[http]
	followRedirects = false
	lowSpeedLimit = 1000
	lowSpeedTime = 60
[push]
	negotiate = true
[fetch]
	recurseSubmodules = false
[submodule]
	recurse = false
[advice]
	detachedHead = false
`;

/**
 * Writes the settings unless the file already contains exactly these: a power failure can leave it empty, and then
 * every git would fail or run without the settings that protect the host from repository content.
 */
export async function ensureSettings(file: string): Promise<void> {
  try {
    // A device or a link is nothing that we wrote, so we do not replace it.
    if (!(await lstat(file)).isFile())
      throw new Fault('ENVIRONMENT_INVALID', `${file} is not an ordinary file.`);
    if ((await readFile(file, 'utf8')) === GIT_SETTINGS) return;
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
  }
  await mkdir(dirname(file), { recursive: true, mode: 0o711 });
  const fresh = temporaryPath(file);
  await writeFile(fresh, GIT_SETTINGS, { mode: 0o644 });
  await rename(fresh, file);
}
