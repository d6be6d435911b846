// main.ts imports it before anything else, for its effect: packages read the environment and the current folder while they
// are loaded.
import { delimiter, isAbsolute } from 'node:path';

/** The folder that Runoff was started in: paths on the command line are relative to it. */
export const startFolder = currentFolder();

// That folder may be a repository of strangers. Nothing that a package looks for in the current folder (`.env`,
// `dbos-config.yaml`, a certificate) is found there, and no child is started in it by default.
process.chdir('/');

/** Empty, they switch the pager off. */
const MEANT_IF_EMPTY: ReadonlySet<string> = new Set(['RUNOFF_PAGER', 'PAGER']);

// An empty variable means "not set" to us and to Compose files, but some packages stumble over it.
for (const [name, value] of Object.entries(process.env)) {
  if (value === '' && !MEANT_IF_EMPTY.has(name)) delete process.env[name];
}

// A relative entry, such as `node_modules/.bin`, would let the repository that git is started in choose which git that is.
if (process.env.PATH) {
  process.env.PATH = process.env.PATH.split(delimiter)
    .filter((folder) => isAbsolute(folder))
    .join(delimiter);
}

/** Another folder in its place would give relative paths another meaning. */
function currentFolder(): string {
  try {
    return process.cwd();
  } catch {
    process.stderr.write(
      'The current folder was deleted, or this user may not enter it.\n→ Start Runoff in another folder.\n',
    );
    process.exit(1);
  }
}
