import { type PatchFile, patchedText } from '../patches/index.ts';
import { NO_SYNTAX_TREES } from '../source/index.ts';
import { excerpt, firstChange, inspectFile, type TamperingFinding } from './integrity/index.ts';
import { tableParts } from './manifests.ts';

/** Files that configure a type checker, wherever they are. A new tsconfig.json matters only if another file names it. */
const CONFIGURATION =
  /(?:^|\/)(?:\.?mypy\.ini|pyrightconfig\.json|\.cargo\/config(?:\.toml)?|rust-toolchain(?:\.toml)?)$/;
const TSCONFIG = /(?:^|\/)[jt]sconfig[\w.-]*\.json$/;
/** Files with tables of several tools, and the tables of type checkers. */
const SHARED_CONFIGURATION = /(?:^|\/)(?:pyproject\.toml|setup\.cfg)$/;
const CHECKER_TABLES = /^(?:tool\.(?:mypy|pyright|basedpyright)\b|mypy\b)/;

/**
 * Changes of what the type checker checks, and how. Honest patches contain them, too, and the check uses them, so a
 * person should look. `baseTexts` by path; `baseFiles` are the paths of all files of the base.
 */
export function checkerQuestions(
  files: readonly PatchFile[],
  baseTexts: Readonly<Record<string, string>>,
  baseFiles: readonly string[],
): readonly TamperingFinding[] {
  const base = new Set(baseFiles);
  const folders = new Set(baseFiles.filter((path) => path.endsWith('.pyi')).map(stubFolderOf));
  return files.flatMap((file) => {
    const { path } = file;
    const hides = file.change === 'added' && hidesCode(path, base, folders);
    if (!hides && !configures(file, baseTexts[path])) return [];
    const at = firstChange(inspectFile(file, baseTexts[path], NO_SYNTAX_TREES));
    return [
      {
        kind: 'checker-configured',
        path,
        what: hides
          ? 'it declares types that the type checker reads instead of code'
          : 'the configuration of the type checker was changed',
        ...(at ? { hunk: excerpt(at.hunk, at.hunk.lines.indexOf(at.line)) } : {}),
        severity: 'question',
      } satisfies TamperingFinding,
    ];
  });
}

const stubFolderOf = (path: string): string => path.slice(0, path.lastIndexOf('/') + 1);

/** A stub where the base's folder has none, and a declaration next to the JavaScript that it replaces. */
function hidesCode(path: string, base: ReadonlySet<string>, stubFolders: ReadonlySet<string>): boolean {
  if (path.endsWith('.pyi')) return !stubFolders.has(stubFolderOf(path));
  const [, name, kind] = /^(.*)\.d\.([cm]?)ts$/.exec(path) ?? [];
  return name !== undefined && (base.has(`${name}.${kind}js`) || base.has(`${name}.${kind}jsx`));
}

function configures(file: PatchFile, base: string | undefined): boolean {
  const { path, change } = file;
  if (CONFIGURATION.test(path)) return true;
  if (TSCONFIG.test(path)) return change !== 'added';
  if (!SHARED_CONFIGURATION.test(path)) return false;
  const after = patchedText(base ?? null, file);
  const [before, now] = [base ?? '', after.kind === 'text' ? after.text : ''].map(
    (text) => tableParts(text, CHECKER_TABLES).parts,
  );
  return JSON.stringify([...(before ?? [])]) !== JSON.stringify([...(now ?? [])]);
}
