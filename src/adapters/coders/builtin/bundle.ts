import { createHash, randomBytes } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { BuildOptions, BuildResult } from 'esbuild';

const HERE = fileURLToPath(new URL('.', import.meta.url));
/** Changes with the versions of everything that is bundled. */
const LOCK_FILES = ['package-lock.json', 'package.json'].map((name) =>
  fileURLToPath(new URL(`../../../../${name}`, import.meta.url)),
);

/**
 * Writes the coder as one file that runs without packages, whole or not at all. Does nothing when `outFile` was
 * made from the same sources and versions. Readable for all, since the sandbox reads it as another user.
 */
export async function bundleBuiltinCoder(outFile: string): Promise<void> {
  const mark = `// runoff builtin coder ${await sourceHash()}`;
  if ((await firstLine(outFile, mark.length)) === mark) return;
  const result = await buildOnce({
    entryPoints: [join(HERE, 'main.ts')],
    bundle: true,
    write: false,
    platform: 'node',
    format: 'esm',
    target: 'node24',
    legalComments: 'none',
    logLevel: 'silent',
    define: { BUILTIN_INSTRUCTIONS: JSON.stringify(await readFile(join(HERE, 'instructions.md'), 'utf8')) },
    // Some packages are CommonJS and call `require` for modules of Node, which an ES module does not have.
    banner: {
      js: `${mark}\nimport { createRequire as __createRequire } from 'node:module';\nconst require = __createRequire(import.meta.url);`,
    },
  });
  const [output] = result.outputFiles;
  if (!output) throw new Error('The builtin coder could not be bundled: esbuild wrote nothing.');
  await mkdir(dirname(outFile), { recursive: true });
  const fresh = `${outFile}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    await writeFile(fresh, output.contents, { mode: 0o644 });
    await rename(fresh, outFile);
  } finally {
    await rm(fresh, { force: true });
  }
}

/** The bundler is loaded for this one build and its service stopped again: it would hold 80 MB for nothing. */
async function buildOnce(options: BuildOptions & { write: false }): Promise<BuildResult<{ write: false }>> {
  const { build, stop } = await import('esbuild');
  try {
    return await build(options);
  } finally {
    await stop();
  }
}

/** SHA-256 of all that goes into the bundle. */
export async function sourceHash(): Promise<string> {
  const names = (await readdir(HERE)).filter((name) => /\.(ts|md)$/.test(name)).sort();
  const hash = createHash('sha256');
  for (const path of names.map((name) => join(HERE, name)))
    hash.update(path.slice(HERE.length)).update(await readFile(path));
  for (const path of LOCK_FILES) hash.update(await readIfThere(path));
  return hash.digest('hex');
}

/** Empty when there is none: a published package has no lock file. */
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
