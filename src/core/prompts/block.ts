/** Characters of a block. Our default. */
const MOST_TEXT = 30_000;

/**
 * Text of others in a prompt, between lines with a nonce that was drawn after it was written, so that nothing in it can end
 * its block and speak as somebody else. At most `most` UTF-16 units of it; blanks at its end go.
 */
export const block = (name: string, nonce: string, text: string, most = MOST_TEXT): string =>
  `<<<${name} ${nonce}\n${text.slice(0, most).trimEnd()}\n${name} ${nonce}>>>`;

/** Text as one line: what begins a list, a heading or a block in it does so no more. */
export const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim();
