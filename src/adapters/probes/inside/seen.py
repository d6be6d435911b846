"""Values and errors as text, as in serialise.cjs, and data that can be passed to a function again."""

import json
import linecache
import re
import types

MAX_SHOWN = 400
FAULTS = (TypeError, AttributeError, NameError, IndexError, KeyError, ZeroDivisionError, RecursionError)
SCALARS = (str, int, float, bool, type(None))


def hash_of(text, before=0x811C9DC5):
    """32-bit FNV-1a: the only source of choice here. `before` is the hash of a text that comes before it."""
    value = before
    for character in text:
        value = ((value ^ ord(character)) * 0x01000193) & 0xFFFFFFFF
    return value


def text_of(value, depth=0):
    """Equal values give equal texts in every process."""
    if depth > 6:
        return "[deep]"
    inner = lambda each: text_of(each, depth + 1)
    if isinstance(value, str):
        return json.dumps(value[:20000], ensure_ascii=False)
    if isinstance(value, (bool, int, float, complex, bytes, type(None))):
        return repr(value)
    if isinstance(value, dict):
        return "{" + ", ".join(sorted(f"{inner(k)}: {inner(v)}" for k, v in list(value.items())[:400])) + "}"
    if isinstance(value, (set, frozenset)):
        return "set(" + ", ".join(sorted(inner(each) for each in list(value)[:400])) + ")"
    if isinstance(value, (list, tuple)):
        marks = "[]" if isinstance(value, list) else "()"
        return marks[0] + ", ".join(inner(each) for each in value[:400]) + marks[1]
    if isinstance(value, (types.FunctionType, types.BuiltinFunctionType, type)):
        return f"[{getattr(value, '__name__', 'function')}]"
    if isinstance(value, BaseException):
        return f"[{type(value).__name__}: {value}]"
    if type(value).__repr__ is not object.__repr__:
        return re.sub(r"0x[0-9a-f]+", "0x", repr(value))
    fields = sorted((k, v) for k, v in vars(value).items() if not k.startswith("_")) if hasattr(value, "__dict__") else []
    return type(value).__name__ + "{" + ", ".join(f"{k}: {inner(v)}" for k, v in fields) + "}"


def shortened(text):
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}… #{hash_of(text[:20000]):x} ({len(text)})"


def seen_value(value):
    try:
        return "v", shortened(text_of(value))
    except BaseException:
        return "v", "[unreadable]"


def seen_error(error):
    """The wording of an error of the language itself is irrelevant; one of the code itself has a `raise` on its line."""
    name = type(error).__name__
    if isinstance(error, FAULTS):
        last = error.__traceback__
        while last is not None and last.tb_next is not None:
            last = last.tb_next
        line = linecache.getline(last.tb_frame.f_code.co_filename, last.tb_lineno) if last else ""
        if not line.strip().startswith("raise"):
            return "x", name
    try:
        return "e", shortened(f"{name}: {str(error).splitlines()[0] if str(error) else ''}")
    except BaseException:
        return "e", name


def is_plain(value, depth=0):
    if isinstance(value, SCALARS):
        return True
    if depth > 4 or not isinstance(value, (list, tuple, dict, set)) or len(value) > 500:
        return False
    each = list(value.values()) + list(value) if isinstance(value, dict) else value
    return all(is_plain(one, depth + 1) for one in each)
