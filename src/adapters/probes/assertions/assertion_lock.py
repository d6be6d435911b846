"""The counterpart of assertion-lock.cjs in Python: a plug-in of pytest, and loaded by sitecustomize.py for unittest. Before
each test, the functions of assertion libraries become again what they were at the start, and a replacement is recorded,
as are replaced built-in functions."""

import builtins
import json
import os
import random
import sys
import types
import unittest

FOLDER = os.path.join(os.environ.get("HOME", "/tmp"), ".cache", "checks")
FILE = os.path.join(FOLDER, f"{os.getpid()}-{random.SystemRandom().getrandbits(64):x}.jsonl")
MAX_TEXT = 300
# Of each kind.
MAX_RECORDS = 200
# What an honest program replaces: it imports, prints and reads in its own way.
NOT_WATCHED = {"__import__", "print", "input", "open", "_", "__build_class__", "breakpoint", "help", "copyright", "credits", "exit", "quit"}

# The code under test can replace all of these, so they are kept from the start.
_dumps, _open, _append, _write, _close = json.dumps, os.open, os.O_WRONLY | os.O_CREAT | os.O_APPEND, os.write, os.close
_written = {"changed": set(), "used": set(), "ended": set(), "capped": set()}
_lost = []
_missing = object()
_type_get, _type_set, _type_delete = type.__getattribute__, type.__setattr__, type.__delattr__
_len, _isinstance, _getattr, _vars, _list, _str = len, isinstance, getattr, vars, list, str
_pid, _getpid, _getcwd = os.getpid(), os.getpid, os.getcwd
_OSError, _Exception = OSError, Exception


def record(*line):
    text = _dumps(line)
    known = _written[line[0]]
    if text in known or _getpid() != _pid:
        return
    if _len(known) >= MAX_RECORDS:
        if line[0] != "capped":
            record("capped", line[0])
        return
    try:
        file = _open(FILE, _append, 0o644)
        try:
            _write(file, (text + "\n").encode())
        finally:
            _close(file)
        known.add(text)
    except _OSError:
        # The program must not notice: it is a record less.
        _lost.append(True)


def end():
    if _lost:
        record("capped", "all")
    record("ended", "pytest")


class Watched:
    """One attribute of a module or class, as it was at the start."""

    def __init__(self, library, owner, key, locked):
        self.name, self.owner, self.key, self.locked = f"{library}.{key}", owner, key, locked
        self.value = self.current()

    def current(self):
        # Not by getattr, which the owner can redefine.
        return (_type_get(self.owner, "__dict__") if _isinstance(self.owner, type) else self.owner.__dict__).get(self.key, _missing)

    def compare(self):
        found = self.current()
        if found is self.value:
            return
        code = _getattr(_getattr(found, "__func__", found), "__code__", None)
        places = [f"{code.co_filename}:{code.co_firstlineno}"] if code else []
        record("changed", self.name, code.co_name if code else type(found).__name__, places, self.locked)
        if self.locked:
            self.restore()

    def restore(self):
        if _isinstance(self.owner, type):
            _type_delete(self.owner, self.key) if self.value is _missing else _type_set(self.owner, self.key, self.value)
        elif self.value is _missing:
            self.owner.__dict__.pop(self.key, None)
        else:
            self.owner.__dict__[self.key] = self.value


FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType, type, staticmethod, classmethod)
watched = []


def lock(library, owner):
    for key, value in _list(_vars(owner).items()):
        if _isinstance(value, FUNCTIONS) and key not in ("__dict__", "__weakref__", "__class__"):
            watched.append(Watched(library, owner, key, True))


def lock_hooks_of_class(library, owner):
    """What it inherits from `object` decides about everything as soon as it is defined here."""
    for key in ("__getattribute__", "__getattr__", "__call__", "__new__", "__init_subclass__"):
        if key not in _vars(owner):
            watched.append(Watched(library, owner, key, True))


def lock_unittest():
    for name in ("TestCase", "FunctionTestCase", "IsolatedAsyncioTestCase"):
        owner = _vars(unittest).get(name) or _getattr(unittest, name, None)
        if owner is not None:
            lock(f"unittest.{name}", owner)
            lock_hooks_of_class(f"unittest.{name}", owner)
    for name in ("_AssertRaisesContext", "_AssertRaisesBaseContext", "_AssertWarnsContext", "_Outcome"):
        owner = _getattr(unittest.case, name, None)
        if owner is not None:
            lock(f"unittest.{name}", owner)
    lock("unittest.TestResult", unittest.TestResult)
    lock("unittest.TestSuite", unittest.TestSuite)


PYTEST_MODULES = ("_pytest.assertion.rewrite", "_pytest.assertion.util", "_pytest.python_api", "_pytest.raises", "_pytest.runner", "_pytest.outcomes", "_pytest.reports", "_pytest.recwarn")


def lock_pytest():
    import pytest

    for key in ("raises", "approx", "warns", "fail", "skip", "xfail", "deprecated_call"):
        if key in _vars(pytest):
            watched.append(Watched("pytest", pytest, key, True))
    for name in PYTEST_MODULES:
        module = sys.modules.get(name)
        if module is None:
            continue
        lock(name, module)
        for value in _list(_vars(module).values()):
            if _isinstance(value, type) and value.__module__ == name:
                lock(f"{name}.{value.__name__}", value)


def watch_built_ins():
    for key, value in _list(_vars(builtins).items()):
        if key not in NOT_WATCHED and _isinstance(value, FUNCTIONS):
            watched.append(Watched("builtins", builtins, key, False))
    for owner, key in ((os, "_exit"), (os, "kill"), (os, "abort"), (sys, "exit"), (sys, "settrace"), (sys, "setprofile")):
        watched.append(Watched(owner.__name__, owner, key, False))


def comparison():
    """Compares all from now on. The list cannot be reached by the name of this module."""
    every = tuple(watched)
    del watched[:]

    def compare():
        for one in every:
            try:
                one.compare()
            except _Exception:
                record("capped", "changed")

    return compare


def begin():
    watch_built_ins()
    lock_unittest()


def recorder_of_plug_ins():
    """Records files outside of installed packages whose hooks pytest calls, whenever plug-ins have been added."""
    own, seen, recorded = _getcwd() + "/", 0, set()
    libraries = (sys.prefix + "/lib", sys.base_prefix + "/lib")

    def is_installed(path):
        return path == __file__ or "/site-packages/" in path or "/dist-packages/" in path or path.startswith(libraries)

    def record_plug_ins(config):
        nonlocal seen
        plug_ins = config.pluginmanager.get_plugins()
        if _len(plug_ins) == seen:
            return
        seen = _len(plug_ins)
        for plug_in in plug_ins:
            for caller in config.pluginmanager.get_hookcallers(plug_in) or ():
                for hook in caller.get_hookimpls():
                    code = _getattr(_getattr(hook.function, "__func__", hook.function), "__code__", None)
                    if hook.plugin is not plug_in or code is None or is_installed(code.co_filename):
                        continue
                    path = code.co_filename
                    name = path[_len(own):] if path.startswith(own) else path
                    if name in recorded:
                        continue
                    recorded.add(name)
                    record("changed", f"hooks of pytest by {name}", code.co_name, [f"{path}:{code.co_firstlineno}"], True)

    return record_plug_ins


def _file_of(owner):
    return _getattr(sys.modules.get(owner.__module__), "__file__", None) or ""


def for_unittest():
    """Compares before and after each test."""
    begin()
    run, type_of = unittest.TestCase.run, type

    def comparing(self, result=None):
        compare()
        try:
            record("used", "unittest", _file_of(type_of(self)))
        except _Exception:
            record("capped", "used")
        try:
            return run(self, result)
        finally:
            compare()

    unittest.TestCase.run = comparing
    for one in watched:
        if one.owner is unittest.TestCase and one.key == "run":
            one.value = comparing
    compare = comparison()
    sys.modules.pop(__name__, None)


def hooks():
    import pytest

    begin()
    lock_pytest()
    compare = comparison()
    record_plug_ins = recorder_of_plug_ins()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(item):
        compare()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_call(item):
        compare()
        try:
            record_plug_ins(item.config)
        except _Exception:
            record("capped", "changed")
        try:
            record("used", "pytest", _str(_getattr(item, "path", None) or item.fspath))
        except _Exception:
            record("capped", "used")

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_teardown(item):
        compare()

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(session):
        compare()
        end()

    @pytest.hookimpl(tryfirst=True)
    def pytest_configure(config):
        # pytest has it by then, and code under test has no use of it.
        sys.modules.pop(__name__, None)

    return {
        hook.__name__: hook
        for hook in (pytest_configure, pytest_runtest_setup, pytest_runtest_call, pytest_runtest_teardown, pytest_sessionfinish)
    }


if "pytest" in sys.modules:
    try:
        globals().update(hooks())
    except Exception:
        # pytest runs as it would without it, and leaves no record.
        pass
