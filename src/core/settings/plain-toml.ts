import { parse } from 'smol-toml';

/** Maximum characters; real manifests are far smaller. */
const MAX_TOML_CHARS = 256 * 1024;
/** Nesting of values in one line; manifests need four. */
const MAX_TOML_DEPTH = 32;

/** Parses an untrusted TOML file; an empty table if it is too large, too deep or invalid. Never throws. */
export function readPlainToml(text: string): Readonly<Record<string, unknown>> {
  if (text.length > MAX_TOML_CHARS) return {};
  try {
    return parse(text, { maxDepth: MAX_TOML_DEPTH, unsafeKeyBehaviour: 'drop' });
  } catch {
    // An unreadable file is treated as empty.
    return {};
  }
}
