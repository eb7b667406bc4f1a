"""What was passed is kept in one small file; nothing that befalls it breaks a check."""

import json
import multiprocessing
import os
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from course_lib import checks
from course_lib.checks import store

softmax = checks.softmax


@pytest.fixture(autouse=True)
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of this test alone, in a folder that is not there yet."""
    path = tmp_path / "data" / "progress.json"
    monkeypatch.setenv("COURSE_PROGRESS", str(path))
    monkeypatch.setattr(store, "_unsaved", set())
    monkeypatch.setattr(store, "_troubles", {})
    return path


def content(path: Path) -> dict[str, object]:
    found: dict[str, object] = json.loads(path.read_text(encoding="utf-8"))
    return found


def passing() -> None:
    assert softmax.check(softmax.right_answer).passed


def test_the_file_holds_ids_and_nothing_else(file: Path) -> None:
    checks.causal_mask.check(lambda n: None)
    softmax.check(lambda x, dim=-1: x)
    passing()
    assert content(file) == {"version": 1, "passed": ["softmax"]}


def test_a_pass_stays_when_a_later_try_fails(file: Path) -> None:
    passing()
    softmax.check(lambda x, dim=-1: x)
    assert content(file)["passed"] == ["softmax"]
    assert store.passed() == {"softmax"}


def test_off_keeps_it_in_memory(monkeypatch: pytest.MonkeyPatch, file: Path) -> None:
    monkeypatch.setenv("COURSE_PROGRESS", "off")
    passing()
    assert not file.exists()
    assert store.passed() == {"softmax"}


def test_without_the_variable_it_lies_in_the_users_data_folder(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("COURSE_PROGRESS")
    path = store.where()
    assert path is not None
    assert path.name == "progress.json"
    assert path.is_absolute()
    assert not path.is_relative_to(Path.cwd())


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        '{"version": 2, "passed": []}',
        '{"version": 1, "passed": ["<b>"]}',
        '{"version": 1, "passed": [1]}',
        '{"version": 1}',
        "[" * 100_000,
    ],
    ids=lambda text: text[:32] or "empty",
)
def test_a_corrupt_file_is_set_aside(file: Path, text: str) -> None:
    file.parent.mkdir()
    file.write_text(text, encoding="utf-8")
    passing()
    assert content(file)["passed"] == ["softmax"]
    aside = file.with_name("progress.json.corrupt")
    assert aside.read_text(encoding="utf-8") == text
    assert "progress.json.corrupt" in str(checks.progress())


def test_bytes_that_are_no_text_are_set_aside(file: Path) -> None:
    file.parent.mkdir()
    file.write_bytes(b"\xff\xfe\x00softmax")
    passing()
    assert content(file)["passed"] == ["softmax"]
    assert file.with_name("progress.json.corrupt").exists()


def test_a_second_corrupt_file_does_not_replace_the_first(file: Path) -> None:
    file.parent.mkdir()
    for number in ("one", "two"):
        file.write_text(number, encoding="utf-8")
        passing()
    kept = sorted(file.parent.glob("*.corrupt*"))
    assert [each.read_text(encoding="utf-8") for each in kept] == ["one", "two"]


def test_a_folder_that_cannot_be_written_keeps_it_in_memory(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file.parent.write_text("a file stands where the folder should", encoding="utf-8")
    passing()
    note = str(checks.progress())
    assert "1 of " in note
    assert "Kept in memory only" in note


def test_a_full_disk_loses_nothing(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    passing()
    before = file.read_bytes()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        assert checks.causal_mask.check(checks.causal_mask.right_answer).passed
        assert "No space left" in str(checks.progress())
        assert file.read_bytes() == before
    assert store.passed() == {"softmax", "causal_mask"}, "saved when there is room"
    assert content(file)["passed"] == ["causal_mask", "softmax"]
    assert not list(file.parent.glob("*.new"))


def _record_some(number: int) -> None:
    for index in range(20):
        store.record(f"task-{number}/{index}", True)


def test_two_notebooks_at_once_lose_nothing(file: Path) -> None:
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=_record_some, args=(n,)) for n in range(3)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(timeout=120)
        assert writer.exitcode == 0
    assert len(content(file)["passed"]) == 60


def test_export_and_import(file: Path, tmp_path: Path) -> None:
    passing()
    store.record("explorer-04/cache", True)
    taken = tmp_path / "taken.json"
    assert "2" in str(checks.export_progress(taken))
    file.unlink()
    checks.causal_mask.check(checks.causal_mask.right_answer)
    assert "2 new" in str(checks.import_progress(taken))
    assert content(file)["passed"] == ["causal_mask", "explorer-04/cache", "softmax"]


def test_bad_files_are_refused_in_one_sentence(file: Path, tmp_path: Path) -> None:
    passing()
    with pytest.raises(ValueError, match=r"There is no file .*nowhere\.json\."):
        checks.import_progress(tmp_path / "nowhere.json")
    other = tmp_path / "other.json"
    other.write_text('{"grades": [1, 2]}', encoding="utf-8")
    with pytest.raises(ValueError, match=r"other\.json is not a progress file"):
        checks.import_progress(other)
    with pytest.raises(ValueError, match=r"other\.json is not a progress file"):
        checks.export_progress(other)
    assert "grades" in other.read_text(encoding="utf-8")
    with pytest.raises(ValueError, match="cannot be written"):
        checks.export_progress(tmp_path / "no" / "folder.json")
    assert content(file)["passed"] == ["softmax"]


def test_ids() -> None:
    store.record("quiz-03/why-scale", True)
    for wrong in ("", "a b", "<b>", "ä"):
        with pytest.raises(ValueError, match="letters, digits"):
            store.record(wrong, True)


def test_progress_by_chapter() -> None:
    count = len(checks.EXERCISES)
    assert f"0 of {count} exercises passed" in str(checks.progress())
    assert "Next: `additive_scores` (chapter 1" in str(checks.progress())
    checks.additive_scores.check(checks.additive_scores.right_answer)
    checks.causal_mask.check(checks.causal_mask.right_answer)
    note = checks.progress()
    text = str(note)
    assert f"2 of {count} exercises passed" in text
    assert "chapter 1   #####.....  1 of 2" in text
    assert "chapter 4   ###.......  1 of 3" in text
    assert "Next: `context_vector`" in text
    assert "other tasks" not in text
    store.record("explorer-04/cache", True)
    assert "Beside them, 1 other tasks" in str(checks.progress())
    page = BeautifulSoup(note._repr_html_(), "html.parser")
    bars = {bar["aria-label"]: bar for bar in page.find_all("progress")}
    assert bars["chapter 4"]["value"] == "1"
    assert bars["chapter 4"]["max"] == "3"
    words = page.get_text(" ")
    assert "1 of 3" in words
    assert "context_vector" in words


def test_progress_when_all_is_passed() -> None:
    for name in checks.EXERCISES:
        store.record(name, True)
    assert "All exercises are passed." in str(checks.progress())
