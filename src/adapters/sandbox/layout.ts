/** Where things lie inside a sandbox. /repo, /home/agent and /out are the only folders of the host it may write. */
export const INSIDE = {
  repo: '/repo',
  home: '/home/agent',
  out: '/out',
  toolchain: '/opt/runoff',
  node: '/opt/runoff/bin/node',
  bridge: '/opt/runoff/bridge.mjs',
  gateway: '/run/runoff/gateway.sock',
  egress: '/run/runoff/egress.sock',
} as const;

/** The host's own programs come first, so that a repository is tested with what the operator installed. */
export const INSIDE_PATH = '/usr/local/bin:/usr/bin:/bin:/opt/runoff/bin';
