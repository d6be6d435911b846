import { existsSync } from 'node:fs';
import type { Variant } from './launch.ts';

/** How a command sees processes and is kept from namespaces, the strongest first. */
type Step = Pick<Variant, 'proc' | 'lockNamespaces'>;

export const STRONG: Step = { proc: 'own', lockNamespaces: true };

/** In the order in which they are tried where the strong step is refused. */
export const WEAKER_STEPS: readonly Step[] = [
  { proc: 'outer', lockNamespaces: true },
  { proc: 'outer', lockNamespaces: false },
];

/** All ways to take a step: control groups before watchdogs, overlay mounts before copies. */
export function variantsOf(
  step: Step,
  host: { readonly groups: boolean; readonly overlay: boolean },
): readonly Variant[] {
  const either = (possible: boolean): readonly boolean[] => (possible ? [true, false] : [false]);
  return either(host.groups).flatMap((group) =>
    either(host.overlay).flatMap((overlay) =>
      [true, false].map((hostname) => ({ ...step, group, overlay, hostname })),
    ),
  );
}

/** What a command can do in this variant that it could not in the strong one, as reports say it. */
export function weaknesses({ proc, lockNamespaces }: Step): readonly string[] {
  return [
    ...(proc === 'own'
      ? []
      : [
          'Commands in the sandbox see the names and arguments of other processes of this host or container, though not their environment or memory.',
        ]),
    ...(lockNamespaces
      ? []
      : ['Only the system call filter keeps commands in the sandbox from making namespaces of their own.']),
  ];
}

/** For a host on which only a weaker step works, and the operator did not allow it. */
export const onlyWeaker = (): { readonly why: string; readonly remedy: string } => ({
  why: 'A sandbox cannot have a /proc of its own here: parts of the outer one are covered or read-only, as container engines and some options of systemd make them.',
  remedy: `${uncover()} Or set RUNOFF_SANDBOX_WEAKER=true: commands then see the names and arguments of all processes, and every report says so.`,
});

const uncover = (): string =>
  existsSync('/run/systemd/system')
    ? 'Take options that cover parts of /proc out of the unit, such as ProtectProc= and ProcSubset=.'
    : 'Start the container with --security-opt systempaths=unconfined (Podman: --security-opt unmask=ALL).';
