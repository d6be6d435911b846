import { destination, type Logger, pino } from 'pino';
import type { Operator } from '../core/policy/index.ts';

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
export const openLog = (operator: Pick<Operator, 'logLevel'>): Logger =>
  pino(
    { name: 'runoff', level: operator.logLevel, redact: { paths: REDACTED, censor: '[redacted]' } },
    destination({ fd: 2, sync: false }),
  );
