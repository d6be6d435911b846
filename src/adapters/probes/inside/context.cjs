'use strict';
// One run of one variant of a case: what it is to do, and what was seen in it.

const { hashOf } = require('./mutate.cjs');
const { observedError, observedValue } = require('./serialise.cjs');

const MOST_SEEN = 200;
const MOST_NAME = 200;

/** A long text by its start and a hash. */
const nameOf = (text) =>
  text.length > MOST_NAME ? `${text.slice(0, 160)}#${hashOf(text).toString(36)}` : text;

class Context {
  #recorder;
  #seen = 0;
  #steps = 0;
  #chance;
  #broken = null;
  /** Promises that assertions wait for. */
  pending = [];
  /** What was done with instances, by those that this run touched. */
  touched = new Set();
  /** Calls that were followed by others. */
  calls = 0;
  /** Nothing counts any more. */
  over = false;
  /** The changed literal was reached. */
  described = false;

  /** `mode`: check, look, calls, explore or change; `change`: which literal becomes which of its likes. */
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

  /** A place for a value that is about to be seen: taken before, so that what is late does not move the others. */
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

  /** What a method of an instance gave that the case itself may not look at. */
  stepped(at, seen) {
    this.#record(`t${at}`, seen);
  }

  #record(at, { kind, text }) {
    const most = typeof at === 'number' ? at : this.#steps;
    if (!this.over && this.observes && most < MOST_SEEN)
      this.#recorder.write(['s', this.key, at, kind, text]);
  }

  wait(promise) {
    const settled = promise.then(
      () => {},
      () => {},
    );
    this.pending.push(settled);
    return settled;
  }

  /** On disk before the call is made, so that one that never comes back can be named. */
  mark(call) {
    this.#chance = hashOf(call);
    this.#recorder.write(['m', this.key, nameOf(call), Date.now()]);
    this.#recorder.flush();
  }

  avoids(call) {
    return this.#recorder.avoided.has(nameOf(call));
  }

  called(call, shown, { kind, text }, weight) {
    if (!this.over) this.#recorder.write(['c', this.key, nameOf(call), kind, text, shown, weight]);
  }

  changed(how, light, from, to) {
    this.described = true;
    this.#recorder.write(['d', this.key, how, light ? 1 : 0, from, to]);
  }

  /** An assertion said no without throwing. */
  broke(why) {
    this.#broken ??= String(why).slice(0, MOST_NAME);
  }

  /** Stands for chance: the same for the same variant, and for the same call, on every tree. */
  random() {
    this.#chance = Math.imul(this.#chance ^ (this.#chance >>> 15), 0x2c1b3c6d) + 0x9e3779b9;
    return ((this.#chance ^ (this.#chance >>> 13)) >>> 0) / 2 ** 32;
  }

  /** `outcome`: ok, threw or pending. Only the first end counts. */
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
