import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { importImage } from '../../setup/container-image.ts';

/** What the attacks are made of. */
const PROGRAMS = [
  ...['bash', 'perl', 'bwrap', 'mount', 'umount', 'findmnt', 'mknod', 'mkfifo', 'mktemp', 'truncate', 'find'],
  ...['cut', 'sort', 'uniq', 'tr', 'wc', 'yes', 'readlink', 'dirname', 'stty', 'script', 'su', 'dmesg'],
  ...['ipcmk', 'ipcs', 'prlimit', 'nice', 'chrt', 'ionice', 'getconf', 'chown', 'kill'],
];
/** Every file that these modules of Perl are made of. */
const PERL_FILES =
  'print "$_\\n" for grep { -f } values %INC, @DynaLoader::dl_shared_objects, map { $INC{"Config.pm"} =~ s/\\.pm$/$_/r } "_heavy.pl", "_git.pl"';

/** An image of this machine's own programs with everything in it that an attack needs, so that none fails by a lack. */
export function importEscapeImage(engine: string, image: string): void {
  const https = join(execFileSync('git', ['--exec-path'], { encoding: 'utf8' }).trim(), 'git-remote-https');
  const modules = ['POSIX', 'Socket', 'IO::Handle', 'DynaLoader', 'threads', 'Config'].map(
    (name) => `-M${name}`,
  );
  const files = execFileSync('perl', [...modules, '-e', PERL_FILES], { encoding: 'utf8' });
  importImage(engine, image, {
    programs: [...PROGRAMS, https],
    files: [...files.trim().split('\n'), ...localeFiles()],
  });
}

/** Newer C libraries have this one built in. */
function localeFiles(): readonly string[] {
  const folder = '/usr/lib/locale/C.utf8';
  if (!existsSync(folder)) return [];
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}
