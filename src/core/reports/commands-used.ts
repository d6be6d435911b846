import { SETTINGS_FILE } from '../model/index.ts';
import { COMMAND_NAMES, SUGGESTED, shownSetup } from '../settings/index.ts';
import { quotedCode } from './failure-output.ts';
import { code } from './markdown.ts';
import type { ChecksView, RunView } from './view.ts';

/** The commands for set-up, build and tests, the files that define them, and what failed before. */
export function checkCommands(checks: ChecksView): string {
  const shown = COMMAND_NAMES.flatMap((name) => {
    const command = checks[name];
    const failed = checks.instead?.[name];
    if (!command && failed === undefined) return [];
    const notes = [
      ...(command ? originNotes(checks.from?.[name]) : []),
      ...(failed === undefined ? [] : [`${code(shownSetup(failed), 200)} failed`]),
    ];
    const text = command ? `${name} ${code(shownSetup(command), 200)}` : `no ${name}`;
    return [{ text, note: notes.length === 0 ? '' : ` (${notes.join('; ')})` }];
  });
  const notes = new Set(shown.map(({ note }) => note));
  if (notes.size > 1) return shown.map(({ text, note }) => `${text}${note}`).join(', ');
  return `${shown.map(({ text }) => text).join(', ')}${shown[0]?.note ?? ''}`;
}

/** Which detected commands failed, and their replacements, as one sentence of plain text; null if none failed. */
export function replacedCommands({ checks = {} }: Pick<RunView, 'checks'>): string | null {
  const replaced = COMMAND_NAMES.flatMap((name) => {
    const [failed, command] = [checks.instead?.[name], checks[name]];
    if (failed === undefined) return [];
    if (command === undefined) return [`${quotedCode(shownSetup(failed))} failed and is left out`];
    const by = checks.from?.[name] === SUGGESTED ? ` (${SUGGESTED})` : '';
    return [`${quotedCode(shownSetup(failed))} failed, and ${quotedCode(shownSetup(command))} is used${by}`];
  });
  return replaced.length === 0 ? null : `On the base commit, ${replaced.join('; ')}.`;
}

/** The origin of a command; empty if unknown. */
function originNotes(file: string | undefined): readonly string[] {
  if (file === undefined) return [];
  if (file === SUGGESTED) return [SUGGESTED];
  return [file === SETTINGS_FILE ? 'settings' : `detected from ${code(file, 100)}`];
}
