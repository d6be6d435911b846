import type { Log } from '../../src/ports/index.ts';

/** A log that nobody reads. */
export const silent: Log = { info() {}, warn() {}, error() {}, within: (_fields, work) => work() };
