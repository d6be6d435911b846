import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

/** Files that pages load, served under a name that changes with their content. */
export interface Assets {
  /** Address of a file on this server, e.g. `/assets/pages.1f2e3d4c5b6a7988.css` for `pages.css`. Throws for others. */
  path(name: string): string;
  /** The file at such an address (without `/assets/`); null if there is none. */
  file(address: string): AssetFile | null;
}

interface AssetFile {
  readonly type: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly gzip: Uint8Array<ArrayBuffer>;
}

const OWN_FOLDER = join(import.meta.dirname, 'assets');
/** Files of packages, by the name under which pages ask for them. */
const OF_PACKAGES: Readonly<Record<string, string>> = {
  'diff2html.css': 'diff2html/bundles/css/diff2html.min.css',
  'diff2html-ui.js': 'diff2html/bundles/js/diff2html-ui-base.min.js',
  'highlight.js': '@highlightjs/cdn-assets/highlight.min.js',
};

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** Reads all files once: they are small, and a server must not answer with half of an update. */
export function openAssets(): Assets {
  const own = readdirSync(OWN_FOLDER).map((name) => [name, join(OWN_FOLDER, name)] as const);
  const others = Object.entries(OF_PACKAGES).map(
    ([name, path]) => [name, fileURLToPath(import.meta.resolve(path))] as const,
  );
  const addresses = new Map<string, string>();
  const files = new Map<string, AssetFile>();
  for (const [name, path] of [...own, ...others]) {
    const extension = extname(name);
    const type = TYPES[extension];
    if (type === undefined) throw new Error(`The asset ${name} has a type that is not served.`);
    const bytes = new Uint8Array(readFileSync(path));
    const digest = createHash('sha256').update(bytes).digest('hex').slice(0, 16);
    const address = `${name.slice(0, -extension.length)}.${digest}${extension}`;
    addresses.set(name, `/assets/${address}`);
    files.set(address, { type, bytes, gzip: new Uint8Array(gzipSync(bytes)) });
  }
  return {
    path(name) {
      const found = addresses.get(name);
      if (found === undefined) throw new Error(`There is no asset ${name}.`);
      return found;
    },
    file: (address) => files.get(address) ?? null,
  };
}
