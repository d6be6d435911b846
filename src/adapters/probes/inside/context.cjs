'use strict';
// One run of one variant of a case: what it should do, and what was observed in it.

const { hashOf } = require('./mutate.cjs');
const { observedError, observedValue } = require('./serialise.cjs');

const MAX_SEEN = 200;
const MAX_NAME = 200;

/** A long text, shortened to its start and a hash. */
const nameOf = (text) =>
  text.length > MAX_NAME ? `${text.slice(0, 160)}#${hashOf(text).toString(36)}` : text;

class Context {
  #recorder;
  #seen = 0;
  #steps = 0;
  #chance;
  #broken = null;
  /** Promises that assertions wait for. */
  pending = [];
  /** The histories of the instances that this run used. */
  touched = new Set();
  /** Number of calls that were followed by further calls. */
  calls = 0;
  /** True: nothing counts any more. */
  over = false;
  /** Whether the changed literal was reached. */
  described = false;

  /** `mode`: check, look, calls, explore or change; `change`: which literal is replaced by which similar value. */
  constructor(key, { mode, change }, recorder) {
    this.key = key;
    this.mode = mode;
    this.change = change;
    this.#recorder = recorder;
    this.#chance = hashOf(key);
  }

  get observes() {
    return this.mode !== 'check';
  }

  /** Reserves a position for a value that will be observed, so that a late one does not move the others. */
  next() {
    return this.#seen++;
  }

  step() {
    return this.#steps++;
  }

  saw(at, value) {
    this.#record(at, observedValue(value));
  }

  failed(at, error) {
    this.#record(at, observedError(error));
  }

  /** Records what a method of an instance returned, which the case itself may not check. */
  stepped(at, seen) {
    this.#record(`t${at}`, seen);
  }

  #record(at, { kind, text }) {
    const most = typeof at === 'number' ? at : this.#steps;
    if (!this.over && this.observes && most < MAX_SEEN) this.#recorder.write(['s', this.key, at, kind, text]);
  }

  wait(promise) {
    const settled = promise.then(
      () => {},
      () => {},
    );
    this.pending.push(settled);
    return settled;
  }

  /** Written to disk before the call, so that a call that never returns can be named. */
  mark(call) {
    this.#chance = hashOf(call);
    this.#recorder.write(['m', this.key, nameOf(call), Date.now()]);
    this.#recorder.flush();
  }

  avoids(call) {
    return this.#recorder.avoided.has(nameOf(call)) || this.avoidsValueIn(call);
  }

  avoidsValueIn(text) {
    return this.#recorder.avoidsValueIn(text);
  }

  called(call, shown, { kind, text }, weight) {
    if (!this.over) this.#recorder.write(['c', this.key, nameOf(call), kind, text, shown, weight]);
  }

  changed(how, light, from, to) {
    this.described = true;
    this.#recorder.write(['d', this.key, how, light ? 1 : 0, from, to]);
    // On disk before the value is used, which may hang.
    this.#recorder.flush();
  }

  /** An assertion failed without throwing. */
  broke(why) {
    this.#broken ??= String(why).slice(0, MAX_NAME);
  }

  /** Replaces randomness: the same for the same variant, and for the same call, on every tree. */
  random() {
    this.#chance = Math.imul(this.#chance ^ (this.#chance >>> 15), 0x2c1b3c6d) + 0x9e3779b9;
    return ((this.#chance ^ (this.#chance >>> 13)) >>> 0) / 2 ** 32;
  }

  /** `outcome`: ok, threw, pending, or lost if it observed nothing. Only the first end counts. */
  end(outcome, error) {
    if (this.over) return;
    const seen = error === undefined ? null : observedError(error);
    if (seen && (this.mode === 'look' || this.mode === 'change')) this.#record(this.#seen++, seen);
    this.over = true;
    const failed = outcome === 'ok' && this.#broken !== null;
    this.#recorder.write([
      'e',
      this.key,
      failed ? 'failed' : outcome,
      seen ? seen.text : (this.#broken ?? ''),
    ]);
  }
}

module.exports = { Context };
