import { createHash } from 'node:crypto';
import { CALL_LIMITS, type NumberedCall, type RunMark } from '../../ports/index.ts';

/** How far a reader of a run's stream has come. */
export interface Position {
  /** Version of the run's mark that was sent last; empty for none. */
  readonly version: string;
  /** Number of the last step that was sent. */
  readonly step: number;
  /** Number of a model call: all up to this one were sent. Of calls in parallel, later ones may have been sent, too. */
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

/** Whether a call may still be settled. What it costs is known then. */
export const isUnderWay = ({ status, at }: Pick<NumberedCall, 'at' | 'status'>, now: number): boolean =>
  status === 0 && at > now - CALL_LIMITS.mostMs - CALL_LIMITS.settlingMs;

/** The position of a reader who was sent all of these calls, in order, that are not under way. */
export function callPosition(
  calls: readonly Pick<NumberedCall, 'at' | 'number' | 'status'>[],
  from: number,
  now: number,
): number {
  const open = calls.findIndex((one) => isUnderWay(one, now));
  return (open === -1 ? calls : calls.slice(0, open)).at(-1)?.number ?? from;
}

/** Only letters and digits, so that it can be a part of a position. */
export const markVersion = ({ version }: RunMark): string =>
  createHash('sha256').update(version).digest('hex').slice(0, 16);
