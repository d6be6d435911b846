import type { ExecSpec } from '../../../ports/index.ts';
import { commandLine } from '../launch.ts';
import { INSIDE, INSIDE_PATH } from '../layout.ts';

/** What a container's entry is told to run. It comes by a socket: nothing of it is in the engine's argv or records. */
export interface Order {
  readonly argv: readonly string[];
  /** The command's whole environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: string | null;
}

export const orderOf = (spec: ExecSpec, egress: boolean): Order => ({
  argv: commandLine(spec, egress),
  env: {
    PATH: INSIDE_PATH,
    HOME: INSIDE.home,
    USER: 'agent',
    TMPDIR: '/tmp',
    LANG: 'C.UTF-8',
    ...spec.env,
  },
  stdin: spec.stdin ?? null,
});
