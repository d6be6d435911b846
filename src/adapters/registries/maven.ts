import { join } from 'node:path';
import { accessTo, type ClientAnswer } from './answers.ts';
import { type ClientQuestion, watched } from './asking.ts';

const POM =
  '<project><modelVersion>4.0.0</modelVersion>$PARENT<groupId>x</groupId><artifactId>x</artifactId><version>1</version></project>';
const PARENT =
  '<parent><groupId>x</groupId><artifactId>parent</artifactId><version>1</version><relativePath/></parent>';
/**
 * Maven asks its repositories of plugins for a plugin, and those of dependencies for a parent. One project is not
 * enough, because it ends with the first that it does not find.
 */
const MAVEN_PROJECTS = [POM.replace('$PARENT', ''), POM.replace('$PARENT', PARENT)];

/** The repositories of Maven's settings. It has no command that prints them, so its requests are observed. */
export async function askMaven(question: ClientQuestion): Promise<ClientAnswer> {
  const hosts: string[] = [];
  // One after the other: each start has its own limit of time, and a machine may have two cores.
  for (const pom of MAVEN_PROJECTS) hosts.push(...(await hostsOf(question, pom)));
  return accessTo(hosts.map((host) => `https://${host}`));
}

function hostsOf(question: ClientQuestion, pom: string): Promise<readonly string[]> {
  return watched(question, {
    // Maven takes options and extensions from the nearest folder `.mvn` above the project.
    files: { 'pom.xml': pom, '.mvn/empty': '' },
    argv: (folder) => [
      ...(['mvn', '-q', '-B', '-f', join(folder, 'pom.xml')] as const),
      `-Dmaven.repo.local=${join(folder, 'repository')}`,
      ...['validate', 'dependency:resolve'],
    ],
    proxyEnv: (proxy) => {
      const { hostname, port } = new URL(proxy);
      return {
        MAVEN_OPTS: `-Dhttps.proxyHost=${hostname} -Dhttps.proxyPort=${port}`,
        // These may name the project of a repository, whose extensions would run, or options of its own.
        MAVEN_ARGS: '',
        MAVEN_BASEDIR: '',
        MAVEN_CONFIG: '',
        MAVEN_DEBUG_OPTS: '',
      };
    },
  });
}
