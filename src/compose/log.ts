import { AsyncLocalStorage } from 'node:async_hooks';
import { type DestinationStream, destination, pino } from 'pino';
import { redactor, secretsIn } from '../core/secrets/index.ts';
import type { Operator } from '../core/settings/index.ts';
import type { Log, LogContext } from '../ports/index.ts';

/** Paths at which a secret could stand in an error's own fields; never in our messages. */
const REDACTED = [
  'authorization',
  '*.authorization',
  'headers',
  '*.headers',
  '*.*.headers',
  'password',
  '*.password',
];

/** A log whose lines carry their run, command and delivery. */
export interface OpenLog extends Log {
  /** What lines that are written here carry. */
  about(): LogContext;
}

/**
 * Structured log on standard error: standard output belongs to results. No line leaves with a secret of the operator's,
 * or with anything that has the form of one, whichever field, message or stack it stands in.
 */
export function openLog(
  operator: Operator,
  to: DestinationStream = destination({ fd: 2, sync: false }),
): OpenLog {
  const storage = new AsyncLocalStorage<LogContext>();
  const lines = pino(
    {
      name: 'runoff',
      level: operator.logLevel,
      redact: { paths: REDACTED, censor: '[redacted]' },
      // A fresh object each time: pino writes the line's own fields into it.
      mixin: () => ({ ...storage.getStore() }),
      hooks: { streamWrite: redactor(secretsIn(operator)) },
    },
    to,
  );
  return {
    info: (fields, message) => lines.info(fields, message),
    warn: (fields, message) => lines.warn(fields, message),
    error: (fields, message) => lines.error(fields, message),
    within: (fields, work) => storage.run({ ...storage.getStore(), ...fields }, work),
    about: () => storage.getStore() ?? {},
  };
}
