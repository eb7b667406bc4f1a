"""Run experiments and store what they measured: `python -m course_lib.experiments`."""

import importlib
import json
import os
import platform
import sys
import time
from pathlib import Path
from pkgutil import iter_modules

import torch

import course_lib.experiments as experiments

RESULTS = Path(__file__).parent.parent / "results"


def machine() -> str:
    """Say in a few words what this ran on."""
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.is_file():
        for line in cpuinfo.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    gpu = f", {torch.cuda.get_device_name()}" if torch.cuda.is_available() else ""
    return f"{os.cpu_count()} cores of {model}, {platform.system()}{gpu}"


def main(names: list[str]) -> None:
    """Measure the experiments named, or all of them."""
    known = [m.name for m in iter_modules(experiments.__path__) if m.name != "__main__"]
    unknown = set(names) - set(known)
    if unknown:
        sys.exit(f"no experiment {', '.join(unknown)}; there are {', '.join(known)}")
    for name in names or known:
        start = time.perf_counter()
        results = importlib.import_module(f"course_lib.experiments.{name}").measure()
        stored = {
            "machine": machine(),
            "torch": torch.__version__.split("+")[0],
            "seconds": round(time.perf_counter() - start),
            "results": results,
        }
        text = json.dumps(stored, indent=1, ensure_ascii=False) + "\n"
        (RESULTS / f"{name}.json").write_text(text, encoding="utf-8", newline="\n")
        print(f"{name}: {stored['seconds']} s")


if __name__ == "__main__":
    main(sys.argv[1:])
