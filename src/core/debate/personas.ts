/** One point of view from which a spec and a diff are read. */
export interface Persona {
  /** What it looks for in a spec. */
  readonly spec: string;
  /** What it looks for in a diff. */
  readonly code: string;
}

/** Personas by name. */
export type Personas = ReadonlyMap<string, Persona>;

/** The form of a persona's name; it is part of a spender's name in the ledger. */
export const PERSONA_NAME = /^[a-z][a-z0-9-]{0,40}$/;

/**
 * Reads a persona's Markdown: the sections `## Spec` and `## Code`. A text that lacks one of them is used as a whole for both.
 * Null for a text without a word in it.
 */
export function parsePersona(markdown: string): Persona | null {
  const whole = markdown.trim();
  if (whole === '') return null;
  const spec = markdownSection(whole, 'spec');
  const code = markdownSection(whole, 'code');
  return spec && code ? { spec, code } : { spec: whole, code: whole };
}

/** What stands below a heading of the second level, up to the next one of it or above; empty where there is none. */
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
