"""Loaded by Python before any other code, in other surroundings only. pytest loads assertion_lock as a plug-in."""

import os
import sys

_folder = os.path.dirname(os.path.abspath(__file__))
_arguments = " ".join(getattr(sys, "orig_argv", sys.argv))
if "unittest" in _arguments or " test" in _arguments:
    try:
        import assertion_lock

        assertion_lock.for_unittest()
    except Exception:
        # The command runs as it would without it, and leaves no record.
        pass

# The one that the system has, if any, is loaded as it would be without this one.
_rest = [one for one in sys.path if os.path.abspath(one or ".") != _folder]
_own = sys.modules.pop("sitecustomize", None)
_all = sys.path[:]
sys.path[:] = _rest
try:
    import sitecustomize  # noqa: F401
except ImportError:
    pass
finally:
    sys.path[:] = _all
    # Without any, Python says on the standard error stream that it misses this one.
    if _own is not None:
        sys.modules.setdefault("sitecustomize", _own)
