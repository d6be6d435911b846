"""Loaded by derived test files in Python; the counterpart of observe.cjs. Creates several versions of each test function
of the original source by changing its syntax tree: unchanged (`check`), recording values instead of asserting (`look`),
with further calls of what they import (`calls`), and with one literal changed (`l<literal>.<choice>`)."""

import ast
import copy
import importlib.util
import json
import os
import re
import types

_spec = importlib.util.spec_from_file_location("probing", os.path.join(os.path.dirname(__file__), "probing.py"))
probing = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(probing)
is_plain, seen_value, values_like = probing.is_plain, probing.seen_value, probing.values_like

MAX_CHANGES_PER_CASE = 40
MAX_POOL = 120


class Inputs(ast.NodeVisitor):
    """Literals of a test function that are inputs of the code. Expected values are not included."""

    def __init__(self):
        self.found = []

    def visit(self, node):
        if isinstance(node, (ast.List, ast.Tuple, ast.Dict, ast.Constant, ast.UnaryOp)):
            try:
                value = ast.literal_eval(node)
                if is_plain(value) and value is not None and len(repr(value)) <= 2000 and value is not Ellipsis:
                    self.found.append((node, value))
                    return
            except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
                pass
        super().visit(node)

    def visit_Assert(self, node):
        self.visit(node.test.left if isinstance(node.test, ast.Compare) else node.test)

    def visit_Expr(self, node):
        if not isinstance(node.value, ast.Constant):
            self.generic_visit(node)

    def visit_Call(self, node):
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        self.visit(node.func)
        if re.match(r"(raises|warns|skip|xfail|mark|parametrize|patch|sleep)$", name):
            return
        expected = re.match(r"assert", name) and name != "assertRaises"
        for arg in node.args[:1] if expected else node.args:
            self.visit(arg)
        for keyword in node.keywords:
            self.visit(keyword.value)

    def visit_JoinedStr(self, node):
        pass

    def visit_Subscript(self, node):
        self.visit(node.value)


def call(name, *args):
    return ast.Call(func=ast.Attribute(value=ast.Name(id="_case_observer", ctx=ast.Load()), attr=name, ctx=ast.Load()), args=list(args), keywords=[])


class Looking(ast.NodeTransformer):
    """Records what would have been asserted."""

    def visit_Assert(self, node):
        test = node.test
        while isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            test = test.operand
        parts = test.values if isinstance(test, ast.BoolOp) else [test]
        return [ast.Expr(call("saw", part.left if isinstance(part, ast.Compare) else part)) for part in parts]

    def visit_Expr(self, node):
        value = node.value
        if isinstance(value, ast.Call):
            name = getattr(value.func, "attr", getattr(value.func, "id", ""))
            if name.startswith("assert") and name not in ("assertRaises", "assertRaisesRegex") and value.args:
                return ast.Expr(call("saw", value.args[0]))
        return node

    def visit_With(self, node):
        self.generic_visit(node)
        for item in node.items:
            func = getattr(item.context_expr, "func", None)
            if getattr(func, "attr", getattr(func, "id", "")) in ("raises", "assertRaises", "assertRaisesRegex"):
                handler = ast.ExceptHandler(type=ast.Name(id="Exception", ctx=ast.Load()), name="_case_error", body=[ast.Expr(call("failed", ast.Name(id="_case_error", ctx=ast.Load())))])
                done = ast.Expr(call("saw", ast.Constant("no error")))
                return ast.Try(body=node.body, handlers=[handler], orelse=[done], finalbody=[])
        return node


def guarded(function, name, key, mode, described=None):
    """The function under another name: it does nothing if it hung before, and never fails."""
    made = copy.deepcopy(function)
    made.name = name
    begin = call("begin", ast.Constant(key), ast.Constant(mode), *([ast.Constant(described)] if described else []))
    handler = ast.ExceptHandler(type=ast.Name(id="BaseException", ctx=ast.Load()), name="_case_error", body=[ast.Expr(call("threw", ast.Name(id="_case_error", ctx=ast.Load())))])
    body = ast.Try(body=made.body, handlers=[handler], orelse=[], finalbody=[ast.Expr(call("finish"))])
    made.body = [ast.If(test=begin, body=[body], orelse=[])]
    return made


def looking(function):
    made = copy.deepcopy(function)
    made.body = [part for each in made.body for part in as_list(Looking().visit(each))] or [ast.Pass()]
    return made


def as_list(value):
    return value if isinstance(value, list) else [value]


def variants_of(function, plan, id_, room):
    key = f"{plan['file']}.{id_}.0"
    yield guarded(function, f"{function.name}__check", f"{key}.check", "check")
    yield guarded(looking(function), f"{function.name}__look", f"{key}.look", "look")
    yield guarded(looking(function), f"{function.name}__calls", f"{key}.calls", "calls")
    inputs = inputs_of(function)
    likes = [values_like(value, plan["pool"], f"{plan['file']}.{id_}.{nth}") for nth, (_, value) in enumerate(inputs)]
    turns = [(nth, choice) for choice in range(max(map(len, likes), default=0)) for nth, each in enumerate(likes) if choice < len(each)]
    for nth, choice in turns[:room]:
        other, light = likes[nth][choice]
        made = copy.deepcopy(function)
        changed = swapped(made, nth, other)
        if changed is None:
            continue
        described = (1 if light else 0, seen_value(inputs[nth][1])[1], seen_value(other)[1])
        yield guarded(looking(changed), f"{function.name}__l{nth}_{choice}", f"{key}.l{nth}.{choice}", "change", described)


def inputs_of(function):
    inputs = Inputs()
    for statement in function.body:
        inputs.visit(statement)
    return inputs.found


def swapped(function, nth, other):
    target = inputs_of(function)[nth][0]
    try:
        new = ast.parse(repr(other), mode="eval").body
        ast.literal_eval(new)
    except (ValueError, SyntaxError):
        return None

    class Swap(ast.NodeTransformer):
        def visit(self, node):
            return new if node is target else super().visit(node)

    return Swap().visit(function)


def is_test(node):
    return isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name.startswith("test")


def derived(body, plan, room, prefix=""):
    out = []
    for node in body:
        if isinstance(node, ast.ClassDef):
            node.body = derived(node.body, plan, room, f"{prefix}{node.name}.")
            out.append(node)
        elif is_test(node) and prefix + node.name in plan["cases"]:
            out.extend(variants_of(node, plan, plan["cases"][prefix + node.name], room))
        else:
            out.append(node)
    return out


def load(names, path, text):
    """Executes the derived form of a test file's source in the namespace of the module that replaces it."""
    plan = json.loads(text)
    tree = ast.parse(plan["source"], filename=path)
    probe = probing.Probe(plan)
    names["_case_observer"] = probe
    constants = [value for node in ast.walk(tree) if is_test(node) for _, value in inputs_of(node) if isinstance(value, (str, int, float)) and len(repr(value)) < 200]
    plan["pool"] = probe.pool = list(dict.fromkeys(constants))[:MAX_POOL] + plan["pool"]
    room = max(4, min(MAX_CHANGES_PER_CASE, plan["changes"] // max(1, len(plan["cases"]))))
    imports = [node for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom))]
    tree.body = derived(tree.body, plan, room)
    explore = ast.parse("def test_zz_explore():\n    pass").body[0]
    tree.body.append(guarded(explore, explore.name, f"{plan['file']}.explore.0.explore", "calls"))
    exec(compile(ast.fix_missing_locations(tree), path, "exec"), names)
    for node in imports:
        for alias in node.names:
            name = (alias.asname or alias.name).split(".")[0]
            value = names.get(name)
            if isinstance(value, types.ModuleType) and probing.is_ours(value.__name__):
                names[name] = probing.Ours(probe, name, value)
            elif isinstance(value, types.FunctionType) and probing.is_ours(value.__module__):
                names[name] = probe.wrap(name, value)
