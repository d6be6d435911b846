/** The environment of a command apart from its programs; correct code must not depend on it. */
export interface Surroundings {
  /** Folder of the repository, absolute. */
  readonly repo: string;
  /** Home folder, absolute. */
  readonly home: string;
  readonly user: string;
  readonly uid: number;
  readonly host: string;
  /** Environment variables of every command. */
  readonly env: Readonly<Record<string, string>>;
}

/** The surroundings of set-up, coders and most checks: set-up may embed these paths in what it installs. */
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
 * Different surroundings, derived from a text such as a run's id. `everything` also changes paths and CI, which some
 * repositories do not tolerate; otherwise user, host and the rest of the environment. The time zone is unchanged:
 * correct code may depend on it.
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
    : { ...USUAL_SURROUNDINGS, user, uid, host, env: { ...env, CI: '1' } };
}

/** Translates a text that was written in other surroundings to the usual ones. */
export const asInUsual = (text: string, { repo, home, host }: Surroundings): string =>
  text
    .replaceAll(home, USUAL_SURROUNDINGS.home)
    .replaceAll(repo, USUAL_SURROUNDINGS.repo)
    .replaceAll(host, USUAL_SURROUNDINGS.host);
