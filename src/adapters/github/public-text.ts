import { type HostFolder, withoutHostPaths } from '../../core/reports/index.ts';
import type { Publisher } from '../../ports/index.ts';

/** How each text is written: the same text comes to the same words, so that both sides of a comparison can be made so. */
export const publicText = (folders: readonly HostFolder[]): ((text: string) => string) =>
  withoutHostPaths(folders);

/** A publisher whose texts name no folder of this host, whoever wrote them. */
export function withPublicText(publisher: Publisher, clean: (text: string) => string): Publisher {
  return {
    ...publisher,
    comment: (issue, body) => publisher.comment(issue, clean(body)),
    editComment: (id, body) => publisher.editComment(id, clean(body)),
    openDraftPull: (pull) =>
      publisher.openDraftPull({ ...pull, title: clean(pull.title), body: clean(pull.body) }),
    editPull: (number, { title, body }) =>
      publisher.editPull(number, { title: clean(title), body: clean(body) }),
    showCheck: (check) =>
      publisher.showCheck({ ...check, title: clean(check.title), summary: clean(check.summary) }),
  };
}
