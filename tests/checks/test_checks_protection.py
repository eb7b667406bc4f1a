"""Whatever an answer does, a check gives a report and leaves no trace."""

import builtins
import concurrent.futures
import contextlib
import math
import pickle
import random
import subprocess
import sys
import threading
import time

import pytest
import torch

from course_lib import checks
from course_lib.checks import run as run_module

softmax = checks.softmax


def right(x, dim=-1):
    return x.softmax(dim)


def test_endless_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_module, "LIMIT", 0.3)
    before = threading.active_count()

    def endless(x, dim=-1):
        while True:
            x = x + 1

    report = softmax.check(endless)
    assert report.status == "timed_out"
    assert "loop" in report.message
    assert threading.active_count() == before


def test_endless_loop_that_swallows_exceptions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(run_module, "LIMIT", 0.3)
    stop = time.monotonic() + 4

    def stubborn(x, dim=-1):
        while time.monotonic() < stop:
            try:
                time.sleep(0.01)
            except BaseException:
                continue

    assert softmax.check(stubborn).status == "timed_out"
    assert softmax.check(right).passed, "the next check works"


def test_the_limit_is_ten_seconds() -> None:
    assert run_module.LIMIT == 10


def test_slow_first_call_only_is_not_given_up() -> None:
    calls = []

    def slow(x, dim=-1):
        if not calls:
            time.sleep(0.3)
        calls.append(1)
        return x.softmax(dim)

    assert softmax.check(slow).passed


def test_print_flood() -> None:
    def loud(x, dim=-1):
        while True:
            print("here")

    report = softmax.check(loud)
    assert report.status == "error"
    assert "print" in report.message


def test_stray_print_is_fine(capsys: pytest.CaptureFixture[str]) -> None:
    def talking(x, dim=-1):
        print("x is", x.shape)
        return x.softmax(dim)

    assert softmax.check(talking).passed
    assert capsys.readouterr().out == ""


def test_what_a_wrong_answer_printed_is_shown() -> None:
    def talking(x, dim=-1):
        print("x is", tuple(x.shape))
        return x

    report = softmax.check(talking)
    assert "x is (3, 5)" in report.printed
    assert "x is (3, 5)" in str(report)
    assert "x is (3, 5)" in report._repr_html_()


def test_input_changed_in_place() -> None:
    def in_place(x, dim=-1):
        result = x.softmax(dim)
        x.zero_()
        return result

    report = softmax.check(in_place)
    assert not report.passed
    assert "in place" in report.message


def test_nothing_returned() -> None:
    report = softmax.check(lambda x, dim=-1: None)
    assert report.diagnosis == "nothing-returned"
    assert "return" in report.message
    pair = checks.scaled_dot_product_attention.check(lambda q, k, v: None)
    assert pair.diagnosis == "nothing-returned"


def test_nan() -> None:
    report = softmax.check(lambda x, dim=-1: x * float("nan"))
    assert not report.passed
    assert "nan" in report.message


@pytest.mark.parametrize(
    "value",
    [1, "text", [1.0, 2.0], {"a": 1}, torch.nn.Linear(1, 1), object(), iter([1])],
    ids=lambda value: type(value).__name__,
)
def test_wrong_type(value: object) -> None:
    report = softmax.check(lambda x, dim=-1: value)
    assert report.status == "wrong"
    assert "weights" in report.message


def test_numpy_array() -> None:
    pytest.importorskip("numpy")
    report = softmax.check(lambda x, dim=-1: x.softmax(dim).detach().numpy())
    assert "ndarray" in report.message


def test_whole_numbers_and_complex_numbers() -> None:
    report = softmax.check(lambda x, dim=-1: x.softmax(dim).long())
    assert "int64" in report.message
    report = softmax.check(lambda x, dim=-1: x.softmax(dim) + 0j)
    assert "complex64" in report.message


def test_result_without_storage() -> None:
    report = softmax.check(lambda x, dim=-1: x.softmax(dim).to("meta"))
    assert not report.passed


def test_wrong_shape() -> None:
    report = softmax.check(lambda x, dim=-1: x.softmax(dim)[None])
    assert "shape" in report.message


def test_tuple_of_the_wrong_length() -> None:
    one = checks.scaled_dot_product_attention.check(lambda q, k, v: v)
    assert "(output, weights)" in one.message
    pair = softmax.check(lambda x, dim=-1: (x, x))
    assert "2 results" in pair.message


def test_exception_names_the_line() -> None:
    def broken(x, dim=-1):
        return x.softmax(dim) @ x.unknown

    report = softmax.check(broken)
    assert report.status == "error"
    assert "AttributeError" in report.message
    assert "x.unknown" in report.message


def test_wrong_number_of_arguments() -> None:
    report = softmax.check(lambda: None)
    assert report.status == "error"
    assert "TypeError" in report.message


@pytest.mark.parametrize(
    "error", [SystemExit, KeyboardInterrupt, MemoryError, GeneratorExit, StopIteration]
)
def test_every_exception_becomes_a_report(error: type[BaseException]) -> None:
    def raising(x, dim=-1):
        raise error

    report = softmax.check(raising)
    assert report.status == "error"
    assert error.__name__ in report.message


def test_endless_recursion() -> None:
    def again(x, dim=-1):
        return again(x, dim)

    report = softmax.check(again)
    assert report.status == "error"
    assert "RecursionError" in report.message


def test_not_attempted() -> None:
    def stub(x, dim=-1):
        raise NotImplementedError

    assert softmax.check(stub).status == "not_attempted"
    assert softmax.check(None).status == "not_attempted"
    assert softmax.check(torch.zeros(2)).status == "not_attempted"


def test_error_in_one_case_only_names_the_case() -> None:
    def two_dimensions_only(x, dim=-1):
        _rows, _columns = x.shape
        return x.softmax(dim)

    report = softmax.check(two_dimensions_only)
    assert report.status == "wrong"
    assert "ValueError" in report.message
    assert "x = [" in report.message


def test_random_states_dtype_device_and_streams_are_restored() -> None:
    numpy = pytest.importorskip("numpy")

    def meddling(x, dim=-1):
        torch.manual_seed(7)
        random.seed(7)
        numpy.random.seed(7)
        torch.set_default_dtype(torch.float64)
        torch.set_default_device("meta")
        torch.set_grad_enabled(False)
        sys.setrecursionlimit(5000)
        sys.stdout = sys.stderr
        return x.softmax(dim)

    torch.manual_seed(1)
    random.seed(1)
    numpy.random.seed(1)
    before = torch.get_rng_state(), random.getstate(), numpy.random.get_state()[1]
    streams, limit = (sys.stdout, sys.stderr), sys.getrecursionlimit()
    softmax.check(meddling)
    assert torch.equal(torch.get_rng_state(), before[0])
    assert random.getstate() == before[1]
    assert (numpy.random.get_state()[1] == before[2]).all()
    assert torch.get_default_dtype() == torch.float32
    assert torch.get_default_device().type == "cpu"
    assert torch.is_grad_enabled()
    assert (sys.stdout, sys.stderr) == streams
    assert sys.getrecursionlimit() == limit


def test_check_under_other_defaults_of_the_learner() -> None:
    with torch.no_grad():
        assert softmax.check(right).passed, "gradients are on inside a check"
    with torch.device("cpu"):
        assert softmax.check(right).passed
    state = torch.get_rng_state()
    assert softmax.check(right).passed
    assert torch.equal(torch.get_rng_state(), state)


def test_check_is_deterministic() -> None:
    def random_answer(x, dim=-1):
        return (x + torch.randn_like(x)).softmax(dim)

    first = softmax.check(random_answer)
    torch.manual_seed(99)
    assert str(softmax.check(random_answer)) == str(first)
    assert not first.passed


def test_right_on_the_first_call_only() -> None:
    calls = []

    def worn_out(x, dim=-1):
        calls.append(1)
        return x.softmax(dim) * (1 if len(calls) < len(softmax.cases()) else 2)

    report = softmax.check(worn_out)
    assert report.diagnosis == "first-call-only"
    assert "second call" in report.message


def test_result_remembered_by_shape() -> None:
    kept = {}

    def remembering(x, dim=-1):
        return kept.setdefault((x.shape, x.dtype, dim), x.softmax(dim))

    assert not softmax.check(remembering).passed


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("gradient-lost", lambda x, dim=-1: x.detach().softmax(dim)),
        ("float32-only", lambda x, dim=-1: x.float().softmax(dim)),
        ("contiguous-only", lambda x, dim=-1: x.view(x.shape).softmax(dim)),
    ],
)
def test_general_faults_have_a_name(name: str, answer: object) -> None:
    if name == "contiguous-only":

        def answer(x, dim=-1):
            return x.view(-1).view(x.shape).softmax(dim)

    report = softmax.check(answer)
    assert report.diagnosis == name, str(report)


def test_gradient_lost_in_a_part_of_the_computation() -> None:
    def half_detached(q, k, v):
        weights = (q @ k.mT / q.shape[-1] ** 0.5).softmax(-1)
        return weights.detach() @ v, weights

    report = checks.scaled_dot_product_attention.check(half_detached)
    assert report.diagnosis == "gradient-lost"
    assert "from output to q" in report.message


def test_weights_wrong_but_output_right() -> None:
    def rounded_weights(q, k, v):
        weights = (q @ k.mT / q.shape[-1] ** 0.5).softmax(-1)
        return weights @ v, (weights * 100).round() / 100

    report = checks.scaled_dot_product_attention.check(rounded_weights)
    assert not report.passed
    assert "weights" in report.message


@pytest.mark.parametrize("limit", [64, 100, 128, 256])
def test_right_for_short_sentences_only(limit: int) -> None:
    table = torch.ones(limit, limit, dtype=torch.bool).tril()
    assert not checks.causal_mask.check(lambda n: table[:n, :n]).passed


def test_two_faults_at_once() -> None:
    """A known mistake is named beside another fault."""

    def no_scale_and_no_float64(q, k, v):
        weights = (q.float() @ k.float().mT).softmax(-1)
        return weights @ v.float(), weights

    report = checks.scaled_dot_product_attention.check(no_scale_and_no_float64)
    assert report.diagnosis == "no-scale"

    def no_scale_in_three_dimensions_only(q, k, v):
        _batch, _, _width = q.shape
        weights = (q @ k.mT).softmax(-1)
        return weights @ v, weights

    report = checks.scaled_dot_product_attention.check(
        no_scale_in_three_dimensions_only
    )
    assert report.diagnosis == "no-scale"
    assert "Another thing" in report.message


def test_unknown_mistake_gets_no_name() -> None:
    report = softmax.check(lambda x, dim=-1: (x + 0.1 * x**2).softmax(dim))
    assert report.diagnosis is None
    assert "should be" in report.message
    assert "3 was added" in report.message, "the property that fails is said"


def test_cases_and_outcomes_travel_between_processes() -> None:
    """The answer may run elsewhere: only cases and outcomes cross over."""
    attention = checks.scaled_dot_product_attention
    cases = attention.cases()
    there = pickle.loads(pickle.dumps(cases))
    outcomes = run_module.run(attention.right_answer, there)
    back = pickle.loads(pickle.dumps(outcomes))
    assert attention.judge(cases, back).passed


def test_threads_do_not_pile_up() -> None:
    before = threading.active_count()
    for _ in range(5):
        softmax.check(right)
    assert threading.active_count() == before


def test_interrupting_a_check_stops_the_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The stop button of Jupyter raises KeyboardInterrupt in the waiting thread."""
    before = threading.active_count()

    class Interrupted(run_module.queue.SimpleQueue):
        def get(self, *args: object, **kwargs: object) -> object:
            raise KeyboardInterrupt

    monkeypatch.setattr(run_module.queue, "SimpleQueue", Interrupted)

    def endless(x, dim=-1):
        while True:
            x = x + 1

    with pytest.raises(KeyboardInterrupt):
        softmax.check(endless)
    with contextlib.suppress(RuntimeError):
        assert threading.active_count() == before


@pytest.mark.parametrize(
    ("shared", "name"),
    [
        (torch, "softmax"),
        (torch, "allclose"),
        (torch.nn.functional, "softmax"),
        (torch.Tensor, "softmax"),
        (torch.Tensor, "backward"),
        (math, "sqrt"),
        (builtins, "sum"),
    ],
)
def test_replaced_functions_are_put_back_and_said(shared: object, name: str) -> None:
    original = getattr(shared, name)

    def replacing(x, dim=-1):
        setattr(shared, name, lambda *args, **kwargs: torch.tensor(True))
        return x

    report = softmax.check(replacing)
    assert getattr(shared, name) is original
    assert not report.passed
    assert report.diagnosis == "shared-function-replaced"
    assert f"{name}`" in report.message
    assert softmax.check(right).passed


@pytest.mark.parametrize("name", ["allclose", "equal"])
def test_functions_replaced_before_the_check_do_not_change_the_verdict(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    always = lambda *args, **kwargs: True  # noqa: E731
    monkeypatch.setattr(torch, name, always)
    monkeypatch.setattr(torch.Tensor, name, always)
    assert not softmax.check(lambda x, dim=-1: x).passed
    assert not checks.causal_mask.check(lambda n: torch.ones(n, n).bool()).passed
    assert softmax.check(right).passed
    assert getattr(torch, name) is always, "what the learner did outside stays"


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_thread_left_behind_is_stopped_and_said() -> None:
    def starting(x, dim=-1):
        def forever():
            while True:
                time.sleep(0.01)

        threading.Thread(target=forever).start()
        return x.softmax(dim)

    before = threading.active_count()
    report = softmax.check(starting)
    assert threading.active_count() == before
    assert report.diagnosis == "thread-left-behind"


def test_threads_that_end_are_fine() -> None:
    def side_by_side(x, dim=-1):
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            return pool.submit(lambda: x.softmax(dim)).result()

    assert softmax.check(side_by_side).passed


def test_ladder() -> None:
    def reached(answer):
        return [passed for _, passed in softmax.check(answer).ladder]

    assert reached(right) == [True] * 4
    assert reached(lambda x, dim=-1: x[0]) == [False, None, None, None]
    assert reached(lambda x, dim=-1: x) == [True, False, None, None]
    assert reached(lambda x, dim=-1: x.detach().softmax(dim)) == [True] * 3 + [False]

    def small_only(x, dim=-1):
        return x.softmax(dim) if x.numel() < 40 else x.softmax(0)

    assert reached(small_only) == [True, True, False, None]


def test_an_answer_that_wakes_pytorchs_compiler_is_not_blamed_for_it() -> None:
    """Its import puts a function around torch.manual_seed: in a process of its own."""
    code = (
        "import torch; from course_lib import checks\n"
        "def compiled(x, dim=-1):\n"
        "    import torch._dynamo\n"
        "    return x.softmax(dim)\n"
        "before = torch.manual_seed\n"
        "report = checks.softmax.check(compiled)\n"
        "assert torch.manual_seed is not before, 'nothing is tested'\n"
        "print(report.status)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, encoding="utf-8"
    )
    assert done.stdout.strip() == "passed", done.stderr
