import { existsSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { detectChecks } from '../../src/core/settings/index.ts';
import { openSharedFixture, type SharedFixture } from './examination-world.ts';

/** Debian's packages libsurefire-java, libmaven-{compiler,resources,jar}-plugin-java and junit4 fill this folder. */
const REPOSITORY = '/usr/share/maven-repo';
const PLUGINS = {
  'maven-surefire-plugin': '2.22.3',
  'maven-compiler-plugin': '3.10.1',
  'maven-resources-plugin': '3.3.0',
  'maven-jar-plugin': '3.3.0',
} as const;
const lacks = [
  ...Object.entries(PLUGINS).map(
    ([name, version]) => `${REPOSITORY}/org/apache/maven/plugins/${name}/${version}`,
  ),
  ...[`${REPOSITORY}/junit/junit/4.13.2`, '/usr/bin/mvn'],
].find((path) => !existsSync(path));
const why = lacks === undefined ? '' : ` (not tried: this machine has no ${lacks})`;

let shared: SharedFixture;
beforeAll(async () => {
  shared = await openSharedFixture();
});
afterAll(() => shared.close());

const at = `<id>central</id><url>file://${REPOSITORY}</url>`;
const TOP = `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>org.example</groupId><artifactId>shop</artifactId><version>1</version><packaging>pom</packaging>
  <modules><module>core</module><module>api</module><module>archive</module></modules>
  <properties>
    <!-- In a process of their own, tests of this version of Surefire end ten seconds late. -->
    <forkCount>0</forkCount>
    <maven.compiler.source>8</maven.compiler.source><maven.compiler.target>8</maven.compiler.target>
    <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>
  </properties>
  <repositories><repository>${at}</repository></repositories>
  <pluginRepositories><pluginRepository>${at}</pluginRepository></pluginRepositories>
  <dependencyManagement><dependencies>
    <dependency><groupId>org.example</groupId><artifactId>core</artifactId><version>1</version></dependency>
  </dependencies></dependencyManagement>
  <dependencies>
    <dependency><groupId>junit</groupId><artifactId>junit</artifactId><version>4.13.2</version><scope>test</scope></dependency>
  </dependencies>
  <build><pluginManagement><plugins>${Object.entries(PLUGINS)
    .map(
      ([name, version]) => `<plugin><artifactId>${name}</artifactId><version>${version}</version></plugin>`,
    )
    .join('')}</plugins></pluginManagement></build>
</project>
`;
const pom = (name: string, more = '') => `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <parent><groupId>org.example</groupId><artifactId>shop</artifactId><version>1</version></parent>
  <artifactId>${name}</artifactId>${more}
</project>
`;
const USES_CORE =
  '<dependencies><dependency><groupId>org.example</groupId><artifactId>core</artifactId></dependency></dependencies>';
const range = (body: string) => ({
  'core/src/main/java/core/Range.java': `package core;

public final class Range {
    public static int clamp(int value, int low, int high) { ${body} }
}
`,
});
const testOf = (name: string, expression: string, expected: string) => `package ${name};

import static org.junit.Assert.assertEquals;
import org.junit.Test;

public class AllTest {
    @Test public void works() { assertEquals(${expected}, ${expression}); }
}
`;
const PERCENT =
  'package api;\n\npublic final class Percent {\n    public static String of(int n) { return core.Range.clamp(n, 0, 100) + "%"; }\n}\n';
const FILES = {
  'pom.xml': TOP,
  '.gitignore': 'target/\n',
  'core/pom.xml': pom('core'),
  ...range('return value < low ? low : value;'),
  'core/src/test/java/core/AllTest.java': testOf('core', 'Range.clamp(0, 1, 5)', '1'),
  'api/pom.xml': pom('api', USES_CORE),
  'api/src/main/java/api/Percent.java': PERCENT,
  'api/src/test/java/api/AllTest.java': testOf('api', 'Percent.of(7)', '"7%"'),
  'archive/pom.xml': pom('archive'),
  'archive/src/main/java/archive/Old.java':
    'package archive;\n\npublic final class Old {\n    public static int one() { return 1; }\n}\n',
  'archive/src/test/java/archive/AllTest.java': testOf('archive', 'Old.one()', '1'),
};

test.skipIf(lacks !== undefined)(
  `Maven itself builds and tests the modules that candidates can affect${why}`,
  async () => {
    const { setup, build, test: command } = detectChecks({ files: Object.keys(FILES), read: FILES }).commands;
    const commands: string[] = [];
    const fixture = await shared.fixture({
      ...{ files: FILES, setup: setup ?? '', build: build ?? '', test: command ?? '', examine: '1s' },
      exec: (spec, real) => {
        commands.push(spec.argv.join(' '));
        return real(spec);
      },
    });
    const onBase = await fixture.base();
    expect(onBase.tests).toEqual({
      'core > core.AllTest > works': 'passed',
      'api > api.AllTest > works': 'passed',
      'archive > archive.AllTest > works': 'passed',
    });
    commands.length = 0;
    const { A, B } = await fixture.examine(onBase, {
      A: range('return Math.min(high, Math.max(low, value));'),
      B: range('return value < low ? low : value > 5 ? high : value;'),
    });
    expect(A).toMatchObject({ survivor: true, baseTests: { passed: 2, total: 2 } });
    expect(B?.baseTests?.regressions).toEqual(['api > api.AllTest > works']);
    expect(A?.cut?.leftOut[0]).toEqual({ what: 'packages', count: 1, of: 3 });

    // A change of `api` alone: `core` is built, and its tests are not run.
    const { C } = await fixture.examine(onBase, {
      C: { 'api/src/main/java/api/Percent.java': PERCENT.replace('"%"', '("%")') },
    });
    expect(C?.baseTests).toMatchObject({ passed: 1, total: 1 });
    expect(C?.cut?.leftOut[0]).toEqual({ what: 'packages', count: 2, of: 3 });
    const tested = commands.filter(
      (one) => / test .*-Dmaven\.test\.failure\.ignore=true/.test(one) && !one.includes('-Dtest='),
    );
    expect(tested).not.toEqual([]);
    expect(tested.filter((one) => !one.includes('-pl '))).toEqual([]);
  },
);
