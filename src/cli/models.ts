import type { Offer } from '../ports/index.ts';
import { jsonText, shown } from './render/index.ts';
import { EXIT, type Shell } from './runtime.ts';

/** `runoff arena models`: what the providers offer whose keys are set, with the prices that budgets are kept by. */
export async function listModels(shell: Pick<Shell, 'open' | 'screen'>, json: boolean): Promise<number> {
  const { world, close } = await shell.open({});
  try {
    const offers = await world.gateway.offers();
    shell.screen.out(json ? `${jsonText({ offers })}\n` : words(offers));
    return offers.length > 0 && offers.every(({ kind }) => kind === 'failed') ? EXIT.failed : EXIT.done;
  } finally {
    await close();
  }
}

function words(offers: readonly Offer[]): string {
  if (offers.length === 0)
    return 'No key of a model provider is set, so there is nothing to ask.\nNext: set ANTHROPIC_API_KEY, OPENAI_API_KEY or another in the environment or the settings file; `runoff doctor` names it\n';
  const blocks = offers.map((offer) => (offer.kind === 'failed' ? failed(offer) : listed(offer)));
  return `${blocks.join('\n\n')}\n`;
}

const failed = ({ provider, why }: Extract<Offer, { kind: 'failed' }>): string =>
  `${provider}: could not be asked. ${shown(why, 300)}`;

function listed({ provider, models }: Extract<Offer, { kind: 'models' }>): string {
  if (models.length === 0) return `${provider}: offers no models with this key.`;
  const names = models.map(({ id }) => shown(`${provider}/${id}`, 120));
  const width = Math.max(...names.map((name) => name.length));
  return models
    .map(({ price }, index) => {
      const cost = price ? `$${price.input} in, $${price.output} out per million tokens` : 'price unknown';
      return `${(names[index] ?? '').padEnd(width)}  ${cost}`;
    })
    .join('\n');
}
