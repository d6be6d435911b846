import { visibleCode } from '../../core/reports/index.ts';
import type { Exposure } from '../../runs/index.ts';
import { shown } from './terminal.ts';

/** What a person must know before the checks of a repository run with less than the full sandbox. */
export function trustText(repository: string, exposure: Exposure): string {
  const { setup, build, test, hosts, backend, weaker } = exposure;
  const commands = Object.entries({ setup, build, test }).flatMap(([name, command]) =>
    command ? commandLines(name, command) : [],
  );
  return [
    `The checks of ${shown(repository)} get more of this machine than the full sandbox gives:`,
    '',
    ...commands,
    '',
    ...(hosts.length > 0
      ? [`They may reach these hosts: ${hosts.map((host) => shown(host)).join(', ')}`]
      : []),
    ...(weaker.length > 0 ? [`Sandbox: ${backend}. What it does not hold back:`] : []),
    ...weaker.map((sentence) => `  - ${shown(sentence)}`),
    '',
  ].join('\n');
}

/** A command whole and line by line, as the shell reads it: what is agreed to is what is shown. */
const commandLines = (name: string, command: string): readonly string[] =>
  visibleCode(command.trimEnd())
    .split('\n')
    .map((line, at) => `  ${(at === 0 ? name : '').padEnd(5)}  ${line}`);
