/**
 * Models in the order in which they are asked to write tests: those of a family that wrote fewer candidates first, otherwise
 * as given. A model has blind spots in common with its family: tests by another one find what both coder and test would miss.
 */
export function writersInOrder(
  models: readonly string[],
  authors: readonly string[],
  familyOf: (model: string) => string,
): readonly string[] {
  const wrote = (model: string) => authors.filter((author) => familyOf(author) === familyOf(model)).length;
  const ranked = [...new Set(models)].map((model, place) => ({ model, place, wrote: wrote(model) }));
  return ranked.sort((a, b) => a.wrote - b.wrote || a.place - b.place).map(({ model }) => model);
}
