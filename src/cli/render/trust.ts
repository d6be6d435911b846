import type { Exposure } from '../../pipeline/index.ts';
import { shown } from './terminal.ts';

/** Characters of a command. More than anybody reads, but what is agreed to is shown whole. */
const LONGEST = 20_000;

/** What a person must know before the checks of a repository run with less than the full sandbox. */
export function trustText(repository: string, exposure: Exposure): string {
  const { setup, build, test, hosts, backend, weaker } = exposure;
  const commands = Object.entries({ setup, build, test }).flatMap(([name, command]) =>
    command ? [`  ${name.padEnd(5)}  ${shown(command, LONGEST)}`] : [],
  );
  return [
    `The checks of ${shown(repository)} get more of this machine than the full sandbox gives:`,
    '',
    ...commands,
    '',
    ...(hosts.length > 0 ? [`They may reach these hosts: ${hosts.map(shown).join(', ')}`] : []),
    ...(weaker.length > 0 ? [`Sandbox: ${backend}. What it does not hold back:`] : []),
    ...weaker.map((sentence) => `  - ${shown(sentence)}`),
    '',
  ].join('\n');
}
