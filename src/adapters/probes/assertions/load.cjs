// What Node loads first (`--require`). A version of Node that cannot read or run assertion-lock.cjs runs the program as
// it would without it, and leaves no record. So this file is written for all of them.
try {
  require('./assertion-lock.cjs');
} catch {
  // Nothing is locked.
}
