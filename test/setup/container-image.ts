import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';

/** What the contract suite runs, and what works in an image besides: git, and what reads a candidate's files. */
const PROGRAMS = [
  ...['sh', 'env', 'cat', 'ls', 'cp', 'mv', 'rm', 'mkdir', 'touch', 'chmod', 'ln', 'stat', 'head', 'tail'],
  ...['sleep', 'seq', 'setsid', 'test', 'true', 'id', 'grep', 'sed', 'git', 'unshare'],
  ...['comm', 'find', 'sort', 'tr', 'wc', 'xargs'],
];

const run = (file: string, args: readonly string[]): string => {
  const { stdout, stderr, status, error } = spawnSync(file, args, { encoding: 'utf8' });
  if (status !== 0) throw error ?? new Error(`${file} ${args.join(' ')}: ${stderr}`);
  return stdout;
};

/** What an image has besides: programs by name, and files at their own paths, such as the modules of a language. */
export interface More {
  readonly programs: readonly string[];
  readonly files: readonly string[];
}

/** A small image out of this machine's own programs: no registry is needed. Throws when the engine does not take it. */
export function importImage(engine: string, image: string, more: More = { programs: [], files: [] }): void {
  const root = mkdtempSync(join(tmpdir(), 'runoff-image-'));
  try {
    for (const folder of [
      'usr/bin',
      'usr/lib',
      'usr/lib64',
      'etc',
      'tmp',
      'proc',
      'sys',
      'dev',
      'run',
      'var',
    ]) {
      mkdirSync(join(root, folder), { recursive: true });
    }
    for (const name of ['bin', 'lib', 'lib64']) symlinkSync(`usr/${name}`, join(root, name));
    chmodSync(root, 0o755);
    chmodSync(join(root, 'tmp'), 0o1777);
    // A line of the image's own, which no sandbox may show.
    writeFileSync(join(root, 'etc/passwd'), 'root:x:0:0::/root:/bin/sh\nimage-user:x:7:7::/:/bin/sh\n');
    const names = [...PROGRAMS, ...more.programs];
    const programs = names.map((name) => run('sh', ['-c', `command -v ${name}`]).trim()).map(found);
    for (const path of programs) cpSync(realpathSync(path), join(root, 'usr/bin', basename(path)));
    for (const path of [...librariesOf([...programs, process.execPath]), ...more.files]) {
      const to = /^\/lib(?:64)?\//.test(path) ? `/usr${path}` : path;
      mkdirSync(join(root, dirname(to)), { recursive: true });
      cpSync(realpathSync(path), join(root, to));
    }
    const archive = join(root, 'image.tar');
    run('tar', ['-C', root, '--exclude=./image.tar', '--owner=0', '--group=0', '-cf', archive, '.']);
    run(engine, ['import', archive, image]);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

/** `test` and the like are words of the shell too, which names no path for them. */
const found = (name: string): string =>
  name.startsWith('/')
    ? name
    : (['/usr/bin', '/bin'].map((folder) => join(folder, name)).find(existsSync) ?? name);

function librariesOf(programs: readonly string[]): readonly string[] {
  const lines = programs.flatMap((path) => spawnSync('ldd', [path], { encoding: 'utf8' }).stdout.split('\n'));
  return [...new Set(lines.flatMap((line) => /(\/\S+) \(0x/.exec(line)?.[1] ?? []))];
}
