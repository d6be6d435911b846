import { parse } from 'smol-toml';

/** Characters; manifests that people write are far below. */
const MAX_TOML_CHARS = 256 * 1024;
/** Nesting of values in one line; manifests need four. */
const MAX_TOML_DEPTH = 32;

/** A TOML file of a stranger; an empty table for what is too big, too deep or no TOML. Never throws. */
export function readPlainToml(text: string): Readonly<Record<string, unknown>> {
  if (text.length > MAX_TOML_CHARS) return {};
  try {
    return parse(text, { maxDepth: MAX_TOML_DEPTH, unsafeKeyBehaviour: 'drop' });
  } catch {
    // A file that cannot be read says nothing.
    return {};
  }
}
