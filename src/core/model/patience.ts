/** When a command that shows no sign of work is stopped. Milliseconds. */
export interface Patience {
  /** Without output, without bytes of a host that it may reach, and without computing. */
  readonly silenceMs: number;
  /** Between two looks at whether it computes; also after how long it is stopped once a host was refused. */
  readonly refusedMs: number;
  /** Without output and such bytes, while it computes. */
  readonly computingMs: number;
}

/** What a sandbox tells about a running command, and asks when its time without output is up. */
export interface SignsOfWork {
  readonly onRefusedHost: () => void;
  readonly onTraffic: () => void;
  readonly onComputing: () => void;
  readonly onLimit: (limit: 'wall' | 'silence', quietMs: number) => number;
}

/** Our defaults. A compiler prints nothing for minutes where a native package is one large file. */
export const SETUP_PATIENCE: Patience = { silenceMs: 120_000, refusedMs: 10_000, computingMs: 600_000 };

/** Share of the seconds in which it computes that counts as computing: who asks a refused host again only wakes up. */
const MIN_COMPUTING = 1 / 3;

/**
 * Package managers silently retry an unreachable host for minutes, and wait in between. Others print nothing while they
 * download or compile, so data received from a host counts as activity, as output does, and so does computing, for some
 * time. A host that was refused once does not count again.
 */
export function signsOfWork<L extends object>(
  limits: L,
  { silenceMs, refusedMs, computingMs }: Patience,
): SignsOfWork & { readonly limits: L & { readonly silenceMs: number } } {
  let refused = false;
  let silent = 0;
  let computed = 0;
  let traffic = false;
  let computingSeconds = 0;
  return {
    limits: { ...limits, silenceMs: refusedMs },
    onRefusedHost: () => {
      refused = true;
    },
    onTraffic: () => {
      traffic = true;
    },
    onComputing: () => {
      computingSeconds += 1;
    },
    onLimit: (limit, quietMs) => {
      if (limit === 'wall') return 0;
      // The first look since its last output.
      if (quietMs < 1.5 * refusedMs) [silent, computed] = [0, 0];
      computed = traffic ? 0 : computed + refusedMs;
      const computes = computingSeconds * 1000 >= MIN_COMPUTING * refusedMs;
      silent = traffic || computes ? 0 : silent + refusedMs;
      traffic = false;
      computingSeconds = 0;
      if (computes && computed >= computingMs) return 0;
      return silent > 0 && (refused || silent >= silenceMs) ? 0 : refusedMs;
    },
  };
}
