/** Where a command finds itself besides its programs: nothing that right code may depend on. */
export interface Surroundings {
  /** Folder of the repository, absolute. */
  readonly repo: string;
  /** Home folder, absolute. */
  readonly home: string;
  readonly user: string;
  readonly uid: number;
  readonly host: string;
  /** Variables that every command gets. */
  readonly env: Readonly<Record<string, string>>;
}

/** Those in which set-up, coders and most checks run: a set-up may leave their paths in what it installs. */
export const USUAL_SURROUNDINGS: Surroundings = {
  repo: '/repo',
  home: '/home/agent',
  user: 'agent',
  uid: 1000,
  host: 'sandbox',
  env: {},
};

const USERS = ['kim', 'noor', 'sasha', 'robin', 'alexis', 'jo', 'casey', 'ari'];
const FOLDERS = ['/srv/checkout', '/workspace', '/builds/project', '/data/source', '/app/code', '/work/tree'];
const HOSTS = ['buildhost', 'ci-node', 'worker', 'devbox', 'pool', 'ws'];
const SHELLS = ['/bin/bash', '/bin/sh'];
const TERMINALS = ['xterm-256color', 'linux', 'screen'];

/** FNV-1a: equal runs get equal surroundings. */
function seedOf(text: string): number {
  let hash = 0x811c9dc5;
  for (const char of text) hash = Math.imul(hash ^ (char.codePointAt(0) ?? 0), 0x01000193);
  return hash >>> 0;
}

/**
 * Other surroundings, chosen by a text, as the id of a run. `everything`: paths and CI differ too, which not every
 * repository bears; else user, host and the rest of the environment. The time zone keeps its meaning: right code depends
 * on that.
 */
export function otherSurroundings(seed: string, differ: 'everything' | 'names'): Surroundings {
  let left = seedOf(seed);
  const next = (n: number): number => {
    const found = left % n;
    left = Math.floor(left / n);
    return found;
  };
  const pick = (all: readonly string[]): string => all[next(all.length)] ?? '';
  const user = pick(USERS);
  const uid = 1_001 + next(800);
  const host = `${pick(HOSTS)}-${next(90) + 10}`;
  const folder = pick(FOLDERS);
  const shell = pick(SHELLS);
  const env = { SHELL: shell, LOGNAME: user, TERM: pick(TERMINALS), TZ: 'Etc/UTC', LC_ALL: 'C.UTF-8' };
  return differ === 'everything'
    ? { repo: folder, home: `/home/${user}`, user, uid, host, env }
    : { ...USUAL_SURROUNDINGS, user, uid, host, env: { ...env, CI: 'true' } };
}

/** A text that was written in some surroundings, as it would have been in the usual ones. */
export const asInUsual = (text: string, { repo, home, host }: Surroundings): string =>
  text
    .replaceAll(home, USUAL_SURROUNDINGS.home)
    .replaceAll(repo, USUAL_SURROUNDINGS.repo)
    .replaceAll(host, USUAL_SURROUNDINGS.host);
