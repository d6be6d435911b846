"""The object `_case_observer` of derived test files in Python: begins and ends cases, records what they observe, and
follows calls of the repository's functions with similar ones."""

import contextvars
import copy
import functools
import importlib.util
import inspect
import json
import os
import random
import re
import sys
import time
import types

_spec = importlib.util.spec_from_file_location("seen", os.path.join(os.path.dirname(__file__), "seen.py"))
seen = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(seen)
_spec = importlib.util.spec_from_file_location("mutate", os.path.join(os.path.dirname(__file__), "mutate.py"))
mutate = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(mutate)
hash_of, seen_value, seen_error, is_plain = seen.hash_of, seen.seen_value, seen.seen_error, seen.is_plain
values_like = mutate.values_like

MAX_SEEN = 200
MAX_LIKES = 24
MAX_CALLS = 1200
MAX_EXPLORED = 300
CURRENT = contextvars.ContextVar("case", default=None)


def naming(values):
    """As in restarts.ts."""
    patterns = [rf"\d{{{len(value) - 1},}}" if re.fullmatch(r"\d{7,}", value) else re.escape(value) for value in values]
    return re.compile(rf"(?<![\w.])(?:{'|'.join(patterns)})(?![\w.])")


class Recorder:
    """Writes JSON arrays, one per line, to a folder; see recorder.cjs."""

    def __init__(self, folder):
        self.begun, self.avoided, self.file = set(), set(), None
        self.only_unchanged, values = False, []
        self.avoids_value_in = lambda text: False
        if not os.path.isdir(folder):
            return
        for name in sorted(os.listdir(folder)):
            if name.endswith(".jsonl"):
                with open(os.path.join(folder, name), encoding="utf-8") as file:
                    for line in file:
                        if line.startswith('["b",'):
                            self.begun.add(json.loads(line)[1])
                        if line.startswith('["x",'):
                            self.avoided.add(json.loads(line)[1])
                        if line.startswith('["v",'):
                            values.append(json.loads(line)[1])
                        if line.startswith('["u"'):
                            self.only_unchanged = True
        if values:
            self.avoids_value_in = naming(values).search
        nth = 0
        while os.path.exists(os.path.join(folder, f"{os.getpid()}-{nth}.jsonl")):
            nth += 1
        self.file = open(os.path.join(folder, f"{os.getpid()}-{nth}.jsonl"), "a", encoding="utf-8")

    def write(self, *line):
        self.file.write(json.dumps(line, separators=(",", ":")) + "\n")

    def flush(self):
        self.file.flush()


def named(text):
    return text if len(text) <= 200 else f"{text[:160]}#{hash_of(text):x}"


class Case:
    def __init__(self, key, mode, recorder):
        self.key, self.mode, self.recorder, self.at, self.over = key, mode, recorder, 0, False

    def saw(self, seen):
        if self.mode != "check" and not self.over and self.at < MAX_SEEN:
            self.recorder.write("s", self.key, self.at, *seen)
        self.at += 1

    def end(self, outcome, error=None):
        if self.over:
            return
        seen = None if error is None else seen_error(error)
        if seen and self.mode in ("look", "change"):
            self.saw(seen)
        self.over = True
        self.recorder.write("e", self.key, outcome, seen[1] if seen else "")
        self.recorder.flush()


class Probe:
    """The object `_case_observer` of a derived file."""

    def __init__(self, plan):
        self.file, self.pool, self.recorder = plan["file"], plan["pool"], Recorder(plan["journal"])
        self.times, self.history, self.functions, self.wrappers, self.done, self.inside, self.made = {}, {}, {}, {}, set(), False, 0

    def begin(self, key, mode, described=None):
        nth = self.times.get(key, 0)
        self.times[key] = nth + 1
        full = key if nth == 0 else f"{key}~{nth}"
        if self.recorder.file is None or full in self.recorder.begun:
            return False
        if self.recorder.only_unchanged and mode not in ("check", "look"):
            return False
        if described and self.recorder.avoids_value_in(described[2]):
            return False
        self.recorder.write("b", full, int(time.time() * 1000), mode)
        if described:
            self.recorder.write("d", full, "changed", *described)
        self.recorder.flush()
        CURRENT.set(Case(full, mode, self.recorder))
        if mode != "check":
            random.seed(hash_of(key))
        return True

    def saw(self, value):
        CURRENT.get().saw(seen_value(value))

    def failed(self, error):
        CURRENT.get().saw(seen_error(error))

    def threw(self, error):
        skipped = type(error).__name__ == "Skipped"
        CURRENT.get().end("pending" if skipped else "threw", None if skipped else error)
        if isinstance(error, KeyboardInterrupt):
            raise error

    def finish(self):
        case = CURRENT.get()
        if case.mode == "calls" and not case.over and case.key.split(".")[1] == "explore":
            self.explore(case)
        case.end("ok")

    def wrap(self, name, value):
        if not isinstance(value, types.FunctionType):
            return value
        if name in self.functions:
            return self.wrappers[name] if self.functions[name] is value else value
        self.functions[name] = value

        @functools.wraps(value)
        def wrapper(*args, **named_args):
            case = CURRENT.get()
            if case is None or case.mode != "calls" or self.inside or named_args or not all(map(is_plain, args)):
                return value(*args, **named_args)
            before = copy.deepcopy(args)
            known = self.history.setdefault(name, [])
            try:
                return value(*args)
            finally:
                self.others(case, name, value, before, known)
                if len(known) < 40:
                    known.append(before)

        self.wrappers[name] = wrapper
        return wrapper

    def others(self, case, name, value, args, known):
        likes = []
        for at, arg in enumerate(args):
            elsewhere = [(each[at], True) for each in known[-8:] if at < len(each)]
            likes.append(elsewhere + values_like(arg, self.pool, f"{name}|{at}"))
        count = 0
        for nth in range(max(map(len, likes), default=0)):
            for at, each in enumerate(likes):
                if nth < len(each) and count < MAX_LIKES:
                    other, light = each[nth]
                    count += self.observe(case, name, value, args[:at] + (other,) + args[at + 1:], 1 if light else 0)

    def observe(self, case, name, value, args, weight):
        shown = f"{name}({', '.join(seen_value(arg)[1] for arg in args)})"
        if shown in self.done or named(shown) in self.recorder.avoided or self.made >= MAX_CALLS:
            return 0
        if self.recorder.avoids_value_in(shown):
            return 0
        self.done.add(shown)
        self.made += 1
        self.recorder.write("m", case.key, named(shown), int(time.time() * 1000))
        self.recorder.flush()
        random.seed(hash_of(shown))
        before, self.inside = self.inside, True
        try:
            result = value(*copy.deepcopy(args))
            seen = ("v", "[awaitable]") if inspect.isawaitable(result) else seen_value(result)
            if inspect.iscoroutine(result):
                result.close()
        except Exception as error:
            seen = seen_error(error)
        except SystemExit as error:
            seen = ("e", f"SystemExit: {error.code}")
        finally:
            self.inside = before
        self.recorder.write("c", case.key, named(shown), *seen, shown if len(shown) <= 160 else f"{shown[:160]}…", weight)
        return 1

    def explore(self, case):
        """Known arguments in new combinations, for all functions that the tests called."""
        most = max(16, MAX_EXPLORED // max(1, len(self.functions)))
        for name, value in sorted(self.functions.items()):
            known = self.history.get(name, [])
            count = 0
            for nth in range(3 * most if known else 0):
                if count >= most:
                    break
                args = list(known[hash_of(f"{name}|{nth}") % len(known)])
                for at in range(len(args)):
                    dice = hash_of(f"{name}|{nth}|{at}")
                    other = known[dice % len(known)]
                    if at < len(other) and dice & 4:
                        args[at] = other[at]
                    likes = values_like(args[at], self.pool, f"{name}|{nth}|{at}") if dice & 8 else []
                    if likes:
                        args[at] = likes[(dice >> 8) % len(likes)][0]
                count += self.observe(case, name, value, tuple(args), 2)


def is_ours(module):
    path = getattr(sys.modules.get(module or ""), "__file__", None) or ""
    return path.startswith(os.getcwd() + os.sep) and "site-packages" not in path


class Ours:
    """A module of the repository, whose functions are followed."""

    def __init__(self, probe, name, module):
        self.__dict__.update(_probe=probe, _name=name, _module=module)

    def __getattr__(self, key):
        value = getattr(self._module, key)
        return self._probe.wrap(f"{self._name}.{key}", value) if isinstance(value, types.FunctionType) else value

    def __setattr__(self, key, value):
        setattr(self._module, key, value)

    def __delattr__(self, key):
        delattr(self._module, key)
