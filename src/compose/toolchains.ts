import { join } from 'node:path';
import { npmInstall } from '../adapters/coders/index.ts';
import { type InstallPackage, openToolchains } from '../adapters/sandbox/index.ts';
import { Fault } from '../core/model/index.ts';
import type { Operator } from '../core/settings/index.ts';
import type { Sandbox, Toolchains } from '../ports/index.ts';
import { dataPaths } from './data-folder.ts';
import { ownerOf, tryInSandbox } from './sandbox.ts';

/** Milliseconds in which a program of a sandbox says its version. Our default. */
const ASK_MS = 20_000;
/** Milliseconds that npm may take for one package. Our default. */
const INSTALL_MS = 5 * 60_000;

/** The toolchains that runs of this process may use. Nothing is looked for before the first run needs it. */
export const toolchainsOf = (operator: Operator, sandbox: Sandbox): Toolchains =>
  openToolchains({
    dir: join(dataPaths(operator.data).toolchain, 'lent'),
    owner: ownerOf(operator),
    host: operator.sandbox.backend !== 'container',
    environment: process.env,
    nodeVersion: process.versions.node,
    install,
    async ask(argv) {
      const end = await tryInSandbox(operator, sandbox, { argv: [...argv], wallMs: ASK_MS });
      if (end.exitCode !== 0) return null;
      // Java says its version on standard error.
      return `${end.stdout.trim() || end.stderr.trim()}`.split('\n')[0] ?? '';
    },
  });

const install: InstallPackage = async (folder, spec, signal) => {
  const end = await npmInstall({
    folder,
    spec,
    limitMs: INSTALL_MS,
    environment: process.env,
    onLine: () => undefined,
    signal,
  });
  if (end.kind === 'absent') throw new Fault('AGENT_INSTALL_FAILED', end.why);
};
