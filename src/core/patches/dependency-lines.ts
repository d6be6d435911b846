/**
 * Recognizes lines of a manifest that add or change a dependency. A patch shows only a few lines around a change, so
 * if a line's section is not visible, its syntax decides, and doubtful lines count: the cost is only a second look.
 */

interface Line {
  /** Added by the patch, and not present before. */
  readonly added: boolean;
  readonly text: string;
}

/** Lines of the file after the change, by hunk. */
function hunksOf(section: string): readonly (readonly Line[])[] {
  const hunks: Line[][] = [[]];
  for (const line of section.split('\n')) {
    if (line.startsWith('@@')) hunks.push([]);
    else if (/^[+ ](?!\+\+ )/.test(line))
      hunks.at(-1)?.push({ added: line.startsWith('+'), text: line.slice(1) });
  }
  return hunks;
}

/** Fields of `package.json` that control what is installed or which program installs it (npm, Yarn, pnpm and Bun). */
const NPM_FIELDS =
  /^(?:\w*dependenc\w*|overrides|resolutions|catalogs?|packageManager|devEngines|workspaces|pnpm|allowedDeprecatedVersions|allowScripts)$/i;
/** Objects of `package.json` whose entries are not dependencies. */
const NPM_OTHER =
  /^(?:scripts|engines|exports|imports|bin|config|repository|author|bugs|funding|publishConfig|directories|browser|man|volta|contributes|configuration|properties|babel|eslintConfig|jest|prettier|browserslist|typesVersions)$/;
/** Other fields, and engines, whose values look like those of dependencies. */
const NPM_METADATA =
  /^(?:name|version|description|license|main|module|types|typings|type|homepage|author|email|url|repository|directory|bugs|browser|unpkg|jsdelivr|access|tag|registry|style|sass|source|react-native|import|require|default|node|npm|yarn|pnpm|bun|vscode|\$schema|preset|test|build|lint|start|dev|format|check|typecheck|watch|clean|coverage|docs|bench)$/;
/** A version, a range, a tag, `owner/repository`, a URL, a path, or nothing: what npm accepts as a version. */
const NPM_SPEC = /^(?:[\^~<>=*].*|v?\d.*|[\w.-]*|[\w.-]+\/[\w.-]+(?:#.*)?|git@.*|[a-z+]+:.*|\.{0,2}\/.*)$/i;

/** Whether a part of a patch of `package.json` adds or changes a dependency. */
export const addsNpmDependency = (section: string): boolean =>
  hunksOf(section).some((lines) => {
    let within: string | null = null;
    return lines.some(({ added, text: raw }) => {
      const text = raw.replace(/\\u([0-9a-f]{4})/gi, (_, hex: string) =>
        String.fromCharCode(parseInt(hex, 16)),
      );
      const found = added && isNpmDependency(text, within);
      const opened = /"([^"]+)"\s*:\s*[[{]\s*$/.exec(text)?.[1];
      if (opened !== undefined) within = opened;
      else if (/^\s*[\]}],?\s*$/.test(text)) within = null;
      return found;
    });
  });

function isNpmDependency(text: string, within: string | null): boolean {
  if ([...text.matchAll(/"([^"]+)"\s*:/g)].some(([, key = '']) => NPM_FIELDS.test(key))) return true;
  if (within !== null && NPM_OTHER.test(within)) return false;
  if (within !== null && NPM_FIELDS.test(within)) return /\S/.test(text.replace(/[[\]{},]/g, ''));
  // A value on a line of its own.
  if (/^\s*"[^"]+"\s*:\s*$/.test(text)) return true;
  return [...text.matchAll(/"([^"]+)"\s*:\s*"([^"]*)"/g)].some(
    ([, key = '', value = '']) => !NPM_METADATA.test(key) && NPM_SPEC.test(value),
  );
}

/** Sections of TOML and INI manifests in which every line is a dependency or a package source. */
const TABLE =
  /dependenc|requires|extras|overrides|^(?:source|patch|replace|registries|registry|build-system|packages|dev-packages)\b|\b(?:source|sources|index|indexes|pipenv)$/i;
/** Keys of the same kind, also with dots, in any section. */
const KEY = /^\s*["']?[\w."'-]*(?:dependenc|requires?\b|extras|build-backend|backend-path)[\w."'-]*\s*=/i;
const OTHER_KEY = /^["']?(?:version|edition|python|rust-version|requires-python|python_requires)["']?\s*=/i;
const VERSION =
  /^["']?[\w.-]+["']?\s*=\s*(?:["'](?:[\^~<>=*]|\d|latest)|\{\s*["']?(?:git|version|path|url|file|index|registry|editable|workspace)\b)/i;

/** Whether a part of a patch of a `pyproject.toml`, `Pipfile`, `Cargo.toml` or `setup.cfg` adds or changes a dependency. */
export const addsTableDependency = (section: string): boolean =>
  hunksOf(section).some((lines) => {
    let table: string | null = null;
    let key: string | null = null;
    return lines.some(({ added, text }) => {
      const header = /^\s*\[+\s*([^\]]+?)\s*\]+\s*(?:#.*)?$/.exec(text)?.[1];
      if (header !== undefined) {
        [table, key] = [header.replace(/["']/g, ''), null];
        return added && TABLE.test(table);
      }
      if (!/\S/.test(text) || /^\s*[#;]/.test(text)) return false;
      const named = /^(\s*["']?[\w][\w."'-]*\s*=)/.exec(text)?.[1];
      // An item of a list whose key is on an earlier line.
      const entry = named === undefined && !/^\s*[\])}]/.test(text);
      if (named !== undefined) key = named;
      return added && isTableDependency(text.trim(), { table, key, entry });
    });
  });

function isTableDependency(
  text: string,
  {
    table,
    key,
    entry,
  }: { readonly table: string | null; readonly key: string | null; readonly entry: boolean },
): boolean {
  if (OTHER_KEY.test(text)) return false;
  if (table !== null && TABLE.test(table)) return /[\w]/.test(text);
  if (key !== null && KEY.test(key) && !OTHER_KEY.test(key.trim())) return /[\w]/.test(text);
  if (entry) return key === null && !text.includes('::') && /^["']?[a-z@][\w.-]*/i.test(text);
  // In a visible section without dependencies, a version belongs to something else.
  return table === null && VERSION.test(text);
}
