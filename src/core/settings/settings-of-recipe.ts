import { Document, isMap, parseDocument } from 'yaml';
import { COMMAND_NAMES, type CommandName, type Recipe } from './repository-recipe.ts';

/**
 * A settings file that names the commands of a recipe, and `""` for those that it leaves out because they failed. `before`:
 * the file as it stands, whose other settings and comments stay; null for none. Commands in `named` stay as they are
 * written there. Null where nothing is to be added. `before` is text that `readSettingsText` accepts.
 */
export function settingsOfRecipe(
  before: string | null,
  { commands, instead = {} }: Pick<Recipe, 'commands' | 'instead'>,
  named: readonly CommandName[],
): string | null {
  const added = COMMAND_NAMES.flatMap((name): readonly (readonly [CommandName, string])[] => {
    const command = commands[name] ?? (instead[name] === undefined ? undefined : '');
    return named.includes(name) || command === undefined ? [] : [[name, command]];
  });
  if (added.length === 0) return null;
  const parsed = before === null ? null : parseDocument(before);
  const document: Document = parsed !== null && isMap(parsed.contents) ? parsed : new Document({});
  // A file of comments alone keeps them at its top.
  if (parsed !== null && document !== parsed) document.commentBefore = parsed.commentBefore ?? parsed.comment;
  for (const [name, command] of added) document.setIn(['checks', name], command);
  return document.toString({ lineWidth: 0, defaultStringType: 'QUOTE_DOUBLE', defaultKeyType: 'PLAIN' });
}
