import { z } from '@hono/zod-openapi';
import { CANDIDATE_STATES, CODER_STEP_KINDS, RUN_STATES } from '../../core/model/index.ts';
import { POSITION_FORM } from '../live/index.ts';
import { time } from './schemas.ts';

export const EventsQuery = z.strictObject({
  steps: z
    .string()
    .regex(/^[A-Z]$/, 'write the capital letter of a candidate')
    .optional()
    .openapi({ description: 'Letter of a candidate: what its coder does is sent, too.' }),
});
export const LastEventHeader = z.object({
  'last-event-id': z
    .string()
    .regex(POSITION_FORM, 'send the `id` of the last event, unchanged')
    .optional()
    .openapi({
      description: 'The `id` of the last event that came, to go on after it, with the same `steps`.',
    }),
});

const HIDDEN_NOTE = 'Null while blind mode hides who wrote which candidate.';

export const RunEvent = z
  .strictObject({
    run: z.string().openapi({ description: 'Id of the run.' }),
    state: z.enum(RUN_STATES),
    usd: z.number().openapi({ description: 'What the run has cost so far, in US dollars.' }),
    updatedAt: time,
    candidates: z.array(
      z.strictObject({
        alias: z.string(),
        state: z.enum(CANDIDATE_STATES),
        note: z.string().openapi({ description: 'What it does or why it ended, in one line.' }),
        usd: z.number().nullable().openapi({ description: HIDDEN_NOTE }),
        ms: z.number().openapi({ description: 'Working time of its coder, milliseconds.' }),
      }),
    ),
    spread: z.number().openapi({
      description:
        'If you load the run now, wait for a random part of this time first, milliseconds: other readers do so, too.',
    }),
  })
  .openapi('RunEvent', { description: '`data` of the event `run`: the run as it is now.' });
export type RunEvent = z.infer<typeof RunEvent>;

const step = z.strictObject({
  number: z.number().openapi({ description: '1, 2, 3, … for each candidate, also across restarts.' }),
  at: time,
  kind: z.enum(CODER_STEP_KINDS),
  text: z.string(),
  detail: z.string().optional().openapi({ description: 'Output of a command, or the text of an edit.' }),
  call: z
    .string()
    .optional()
    .openapi({ description: "The agent's name of a call, the same for its result." }),
  ok: z.boolean().optional(),
  exitCode: z.number().optional(),
});
const modelCall = z.strictObject({
  number: z.number(),
  at: time,
  model: z.string().nullable().openapi({ description: HIDDEN_NOTE }),
  tokensIn: z.number().nullable(),
  tokensOut: z.number().nullable(),
  usd: z.number().nullable(),
  exact: z.boolean().nullable().openapi({ description: 'False: `usd` is an upper limit.' }),
  status: z.number().openapi({ description: 'HTTP status of the provider; 0: it was never finished.' }),
  ms: z.number(),
});
export const StepsEvent = z
  .strictObject({
    candidate: z.string(),
    steps: z.array(step).openapi({ description: 'As the agent reports them: they prove nothing.' }),
    calls: z.array(modelCall).openapi({
      description:
        'From the ledger, each when its cost is known: of calls in parallel, a later one may come first, and comes again after a new connection.',
    }),
  })
  .openapi('StepsEvent', { description: '`data` of the event `steps`: what the coder did next.' });
export const EndEvent = z.strictObject({}).openapi('EndEvent', {
  description: '`data` of the event `end`: Runoff has done its work and awaits nothing.',
});
export type StepsEvent = z.infer<typeof StepsEvent>;
