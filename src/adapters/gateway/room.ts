/** Bytes of one request body. A million tokens of text are about four. */
export const MOST_BODY_BYTES = 16 * 2 ** 20;
/** Bytes of all bodies that one lease has in memory at a time: an agent with a few helpers. Our default. */
const MOST_LEASE_BYTES = 3 * MOST_BODY_BYTES;
/** Bytes that a lease has whatever the others do: most requests of an agent are far below. Our default. */
const LEASE_FLOOR_BYTES = 4 * 2 ** 20;
/** Bytes that all leases have together beyond that: six that use all of theirs. Our default. */
const MOST_SHARED_BYTES = 256 * 2 ** 20;

/** `crowded`: not too large in itself, but there is no memory left for it now. */
export type Taken = 'taken' | 'too-large' | 'crowded';

/** Room in memory for one request. */
export interface Room {
  take(bytes: number): Taken;
  /** The request is over. */
  leave(): void;
}

/** The memory that the requests of all leases share beyond what each has for itself. */
export interface SharedRoom {
  bytes: number;
}

/**
 * The memory that the requests of one lease share: a sandbox must not fill ours by asking often, nor many of them
 * together, nor must one leave the others without.
 */
export function openRooms(shared: SharedRoom = { bytes: 0 }): { enter(): Room } {
  let all = 0;
  const beyond = (bytes: number): number => Math.max(0, bytes - LEASE_FLOOR_BYTES);
  return {
    enter() {
      let own = 0;
      return {
        take(bytes) {
          if (own + bytes > MOST_BODY_BYTES || all + bytes > MOST_LEASE_BYTES) return 'too-large';
          const more = beyond(all + bytes) - beyond(all);
          if (more > 0 && shared.bytes + more > MOST_SHARED_BYTES) return 'crowded';
          shared.bytes += more;
          own += bytes;
          all += bytes;
          return 'taken';
        },
        leave() {
          shared.bytes -= beyond(all) - beyond(all - own);
          all -= own;
          own = 0;
        },
      };
    },
  };
}
