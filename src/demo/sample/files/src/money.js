/**
 * Reads an amount such as `12`, `12.5` or `-3.99` as whole cents.
 * @param {string} text
 * @returns {number}
 */
export function parseCents(text) {
  const match = /^(-?)(\d+)(?:\.(\d{1,2}))?$/.exec(text.trim());
  if (!match) throw new Error(`not an amount: ${text}`);
  const [, sign, whole, decimals = ''] = match;
  const cents = Number(whole) * 100 + Number(decimals.padEnd(2, '0'));
  return sign ? -cents : cents;
}

/**
 * Writes cents with two decimals.
 * @param {number} cents
 * @returns {string}
 */
export function formatCents(cents) {
  const sign = cents < 0 ? '-' : '';
  const digits = String(Math.abs(cents)).padStart(3, '0');
  return `${sign}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}
