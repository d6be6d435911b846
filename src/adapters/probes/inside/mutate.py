"""Other values of the same kind, as in mutate.cjs. Pure and deterministic."""

import functools
import importlib.util
import os

_spec = importlib.util.spec_from_file_location("seen", os.path.join(os.path.dirname(__file__), "seen.py"))
seen = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(seen)
hash_of = seen.hash_of

MAX_TEXT = 2000
MAX_COUNT = 12


def shuffled(items, seed):
    """The items in an order that depends only on the seed and themselves."""
    seeded = hash_of(f"{seed}|")
    return [items[at] for _, at in sorted((hash_of(f"{at}|{item!r}", seeded), at) for at, item in enumerate(items))]


@functools.lru_cache(maxsize=4096)
def _shape(text):
    """The kinds of characters in it, as bits. Needed for the same texts very often."""
    kinds = (
        any(c.isdigit() for c in text), any(c.islower() for c in text), any(c.isupper() for c in text),
        any(c.isspace() for c in text), any(not c.isalnum() and not c.isspace() for c in text),
    )
    return sum(1 << nth for nth, has in enumerate(kinds) if has)


def _nearest(text, pool, seed, most):
    """The most similar texts of the pool; the seed decides between equally similar ones, and is read for them alone."""
    others = [other for other in pool if isinstance(other, str) and other != text]
    own, size = _shape(str.__str__(text)), len(text)
    far = [bin(own ^ _shape(str.__str__(other))).count("1") + abs(len(other) - size) / (size + 4) for other in others]
    limit = max(sorted(far)[:most], default=0)
    seeded = hash_of(seed)
    near = sorted((far[at], hash_of(other, seeded), at) for at, other in enumerate(others) if far[at] <= limit)
    return [others[at] for _, _, at in near[:most]]


def _texts(text, pool, seed):
    found = [(other, True) for other in _nearest(text, pool, seed, 5)]
    at = hash_of(f"{seed}|{text}") % len(text) if text else 0
    if len(text) > 1:
        found += [(text[:-1], True), (text[1:], True), (text[:at] + text[at + 1:], True)]
    if text:
        found += [(text[:at] + text[at] + text[at:], True), (text + text[at], True)]
    for place in [place for place, c in enumerate(text) if c in "0123456789"][:3]:
        found.append((text[:place] + str((int(text[place]) + 1) % 10) + text[place + 1:], True))
    words = text.split(" ")
    if len(words) > 1:
        found += [(" ".join(words[:-1]), True), (" ".join(reversed(words)), True)]
    found += [(text.upper(), True), (text.lower(), True)]
    found += [("", False), (f" {text} ", False), (text[::-1], False), (text + text, False)]
    found += [(text[:at] + "-" + text[at:], False), (text[:at] + "'" + text[at:], False), (text + "\u00e9\u2603", False)]
    return found


def _numbers(number, pool, seed):
    others = [other for other in pool if isinstance(other, (int, float)) and not isinstance(other, bool) and other != number]
    found = [(other, True) for other in shuffled(others, seed)[:8]]
    found += [(number + 1, True), (number - 1, True)]
    if isinstance(number, int) and 0 <= number <= MAX_COUNT:
        found += [(other, True) for other in sorted(range(MAX_COUNT + 1), key=lambda other: abs(other - number))]
    elif abs(number) > MAX_COUNT:
        found += [(number + off, True) for off in (2, -2, 3, -3, 4, -4)] + [(number // 2, True)]
    return found + [(0, False), (-number, False), (number * 10, False), (number + 0.5, False)]


def _lists(items, pool, seed, depth):
    found = []
    for at in shuffled(list(range(len(items))), seed)[:3]:
        for other, light in _like(items[at], pool, f"{seed}|{at}", depth)[:3]:
            found.append((items[:at] + [other] + items[at + 1:], light))
    if items:
        found += [(items[:-1], True), (items[1:], True), (items + items[:1], True)]
    if len(items) > 1:
        found += [([items[1], items[0]] + items[2:], True), (items[::-1], False)]
    return found + [([], False)]


def _like(value, pool, seed, depth):
    if depth <= 0:
        return []
    if isinstance(value, bool):
        return [(not value, True)]
    if isinstance(value, str):
        return _texts(value, pool, seed) if len(value) <= MAX_TEXT else []
    if isinstance(value, (int, float)) and value == value and abs(value) != float("inf"):
        return _numbers(value, pool, seed)
    if isinstance(value, list):
        return _lists(value, pool, seed, depth - 1)
    if isinstance(value, tuple):
        return [(tuple(other), light) for other, light in _lists(list(value), pool, seed, depth - 1)]
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        found = []
        for key in sorted(value)[:4]:
            found += [({**value, key: other}, light) for other, light in _like(value[key], pool, f"{seed}|{key}", depth - 1)[:3]]
            found.append(({name: each for name, each in value.items() if name != key}, True))
        return found
    return []


def values_like(value, pool, seed):
    """Pairs of a value to try and whether it has the same shape; those first. All values are different."""
    seen, fresh = {repr(value)}, []
    for other, light in _like(value, pool, seed, 3):
        if repr(other) not in seen:
            seen.add(repr(other))
            fresh.append((other, light))
    return [each for each in fresh if each[1]] + [each for each in fresh if not each[1]]
