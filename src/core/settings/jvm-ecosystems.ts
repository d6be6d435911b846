import { type Ecosystem, type RepositorySnapshot, SAMPLE_FOLDERS } from './repository-recipe.ts';

/**
 * Set-up runs the whole life cycle, because Maven downloads the program that runs the tests only when it starts it. So
 * it must find classes of tests, but none of their methods. It prints each download; build and tests are quiet.
 */
export function maven({ files }: RepositorySnapshot): Ecosystem | null {
  if (!files.has('pom.xml')) return null;
  const program = files.has('mvnw') ? 'sh ./mvnw' : 'mvn';
  const command = `${program} -q -B`;
  const noTest =
    "'-Dtest=*#runoffNone' -DfailIfNoTests=false -Dsurefire.failIfNoSpecifiedTests=false -Dmaven.test.failure.ignore=true";
  return {
    file: 'pom.xml',
    setup: `${program} -B ${noTest} package`,
    build: `${command} -o -DskipTests package`,
    test: `${command} -o test`,
  };
}

const GRADLE_FILES = ['build.gradle', 'build.gradle.kts', 'settings.gradle', 'settings.gradle.kts'];

/** What Gradle is asked to do, by the source sets that modules have. */
const GRADLE_TASKS = {
  plain: { compile: 'assemble testClasses', build: 'assemble', test: 'test' },
  // `assemble` of Kotlin Multiplatform needs the compilers of all systems; such modules have no task `test`.
  multiplatform: { compile: 'jvmJar jvmTestClasses', build: 'jvmJar', test: 'jvmTest' },
  both: {
    compile: 'jvmJar jvmTestClasses classes testClasses',
    build: 'jvmJar classes',
    test: 'jvmTest test',
  },
} as const;

/** Files of a module that Gradle reads for itself or for a test, not as a module of the build. */
const NO_MODULES = /(?:^|\/)(?:buildSrc|test-?data|src\/\w+\/resources)\//i;
/** Maximum builds below the top that are told apart. */
const MAX_BUILDS = 100;

function gradleTasks(files: ReadonlySet<string>) {
  const all = [...files];
  const builds = all.flatMap((path) => /^(.+\/)settings\.gradle(?:\.kts)?$/.exec(path)?.[1] ?? []);
  const others = builds.slice(0, MAX_BUILDS);
  const sources = all.filter(
    (path) =>
      /\.(?:kt|java)$/.test(path) &&
      !SAMPLE_FOLDERS.test(path) &&
      !NO_MODULES.test(path) &&
      !others.some((folder) => path.startsWith(folder)),
  );
  const has = (set: RegExp): boolean => sources.some((path) => set.test(path));
  if (!has(/(?:^|\/)src\/jvm(?:Main|Test)\//)) return GRADLE_TASKS.plain;
  return has(/(?:^|\/)src\/test\//) ? GRADLE_TASKS.both : GRADLE_TASKS.multiplatform;
}

/**
 * Set-up ends with tests that do not exist, because Gradle downloads the tests' runtime dependencies only when it
 * runs some.
 */
export function gradle({ files }: RepositorySnapshot): Ecosystem | null {
  const file = GRADLE_FILES.find((one) => files.has(one));
  if (file === undefined) return null;
  const command = `${files.has('gradlew') ? 'sh ./gradlew' : 'gradle'} --no-daemon`;
  const { compile, build, test } = gradleTasks(files);
  const none = test.replace(/\w+/g, '$& --tests runoff.None');
  const loaded = `{ ${command} --continue ${none} || true; }`;
  return {
    file,
    setup: `${command} ${compile} && ${loaded}`,
    build: `${command} --offline ${build}`,
    test: `${command} --offline ${test}`,
  };
}
