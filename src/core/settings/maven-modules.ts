import { XMLParser } from 'fast-xml-parser';
import { z } from 'zod';

/** A module of a Maven build, below the top. */
interface MavenModule {
  /** From the top of the repository. */
  readonly folder: string;
  /** Folders of the modules that it depends on. */
  readonly dependsOn: readonly string[];
}

/** Texts of the base commit, by path from the top of the repository. */
type PomTexts = Readonly<Record<string, string>>;

/** Maximum characters of a pom.xml that are read, and maximum depth of its elements. */
const MAX_POM_CHARS = 400_000;
const MAX_POM_DEPTH = 60;
/** Maximum characters of all of them, because parsing blocks the process: about a second here. Our default. */
const MAX_ALL_POM_CHARS = 2_000_000;
/** Maximum modules; a larger build is not analysed. Default. */
const MAX_MODULES = 200;

/** A folder that needs no quotes in a shell, and is no option. `..` would lead to a sibling of the parent. */
const MODULE_FOLDER = /^(?!.*(?:^|\/)\.{1,2}(?:\/|$))[\w.][\w./-]*$/;

/** Packagings whose dependencies are all in the pom.xml. Others, as of Eclipse plug-ins, may read them elsewhere. */
const PLAIN_PACKAGINGS = /^(?:pom|jar|war|ear|ejb|bundle|maven-plugin)$/;

const isPomOfModule = (path: string): boolean => path.endsWith('/pom.xml') && !/(?:^|\/)src\//.test(path);

/** Paths of the files that may define modules; if there are too many, one more than the limit. */
export const pomFiles = (paths: readonly string[], files: PomTexts): readonly string[] =>
  /<modules>/.test(files['pom.xml'] ?? '') ? paths.filter(isPomOfModule).slice(0, MAX_MODULES + 1) : [];

/**
 * The modules of a Maven build whose top has a pom.xml, with their dependencies on each other. A pom.xml is read as
 * text, never evaluated: wherever that could miss a dependency (properties in names, modules that only a profile adds,
 * modules outside of the repository), there are no modules, and the build is tested as a whole.
 */
export function mavenModules(files: PomTexts): readonly MavenModule[] {
  const top = pomOf(files['pom.xml']);
  if (!top || top.modules.length === 0) return [];
  const poms = new Map<string, Pom>();
  let chars = 0;
  const left = top.modules.map((name) => ({ above: '', name }));
  for (const { above, name } of left) {
    const folder = `${above}${name}`.replace(/^\.\//, '').replace(/\/$/, '');
    const text = MODULE_FOLDER.test(folder) ? files[`${folder}/pom.xml`] : undefined;
    chars += text?.length ?? 0;
    const pom = chars > MAX_ALL_POM_CHARS ? null : pomOf(text);
    if (!pom || poms.has(folder) || poms.size === MAX_MODULES) return [];
    poms.set(folder, pom);
    for (const inner of pom.modules) left.push({ above: `${folder}/`, name: inner });
  }
  const byName = new Map([...poms].map(([folder, { name }]) => [name, folder]));
  if (byName.size < poms.size) return [];
  const folders = [...poms.keys()].sort();
  return folders.map((folder) => {
    const pom = poms.get(folder) as Pom;
    // Every module may inherit what the top depends on, and the files that it names.
    const named = [...pom.uses, ...top.uses].flatMap((name) => byName.get(name) ?? []);
    const wanted = pom.readsBeside || top.readsBeside ? folders : named;
    return { folder, dependsOn: [...new Set(wanted)].filter((one) => one !== folder).sort() };
  });
}

/** What a pom.xml says about modules. */
interface Pom {
  readonly name: string;
  /** Paths as written. */
  readonly modules: readonly string[];
  /** Artifacts that it names, in any place but the versions that it manages for others. */
  readonly uses: ReadonlySet<string>;
  /** It names files outside of its own folder. */
  readonly readsBeside: boolean;
}

const oneOrMore = z.union([z.array(z.string()), z.string().transform((one) => [one])]);
const Modules = z.union([z.literal('').transform(() => []), z.object({ module: oneOrMore.default([]) })]);
const Project = z.object({
  project: z.looseObject({
    artifactId: z.string(),
    packaging: z.string().default('jar'),
    modules: Modules.optional(),
    profiles: z.unknown().optional(),
  }),
});

/** The folder above, by its path or by one of Maven's names for the top of the build. */
const BESIDE =
  /(?<!\.)\.\.[/\\<"'\s]|multiModuleProjectDirectory|executionRootDirectory|rootDirectory|parent\.(?:parent\.)*basedir/;

/** Null for a file that is missing, damaged or too large, or whose modules or names are only known when Maven runs. */
function pomOf(text: string | undefined): Pom | null {
  // A document type could define entities, and so other names than those in the text.
  if (text === undefined || text.length > MAX_POM_CHARS || /<!DOCTYPE|<!ENTITY/i.test(text)) return null;
  const project = projectIn(text);
  if (!project || !PLAIN_PACKAGINGS.test(project.packaging)) return null;
  // `subprojects` are the modules of Maven 4.
  if (project.subprojects !== undefined || hasKey(project.profiles, /^(?:modules|subprojects)$/)) return null;
  const uses = new Set<string>();
  collectArtifacts({ ...project, artifactId: undefined }, uses);
  const { artifactId: name, modules = [] } = project;
  // Properties and character references are resolved by Maven alone.
  if ([name, ...uses].some((one) => /\$\{|&/.test(one))) return null;
  const readsBeside = BESIDE.test(text.replace(/<(relativePath|module)>[^<]*<\/\1>/g, ''));
  return { name, modules: Array.isArray(modules) ? modules : modules.module, uses, readsBeside };
}

function projectIn(text: string): z.infer<typeof Project>['project'] | null {
  const parser = new XMLParser({
    parseTagValue: false,
    processEntities: false,
    maxNestedTags: MAX_POM_DEPTH,
  });
  try {
    return Project.safeParse(parser.parse(text, true)).data?.project ?? null;
  } catch {
    // Maven itself will say what is wrong with the file.
    return null;
  }
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const hasKey = (value: unknown, key: RegExp): boolean =>
  Array.isArray(value)
    ? value.some((one) => hasKey(one, key))
    : isRecord(value) && Object.entries(value).some(([name, inner]) => key.test(name) || hasKey(inner, key));

/** A managed dependency is one only where somebody uses it; but for an imported list of versions. */
function collectArtifacts(value: unknown, into: Set<string>, managed = false): void {
  if (Array.isArray(value)) for (const one of value) collectArtifacts(one, into, managed);
  if (!isRecord(value)) return;
  if (managed && value.artifactId !== undefined && value.scope !== 'import') return;
  for (const [name, inner] of Object.entries(value)) {
    if (name === 'artifactId' && typeof inner === 'string') into.add(inner);
    else if (name !== 'exclusions') collectArtifacts(inner, into, managed || name === 'dependencyManagement');
  }
}

/** Options that neither select modules nor define what is built. */
const PLAIN_OPTION =
  /^(?:-[qBoeUV]|-ntp|-nsu|-fae|--(?:quiet|batch-mode|offline|errors|update-snapshots|show-version|no-transfer-progress|no-snapshot-updates|fail-at-end)|-D[\w.-]+(?:=[\w./:-]+)?|-P[\w,-]+)$/;
const PHASE = /^(?:clean|validate|compile|test-compile|test|package|integration-test|verify|install)$/;

const SELECTS =
  /(?:^|\s)(?:-pl|-f|-rf|-N|-am|-amd|--(?:projects|file|resume-from|non-recursive|also-make\S*))(?=[\s=]|$)/;

/** Folders of the modules that a Maven command builds, if it still has the same meaning for some of them; else none. */
export function modulesBuiltBy(words: readonly string[], files: PomTexts): readonly string[] {
  const [program = '', ...more] = words[0] === 'sh' ? words.slice(1) : words;
  const isPlain =
    /^(?:mvn|\.\/mvnw)$/.test(program) &&
    more.every((word) => PLAIN_OPTION.test(word) || PHASE.test(word)) &&
    !SELECTS.test(files['.mvn/maven.config'] ?? '');
  return isPlain ? mavenModules(files).map(({ folder }) => folder) : [];
}

/** Below the folder of a module: which of its tests are not run. Surefire and Failsafe read it there. */
const UNTESTED = 'target/runoff-untested';

/**
 * The command that tests only `chosen` of all modules. The modules that they depend on are built with them (`-am`),
 * which would also run their tests: a file of patterns in each module excludes them. A version of Surefire that does
 * not know the option runs them for nothing.
 */
export function forModules(command: string, all: readonly string[], chosen: readonly string[]): string {
  const kept = new Set(chosen);
  const others = all.filter((folder) => !kept.has(folder));
  const written = (folders: readonly string[], pattern: string) =>
    `for one in ${folders.join(' ')}; do mkdir -p "$one/target" && echo '${pattern}' >"$one/${UNTESTED}" || exit 1; done; `;
  const options = `-pl ${chosen.join(',')} -am -Dsurefire.excludesFile=${UNTESTED} -Dfailsafe.excludesFile=${UNTESTED}`;
  // A comment: Surefire 3 wants the file in every module.
  return `${written(others, '**/*')}${written(chosen, '#')}${command} ${options}`;
}
