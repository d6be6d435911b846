import { AsyncLocalStorage } from 'node:async_hooks';
import { type DestinationStream, destination, pino } from 'pino';
import { redactor, secretsIn } from '../core/secrets/index.ts';
import type { Operator } from '../core/settings/index.ts';
import type { Log, LogContext } from '../ports/index.ts';

/** Paths at which the fields of an error can contain a secret. Our own messages never do. */
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
  /** The fields that lines written here carry. */
  about(): LogContext;
}

/**
 * Structured log on standard error; standard output is for results. The operator's secrets, and everything that looks
 * like a secret, are redacted in every field, message and stack.
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
      // A new object each time, because pino adds the fields of the line to it.
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
