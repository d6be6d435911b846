/** Of an object and of the objects in it, any part; functions and lists are whole. */
export type Parts<T> = T extends
  | ((...given: never[]) => unknown)
  | readonly unknown[]
  | ReadonlyMap<unknown, unknown>
  ? T
  : T extends object
    ? { readonly [K in keyof T]?: Parts<T[K]> }
    : T;

/**
 * A stand-in for a port, or for several: the parts that a story uses. Whoever reads another one meets an error that names
 * it. `absent`: optional parts that are asked for, and are not there; without being named, so is the address of pages.
 */
export function partial<T extends object>(parts: Parts<T>, absent: readonly (keyof T & string)[] = []): T {
  const quiet: readonly (string | symbol)[] = [...absent, 'then', 'toJSON', 'publicUrl'];
  return new Proxy(parts as T, {
    get(target, name, receiver) {
      if (name in target || typeof name === 'symbol' || quiet.includes(name))
        return Reflect.get(target, name, receiver);
      throw new Error(`This test has no ${name} to give.`);
    },
  });
}
