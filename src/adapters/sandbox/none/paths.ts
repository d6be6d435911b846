import type { ExecSpec } from '../../../ports/index.ts';
import { INSIDE, INSIDE_PATH } from '../layout.ts';

/** What stands for a path or address of the sandbox on a host that has no such place. */
export type Places = readonly (readonly [inside: string, outside: string])[];

/** Where the places of a sandbox lie on this host for one command. */
export function placesOf(
  spec: ExecSpec,
  host: {
    readonly toolchain: string;
    /** A folder of the command's own, since /tmp is everybody's here. */
    readonly temporary: string;
    readonly egress: string | null;
    readonly port: number | null;
  },
): Places {
  const { area, gateway, out, binds = [] } = spec;
  return [
    [INSIDE.repo, area.upper],
    [INSIDE.home, area.home],
    [INSIDE.toolchain, host.toolchain],
    ['/tmp', host.temporary],
    ...(out === undefined ? [] : [[INSIDE.out, out] as const]),
    ...(gateway === undefined ? [] : [[INSIDE.gateway, gateway.socket] as const]),
    ...(gateway === undefined || host.port === null
      ? []
      : [[`127.0.0.1:${gateway.port}`, `127.0.0.1:${host.port}`] as const]),
    ...(host.egress === null ? [] : [[INSIDE.egress, host.egress] as const]),
    ...binds.map(({ from, to }) => [to, from] as const),
  ];
}

/**
 * Puts the host's places where a text names those of a sandbox: `/repo/src` and `cd /repo;`, but neither `/repository` nor
 * `/srv/repo` nor `$HOME/repo`. A text that glues the name to something else (`"$X"/repo`) is beyond it.
 */
export function onHost(text: string, places: Places): string {
  const outside = new Map(places);
  // The longest first: /run/runoff/x before a bind at /run/runoff.
  const names = [...outside.keys()].toSorted((a, b) => b.length - a.length);
  const inside = names.map((name) => name.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|');
  const whole = new RegExp(
    `(?<![\\w.~/})*$-]|\\d)(?:${inside})(?![\\w-]|\\.\\w)|(?<=//)127\\.0\\.0\\.1:\\d+(?!\\d)`,
    'g',
  );
  return text.replace(whole, (name) => outside.get(name) ?? name);
}

/** The PATH of every sandbox, with this host's toolchain. */
export const hostPath = (places: Places): string =>
  INSIDE_PATH.split(':')
    .map((folder) => onHost(folder, places))
    .join(':');
