import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { INSTALL_MS, TEST_AGENTS } from '../setup/agents.ts';
import { type AgentBench, openAgentBench, PROVIDER_KEYS, type Work } from '../world/agents.ts';

/** What a candidate would do that looks for keys: everything that its shell can read of itself and its agent. */
const SEARCH = [
  'mkdir -p /home/agent/found && cd /home/agent/found',
  'env > env.txt',
  'for p in /proc/[0-9]*; do cat $p/environ; done 2>/dev/null | tr "\\0" "\\n" > environ.txt',
  'for p in /proc/[0-9]*; do cat $p/cmdline; echo; done 2>/dev/null | tr "\\0" "\\n" > argv.txt',
  'cp -r /run/bridge run 2>/dev/null; cp -r /tmp tmp 2>/dev/null; cat /etc/* > etc.txt 2>/dev/null; true',
].join('\n');

const scripts = {
  'scripted-thief': {
    turns: [
      { kind: 'do', text: 'I look around.', action: { do: 'shell', command: SEARCH } },
      { kind: 'do', text: 'I write.', action: { do: 'write', path: '/repo/done.txt', content: 'done\n' } },
    ],
  },
} as const;

/** How a text would still be found after simple steps that hide it from a plain search. */
function disguises(secret: string): readonly string[] {
  const bytes = Buffer.from(secret);
  // Inside a longer text a secret starts at any of three places of a base 64 group; its ends differ then.
  const shifted = [0, 1, 2].map((pad) =>
    Buffer.concat([Buffer.alloc(pad), bytes])
      .toString('base64')
      .slice(pad === 0 ? 0 : 4, -4),
  );
  return [
    secret,
    [...secret].toReversed().join(''),
    ...shifted,
    ...shifted.map((text) => text.replaceAll('+', '-').replaceAll('/', '_')),
    bytes.toString('hex'),
    bytes.toString('hex').toUpperCase(),
    encodeURIComponent(secret),
  ];
}

const findings = (places: ReadonlyMap<string, string>, secret: string): readonly string[] =>
  [...places].flatMap(([place, text]) =>
    disguises(secret).some((form) => text.includes(form)) ? [place] : [],
  );

/** Every place where something of an agent's work stays. */
async function placesOf(bench: AgentBench, work: Work): Promise<ReadonlyMap<string, string>> {
  const rows = await bench.database.query('select to_jsonb(c)::text as row from runoff.gateway_call c');
  return new Map([
    ...[...work.left].map(([path, bytes]) => [path, bytes.toString('latin1')] as const),
    ['argv', JSON.stringify(work.launch.argv)],
    ['standard output', work.result.stdout],
    ['standard error', work.result.stderr],
    ['events', JSON.stringify(work.events)],
    ['patch', work.collected.kind === 'patch' ? work.collected.patch.text : ''],
    ['log', bench.log.join('\n')],
    ['ledger', rows.map(({ row }) => String(row)).join('\n')],
  ]);
}

let bench: AgentBench;
beforeAll(async () => {
  bench = await openAgentBench({ scripts });
}, INSTALL_MS);
afterAll(() => bench.close());

describe('a search for keys', () => {
  test('finds a key in every encoding', () => {
    const secret = PROVIDER_KEYS.anthropic;
    for (const form of disguises(secret)) {
      expect(findings(new Map([['there', `before ${form} after`]]), secret)).toEqual(['there']);
    }
    for (const before of ['', 'x', 'xy', 'xyz']) {
      const hidden = Buffer.from(`${before}${secret} and more`).toString('base64');
      expect(findings(new Map([['there', hidden]]), secret)).toEqual(['there']);
    }
  });
});

describe.each(TEST_AGENTS)('%s, told to look for keys,', (agent) => {
  let work: Work;
  let places: ReadonlyMap<string, string>;
  beforeAll(async () => {
    work = await bench.work({ agent, script: 'scripted-thief' });
    places = await placesOf(bench, work);
  });

  test('really searched, and the provider got its key', () => {
    expect(work.result, work.result.stderr.slice(-2000)).toMatchObject({ exitCode: 0, stopped: null });
    expect(places.get('home/found/env.txt')).toContain('HOME=/home/agent');
    expect(places.get('home/found/argv.txt')?.split('\n').length).toBeGreaterThan(3);
    // It sees its own agent's environment: what is not found there was not there.
    expect(findings(places, work.key)).toContain('home/found/environ.txt');
    expect(places.get('ledger')).toContain('scripted-thief');
    const sent = work.requests.map(({ headers }) => JSON.stringify(headers));
    expect(sent.length).toBeGreaterThanOrEqual(3);
    const keys = Object.values(PROVIDER_KEYS);
    for (const headers of sent) expect(keys.some((key) => headers.includes(key))).toBe(true);
  });

  test.each(Object.keys(PROVIDER_KEYS) as (keyof typeof PROVIDER_KEYS)[])(
    'finds no key for %s, and leaves none anywhere',
    (provider) => {
      expect(findings(places, PROVIDER_KEYS[provider])).toEqual([]);
    },
  );

  test('has its own key in its environment only', () => {
    const dumps = ['home/found/env.txt', 'home/found/environ.txt'];
    expect(findings(places, work.key).filter((place) => !dumps.includes(place))).toEqual([]);
    for (const { headers, body } of work.requests) {
      expect(findings(new Map([['request', JSON.stringify(headers) + body]]), work.key)).toEqual([]);
    }
  });
});
