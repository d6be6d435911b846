const FIRST = [
  `insert into runoff.run
       (id, origin, repository_id, issue, state, title, request, created_at, updated_at, task, brief, sandbox, judgement, independent_tests, test_results, debate, dialogue, review, outcome, queue_entry)
     values
       ('r1', '{"kind":"github","installationId":1,"repositoryId":42,"owner":"acme","name":"shop","issue":7,"requestedBy":{"id":5,"login":"mona"}}',
        42, 7, 'published', 'Fix the rounding', '{"kind":"issue"}', 1000, 2000,
        '{"runId":"r1","title":"Fix the rounding","body":"","comments":[],"base":{"ref":"main","sha":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"},"settings":{"candidates":2,"checks":{"test":"npm test"}},"lowered":[]}',
        '{"goal":"It rounds up.","definitionOfDone":["1.5 becomes 2"],"plan":[],"files":[],"assumptions":[],"questions":[{"text":"Which way?","options":["up","down"],"severity":"blocking","assume":"up"}]}',
        '{"backend":"bubblewrap","detail":"bubblewrap 0.11","weaker":[]}',
        '{"kind":"unanswered","because":"No model was there to judge.","standings":[],"pairs":[],"judges":[],"notes":[]}',
        '{"models":["openai/gpt-6-sol"],"tests":[],"notes":["No tests were written."]}',
        '{"table":{"sha256":"ab","bytes":2},"outputs":{"sha256":"cd","bytes":2}}',
        '{"original":"# A","spec":"# A","rounds":[],"ledger":[],"acceptance":[],"cost":{"inputTokens":1,"outputTokens":1,"usd":0.1}}',
        '{"inquiries":[],"lastReply":0,"repliesUsed":0}', '[{"alias":"A","contested":false,"critics":[{"critic":"qa","kind":"failed","why":"No answer."}]}]',
        '{"kind":"pull","number":12,"url":"https://github.test/p/12","branch":"auto-dev/7/r1/A","headSha":"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb","branches":{"A":"auto-dev/7/r1/A"},"comparisonUrl":"https://github.test/c/1"}',
        '{"share":"github-42","priority":1,"since":1000}'),
       ('r2', '{"kind":"local","path":"/srv/repo"}', null, null, 'queued', 'Add a flag', 'null', 1500, 1600,
        null, null, null, null, null, null, null, null, null, null, null)`,
  `insert into runoff.candidate values
       ('r1', 'A', 0, '{"agent":"command","model":"anthropic/claude-sonnet-5","prompt":"plain","argv":["/opt/x/x"],"seed":1}',
        'examined', null, '{"usd":0.5,"tokensIn":1,"tokensOut":2,"calls":3}', 1234.5, 'has no patch', null)`,
  `insert into runoff.coder_step values
       ('r1', 'A', 1, 1050, 'start', 'The coder starts.', null, null, null, null),
       ('r1', 'A', 2, 1060, 'result', '', 'ok', 'call_1', 1, false)`,
  `insert into runoff.transition (run_id, from_state, to_state, cause, at) values
       ('r1', 'queued', 'admitted', 'label by mona', 1001)`,
  `insert into runoff.stage_timing values ('r1', 'admit', 1000, 1001), ('r1', 'brief', 1001, null)`,
  `insert into runoff.gateway_call
       (run_id, spender, repository, model, tokens_in, tokens_out, tokens_cached, tokens_reasoning, usd, exact, status, ms, at)
     values ('r1', 'A', 'github-42', 'anthropic/claude-sonnet-5', 100, 50, 10, 5, 0.5, false, 0, 0, 1100)`,
  `insert into runoff.delivery values ('d1', 'issues.labeled', '42#7:label:9', 'r1', 1000)`,
  `insert into runoff.intent values ('r1', 'comment', 'planned', null), ('r1', 'pull', 'done', '{"number":12}'),
       ('c991', 'reply', 'done', '{"id":992}')`,
  `insert into runoff.answer values ('d0123456789', 'k', '{"sha256":"aa","bytes":2}')`,
  `insert into runoff.reply values ('r1', 1, 'd9', '{"number":1,"kind":"answer","option":1,"text":"","by":null,"at":1100}')`,
  `insert into runoff.command (id, repository_id, comment, at, payload, outcome, run_id, settled_at) values
       ('comment:991', 42, 991, 1200,
        '{"id":"comment:991","place":{"installationId":1,"repositoryId":42,"owner":"acme","name":"shop","thread":7,"isPull":false,"comment":991,"on":"conversation"},"by":{"id":5,"login":"mona"},"text":"/auto-dev pick A","at":1200}',
        '{"kind":"done","note":"Picked A."}', 'r1', 1201),
       ('tick:990:1:1202', 42, 990, 1202,
        '{"id":"tick:990:1:1202","place":{"installationId":1,"repositoryId":42,"owner":"acme","name":"shop","thread":7,"isPull":false,"comment":990,"on":"conversation"},"by":{"id":5,"login":"mona"},"text":"/auto-dev pick A","at":1202,"ticked":"r1"}',
        null, null, null)`,
  `insert into runoff.recipe values ('github-42', 'ab12',
        '{"commands":{"setup":"npm install","test":"npm test"},"from":{"setup":"package.json","test":"package.json"},"instead":{"setup":"npm ci"}}', 1200)`,
  `insert into runoff.candidate_outcome values
       ('r1', 'A', 'github-42', 1000,
        '{"runId":"r1","alias":"A","repository":"github-42","repositoryName":"acme/shop","at":1000,"agent":"command:x","model":"anthropic/claude-sonnet-5","prompt":"plain","round":null,"kind":"bug","language":"js","size":"small","survived":true,"regressions":0,"change":"A","first":"clear","chance":0.9,"pick":null,"shown":true,"pull":{"state":"merged","edited":null,"revertedAt":null},"usd":0.5,"ms":1234.5}',
        '{"edited":0.25,"revertedAt":null}', 2000)`,
  `insert into runoff.vote values ('r1', 5, '{"by":{"id":5,"login":"mona"},"alias":"A","at":1150}', 1150)`,
  `insert into runoff.pick values ('r1', 1, 'comment:991',
        '{"alias":"A","by":{"id":5,"login":"mona"},"at":1200,"key":"comment:991","shown":{"aliases":["A"],"first":"A","votes":{"A":1}}}')`,
  `insert into runoff.session values ('bm90IGEgaGFzaA', 5, 'mona', 1000, 99999999999999)`,
  `insert into runoff.executor values
       ('app-box', 'aa', 'app', '{"host":"box","version":"0.1.0","coders":4}', 1000, '2026-01-01T00:00:00Z')`,
  `insert into runoff.model_answer values
       ('r1', 'A', 'ab', 0, '{"status":200,"headers":{}}', '{"sha256":"aa","bytes":2}', 1100)`,
  `insert into runoff.api_token values
       ('0123456789ab', '47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU', 5,
        '{"by":{"id":5,"login":"mona"},"name":"nightly","repositories":[{"installationId":1,"repositoryId":42,"owner":"acme","name":"shop"}],"verbs":["read","run"]}',
        1000, 9000, 1100, null)`,
  `insert into runoff.idempotency_key values
       ('token:0123456789ab', 'night-1', 'r0', 'w0', null, '{"status":202,"headers":{},"body":"{}"}', 1100)`,
  `insert into runoff.audit (at, kind, repository_id, run_id, entry) values
       (1200, 'command', 42, 'r1', '{"kind":"command","command":"comment:991","by":{"id":5,"login":"mona"},"text":"/auto-dev pick A","thread":7,"outcome":{"kind":"done","note":"Picked A."}}'),
       (1300, 'write', null, null, '{"kind":"write","what":"comment","repository":"acme/shop","thread":7,"outcome":"done"}')`,
];

/**
 * For each version of the schema, rows for every table that it has, as that version wrote them. Never changed once
 * it was released: they stand for the databases in the field. A new migration adds its entry here.
 */
export const SAMPLES: Readonly<Record<number, readonly string[]>> = {
  1: FIRST,
  2: [...FIRST, `insert into runoff.answer values ('d0123456789', 'l', '{"sha256":"ab","bytes":2}', 1100)`],
};
