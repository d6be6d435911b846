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
  if (checks.types) {
    const [origin] = originNotes(checks.from?.types);
    shown.push({
      text: `types ${code(checks.types, 200)}`,
      note: origin === undefined ? '' : ` (${origin})`,
    });
  }
  const notes = new Set(shown.map(({ note }) => note));
  if (notes.size > 1) return shown.map(({ text, note }) => `${text}${note}`).join(', ');
  return `${shown.map(({ text }) => text).join(', ')}${shown[0]?.note ?? ''}`;
}

/** What a reader should know about the commands, as sentences of plain text. */
export const commandNotes = (view: Pick<RunView, 'checks'>): readonly string[] =>
  [replacedCommands(view), lentNote(view)].filter((note) => note !== null);

/** Which detected commands failed, and their replacements, as one sentence of plain text; null if none failed. */
function replacedCommands({ checks = {} }: Pick<RunView, 'checks'>): string | null {
  const replaced = COMMAND_NAMES.flatMap((name) => {
    const [failed, command] = [checks.instead?.[name], checks[name]];
    if (failed === undefined) return [];
    if (command === undefined) return [`${quotedCode(shownSetup(failed))} failed and is left out`];
    const by = checks.from?.[name] === SUGGESTED ? ` (${SUGGESTED})` : '';
    return [`${quotedCode(shownSetup(failed))} failed, and ${quotedCode(shownSetup(command))} is used${by}`];
  });
  return replaced.length === 0 ? null : `On the base commit, ${replaced.join('; ')}.`;
}

/** What became of the packages that are installed in the work tree, as a sentence of plain text; null: nothing. */
export function lentNote({ checks = {} }: Pick<RunView, 'checks'>): string | null {
  const { lent } = checks;
  if (lent === undefined) return null;
  if (lent.kind === 'unused')
    return `The packages that are installed in the work tree were not used: ${lent.why}.`;
  const folders = lent.folders.map(quotedCode).join(', ');
  const instead =
    lent.instead === undefined ? '' : `, and ${quotedCode(shownSetup(lent.instead))} was not run`;
  return `Base and candidates used a read-only copy of ${folders} of the work tree${instead}. Name \`checks.setup\` in the settings to install packages anew.`;
}

/** The origin of a command; empty if unknown. */
function originNotes(file: string | undefined): readonly string[] {
  if (file === undefined) return [];
  if (file === SUGGESTED) return [SUGGESTED];
  return [file === SETTINGS_FILE ? 'settings' : `detected from ${code(file, 100)}`];
}
