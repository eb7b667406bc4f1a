"""Case H27: nbval turns red when it should, and only then (traps, planted and run).

Small notebooks are written, with outputs as an author might have left them, and run
by nbval with the settings of `make test-notebooks`. One run for all of them.
"""

import os
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

SANITIZE = Path(__file__).parent / "nbval_sanitize.cfg"
PICTURE = "iVBORw0KGgo="  # not what the cell draws: nbval does not compare pictures


def stream(text: str, name: str = "stdout") -> dict[str, str]:
    return new_output("stream", name=name, text=text)


def result(data: dict[str, str]) -> dict[str, object]:
    return new_output("execute_result", data=data, execution_count=1)


# name: (source, recorded outputs, whether nbval must agree)
PLANTED = {
    "right": ("print(round(2 / 3, 2))", [stream("0.67\n")], True),
    "wrong_number": ("print(round(2 / 3, 2))", [stream("0.66\n")], False),
    "wrong_result": ("round(2 / 3, 2)", [result({"text/plain": "0.66"})], False),
    "output_is_gone": ("x = 1", [stream("1\n")], False),
    "output_is_new": ("print(1)", [], False),
    "new_warning": (
        "import warnings\n\nwarnings.warn('new')\nprint(1)",
        [stream("1\n")],
        False,
    ),
    "progress": (
        "import sys\n\nprint('took 3 s', file=sys.stderr)",
        [stream("took 4 s\n", "stderr")],
        False,
    ),
    "address": (
        "object()",
        [result({"text/plain": "<object at 0x7f0000000000>"})],
        True,
    ),
    "ready": (
        "from course_lib import show\n\nshow.ready()",
        [stream("Ready: course_lib 9.9.9, torch 9.9, cuda\n")],
        True,
    ),
    "figure": (
        "import matplotlib.pyplot as plt\n\nplt.plot([1, 2])\nplt.show()",
        [
            new_output(
                "display_data",
                data={
                    "image/png": PICTURE,
                    "text/plain": "<Figure size 640x480 with 1 Axes>",
                },
            )
        ],
        True,
    ),
    "our_widget": (
        "from course_lib.widgets import Ask\n\nAsk(3, 'order')",
        [
            result(
                {
                    "text/plain": "Ask(order)",
                    "application/vnd.jupyter.widget-view+json": {"model_id": "old"},
                }
            )
        ],
        True,
    ),
    "private_kernel": ("print(1 + 1)", [stream("2\n")], True),
}


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bool]:
    """Whether nbval passed each planted notebook."""
    folder = tmp_path_factory.mktemp("planted")
    for name, (source, outputs, _) in PLANTED.items():
        cell = new_code_cell(source, outputs=outputs, execution_count=1)
        kernel = "conda-env-attn-py" if name == "private_kernel" else "python3"
        spec = {"name": kernel, "display_name": kernel, "language": "python"}
        notebook = new_notebook(cells=[cell], metadata={"kernelspec": spec})
        nbformat.write(notebook, folder / f"{name}.ipynb")
    report = folder / "report.xml"
    subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "--nbval", "--nbval-current-env"),
            *("--nbval-sanitize-with", str(SANITIZE), f"--junitxml={report}"),
            *("-p", "no:cacheprovider", f"--rootdir={folder}", str(folder)),
        ],
        cwd=folder,
        env=os.environ | {"OMP_NUM_THREADS": "1", "COURSE_DEVICE": "cpu"},
        capture_output=True,
        encoding="utf-8",
        timeout=300,
    )
    found = {}
    for case in ET.parse(report).iter("testcase"):
        name = next(part for part in PLANTED if part in str(case.attrib))
        passed = case.find("failure") is None and case.find("error") is None
        found[name] = passed and found.get(name, True)
    return found


@pytest.mark.parametrize("name", PLANTED)
def test_nbval_says_what_it_should(name: str, verdicts: dict[str, bool]) -> None:
    assert verdicts[name] == PLANTED[name][2]
