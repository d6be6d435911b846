import { matchesAny, roleOf } from '../../patches/index.ts';
import type { Suspicion } from './finding.ts';
import type { Look } from './view.ts';

/** Names of files that are binary by custom. */
const BINARY =
  /\.(?:png|jpe?g|gif|webp|avif|ico|icns|bmp|tiff?|psd|svgz|pdf|zip|gz|tgz|bz2|xz|7z|rar|jar|war|class|woff2?|ttf|otf|eot|mp[34]|m4[av]|ogg|wav|flac|mov|avi|webm|wasm|so|dylib|dll|exe|bin|dat|sqlite3?|db|pyc|onnx|pt|pkl|npy|npz|parquet|docx?|xlsx?|pptx?|keystore|p12|der|mo)$/i;
/** What nobody writes or reads by hand. */
const GENERATED =
  /(?:^|\/)(?:dist|build|out|vendor|third_party|node_modules|generated|gen|docs?|coverage)(?:\/|$)|lock|\.min\.|\.map$|\.pb\.|_pb2|\.snap$|generated|CHANGELOG/i;
const HIDES =
  /(?:^|\s)(?:-diff|binary|diff=\S+|linguist-(?:generated|vendored|documentation)(?:=true)?|-linguist-detectable)(?=\s|$)/;
const TRANSFORMS =
  /(?:^|\s)(?:filter=(?!lfs(?:\s|$))\S+|working-tree-encoding=\S+|export-(?:ignore|subst)|ident|merge=(?!union(?:\s|$)|binary(?:\s|$)|lfs(?:\s|$))\S+|-merge)(?=\s|$)/;

/** Lines of `.gitattributes` that hide content from readers, or make git change it. */
export function attributeTricks({ file, changes }: Look): readonly Suspicion[] {
  if (!/(?:^|\/)\.gitattributes$/.test(file.path)) return [];
  for (const change of changes) {
    const { kind, text } = change.line;
    const [glob = '', ...rest] = text.trim().split(/\s+/);
    if (kind !== 'added' || glob === '' || glob.startsWith('#')) continue;
    const attributes = rest.join(' ');
    const macro = glob.startsWith('[attr]');
    const harmless = !macro && (BINARY.test(glob) || GENERATED.test(glob));
    const what = TRANSFORMS.test(attributes)
      ? 'git is told to change content, or to leave it out'
      : HIDES.test(attributes) && !harmless
        ? 'git is told to hide changes of files that people read'
        : null;
    if (what) return [{ kind: 'attributes', what, at: change }];
  }
  return [];
}

/** Lines of an ignore file that keep tests, or what decides about them, out of the repository. */
export function ignoredTests({ file, changes }: Look, baseFiles: readonly string[]): readonly Suspicion[] {
  if (!/(?:^|\/)\.gitignore$/.test(file.path)) return [];
  const folder = file.path.slice(0, -'.gitignore'.length);
  const tests = baseFiles.filter((path) => path.startsWith(folder) && roleOf(path) !== 'production');
  const change = changes.find(
    ({ line }) => line.kind === 'added' && hidesTests(line.text.trim(), folder, tests),
  );
  return change ? [{ kind: 'files-ignored', what: 'git is told to ignore tests', at: change }] : [];
}

function hidesTests(pattern: string, folder: string, tests: readonly string[]): boolean {
  if (pattern === '' || pattern.startsWith('#') || pattern.startsWith('!')) return false;
  const plain = pattern.replace(/^\//, '').replace(/\/$/, '');
  if (
    /^(?:\*\*\/)?(?:tests?|specs?|__tests__|e2e)(?:\/\*{0,2})?$|^(?:\*\*\/)?[\w*-]*[*](?:[._-](?:test|spec)s?)\.[\w*{},]+$|^(?:\*\*\/)?(?:test_\*|\*_test)\.\w+$/i.test(
      plain,
    )
  )
    return true;
  const anywhere = !pattern.replace(/\/$/, '').includes('/');
  const globs = anywhere
    ? [`${folder}**/${plain}`, `${folder}**/${plain}/**`]
    : [`${folder}${plain}`, `${folder}${plain}/**`];
  return tests.some((path) => !GENERATED.test(path) && matchesAny(globs, path));
}
