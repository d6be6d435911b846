import type { DLogger } from '@dbos-inc/dbos-sdk';
import type { Log } from '../../ports/index.ts';

/** DBOS's own log on ours: its chatter is dropped, and so are stack traces, which may quote what a flow worked on. */
export const dbosLog = (log: Log): DLogger => ({
  debug: () => undefined,
  info: () => undefined,
  warn: (entry) => log.warn({ engine: 'dbos' }, firstLine(entry)),
  error: (entry) => log.error({ engine: 'dbos' }, firstLine(entry)),
});

const firstLine = (entry: unknown): string => String(entry).split('\n', 1)[0] ?? '';
