import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  affectedPackages,
  packageFiles,
  reportPlan,
  workspaceGraph,
} from '../../../src/core/settings/index.ts';

const dependency = (name: string, more = '') =>
  `<dependency><groupId>x</groupId><artifactId>${name}</artifactId>${more}</dependency>`;
const pom = (name: string, uses: readonly string[] = [], more = '') =>
  `<project><parent><groupId>x</groupId><artifactId>top</artifactId><version>1</version></parent>
<artifactId>${name}</artifactId><dependencies>${uses.map((one) => dependency(one)).join('')}</dependencies>${more}</project>`;
const top = (modules: readonly string[], more = '') =>
  `<project><groupId>x</groupId><artifactId>top</artifactId><version>1</version><packaging>pom</packaging>
<modules>${modules.map((one) => `<module>${one}</module>`).join('\n')}</modules>${more}</project>`;

/** core ← api ← web, and one that nobody needs. The list of managed versions names all of them. */
const MANAGED = `<dependencyManagement><dependencies>${['core', 'api', 'web', 'tools'].map((one) => dependency(one)).join('')}</dependencies></dependencyManagement>`;
const FILES = {
  'pom.xml': top(['core', 'api/', './web', 'tools'], MANAGED),
  'core/pom.xml': pom('core'),
  'api/pom.xml': pom('api', ['core', 'junit']),
  'web/pom.xml': pom('web', ['api']),
  'tools/pom.xml': pom('tools'),
};
const property = (name: string) => `\${${name}}`;
const edges = (files: Readonly<Record<string, string>>) =>
  Object.fromEntries(workspaceGraph(files).map(({ folder, dependsOn }) => [folder, dependsOn]));

describe('the modules of a Maven build', () => {
  test('depend on each other by the names in their files, and not by the versions that are managed for all', () => {
    expect(edges(FILES)).toEqual({ core: [], api: ['core'], web: ['api'], tools: [] });
    expect(workspaceGraph(FILES)[0]?.kind).toBe('maven');
    expect([...affectedPackages(workspaceGraph(FILES), ['api/src/main/java/A.java'])]).toEqual([
      'api',
      'web',
    ]);
    expect(affectedPackages(workspaceGraph(FILES), ['pom.xml']).size).toBe(4);
  });

  test('depend on their parent, on lists of versions that they import, on plugins of the build, and on what the top uses', () => {
    const imported = dependency('core', '<type>pom</type><scope>import</scope>');
    const files = {
      'pom.xml': top(
        ['core', 'base', 'base/app', 'tools', 'testing'],
        `<dependencies>${dependency('testing')}</dependencies>`,
      ),
      'core/pom.xml': pom('core'),
      'base/pom.xml': pom(
        'base',
        [],
        `<packaging>pom</packaging><dependencyManagement><dependencies>${imported}</dependencies></dependencyManagement>`,
      ),
      'base/app/pom.xml': pom(
        'app',
        [],
        '<build><plugins><plugin><artifactId>tools</artifactId></plugin></plugins></build>',
      ).replace('>top<', '>base<'),
      'tools/pom.xml': pom('tools', [], '<packaging>maven-plugin</packaging>'),
      'testing/pom.xml': pom(
        'testing',
        ['junit'],
        `<build><exclusions><artifactId>core</artifactId></exclusions></build>`,
      ),
    };
    expect(edges(files)).toEqual({
      base: ['core', 'testing'],
      'base/app': ['base', 'testing', 'tools'],
      core: ['testing'],
      testing: [],
      tools: ['testing'],
    });
  });

  test('of folders that have modules themselves are found, and one that reads files beside it depends on all', () => {
    const files = {
      'pom.xml': top(['group', 'core']),
      'group/pom.xml': top(['a', 'b']).replace('>top<', '>group<'),
      'group/a/pom.xml': pom(
        'a',
        [],
        '<build><resources><resource><directory>../b/data</directory></resource></resources></build>',
      ),
      'group/b/pom.xml': pom('b', [], '<relativePath>../../pom.xml</relativePath>'),
      'core/pom.xml': pom('core'),
    };
    expect(edges(files)).toEqual({
      core: [],
      group: [],
      'group/a': ['core', 'group', 'group/b'],
      'group/b': [],
    });
  });

  test.each([
    ['a property', `<properties><root>${property('project.basedir')}/..</root></properties>`],
    [
      'the top of the build',
      `<resource><directory>${property('maven.multiModuleProjectDirectory')}/api</directory></resource>`,
    ],
    [
      'the folder of the parent',
      `<resource><directory>${property('project.parent.basedir')}/api</directory></resource>`,
    ],
  ])('depend on all if they name files of others by %s', (_how, build) => {
    const files = { ...FILES, 'tools/pom.xml': pom('tools', [], `<build>${build}</build>`) };
    expect(edges(files)).toMatchObject({ tools: ['api', 'core', 'web'], core: [] });
  });

  test('inherit the files that the top names', () => {
    const resource = '<build><testResources><directory>../core/data</directory></testResources></build>';
    const files = { ...FILES, 'pom.xml': top(['core', 'api', 'web', 'tools'], resource) };
    expect(edges(files)).toMatchObject({ tools: ['api', 'core', 'web'] });
  });

  test('are none if reading all files would take long', () => {
    const padding = `<!--${'x'.repeat(350_000)}-->`;
    const names = ['a', 'b', 'c', 'd', 'e', 'f'];
    const modules = Object.fromEntries(names.map((name) => [`${name}/pom.xml`, pom(name) + padding]));
    expect(workspaceGraph({ 'pom.xml': top(names), ...modules })).toEqual([]);
    expect(workspaceGraph({ 'pom.xml': top(names.slice(1)), ...modules })).toHaveLength(5);
  });

  test('are read from the files of modules, not from projects that tests use', () => {
    const paths = [
      'pom.xml',
      'core/pom.xml',
      'core/src/test/resources/it/pom.xml',
      'core/src/main/java/A.java',
    ];
    expect(packageFiles(paths, { 'pom.xml': FILES['pom.xml'] })).toEqual(['core/pom.xml']);
    expect(packageFiles(paths, { 'pom.xml': pom('alone') })).toEqual([]);
  });

  const profile =
    '<profiles><profile><id>all</id><modules><module>extra</module></modules></profile></profiles>';
  test.each([
    ['a module that only a profile adds', { 'pom.xml': top(['core', 'api', 'web', 'tools'], profile) }],
    ['a module that is not there', { 'pom.xml': top(['core', 'gone']) }],
    [
      'a module outside of the repository',
      { 'pom.xml': top(['core', '../other']), '../other/pom.xml': pom('other') },
    ],
    ['a module that is named by its file', { 'pom.xml': top(['core', 'api/pom.xml']) }],
    [
      'a module in a folder that a shell would read otherwise',
      { 'pom.xml': top(['core', '$(id)']), '$(id)/pom.xml': pom('id') },
    ],
    ['a module twice', { 'pom.xml': top(['core', 'api', 'core']) }],
    ['two modules of one name', { 'tools/pom.xml': pom('core') }],
    ['a name that is a property', { 'web/pom.xml': pom(`web_${property('scala')}`, ['api']) }],
    ['a dependency that is a property', { 'web/pom.xml': pom('web', [property('backend')]) }],
    ['a dependency that is written in numbers', { 'web/pom.xml': pom('web', ['&#97;pi']) }],
    ['a document type', { 'core/pom.xml': `<!DOCTYPE project [<!ENTITY a "api">]>${pom('core', ['&a;'])}` }],
    [
      'a packaging that reads its dependencies elsewhere',
      { 'web/pom.xml': pom('web', [], '<packaging>eclipse-plugin</packaging>') },
    ],
    [
      'the modules of Maven 4',
      { 'web/pom.xml': pom('web', [], '<subprojects><subproject>a</subproject></subprojects>') },
    ],
    ['a damaged file', { 'web/pom.xml': '<project><artifactId>web</artifactId>' }],
    ['a file that is too large', { 'web/pom.xml': pom('web', [], `<!--${' '.repeat(500_000)}-->`) }],
    [
      'elements of great depth',
      { 'web/pom.xml': pom('web', [], `${'<a>'.repeat(5_000)}${'</a>'.repeat(5_000)}`) },
    ],
  ])('with %s are not told apart', (_, changed) => {
    expect(workspaceGraph({ ...FILES, ...changed } as Record<string, string>)).toEqual([]);
  });

  test('in any text never throw, and are folders of the repository', () => {
    const part = fc.oneof(
      fc.constantFrom('core', '<module>', '</module>', '<project>', '</modules>', '${', ']]>', '<![CDATA['),
      fc.string({ maxLength: 8 }),
    );
    const text = fc.array(part, { maxLength: 20 }).map((parts) => parts.join(''));
    fc.assert(
      fc.property(text, text, text, (names, more, other) => {
        const files = { 'pom.xml': top(['core', names], more), 'core/pom.xml': pom('core', [other], more) };
        for (const { folder } of workspaceGraph(files))
          expect(Object.hasOwn(files, `${folder}/pom.xml`)).toBe(true);
      }),
    );
  });
});

describe('a command that tests some modules', () => {
  const only = (command: string, more: Record<string, string> = {}, chosen = ['api', 'web']) =>
    reportPlan(command, { ...FILES, ...more }).modules?.only(chosen);

  test('builds those that they need without their tests, and leaves no report of these', () => {
    const found = only('mvn -q -B -o test');
    expect(found?.command).toBe(
      `for one in core tools; do mkdir -p "$one/target" && echo '**/*' >"$one/target/runoff-untested" || exit 1; done; ` +
        `for one in api web; do mkdir -p "$one/target" && echo '#' >"$one/target/runoff-untested" || exit 1; done; ` +
        'mvn -q -B -o test -Dmaven.test.failure.ignore=true -pl api,web -am -Dsurefire.excludesFile=target/runoff-untested -Dfailsafe.excludesFile=target/runoff-untested',
    );
    const pattern = new RegExp(found?.report?.source === 'tree' ? found.report.pattern : '$^');
    expect(pattern.test('api/target/surefire-reports/TEST-x.A.xml')).toBe(true);
    expect(pattern.test('core/target/surefire-reports/TEST-x.A.xml')).toBe(false);
    expect(pattern.test('old/api/target/surefire-reports/TEST-x.A.xml')).toBe(false);
  });

  test.each(['sh ./mvnw -B verify', './mvnw --no-transfer-progress clean test -Pfast -DargLine=-Xmx1g'])(
    'is known for %s',
    (command) => {
      expect(only(command)).toBeDefined();
    },
  );

  test.each([
    ['mvn test -pl core', {}],
    ['mvn -f other/pom.xml test', {}],
    ['mvn test -Dmodules=$X', {}],
    ['mvn test && ./after.sh', {}],
    ['cd x && mvn test', {}],
    ['mvn -q test exec:java', {}],
    ['mvn test', { '.mvn/maven.config': '-T1C\n--projects=core\n' }],
    ['mvn test', { 'pom.xml': top(['core']) }],
  ])('is unknown for %s %j', (command, more) => {
    expect(only(command, more as Record<string, string>)).toBeUndefined();
  });
});
