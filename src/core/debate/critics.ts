/** One seat in a debate. */
export interface Seat {
  /** Persona. */
  readonly critic: string;
  /** `provider/model`. */
  readonly model: string;
}

/**
 * Models to seats: one of each family first, so that two families are heard wherever there are two. `rotate` moves every
 * critic on by a model in each round. `lost` are models that gave no answer before: they are asked only where no other is
 * left.
 */
export function seatsOf(
  critics: readonly string[],
  models: readonly string[],
  familyOf: (model: string) => string,
  turn: { readonly round: number; readonly rotate: boolean; readonly lost?: ReadonlySet<string> },
): readonly Seat[] {
  const heard = models.filter((model) => !turn.lost?.has(model));
  const order = byFamily(heard.length > 0 ? heard : models, familyOf);
  if (order.length === 0) return [];
  const shift = turn.rotate ? turn.round : 0;
  return critics.map((critic, i) => ({ critic, model: order[(i + shift) % order.length] as string }));
}

/** First models of every family in the order given, then second ones, and so on. */
function byFamily(models: readonly string[], familyOf: (model: string) => string): readonly string[] {
  const unique = [...new Set(models)];
  const nth = (model: string, at: number) =>
    unique.slice(0, at).filter((other) => familyOf(other) === familyOf(model)).length;
  return unique
    .map((model, at) => ({ model, at, turn: nth(model, at) }))
    .toSorted((a, b) => a.turn - b.turn || a.at - b.at)
    .map(({ model }) => model);
}
