import { AsyncLocalStorage } from 'node:async_hooks';
import { destination, pino } from 'pino';
import type { Operator } from '../core/policy/index.ts';
import type { Log, LogContext } from '../ports/index.ts';

/** Paths at which a secret could stand in an error's own fields; never in our messages. */
const REDACTED = [
  '*.authorization',
  '*.headers',
  '*.request',
  '*.privateKey',
  'err.request',
  'err.response',
  'err.config',
];

/** Structured log on standard error: standard output belongs to results. */
export function openLog(operator: Pick<Operator, 'logLevel'>): Log {
  const about = new AsyncLocalStorage<LogContext>();
  const lines = pino(
    {
      name: 'runoff',
      level: operator.logLevel,
      redact: { paths: REDACTED, censor: '[redacted]' },
      mixin: () => about.getStore() ?? {},
    },
    destination({ fd: 2, sync: false }),
  );
  return {
    info: (fields, message) => lines.info(fields, message),
    warn: (fields, message) => lines.warn(fields, message),
    error: (fields, message) => lines.error(fields, message),
    within: (fields, work) => about.run({ ...about.getStore(), ...fields }, work),
  };
}
