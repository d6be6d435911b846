import type { Coder } from '../../ports/index.ts';
import { builtinCoder } from './builtin/index.ts';

/** Every coder that settings can name, by name. */
export function coders(): ReadonlyMap<string, Coder> {
  return new Map([builtinCoder()].map((coder) => [coder.name, coder]));
}
