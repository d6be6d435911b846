import type { CoderEvent } from '../../core/model/index.ts';
import type { Redact } from '../../core/secrets/index.ts';
import type { Times } from '../../core/settings/index.ts';
import {
  type Coder,
  type CoderInput,
  DEFAULT_LIMITS,
  type ExecResult,
  type Lease,
  type WorkArea,
} from '../../ports/index.ts';
import type { World } from '../context.ts';
import { progressLimitFor } from './ending.ts';

/** Time by which a lease outlasts its coder, so that a last call is not refused as expired. */
const LEASE_SLACK_MS = 60_000;

/** Lifetime of the lease of a coder, in milliseconds. */
export const leaseMs = ({ mostMs }: Times): number => mostMs + LEASE_SLACK_MS;

/** What an agent does and says, without how its calls ended: that is no progress. */
const actionsOf = (events: readonly CoderEvent[]): readonly string[] =>
  events.flatMap(({ kind, text }) => (kind === 'result' || text === '' ? [] : [text]));

export type AgentInput = Omit<CoderInput, 'gateway'>;

/** What becomes of an agent's output. */
export interface AgentOutput {
  /** Called with what each line reports. */
  readonly onEvents: (events: readonly CoderEvent[]) => void;
  /** Applied to each line: removes the lease's key and whatever looks like a secret. */
  readonly redact: Redact;
}

interface AgentWork extends AgentOutput {
  readonly area: WorkArea;
  readonly coder: Coder;
  readonly lease: Lease;
  readonly times: Times;
  readonly input: AgentInput;
  readonly signal: AbortSignal;
}

/** Runs an agent once in its sandbox, with the gateway as its only network access. */
export async function runAgent(
  world: Pick<World, 'clock' | 'random' | 'sandbox'>,
  { area, coder, lease, times, input, onEvents, redact, signal }: AgentWork,
): Promise<ExecResult> {
  const port = world.random.port();
  const launch = coder.launch({ ...input, gateway: { url: `http://127.0.0.1:${port}`, key: lease.key } });
  const patience = progressLimitFor(world.clock, lease, times);
  return world.sandbox.exec({
    area,
    argv: launch.argv,
    env: { ...launch.env, GW_KEY: lease.key },
    stdin: launch.stdin,
    ...(launch.files ? { files: launch.files } : {}),
    ...(launch.binds ? { binds: launch.binds } : {}),
    gateway: { socket: lease.socket, port },
    limits: { ...DEFAULT_LIMITS, wallMs: times.wallMs, silenceMs: times.silenceMs },
    onLine: (line, stream) => {
      // Most lines report nothing, and redacting takes longer than parsing.
      if (stream !== 'stdout' || coder.read(line).length === 0) return;
      // Before parsing, because that shortens texts: what is left of a secret may not be recognizable.
      const events = coder.read(redact(line));
      if (events.length === 0) return;
      for (const text of actionsOf(events)) patience.step(text);
      onEvents(events);
    },
    onLimit: patience.onLimit,
    signal,
  });
}
