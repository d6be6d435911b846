import { Fault } from '../../core/model/index.ts';
import type { Git, GitCall, GitDone } from './git.ts';

/**
 * Settings of a repository that a command which we run in it may keep, in the lower case in which git lists them: what
 * decides how git reads its files, index, objects and refs, and what names an identity. None starts a program or opens
 * an address in a command that we run there (docs/decisions/0251).
 */
const KEPT_SECTIONS = ['author', 'branch', 'commitgraph', 'committer', 'extensions', 'index', 'pack', 'user'];

const KEPT_CORE = [
  // How files are read.
  'attributesfile autocrlf bare checkroundtripencoding checkstat eol excludesfile filemode ignorecase longpaths',
  'precomposeunicode protecthfs protectntfs safecrlf sparsecheckout sparsecheckoutcone symlinks trustctime worktree',
  // How the repository is kept.
  'bigfilethreshold commitgraph compression createobject deltabasecachelimit filesreflocktimeout fsync fsyncmethod',
  'fsyncobjectfiles logallrefupdates loosecompression maxtreedepth multipackindex packedgitlimit',
  'packedgitwindowsize packedrefstimeout preloadindex repositoryformatversion sharedrepository splitindex',
  'untrackedcache usereplacerefs warnambiguousrefs',
  // Of no effect here, but git reads them always, and accepts no empty value.
  'abbrev commentchar commentstring',
].flatMap((line) => line.split(' '));

const KEPT = [
  new RegExp(`^(?:${KEPT_SECTIONS.join('|')})\\.`),
  new RegExp(`^core\\.(?:${KEPT_CORE.join('|')})$`),
  // Git has followed them when it lists the settings of the files that they name.
  /^include(?:if)?\..*path$/s,
  // An included file may depend on these, so that an override could bring settings that were not listed.
  /^remote\..*\.(?:url|pushurl)$/s,
  // Read always or by `git status`, which accept no empty value.
  /^diff\.(?:algorithm|colormovedws|context|ignoresubmodules|interhunkcontext|orderfile|renamelimit|submodule)$/,
  /^diff\.stat(?:graph|name)width$/,
  /^fetch\.negotiationalgorithm$/,
  /^push\.default$/,
  /^status\.(?:renamelimit|showuntrackedfiles)$/,
  /^submodule\..*\.(?:active|ignore|url)$/s,
];

/** Git decodes nothing; what is not UTF-8 would be overridden under another name. */
const NOT_UTF8 = '\uFFFD';

/**
 * Sets everything that a repository's own settings have, except for what is listed above, to nothing for one call.
 * A repository on the user's disk may come from a stranger's archive, including its `.git/config`. An empty value ends
 * every setting that starts a program, those of later versions of git included: hooks, filters, monitors, helpers.
 * Returns what git said instead if it cannot read the settings.
 *
 * Fault: NOT_A_REPOSITORY if a setting cannot be named.
 */
export async function foreignSettings(
  git: Git,
  { cwd, env, as }: Pick<GitCall, 'cwd' | 'env' | 'as'>,
): Promise<Readonly<Record<string, string>> | GitDone> {
  const args = ['config', '--list', '--null', '--name-only', '--show-scope'];
  const listed = await git({ cwd, args, ...(env ? { env } : {}), ...(as ? { as } : {}) });
  if (listed.exitCode !== 0) return listed;
  const fields = listed.stdout.split('\0');
  const keys = new Set<string>();
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const [scope = '', key = ''] = fields.slice(at, at + 2);
    // Those of other scopes are ours.
    if (scope !== 'local' && scope !== 'worktree') continue;
    if (KEPT.some((pattern) => pattern.test(key))) continue;
    if (key.includes(NOT_UTF8)) {
      const message = `The git settings of ${cwd} have a name that is not UTF-8, and Runoff cannot disable it: ${key}`;
      throw new Fault('NOT_A_REPOSITORY', message);
    }
    keys.add(key);
  }
  return Object.fromEntries([...keys].map((key) => [key, '']));
}
