import type { Publisher } from '../../ports/index.ts';

/** A publisher that sends each text as `clean` writes it, whoever wrote it first. */
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
