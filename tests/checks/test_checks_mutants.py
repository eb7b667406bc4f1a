"""Small changes to the solutions: every one is rejected, or listed as harmless."""

import ast
import copy
import inspect
from collections.abc import Iterator

import pytest

from course_lib import checks
from course_lib.checks import solutions

OPERATORS = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Pow: ast.Mult,
    ast.MatMult: ast.Mult,
    ast.Lt: ast.LtE,
}
NAMES = {
    "sin": "cos",
    "cos": "sin",
    "softmax": "log_softmax",
    "sum": "mean",
    "amax": "amin",
    "tril": "triu",
    "any": "all",
    "tanh": "sigmoid",
    "sqrt": "exp",
    "exp": "log1p",
}


def changes(node: ast.AST, arguments: list[str]) -> Iterator[ast.AST]:
    """Every way to change one node."""
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        new = copy.copy(node)
        new.op = OPERATORS[type(node.op)]()
        yield new
    if isinstance(node, ast.Compare) and type(node.ops[0]) in OPERATORS:
        new = copy.copy(node)
        new.ops = [OPERATORS[type(node.ops[0])]()]
        yield new
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        for value in (node.value + 1, node.value - 1):
            yield ast.Constant(value)
    if isinstance(node, ast.Constant) and type(node.value) is bool:
        yield ast.Constant(not node.value)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.Invert):
        yield node.operand
    if isinstance(node, ast.Attribute) and node.attr in NAMES:
        new = copy.copy(node)
        new.attr = NAMES[node.attr]
        yield new
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        yield node.func.value
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        for other in arguments:
            if node.id in arguments and node.id != other:
                yield ast.Name(other, node.ctx)


def mutants(name: str) -> Iterator[tuple[str, object]]:
    """Every version of a solution with one node changed, by the changed line."""
    tree = ast.parse(inspect.getsource(getattr(solutions, name)))
    function = tree.body[0]
    function.args.defaults = []  # dim=-1, mask=None: cases that leave them out
    defaults = getattr(solutions, name).__defaults__
    function.returns = None
    names = [argument.arg for argument in function.args.args]
    for argument in function.args.args:
        argument.annotation = None
    for place in range(1, len(function.body)):  # 0 is the docstring
        for number, node in enumerate(ast.walk(function.body[place])):
            for kind in range(len(list(changes(node, names)))):
                twin = copy.deepcopy(tree)
                target = list(ast.walk(twin.body[0].body[place]))[number]
                new = list(changes(target, names))[kind]
                changed = ast.fix_missing_locations(Swap(target, new).visit(twin))
                scope = dict(vars(solutions))
                exec(compile(changed, name, "exec"), scope)
                scope[name].__defaults__ = defaults
                yield ast.unparse(twin.body[0].body[place]), scope[name]


class Swap(ast.NodeTransformer):
    """Puts one node in the place of another."""

    def __init__(self, target: ast.AST, new: ast.AST) -> None:
        self.target, self.new = target, new

    def visit(self, node: ast.AST) -> ast.AST:
        return self.new if node is self.target else self.generic_visit(node)


# Changes that leave the answer right, each with the reason.
LOOP = """for keys, values in \
zip(k.split(block_size), v.split(block_size), strict=False):
    scores = query @ keys.T
    new_top = torch.maximum(top, scores.amax(dim=1, keepdim=True))
    powers = (scores - new_top).exp()
    keep = (top - new_top).exp()
    total = keep * total + powers.sum(dim=1, keepdim=True)
    output = keep * output + powers @ values
    top = new_top"""
SCALE = "scores = q @ k.transpose(-2, -1) / math.sqrt(k.shape[-1])"
HARMLESS = {
    SCALE: "queries and keys have the same width",
    "weights = scores.masked_fill(empty, 1.0).softmax(dim=-1)": (
        "any number does before the softmax"
    ),
    "weights = scores.masked_fill(empty, -1.0).softmax(dim=-1)": (
        "any number does before the softmax"
    ),
    "weights = scores.softmax(dim=-1)": (
        "soft_lookup: one query's scores have one axis only; masked_attention: nan is "
        "replaced one line later, by a fill that lets no gradient through"
    ),
    "query = q / math.sqrt(k.shape[1])": "queries and keys have the same width",
    LOOP: "there are as many values as keys",
    "return matrix": "a float64 result is accepted",
    **{
        "if mask is None:\n    mask = "
        f"torch.ones(1, 1, dtype=torch.bool, device=W_{each}.device)": (
            "all inputs are on one device"
        )
        for each in "qkvo"
    },
}


@pytest.mark.parametrize("name", checks.EXERCISES)
def test_every_mutant_is_rejected(name: str) -> None:
    survivors = [
        what
        for what, mutant in mutants(name)
        if checks.EXERCISES[name].check(mutant).passed
    ]
    assert [each for each in survivors if each not in HARMLESS] == []
    harmless = [what for what, _ in mutants(name) if what in HARMLESS]
    assert survivors == harmless, "what is listed as harmless passes"


def test_there_are_mutants_enough() -> None:
    assert sum(len(list(mutants(name))) for name in checks.EXERCISES) > 300


def test_every_harmless_change_is_one_of_the_mutants() -> None:
    made = {what for name in checks.EXERCISES for what, _ in mutants(name)}
    assert set(HARMLESS) <= made
