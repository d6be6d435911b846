import { createHash, randomBytes } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { BuildOptions, BuildResult } from 'esbuild';

const HERE = fileURLToPath(new URL('.', import.meta.url));
/** Changes with the versions of everything that is bundled. */
const LOCK_FILES = ['package-lock.json', 'package.json'].map((name) =>
  fileURLToPath(new URL(`../../../${name}`, import.meta.url)),
);

interface BundleOptions {
  /** The program's main file. */
  readonly entry: string;
  readonly outFile: string;
  /** Texts that replace identifiers in the program. */
  readonly define?: Readonly<Record<string, string>>;
}

/**
 * Bundles a program for the sandbox into one file that needs no packages, atomically. Does nothing if `outFile` was
 * built from the same sources and versions. World-readable, since the sandbox reads it as another user.
 */
export async function bundleCoder({ entry, outFile, define = {} }: BundleOptions): Promise<void> {
  const mark = `// runoff coder ${await markOf(entry, define)}`;
  if ((await firstLine(outFile, mark.length)) === mark) return;
  const texts = Object.entries(define).map(([name, text]) => [name, JSON.stringify(text)]);
  const result = await buildOnce({
    entryPoints: [entry],
    bundle: true,
    write: false,
    platform: 'node',
    format: 'esm',
    target: 'node24',
    legalComments: 'none',
    logLevel: 'silent',
    define: Object.fromEntries(texts),
    // Some packages are CommonJS and call `require` for modules of Node, which an ES module does not have.
    banner: {
      js: `${mark}\nimport { createRequire as __createRequire } from 'node:module';\nconst require = __createRequire(import.meta.url);`,
    },
  });
  const [output] = result.outputFiles;
  if (!output) throw new Error(`${basename(entry)} could not be bundled: esbuild wrote nothing.`);
  await mkdir(dirname(outFile), { recursive: true });
  const fresh = `${outFile}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    await writeFile(fresh, output.contents, { mode: 0o644 });
    await rename(fresh, outFile);
  } finally {
    await rm(fresh, { force: true });
  }
}

/** The bundler is loaded for one build and then stopped: its service would occupy 80 MB. */
async function buildOnce(options: BuildOptions & { write: false }): Promise<BuildResult<{ write: false }>> {
  const { build, stop } = await import('esbuild');
  try {
    return await build(options);
  } finally {
    await stop();
  }
}

/** SHA-256 of all inputs of a bundle: the program's folder, the files beside it, and the versions of packages. */
async function markOf(entry: string, define: Readonly<Record<string, string>>): Promise<string> {
  const hash = createHash('sha256');
  hash.update(await sourceHash(dirname(entry))).update(await sourceHash(HERE));
  for (const path of LOCK_FILES) hash.update(await readIfThere(path));
  return hash.update(JSON.stringify(define)).digest('hex');
}

/** SHA-256 (hex) of the source files directly in a folder. */
export async function sourceHash(folder: string): Promise<string> {
  const names = (await readdir(folder)).filter((name) => /\.(ts|md)$/.test(name)).sort();
  const hash = createHash('sha256');
  for (const name of names) hash.update(name).update(await readFile(join(folder, name)));
  return hash.digest('hex');
}

/** Empty if the file does not exist: a published package has no lock file. */
async function readIfThere(path: string): Promise<string> {
  return readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
}

async function firstLine(path: string, length: number): Promise<string | null> {
  const file = await open(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (!file) return null;
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, 0);
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await file.close();
  }
}
