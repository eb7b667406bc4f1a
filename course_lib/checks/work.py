"""Count what a call holds and computes: by the sizes of tensors, never by a clock."""

from collections.abc import Iterator, Sequence
from typing import Any

from torch import Tensor
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._python_dispatch import TorchDispatchMode

PRODUCTS = set("mm bmm mv dot vdot addmm baddbmm addbmm addmv".split())
# They bring numbers to another place and compute none.
MOVES = set(
    "cat stack clone copy_ _to_copy constant_pad_nd repeat flip roll gather index "
    "index_select index_put index_put_ scatter scatter_ select_scatter "
    "slice_scatter".split()
)
FIRST, ANOTHER = 1, 2  # what a tensor is made of: bits
MIXED = FIRST | ANOTHER


class Counter(TorchDispatchMode):
    """Counts between `with` and the end of its block.

    Attributes:
        largest: How many numbers that depend on the first argument and on another one
            (scores, and what was made of them) the call held at the worst moment.
            Copies of one argument are free.
        born: How many numbers the largest operation made of the first argument and of
            another one: the scores of one block. A fused call counts all its scores.
        operations: How many numbers it computed. A matrix product counts
            2 · m · n · k, a sum what it adds up, a copy or a view nothing.

    Args:
        arguments: What the call is given.
    """

    def __init__(self, arguments: Sequence[Any]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.largest = self.operations = self.born = 0
        # For each storage: whether it still exists, its size, what it is made of.
        self._held: dict[int, tuple[StorageWeakRef, int, int]] = {}
        for number, argument in enumerate(tensors(arguments)):
            self._hold(argument, ANOTHER if number else FIRST)

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Say that no compiler takes part: PyTorch would import it, for a second."""
        return False

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        result = func(*args, **(kwargs or {}))
        name = func.__name__.split(".")[0]
        given, made = list(tensors(args)), list(tensors([result]))
        known = {_storage(tensor) for tensor in given}
        view = not func._schema.is_mutable and any(_storage(m) in known for m in made)
        if not view and name not in MOVES:
            self.operations += computed(name, given, made)
        origin, ready = 0, False
        if not name.startswith("new_") and not name.endswith("_like"):
            for each in given:
                of = self._held.get(_storage(each), (None, 0, 0))[2]
                origin, ready = origin | of, ready or of == MIXED
        for each in made:
            self._hold(each, origin)
        if origin == MIXED and not view:
            fused = scores(given) if "scaled_dot_product" in name else 0
            self._weigh(fused)
            if not ready and name not in MOVES:
                sizes = [tensor.numel() for tensor in made]
                self.born = max([self.born, fused or max(sizes)])
        return result

    def _hold(self, tensor: Tensor, origin: int) -> None:
        """Note a tensor; one that was written to is made of both."""
        storage = tensor.untyped_storage()
        before = self._held.get(storage._cdata, (None, 0, 0))[2]
        size = storage.nbytes() // tensor.element_size()
        self._held[storage._cdata] = StorageWeakRef(storage), size, before | origin

    def _weigh(self, extra: int) -> None:
        """Add up what is held at this moment."""
        self._held = {k: it for k, it in self._held.items() if not it[0].expired()}
        mixed = sum(size for _, size, origin in self._held.values() if origin == MIXED)
        self.largest = max(self.largest, mixed + extra)


def tensors(values: Any) -> Iterator[Tensor]:
    """The tensors in a sequence, those in lists inside it too."""
    for value in values:
        if isinstance(value, Tensor):
            yield value
        elif isinstance(value, list | tuple):
            yield from tensors(value)


def _storage(tensor: Tensor) -> int:
    return int(tensor.untyped_storage()._cdata)


def scores(given: Sequence[Tensor]) -> int:
    """How many scores a fused attention computes inside."""
    query, key = given[:2]
    return query.numel() // query.shape[-1] * key.shape[-2]


def computed(name: str, given: Sequence[Tensor], made: Sequence[Tensor]) -> int:
    """How many numbers one operation computes, or reads to compute them."""
    if name in PRODUCTS:
        left, right = given[-2:]
        return 2 * left.numel() * (right.shape[-1] if right.dim() > 1 else 1)
    if "scaled_dot_product" in name:
        widths = given[0].shape[-1] + given[2].shape[-1]
        return 2 * scores(given) * widths
    return max((tensor.numel() for tensor in [*given, *made]), default=0)
