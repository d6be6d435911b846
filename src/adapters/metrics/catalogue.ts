/** What is counted: name → what it means and what tells its values apart. `docs/operations-metrics.md` lists the same. */
export const METRICS = {
  runoff_runs: { help: 'Runs in the database, by state.', labels: ['state'] },
  runoff_in_line: { help: 'Runs that may start and wait for a place.', labels: [] },
  runoff_coders_waiting: { help: 'Candidates of living runs whose coder has not begun.', labels: [] },
  runoff_executors: { help: 'Processes that gave a sign of life lately, by role.', labels: ['role'] },
  runoff_stage_seconds: { help: 'How long steps of runs took, seconds.', labels: ['stage'] },
  runoff_webhook_seconds: {
    help: 'How long deliveries took until they were answered, seconds.',
    labels: ['event', 'status'],
  },
  runoff_model_dollars_total: {
    help: 'US dollars that models cost, as the ledger has them.',
    labels: ['model'],
  },
  runoff_model_tokens_total: { help: 'Tokens to and from models.', labels: ['model', 'direction'] },
  runoff_model_calls_total: { help: 'Model calls, by what came of them.', labels: ['model', 'outcome'] },
  runoff_gateway_refusals_total: {
    help: 'Model calls that the gateway refused, by what was wrong with them.',
    labels: ['kind'],
  },
  runoff_github_writes_total: { help: 'Writes to GitHub, pushes included.', labels: ['kind', 'outcome'] },
  runoff_faults_total: { help: 'Faults that stages met and could not mend.', labels: ['code'] },
  runoff_candidates_total: { help: "Coders' work on candidates, by how it ended.", labels: ['state'] },
} as const satisfies Readonly<Record<string, { readonly help: string; readonly labels: readonly string[] }>>;

export type MetricName = keyof typeof METRICS;
