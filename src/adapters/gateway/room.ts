/** Bytes of one request body. A million tokens of text are about four. */
const MOST_BODY_BYTES = 16 * 2 ** 20;
/** Bytes of all bodies that one lease has in memory at a time: an agent with a few helpers. Our default. */
const MOST_LEASE_BYTES = 3 * MOST_BODY_BYTES;

/** Room in memory for one request. */
export interface Room {
  /** False when the request, or all of the lease together, would be too large. */
  take(bytes: number): boolean;
  /** The request is over. */
  leave(): void;
}

/** The memory that the requests of one lease share: a sandbox must not fill ours by asking often. */
export function openRooms(): { enter(): Room } {
  let all = 0;
  return {
    enter() {
      let own = 0;
      return {
        take(bytes) {
          if (own + bytes > MOST_BODY_BYTES || all + bytes > MOST_LEASE_BYTES) return false;
          own += bytes;
          all += bytes;
          return true;
        },
        leave() {
          all -= own;
          own = 0;
        },
      };
    },
  };
}
