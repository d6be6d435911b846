// The contestants of bench/overhead.ts: half of them fix the sample's issue, half fix a part of it. Each writes code and
// tests of its own, so that no candidate takes over results of another one.
import { SCRIPTED_PRICES, SCRIPTS } from '../src/demo/sample/index.ts';
import type { Script, Scripts } from '../src/demo/scripted-models/index.ts';

interface OverheadContestants {
  readonly scripts: Scripts;
  /** As `coders` of the settings. */
  readonly coders: readonly { readonly agent: 'builtin'; readonly model: string }[];
  /** As the variable MODEL_PRICES. */
  readonly prices: string;
}

/** The same answers, with words of the code and names of the tests that no other contestant has. */
function ownVersion(script: Script, nth: number): Script {
  const turns = JSON.stringify(script.turns)
    .replaceAll('function content(cell) {', `// Version ${nth}.\\nfunction content(cell) {`)
    .replaceAll('A comma that is followed by', `Version ${nth}: a comma that is followed by`)
    .replaceAll('csv-quoted.test.js', `csv-quoted-${nth}.test.js`)
    .replaceAll('keeps a comma inside quotes', `keeps a comma inside quotes (${nth})`);
  return { ...script, turns: JSON.parse(turns) as Script['turns'] };
}

/** `apart`: seconds by which each coder begins its work later than the one before. */
export function contestantsOf(count: number, apart = 0): OverheadContestants {
  const all = Array.from({ length: count }, (_, nth) => {
    const [provider, base] = nth % 2 === 0 ? ['anthropic', 'scripted-heron'] : ['openai', 'scripted-otter'];
    const name = `${base}-${nth + 1}`;
    const script = ownVersion(SCRIPTS[base as 'scripted-heron' | 'scripted-otter'], nth + 1);
    const pause = {
      kind: 'call',
      text: '',
      tool: 'bash',
      input: { command: `sleep ${apart * nth}` },
    } as const;
    const turns = apart === 0 ? script.turns : [pause, ...script.turns];
    return { name, model: `${provider}/${name}`, script: { ...script, turns } };
  });
  const [price] = Object.values(SCRIPTED_PRICES);
  return {
    scripts: { ...SCRIPTS, ...Object.fromEntries(all.map(({ name, script }) => [name, script])) },
    coders: all.map(({ model }) => ({ agent: 'builtin', model })),
    prices: JSON.stringify({
      ...SCRIPTED_PRICES,
      ...Object.fromEntries(all.map(({ model }) => [model, price])),
    }),
  };
}
