import { z } from 'zod';
import type { CheckRun, FailedCheck } from '../../ports/index.ts';
import { CheckRunAnswer, Status } from './answers.ts';
import type { Calls } from './calls.ts';
import { PAGE, pagesOf } from './client.ts';

const OWN_NAME = 'auto-dev';
const MAX_FAILED = 30;
const MAX_CHECK_TEXT = 4_000;
/** Maximum number of pages: of a commit with more than 500 checks, only these are read. */
const MAX_CHECK_PAGES = 5;

const CheckRuns = z.object({ check_runs: z.array(CheckRunAnswer) });
const Statuses = z.object({ statuses: z.array(Status) });
/** Check conclusions that are not failures. */
const HARMLESS: ReadonlySet<string> = new Set(['success', 'neutral', 'skipped']);

/** Other Apps' checks and statuses that ended without success; none if the App may not read them. */
export async function failedChecks(
  calls: Calls,
  appId: number,
  ref: string,
): Promise<readonly FailedCheck[]> {
  return calls(async ({ rest }, at, token) => {
    if (!token.checks) return [];
    const where = { ...at, ref, per_page: PAGE };
    const runs = await pagesOf(async (page) => {
      const { data } = await rest.checks.listForRef({
        ...where,
        status: 'completed',
        filter: 'latest',
        page,
      });
      return CheckRuns.parse(data).check_runs;
    }, MAX_CHECK_PAGES);
    const statuses = await pagesOf(async (page) => {
      const { data } = await rest.repos.getCombinedStatusForRef({ ...where, page });
      return Statuses.parse(data).statuses;
    }, MAX_CHECK_PAGES);
    return [
      ...runs.flatMap((run) => (run.app?.id === appId ? [] : failedRun(run))),
      ...statuses.flatMap(failedStatus),
    ]
      .sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
      .slice(0, MAX_FAILED);
  });
}

function failedRun({ name, conclusion, output }: z.infer<typeof CheckRunAnswer>): readonly FailedCheck[] {
  if (!conclusion || HARMLESS.has(conclusion)) return [];
  const text = [output?.title, output?.summary].filter((part) => part).join('\n\n');
  return [{ name, conclusion, text: text.slice(0, MAX_CHECK_TEXT) }];
}

const failedStatus = ({ context, state, description }: z.infer<typeof Status>): readonly FailedCheck[] =>
  state === 'failure' || state === 'error'
    ? [{ name: context, conclusion: state, text: (description ?? '').slice(0, MAX_CHECK_TEXT) }]
    : [];

/** Creates a check run, or updates the one with the same external id. Both calls use the same App. */
export async function showCheck(
  appId: number,
  check: CheckRun,
  { read, write }: { readonly read: Calls; readonly write: Calls },
): Promise<void> {
  const allowed = await read(async (_api, _at, token) => token.checks);
  if (!allowed) return;
  const mine = await read(async ({ rest }, at) => {
    const where = { ...at, ref: check.headSha, check_name: OWN_NAME, app_id: appId, per_page: PAGE };
    const { data } = await rest.checks.listForRef({ ...where, filter: 'all' });
    return CheckRuns.parse(data).check_runs.find(
      (run) => run.app?.id === appId && run.external_id === check.externalId,
    );
  });
  const shown = {
    name: OWN_NAME,
    external_id: check.externalId,
    status: 'completed',
    conclusion: check.conclusion,
    output: { title: check.title, summary: check.summary },
    ...(check.detailsUrl === undefined ? {} : { details_url: check.detailsUrl }),
  } as const;
  await write(async ({ rest }, at) => {
    if (mine) await rest.checks.update({ ...at, check_run_id: mine.id, ...shown });
    else await rest.checks.create({ ...at, head_sha: check.headSha, ...shown });
  });
}
