/** The `contest.yml` that `runoff arena init` writes: every field with its meaning, and tasks to replace. */
export const contestTemplate = (
  name: string,
  models: readonly string[],
): string => `# A contest: every contestant answers every task. docs/arena.md describes each field.
version: 1
name: ${JSON.stringify(name)}

# Texts by name; long ones in a file: careful: { file: prompts/careful.md }
prompts:
  short: Answer in as few words as possible.
  careful: Think about what could be misunderstood. Then answer completely, in plain words.

# Every prompt with every model. \`agents: [none, builtin]\` adds coding agents (\`runoff agents\`); they answer repository
# tasks only. Or list contestants one by one: - { agent: none, model: provider/model, prompt: short }
contestants:
  prompts: [short, careful]
  models:
${models.map((model) => `    - ${JSON.stringify(model)}`).join('\n')}

# Replace these by your own, here or in a file: tasks: tasks.jsonl
tasks:
  - id: explain-rebase
    kind: text
    prompt: Explain to a new colleague when to rebase and when to merge.
# - id: empty-list
#   kind: repo                          # verified by execution, in the sandbox
#   base: { template: templates/list }  # or { repository: ../.., commit: <40 hex digits> }
#   statement: An empty list must print "nothing to do".
#   verify: npm test
#   hiddenTests: hidden/empty-list      # optional; no contestant sees them

rounds: 1        # how often everybody answers everything
seed: 1
temperature: 0   # of plain model calls; \`default\` for models that accept none
repair: false    # true: one more turn for a diff that does not apply
budget: 5        # US dollars for the whole contest
limits:
  parallel: 4    # answers at a time
  time: 10m      # for one answer
  tokens: 16000  # output tokens of one plain model call
votes:
  results: after # show executed results before or after a vote
judges: []       # models that may vote, as provider/model
`;
