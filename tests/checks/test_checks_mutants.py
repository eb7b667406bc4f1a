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


def changes(node: ast.AST, arguments: list[str]) -> Iterator[tuple[str, ast.AST]]:
    """Every way to change one node."""
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        new = copy.copy(node)
        new.op = OPERATORS[type(node.op)]()
        yield "operator", new
    if isinstance(node, ast.Compare) and type(node.ops[0]) in OPERATORS:
        new = copy.copy(node)
        new.ops = [OPERATORS[type(node.ops[0])]()]
        yield "comparison", new
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        for value in (node.value + 1, node.value - 1):
            yield "constant", ast.Constant(value)
    if isinstance(node, ast.Constant) and type(node.value) is bool:
        yield "constant", ast.Constant(not node.value)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.Invert):
        yield "sign", node.operand
    if isinstance(node, ast.Attribute) and node.attr in NAMES:
        new = copy.copy(node)
        new.attr = NAMES[node.attr]
        yield "name", new
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        yield "call dropped", node.func.value
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        for other in arguments:
            if node.id in arguments and node.id != other:
                yield "argument", ast.Name(other, node.ctx)


def mutants(name: str) -> Iterator[tuple[str, object]]:
    """Every version of a solution with one node changed."""
    tree = ast.parse(inspect.getsource(getattr(solutions, name)))
    function = tree.body[0]
    function.args.defaults = []  # dim=-1, mask=None: cases that leave them out
    defaults = getattr(solutions, name).__defaults__
    function.returns = None
    names = [argument.arg for argument in function.args.args]
    for argument in function.args.args:
        argument.annotation = None
    for place in range(1, len(function.body)):  # 0 is the docstring
        line = ast.unparse(function.body[place])
        for number, node in enumerate(ast.walk(function.body[place])):
            for kind in range(len(list(changes(node, names)))):
                twin = copy.deepcopy(tree)
                target = list(ast.walk(twin.body[0].body[place]))[number]
                what, new = list(changes(target, names))[kind]
                before, after = ast.unparse(target), ast.unparse(new)
                changed = ast.fix_missing_locations(Swap(target, new).visit(twin))
                scope = dict(vars(solutions))
                exec(compile(changed, name, "exec"), scope)
                scope[name].__defaults__ = defaults
                yield f"{what}: {before} -> {after} in {line}", scope[name]


class Swap(ast.NodeTransformer):
    """Puts one node in the place of another."""

    def __init__(self, target: ast.AST, new: ast.AST) -> None:
        self.target, self.new = target, new

    def visit(self, node: ast.AST) -> ast.AST:
        return self.new if node is self.target else self.generic_visit(node)


# Changes that leave the answer right, each with the reason.
SCALE = "scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])"
EMPTY = "weights = scores.masked_fill(empty, 0.0).softmax(dim=-1)"
MASK = (
    "if mask is None:\n    mask = torch.ones(1, 1, dtype=torch.bool, device=x.device)"
)
HARMLESS = {
    f"argument: q -> k in {SCALE}": "queries and keys have the same width",
    "constant: 0 -> -1 in weights = scores.softmax(dim=0)": "there is one axis only",
    f"constant: 0.0 -> 1.0 in {EMPTY}": "any number does before the softmax",
    f"constant: 0.0 -> -1.0 in {EMPTY}": "any number does before the softmax",
    f"call dropped: scores.masked_fill(empty, 0.0) -> scores in {EMPTY}": (
        "nan is replaced one line later; only the gradient suffers, and of rows with "
        "nothing to attend to no gradient is asked"
    ),
    "call dropped: matrix.float() -> matrix in return matrix.float()": (
        "a float64 result is accepted"
    ),
    **{
        f"argument: x -> W_{each} in {MASK}": "all inputs are on one device"
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
