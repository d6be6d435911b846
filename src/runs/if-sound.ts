import { asFault } from '../core/model/index.ts';

/** Null where what is read was damaged or is gone: for whoever can do without it, or make it again. */
export async function ifSound<T>(reading: Promise<T>): Promise<T | null> {
  try {
    return await reading;
  } catch (thrown) {
    if (asFault(thrown).code !== 'STORED_DATA_DAMAGED') throw thrown;
    return null;
  }
}
