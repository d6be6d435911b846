import { stripVTControlCharacters } from 'node:util';
import { z } from 'zod';
import { CODER_STEP_LIMITS, type CoderEvent, cutMiddle } from '../../core/model/index.ts';

/** Maximum characters of an event's text that are shown. */
export const MAX_SHOWN = CODER_STEP_LIMITS.text;

/** An agent's own words, in full if they are more than one short line. */
export const saysEvent = (text: string): CoderEvent => ({ kind: 'says', ...lineAndDetail(text) });

/** A call of a tool, by what its input says about it. */
export function callEvent(tool: string, input: unknown, call?: string): CoderEvent {
  const fields = fieldsOf(input);
  const kind = EDIT_TOOL.test(tool) ? 'edit' : commandOf(fields) === null ? 'tool' : 'command';
  const detail = kind === 'edit' ? requestedChange(fields) : kind === 'command' ? longCommand(fields) : null;
  return {
    kind,
    text: shownCall(tool, input),
    ...(detail === null ? {} : { detail: excerpt(detail) }),
    ...callField(call),
  };
}

interface CallResult {
  readonly ok: boolean;
  readonly output: string;
  readonly call?: string | undefined;
  readonly exitCode?: number | null | undefined;
}

/** How a call of a tool ended. */
export function resultEvent({ ok, output, call, exitCode }: CallResult): CoderEvent {
  const detail = excerpt(output);
  return {
    kind: 'result',
    text: '',
    ...(detail.trim() === '' ? {} : { detail }),
    ...callField(call),
    ...exitField(exitCode ?? undefined),
    ok,
  };
}

/** A result as in messages of Anthropic's API, which Claude Code and Qwen Code print. */
export const ToolResult = z.object({
  type: z.literal('tool_result'),
  tool_use_id: z.string(),
  is_error: z.boolean().nullish(),
  content: z.union([z.string(), z.array(z.object({ text: z.string().optional() }))]).nullish(),
});

/** Both agents write the exit code of a command into the text, Claude Code only if it is not 0. */
const EXIT_CODE = /^(?:Error: )?exit code:? (\d{1,10})$/im;

export function toolResultEvent({ tool_use_id, is_error, content }: z.infer<typeof ToolResult>): CoderEvent {
  const output =
    typeof content === 'string' ? content : (content ?? []).map(({ text: own = '' }) => own).join('\n');
  const exitCode = exitCodeIn(output.slice(0, MAX_SHOWN * 4), EXIT_CODE);
  return resultEvent({ ok: !is_error, output, call: tool_use_id, exitCode });
}

/** The exit code that an agent writes into a command's output: the pattern's first group. Null if there is none. */
export function exitCodeIn(output: string, pattern: RegExp): number | null {
  const code = pattern.exec(output)?.[1];
  return code === undefined ? null : Number(code);
}

export const endEvent = (ok: boolean, text: string): CoderEvent => ({
  kind: 'end',
  ok,
  ...lineAndDetail(text),
});

function lineAndDetail(text: string): Pick<CoderEvent, 'text' | 'detail'> {
  const line = shortLine(text);
  const whole = excerpt(text).trim();
  return whole === line ? { text: line } : { text: line, detail: whole };
}

/** Names of calls are identifiers: short, and without control characters. */
export const callField = (call: string | undefined) => (call === undefined ? {} : { call: shortLine(call) });

/** A status of a process; anything else was not one. */
export const exitField = (exitCode: number | undefined) =>
  exitCode !== undefined && Number.isInteger(exitCode) && Math.abs(exitCode) < 2 ** 31 ? { exitCode } : {};

/** Names of tools that change files, in the catalogue's agents. */
const EDIT_TOOL = /edit|write|create|patch|replace/i;

const fieldsOf = (input: unknown): Readonly<Record<string, unknown>> =>
  typeof input === 'object' && input !== null ? (input as Record<string, unknown>) : {};

function commandOf({ command, cmd }: Readonly<Record<string, unknown>>): string | null {
  const found = command ?? cmd;
  if (typeof found === 'string') return found;
  return Array.isArray(found) ? found.filter((word) => typeof word === 'string').join(' ') : null;
}

function longCommand(fields: Readonly<Record<string, unknown>>): string | null {
  const command = commandOf(fields) ?? '';
  return command.includes('\n') || command.length > CODER_STEP_LIMITS.text / 2 ? command : null;
}

const OLD_TEXT_FIELDS = ['old_string', 'oldString', 'old_str', 'old', 'oldText'];
const NEW_TEXT_FIELDS = [
  'new_string',
  'newString',
  'new_str',
  'new',
  'newText',
  'content',
  'file_text',
  'contents',
];

/** The change that an edit asks for, as lines of a diff; null if its input has none of the known fields. */
function requestedChange(fields: Readonly<Record<string, unknown>>): string | null {
  const marked = (names: readonly string[], mark: string): readonly string[] => {
    const text = names.map((name) => fields[name]).find((value) => typeof value === 'string' && value !== '');
    return typeof text === 'string' ? text.split('\n').map((line) => `${mark}${line}`) : [];
  };
  const lines = [...marked(OLD_TEXT_FIELDS, '-'), ...marked(NEW_TEXT_FIELDS, '+')];
  return lines.length === 0 ? null : lines.join('\n');
}

/**
 * Several lines for people: without terminal sequences, control and bidirectional characters, and without the middle of
 * a long text.
 */
export function excerpt(text: string): string {
  const { detail } = CODER_STEP_LIMITS;
  const plain = stripVTControlCharacters(cutMiddle(text, 2 * detail))
    .replaceAll(/\r\n?/g, '\n')
    .replaceAll(/[\p{Zl}\p{Zp}]/gu, '\n')
    .replaceAll(/[^\P{Cc}\n\t]|\p{Cf}/gu, '');
  return cutMiddle(plain, detail);
}

/** One short line without control and bidirectional characters, since it may be printed on a terminal. */
export function shortLine(text: string): string {
  const flat = text
    .slice(0, 4 * MAX_SHOWN)
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .toWellFormed()
    .trim();
  return flat.length > MAX_SHOWN ? `${flat.slice(0, MAX_SHOWN - 1).toWellFormed()}…` : flat;
}

/** Input fields of agents' tools that describe the call, most informative first. */
const TELLING = ['command', 'cmd', 'file_path', 'filePath', 'path', 'absolute_path', 'pattern', 'query'];

/** Describes a tool call for people: `bash: npm test`. Only the tool's name if its input has no descriptive field. */
function shownCall(tool: string, input: unknown): string {
  const given = fieldsOf(input);
  const telling = TELLING.map((name) => given[name]).find((value) => value !== undefined && value !== null);
  const words = Array.isArray(telling)
    ? telling.filter((word) => typeof word === 'string').join(' ')
    : telling;
  return shortLine(typeof words === 'string' && words !== '' ? `${tool}: ${words}` : tool);
}
