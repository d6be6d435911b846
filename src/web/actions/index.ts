import { Hono } from 'hono';
import { html } from 'hono/html';
import { z } from 'zod';
import type { PageCommand } from '../../commands/index.ts';
import { aliasOf } from '../../core/commands/index.ts';
import type { RunView } from '../../core/reports/index.ts';
import type { WebContext, WebEnv } from '../context.ts';
import { csrfField, type Html, sendProblem } from '../layout.ts';
import { FormKey } from '../people/index.ts';
import { type ActionPage, actionForms } from './forms.ts';
import { actorOf, OUTCOME_WAIT_MS, outcomeNotice, sentCommand } from './outcome.ts';

export { newRunPages } from './new-run.ts';

const FieldNumber = z.coerce.number().int().min(0).max(100_000);

/** Fields of all forms; those that a form lacks are absent. */
const Fields = z.object({
  key: FormKey,
  picks: FieldNumber.optional(),
  inquiry: FieldNumber.optional(),
  candidate: z.string().max(8).optional(),
  option: z
    .string()
    .regex(/^[1-9]\d?$/)
    .optional(),
  text: z.string().optional(),
  dollars: z.string().max(20).optional(),
  on: z.enum(['overview', 'debate']).optional(),
});
type FormFields = z.infer<typeof Fields>;

const letterOr =
  (name: string, other: string) =>
  ({ candidate = '' }: FormFields): string | null => {
    if (candidate === other) return `/auto-dev ${name} ${other}`;
    const alias = aliasOf(candidate);
    return alias === null ? null : `/auto-dev ${name} ${alias}`;
  };

/** The command that each form gives, as a comment would have it; null if a field is missing. */
const COMMAND_OF: Readonly<Record<string, (fields: FormFields) => string | null>> = {
  pick: letterOr('pick', 'none'),
  vote: letterOr('vote', ''),
  retry: letterOr('retry', 'all'),
  cancel: () => '/auto-dev cancel',
  ci: () => '/auto-dev ci',
  approve: () => '/auto-dev approve',
  debate: () => '/auto-dev debate',
  revise: ({ text = '' }) => (text.trim() === '' ? null : `/auto-dev revise ${text}`),
  answer({ text = '', option }) {
    if (text.trim() !== '') return `/auto-dev answer ${text}`;
    return option === undefined ? null : `/auto-dev answer ${option}`;
  },
  budget: ({ dollars = '' }) => (dollars.trim() === '' ? null : `/auto-dev budget ${dollars}`),
};

/** The forms of a run page: POST `/:id/:action`. Mounted at `/runs`, below the check of what the viewer may see. */
export function runActions(): Hono<WebEnv> {
  const app = new Hono<WebEnv>();
  for (const action of Object.keys(COMMAND_OF)) app.post(`/:id/${action}`, (c) => submitForm(c, action));
  return app;
}

async function submitForm(c: WebContext, action: string): Promise<Response> {
  const { viewer, visible } = c.var;
  const { id } = visible.run;
  const form = await c.req.parseBody();
  if (!viewer || visible.right !== 'write')
    return sendProblem(c, 403, 'Nothing was changed', 'This needs write access to the repository.');
  const fields = Fields.safeParse(form);
  const text = fields.success ? COMMAND_OF[action]?.(fields.data) : null;
  if (!fields.success || !text)
    return sendProblem(
      c,
      400,
      'Nothing was changed',
      'The form was not filled in. Go back, choose or write something, and send it again.',
    );
  const { key, picks, inquiry, on } = fields.data;
  const about = {
    run: id,
    ...(picks === undefined ? {} : { picks }),
    ...(inquiry === undefined ? {} : { inquiry }),
  };
  const given: PageCommand = { via: 'page', key, by: actorOf(viewer), text, about };
  const { commands } = c.var.parts;
  const result = await commands.onPage(given);
  if (result.kind !== 'recorded') return sendProblem(c, 422, 'Nothing was changed', result.why);
  await commands.outcome(result.command, OUTCOME_WAIT_MS);
  return c.redirect(`/runs/${id}${on === 'debate' ? '/debate' : ''}?outcome=${key}#outcome`, 303);
}

/** What a viewer can do on a run's page, after the outcome of the form that they sent, if the address names one. */
export async function actions(c: WebContext, view: RunView, on: ActionPage = 'overview'): Promise<Html> {
  const { store, random } = c.var.parts.world;
  const { right } = c.var.visible;
  const sent = await sentCommand(c);
  const outcome = sent?.page?.run === view.id ? outcomeNotice(sent, view.id) : '';
  const picks = (await store.picks(view.id)).length;
  const forms = actionForms({ view, right, picks, csrf: csrfField(c), key: random.nonce(), on });
  return html`<section id="actions" aria-labelledby="actions-title"><h2 id="actions-title">Actions</h2>${outcome}${forms}</section>`;
}
