/** Whether GitHub takes two names for the same label: case makes no difference there. */
export const isSameLabel = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase();

/** Whether a label of this name is among them, as GitHub compares names. */
export const hasLabel = (labels: readonly string[], name: string): boolean =>
  labels.some((one) => isSameLabel(one, name));
