/**
 * What a reader cannot see, takes for something else, or takes for a signature or a medal: controls, format and
 * bidirectional characters, odd spaces, lone surrogates, pictures.
 */
const ODD =
  /(?![ \t\n\u3000])[\p{Cc}\p{Cf}\p{Cs}\p{Zs}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}\u2028\u2029\u2800\u{1f000}-\u{1faff}\u2600-\u27bf\u2b50\u2b55]/gu;

/** Nothing is lost: odd characters are named, as `<U+200B>`. The CR of a CR LF goes. */
export const legible = (text: string): string =>
  text
    .replaceAll('\r\n', '\n')
    .replace(
      ODD,
      (odd) => `<U+${(odd.codePointAt(0) as number).toString(16).toUpperCase().padStart(4, '0')}>`,
    );

/** At most `limit` UTF-16 units and a mark. Never splits a code point. */
export function shortened(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const end = /[\ud800-\udbff]/.test(text.charAt(limit - 1)) ? limit - 1 : limit;
  return `${text.slice(0, end)}…`;
}
