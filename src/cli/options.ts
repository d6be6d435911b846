import { InvalidArgumentError, Option } from 'commander';
import { asFault, Fault, type FaultCode } from '../core/model/index.ts';
import { SIGNALS, type Signal } from '../core/ranking/index.ts';

// Parsers for values on the command line. Commander adds the name of the option to what they throw.

/** A whole number in digits, from `least` to `most` (by default more than anybody needs). */
export const whole =
  (least: number, most = 1_000_000) =>
  (text: string) => {
    const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    if (!(value >= least && value <= most))
      throw new InvalidArgumentError(
        `Give a whole number from ${least} to ${most.toLocaleString('en-US')}, in digits.`,
      );
    return value;
  };
export const parseDollars = (text: string) => {
  const value = /^\d{0,6}(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
  if (!(value > 0))
    throw new InvalidArgumentError('Give an amount in US dollars below 1,000,000, e.g. 2.50.');
  return value;
};
export const postgresAddress = (text: string) => {
  if (!/^postgres(ql)?:$/.test(URL.parse(text)?.protocol ?? ''))
    throw new InvalidArgumentError('Give an address such as postgres://user@host:5432/database.');
  return text;
};
export const names = (text: string) =>
  text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');

export const signals = (text: string): readonly Signal[] =>
  names(text).map((name) => {
    const found = SIGNALS.find((signal) => signal === name);
    if (!found) throw new InvalidArgumentError(`Valid signals: ${SIGNALS.join(', ')}.`);
    return found;
  });

export const jsonOption = () => new Option('--json', 'print one JSON document on standard output');

/**
 * Checks values of options. Faults with these codes are the command line's: the same checks are made of settings and of
 * contests, and advise to correct a line there.
 */
export async function checkingOptions<T>(
  codes: readonly FaultCode[],
  check: () => T | Promise<T>,
): Promise<T> {
  try {
    return await check();
  } catch (thrown) {
    const { code, message } = asFault(thrown);
    if (!codes.includes(code)) throw thrown;
    throw new Fault('COMMAND_LINE_INVALID', message, { cause: thrown });
  }
}
