import { FAULTS, Fault, type FaultCode } from '../../core/model/index.ts';

/** Our cap, from the port's contract. The engine would take megabytes, and pay for them on every replay. */
const MAX_BYTES = 64 * 1024;
/** A message is for people; a command's whole output in it would break the cap. */
const MAX_MESSAGE = 8_000;

/**
 * A value as it will be after a restart: through JSON and back, so that the first pass sees what a replay sees.
 * `what` names it in the fault INTERNAL that is thrown when it is too big or has no JSON.
 */
export function plain(what: string, value: unknown): unknown {
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch (error) {
    throw new Fault('INTERNAL', `${what} has no JSON: ${(error as Error).message}.`, { cause: error });
  }
  if (text === undefined) return undefined;
  const bytes = Buffer.byteLength(text);
  if (bytes > MAX_BYTES) {
    throw new Fault(
      'INTERNAL',
      `${what} is ${bytes} bytes of JSON; the engine remembers at most ${MAX_BYTES}. Put the content into an artifact.`,
    );
  }
  return JSON.parse(text);
}

/** How a step ended, in a form that is the same on the first pass and on a replay. */
export type Outcome =
  | { readonly ok: true; readonly value?: unknown }
  | { readonly ok: false; readonly name: string; readonly message: string; readonly code?: string };

export function failureOf(thrown: unknown): Outcome {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown));
  const message = error.message.slice(0, MAX_MESSAGE);
  return {
    ok: false,
    name: error.name,
    message,
    ...(thrown instanceof Fault ? { code: thrown.code } : {}),
  };
}

const isFaultCode = (code: string | undefined): code is FaultCode => code !== undefined && code in FAULTS;

/** The error of an earlier pass: a fault is a fault again, anything else an error of the same name. */
export function revived(outcome: Extract<Outcome, { ok: false }>): Error {
  if (isFaultCode(outcome.code)) return new Fault(outcome.code, outcome.message);
  const error = new Error(outcome.message);
  error.name = outcome.name;
  return error;
}
