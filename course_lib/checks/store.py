"""What a learner has passed: one small file on their own machine.

It holds the ids of what was passed, and nothing else:
`{"version": 1, "passed": ["causal_mask", "softmax"]}`. A pass is kept for good, so
that two files are merged by taking all ids of both. Whatever goes wrong with the file,
a check goes on: what cannot be saved is kept in memory, and `progress()` says so.
"""

import contextlib
import itertools
import json
import os
import re
from pathlib import Path

from .language import translate as _
from .report import Note

VERSION = 1
ID = re.compile(r"[A-Za-z0-9_/-]+")
WAIT = 2.0  # seconds for another notebook to finish writing

_unsaved: set[str] = set()  # passed, and not in the file: all of them where it is off
_troubles: dict[str, str] = {}  # what went wrong with the file, for `progress()`


def where() -> Path | None:
    """The file: `COURSE_PROGRESS`, or one in the user's data folder.

    Returns:
        Its path; `None` where `COURSE_PROGRESS` is "off".
    """
    asked = os.environ.get("COURSE_PROGRESS", "")
    if asked:
        return None if asked == "off" else Path(asked).expanduser()
    from platformdirs import user_data_path

    return user_data_path("every-word-at-once", appauthor=False) / "progress.json"


def record(task: str, passed: bool) -> None:
    """Keep that a task was passed; a later failure does not take it back.

    Args:
        task: The id of an exercise, a question or a task of a widget.
        passed: Whether it was passed this time.

    Raises:
        ValueError: if the id has other signs than letters, digits, - _ /.
    """
    if not ID.fullmatch(task):
        raise ValueError(f"an id has letters, digits, - _ / only, not {task!r}")
    if passed:
        _unsaved.add(task)
        _together()


def passed() -> set[str]:
    """The id of everything passed so far."""
    return _together()


def troubles() -> list[str]:
    """One sentence for each thing that went wrong with the file."""
    return list(_troubles.values())


def export_progress(path: str | os.PathLike[str]) -> Note:
    """Write what was passed into a file, to take it elsewhere or keep it safe.

    An earlier export in that place keeps its passes too.

    Args:
        path: The file to write.

    Raises:
        ValueError: if the file cannot be written, or is something else.
    """
    target = Path(path)
    try:
        names = passed() | _read(target)
        _write(target, names)
    except OSError as error:
        said = _("{file} cannot be written: {reason}.")
        raise ValueError(said.format(file=target, reason=error.strerror)) from error
    said = _("{count} passed, written to {file}.")
    return _note(said.format(count=len(names), file=target.name))


def import_progress(path: str | os.PathLike[str]) -> Note:
    """Add what an exported file holds to what was passed here.

    Args:
        path: A file that `export_progress` has written.

    Raises:
        ValueError: if there is no such file, or if it is something else.
    """
    source = Path(path)
    if not source.exists():
        raise ValueError(_("There is no file {file}.").format(file=source))
    try:
        new = _read(source) - passed()
    except OSError as error:
        said = _("{file} cannot be read: {reason}.")
        raise ValueError(said.format(file=source, reason=error.strerror)) from error
    _unsaved.update(new)
    _together()
    said = _("{count} new from {file}.")
    return _note(said.format(count=len(new), file=source.name))


def _note(text: str) -> Note:
    return Note(text, text)


def _together() -> set[str]:
    """Bring file and memory together; give the ids of both."""
    path = where()
    names = set(_unsaved)
    if path is None:
        return names
    try:
        names |= _saved(path, names)
        _unsaved.clear()
        _troubles.pop("unsaved", None)
    except Exception as error:  # a disk fails in many ways; a check goes on
        reason = getattr(error, "strerror", None) or type(error).__name__
        said = _("Kept in memory only: {file} cannot be written ({reason}).")
        _troubles["unsaved"] = said.format(file=path.name, reason=reason)
        with contextlib.suppress(OSError, ValueError):  # what can be read still counts
            names |= _read(path)
    return names


def _saved(path: Path, new: set[str]) -> set[str]:
    """Add ids to the file; give all that it holds.

    Two notebooks take turns by a lock, so that neither writes over the other.
    """
    from filelock import FileLock

    path.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(f"{path}.lock", timeout=WAIT):
        try:
            old = _read(path)
        except ValueError:
            _set_aside(path)
            old = set()
        if not new <= old:
            _write(path, old | new)
    return old | new


def _read(path: Path) -> set[str]:
    """The ids that a file holds; none where there is no file.

    Raises:
        ValueError: if it is no file of ours.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8-sig"))
        names = content["passed"]
        ours = content["version"] == VERSION and isinstance(names, list)
        if ours and all(ID.fullmatch(name) for name in names):
            return set(names)
    except FileNotFoundError:
        return set()
    except (ValueError, KeyError, TypeError, RecursionError):
        pass
    raise ValueError(
        _("{file} is not a progress file of this course.").format(file=path)
    )


def _write(path: Path, names: set[str]) -> None:
    """Write a file whole or not at all: a draft beside it takes its place."""
    draft = path.with_name(f"{path.name}.new")
    text = json.dumps({"version": VERSION, "passed": sorted(names)}, indent=1)
    try:
        with draft.open("w", encoding="utf-8", newline="\n") as file:
            file.write(text + "\n")
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, path)
    finally:
        draft.unlink(missing_ok=True)


def _set_aside(path: Path) -> None:
    """Move a file that is not ours out of the way; nothing is written over."""
    for number in itertools.count(1):
        aside = path.with_name(f"{path.name}.corrupt{number if number > 1 else ''}")
        if not aside.exists():
            break
    path.rename(aside)
    said = _("{file} could not be read and was set aside as {aside}.")
    _troubles["corrupt"] = said.format(file=path.name, aside=aside.name)
