import { createHash } from 'node:crypto';
import type { RunMark } from '../../ports/index.ts';

/** How far a reader of a run's stream has come. */
export interface Position {
  /** Version of the run's mark that was sent last; empty for none. */
  readonly version: string;
  /** Numbers of the last step and the last model call that were sent. */
  readonly step: number;
  readonly call: number;
}

/** The form of `positionText`. */
export const POSITION_FORM = /^([0-9a-f]{0,32})\.(\d{1,12})\.(\d{1,15})$/;

/** As the id of an event, which browsers send back as `Last-Event-ID`. */
export const positionText = ({ version, step, call }: Position): string => `${version}.${step}.${call}`;

/** The largest number of a step or call that the database has a place for. */
export const MAX_NUMBER = 2 ** 31 - 1;

/** Null for anything that is not a position. */
export function readPosition(text: string | undefined): Position | null {
  const [, version = '', step = '', call = ''] = POSITION_FORM.exec(text ?? '') ?? [];
  const [lastStep, lastCall] = [Number(step), Number(call)];
  return step === '' || Math.max(lastStep, lastCall) > MAX_NUMBER
    ? null
    : { version, step: lastStep, call: lastCall };
}

/** Only letters and digits, so that it can be a part of a position. */
export const markVersion = ({ version }: RunMark): string =>
  createHash('sha256').update(version).digest('hex').slice(0, 16);
