/** Names under which settings hold a secret; what stands below such a name is one, too. */
const SECRET_NAME = /(?:key|secret|token|password|headers)s?$/i;
const USER_INFO = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*?:([^/?#]*)@/i;

/**
 * Every secret in an operator's settings, wherever they hold it: by the name it stands under, and passwords in addresses.
 * By name, so that a setting that is added later is found without a list. Order and repeats mean nothing.
 */
export function secretsIn(settings: unknown, name = ''): readonly string[] {
  if (typeof settings === 'string') {
    return [...passwordOf(settings), ...(SECRET_NAME.test(name) ? [settings, ...secretParts(settings)] : [])];
  }
  if (typeof settings !== 'object' || settings === null) return [];
  return Object.entries(settings).flatMap(([key, value]) =>
    secretsIn(value, Array.isArray(settings) || SECRET_NAME.test(name) ? name : key),
  );
}

/** As it stands in the address, and as it is sent. */
function passwordOf(address: string): readonly string[] {
  const written = USER_INFO.exec(address)?.[1];
  if (!written) return [];
  try {
    return [written, decodeURIComponent(written)];
  } catch {
    return [written];
  }
}

/** Lines of a key file, and values of a list of headers: each can be met alone. */
const secretParts = (secret: string): readonly string[] =>
  secret.split(/[\s,=]+/).filter((part) => part !== secret);
