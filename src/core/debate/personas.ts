/** One point of view for reviewing a spec and a diff. */
interface Persona {
  /** Instructions for reviewing a spec. */
  readonly spec: string;
  /** Instructions for reviewing a diff. */
  readonly code: string;
}

/** Personas by name. */
export type Personas = ReadonlyMap<string, Persona>;

/** The syntax of a persona's name, which is part of a spender's name in the ledger. */
export const PERSONA_NAME = /^[a-z][a-z0-9-]{0,40}$/;

/**
 * Parses a persona's Markdown: the sections `## Spec` and `## Code`. If one is missing, the whole text is used for
 * both. Null for a text without words.
 */
export function parsePersona(markdown: string): Persona | null {
  const whole = markdown.trim();
  if (whole === '') return null;
  const spec = markdownSection(whole, 'spec');
  const code = markdownSection(whole, 'code');
  return spec && code ? { spec, code } : { spec: whole, code: whole };
}

/** The text below a second-level heading, up to the next heading of that level or above; empty for none. */
function markdownSection(markdown: string, name: string): string {
  const lines: string[] = [];
  let inside = false;
  let fenced = false;
  for (const line of markdown.split(/\r?\n/)) {
    if (/^\s*(?:```|~~~)/.test(line)) fenced = !fenced;
    const heading = fenced ? null : /^#{1,2}\s+(.*?)\s*#*\s*$/.exec(line);
    if (heading) inside = line.startsWith('## ') && heading[1]?.toLowerCase() === name;
    else if (inside) lines.push(line);
  }
  return lines.join('\n').trim();
}
