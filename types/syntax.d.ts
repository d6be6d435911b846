// The programs that run inside the sandbox have no types of their own; tests parse with them in this process.
declare module '*/syntax/grammars.mjs' {
  export type Grammars = object;
  /** `allMs`: milliseconds of processor time for all texts together. */
  export function openGrammars(folder?: string, allMs?: number): Grammars;
}

declare module '*/syntax/trees.mjs' {
  export function parseAll(
    sources: readonly { readonly grammar: string | null; readonly text: string }[],
    grammars?: object,
  ): Promise<unknown>;
}
