import { type DocumentParts, type RunDocument, type RunView, runDocument } from '../../core/reports/index.ts';
import { mergeCommand } from './commands.ts';

/** The one document that `--json` prints. */
export const runJson = (view: RunView, parts: DocumentParts = {}): RunDocument =>
  runDocument(view, { merge: mergeCommand(view), ...parts });

/** Text for standard output. Control and invisible characters are written as escapes; the values stay the same. */
export const jsonText = (document: unknown): string => escapedJson(JSON.stringify(document, null, 2));

/** The same on one line. */
export const jsonLine = (document: unknown): string => escapedJson(JSON.stringify(document));

function escapedJson(json: string): string {
  return json.replace(/(?!\n)[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2028\u2029]/gu, (character) =>
    [...Array(character.length).keys()]
      .map((index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`)
      .join(''),
  );
}
