/** A model family and what in a name tells it: the maker of the weights, by any name its models go by. */
const FAMILIES: readonly (readonly [family: string, told: RegExp])[] = [
  ['claude', /claude|anthropic/],
  ['gpt', /gpt|openai|codex|davinci|(?:^|[/_.-])o[1-9](?=$|[-_.:])/],
  ['gemini', /gemini|gemma|palm-|google/],
  ['deepseek', /deepseek/],
  ['qwen', /qwen|qwq|tongyi/],
  ['llama', /llama(?!-?index)/],
  ['mistral', /mistral|mixtral|codestral|devstral|magistral|ministral|pixtral/],
  ['grok', /grok|x-ai|(?:^|[/_.-])xai(?=$|[/_.-])/],
  ['kimi', /kimi|moonshot/],
  ['glm', /glm|zhipu|z-ai/],
  ['minimax', /minimax|abab/],
  ['command', /command-[ar]|cohere/],
  ['nova', /nova-(?:micro|lite|pro|premier)/],
  ['phi', /(?:^|[/_.-])phi-?\d/],
  ['granite', /granite/],
  ['nemotron', /nemotron/],
];

/**
 * The maker of a model's weights, not who serves it: `openrouter/anthropic/claude-…` is `claude`. Where a name tells
 * several, the first: a distilled model is its distiller's. Models that nobody knows are one family for each provider,
 * rather too few families than too many.
 */
export function familyOf(model: string): string {
  const name = model.toLowerCase();
  const slash = name.indexOf('/');
  const provider = slash < 0 ? name : name.slice(0, slash);
  return earliest(slash < 0 ? name : name.slice(slash + 1)) ?? earliest(provider) ?? (provider || 'unknown');
}

function earliest(name: string): string | null {
  let best: { readonly family: string; readonly at: number } | null = null;
  for (const [family, told] of FAMILIES) {
    const at = name.search(told);
    if (at >= 0 && (!best || at < best.at)) best = { family, at };
  }
  return best?.family ?? null;
}
