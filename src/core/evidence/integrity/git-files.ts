import { matchesAny, roleOf } from '../../patches/index.ts';
import type { Suspicion } from './finding.ts';
import type { InspectedFile } from './view.ts';

/** Names of files that are usually binary. */
const BINARY_NAME =
  /\.(?:png|jpe?g|gif|webp|avif|ico|icns|bmp|tiff?|psd|svgz|pdf|zip|gz|tgz|bz2|xz|7z|rar|jar|war|class|woff2?|ttf|otf|eot|mp[34]|m4[av]|ogg|wav|flac|mov|avi|webm|wasm|so|dylib|dll|exe|bin|dat|sqlite3?|db|pyc|onnx|pt|pkl|npy|npz|parquet|docx?|xlsx?|pptx?|keystore|p12|der|mo)$/i;
/** Paths of generated files. */
const GENERATED_PATH =
  /(?:^|\/)(?:dist|build|out|vendor|third_party|node_modules|generated|gen|docs?|coverage)(?:\/|$)|lock|\.min\.|\.map$|\.pb\.|_pb2|\.snap$|generated|CHANGELOG/i;
/** Drivers that are built into git: they only choose the heading of a hunk, and hide nothing. */
const BUILT_IN_DRIVERS =
  'ada|bash|bibtex|cpp|csharp|css|dts|elixir|fortran|fountain|golang|html|ini|java|kotlin|markdown|matlab|objc|pascal|perl|php|python|ruby|rust|scheme|tex';
const HIDING_ATTRIBUTES = new RegExp(
  `(?:^|\\s)(?:-diff|binary|diff=(?!(?:${BUILT_IN_DRIVERS})(?:\\s|$))\\S+|linguist-(?:generated|vendored|documentation)(?:=true)?|-linguist-detectable)(?=\\s|$)`,
);
const TRANSFORMING_ATTRIBUTES =
  /(?:^|\s)(?:filter=(?!lfs(?:\s|$))\S+|working-tree-encoding=\S+|ident|merge=(?!union(?:\s|$)|binary(?:\s|$)|lfs(?:\s|$))\S+|-merge)(?=\s|$)/;
/** Packages are often published without their tests; this changes archives of a commit, and nothing of the examination. */
const ARCHIVE_ATTRIBUTES = /(?:^|\s)export-(?:ignore|subst)(?=\s|$)/;

/** Finds lines of `.gitattributes` that hide content from readers or make git transform it. */
export function attributeTricks({ file, changes }: InspectedFile): readonly Suspicion[] {
  if (!/(?:^|\/)\.gitattributes$/.test(file.path)) return [];
  for (const change of changes) {
    const { kind, text } = change.line;
    const [glob = '', ...rest] = text.trim().split(/\s+/);
    if (kind !== 'added' || glob === '' || glob.startsWith('#')) continue;
    const attributes = rest.join(' ');
    const macro = glob.startsWith('[attr]');
    const harmless = !macro && (BINARY_NAME.test(glob) || GENERATED_PATH.test(glob));
    const what = TRANSFORMING_ATTRIBUTES.test(attributes)
      ? 'git is configured to change or omit content'
      : HIDING_ATTRIBUTES.test(attributes) && !harmless
        ? 'git is configured to hide changes to files that people read'
        : null;
    if (what) return [{ kind: 'attributes', what, at: change }];
  }
  const archived = changes.find(
    ({ line }) => line.kind === 'added' && !/^\s*#/.test(line.text) && ARCHIVE_ATTRIBUTES.test(line.text),
  );
  const what = 'git is configured to change or omit content of archives';
  return archived ? [{ kind: 'attributes', what, at: archived, severity: 'question' }] : [];
}

/** Finds lines of an ignore file that exclude tests, or files that control them, from the repository. */
export function ignoredTests(
  { file, changes }: InspectedFile,
  baseFiles: readonly string[],
): readonly Suspicion[] {
  if (!/(?:^|\/)\.gitignore$/.test(file.path)) return [];
  const folder = file.path.slice(0, -'.gitignore'.length);
  const tests = baseFiles.filter((path) => path.startsWith(folder) && roleOf(path) !== 'production');
  const rules = changes.filter(({ line }) => line.kind === 'added' && !/^\s*(?:[#!]|$)/.test(line.text));
  const most = Math.floor(MAX_COMPARISONS / Math.max(1, tests.length));
  const change = rules
    .slice(0, most)
    .find(({ line }) => line.text.length <= MAX_RULE_CHARS && hidesTests(line.text.trim(), folder, tests));
  if (change) return [{ kind: 'files-ignored', what: 'git is configured to ignore tests', at: change }];
  const unread = rules.find(({ line }, i) => i >= most || line.text.length > MAX_RULE_CHARS);
  const what = 'git is configured to ignore more files than were compared with the tests';
  return unread ? [{ kind: 'files-ignored', what, at: unread, severity: 'question' }] : [];
}

/** Maximum rules times tests that are compared, and characters of a rule. Defaults. */
const MAX_COMPARISONS = 100_000;
const MAX_RULE_CHARS = 300;

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
  return tests.some((path) => !GENERATED_PATH.test(path) && matchesAny(globs, path));
}
