"""The checks in Korean: every message has a translation that says the same."""

import ast
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from gettext import GNUTranslations
from pathlib import Path

import pytest
from babel.messages.catalog import Message
from babel.messages.pofile import read_po

from course_lib import checks
from course_lib.checks import language
from course_lib.checks.cases import WAYS
from course_lib.checks.run import run

ROOT = Path(__file__).parents[2]
PO = language.LOCALE / "ko" / "LC_MESSAGES" / "checks.po"
with PO.open("rb") as file:
    CATALOGUE = read_po(file)
MESSAGES = [message for message in CATALOGUE if message.id]
SPOKEN = {message.id: message.string for message in MESSAGES}
# Words that no Korean sentence has; what stands in backticks is code.
ENGLISH = re.compile(
    r"(?i)\b(the|this|that|and|or|of|to|not|are|was|be|should|must|with|for|from|"
    r"your|you|it|its|has|have|one|two|all|only|when|where|but|given|raises|right|"
    r"read|passed|yet|attempted|printed|hint|next|convention)\b"
)
CODE = re.compile(r"`[^`]*`|\w+(?:Error|Exception|Exit)\b.*")


@pytest.fixture(autouse=True)
def the_language_is_put_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(language._Spoken, "now", None)


@pytest.fixture
def korean() -> Iterator[None]:
    checks.set_language("ko")
    yield
    checks.set_language("en")


@pytest.mark.skipif(not shutil.which("make"), reason="needs make")
def test_make_messages_changes_nothing(tmp_path: Path) -> None:
    """No message is missing, stale or fuzzy, and the compiled file is up to date."""
    for folder in ("checks", "locale"):
        shutil.copytree(ROOT / "course_lib" / folder, tmp_path / "course_lib" / folder)
    shutil.copy(ROOT / "Makefile", tmp_path)
    tools = f"BIN={Path(sys.executable).parent.as_posix()}"
    made = ["make", "--old-file=.venv/installed", tools, "messages"]
    subprocess.run(made, cwd=tmp_path, check=True, capture_output=True)
    for path in (PO, PO.with_suffix(".mo")):
        after = (tmp_path / path.relative_to(ROOT)).read_bytes()
        assert after == path.read_bytes(), "run `make messages` and translate"


def test_nothing_is_fuzzy_or_stale() -> None:
    assert not CATALOGUE.fuzzy, "a fuzzy catalogue"
    assert not CATALOGUE.obsolete
    assert [message.id for message in MESSAGES if message.fuzzy] == []


def parts(text: str) -> Counter[str]:
    """What a translation keeps: places to fill, code, names with _ or digits."""
    return Counter(
        re.findall(r"\{[^}]*\}|`[^`]*`|[A-Za-z]*_[A-Za-z_]+|\.\w+\(\)|\d+|@|√", text)
    )


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: message.id[:60])
def test_translation_says_the_same(message: Message) -> None:
    assert re.search("[가-힣]", message.string), "no Korean"
    english, korean = parts(message.id), parts(message.string)
    assert not english - korean, "lost"
    added = [part for part in korean if part not in english]
    assert not [part for part in added if not re.fullmatch(r"\d\d?", part)], "added"
    assert message.id.endswith(".") == message.string.endswith("."), "the full stop"


def test_compiled_file_holds_the_translations() -> None:
    with PO.with_suffix(".mo").open("rb") as file:
        compiled = GNUTranslations(file)
    assert {text: compiled.gettext(text) for text in SPOKEN} == SPOKEN


@pytest.mark.parametrize("name", checks.EXERCISES)
def test_every_text_of_an_exercise_is_in_the_catalogue(name: str) -> None:
    exercise = checks.EXERCISES[name]
    texts = [exercise.task, exercise.section, *exercise.hints]
    for mistake in exercise.misconceptions:
        texts += [mistake.sentence, mistake.section]
    limits = [case.limit for case in exercise.cases(0, None, None) if case.limit]
    texts += [limit.sentence for limit in limits]
    assert [text for text in texts if text not in SPOKEN] == []


def unmarked(source: str) -> list[str]:
    """The sentences in code that are neither docstrings nor inside _, N_ or add."""
    tree, marked = ast.parse(source), set()
    texts = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and node.args:
            function = node.func
            name = getattr(function, "id", None) or getattr(function, "attr", None)
            if name in ("_", "N_", "add"):
                marked.update(ast.walk(node.args[0]))
        elif isinstance(node, ast.Expr):
            marked.add(node.value)
        elif isinstance(node, ast.Raise):  # told to authors, not to learners
            marked.update(ast.walk(node))
        elif isinstance(node, ast.JoinedStr):
            parts = [getattr(part, "value", "") for part in node.values]
            texts[node] = "".join(part for part in parts if isinstance(part, str))
            marked.update(node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            texts[node] = node.value
    return [
        text
        for node, text in texts.items()
        if node not in marked and re.search(r"[a-z]{2}.* .*[.?!:]\s*$", text)
    ]


@pytest.mark.parametrize(
    "path",
    sorted((ROOT / "course_lib" / "checks").rglob("*.py")),
    ids=lambda path: path.name,
)
def test_every_sentence_of_the_code_is_marked(path: Path) -> None:
    assert unmarked(path.read_text(encoding="utf-8")) == []


def test_a_sentence_that_is_not_marked_is_found() -> None:
    forgotten = '"""What it does."""\nsay = f"Row {row} sees too much."\n'
    assert unmarked(forgotten) == ["Row  sees too much."]
    assert unmarked('say = _("Row {row} sees too much.")') == []


def test_ways_of_calling_are_in_the_catalogue() -> None:
    assert [way for way in WAYS.values() if way not in SPOKEN] == []


@pytest.mark.usefixtures("korean")
@pytest.mark.parametrize("name", checks.EXERCISES)
def test_reports_are_korean(name: str) -> None:
    """With the catalogue of mistakes, and without it: then properties speak."""
    exercise = checks.EXERCISES[name]
    unknown = replace(exercise, misconceptions=())
    for mistake in exercise.misconceptions:
        cases = exercise.cases(0, None, None)
        outcomes = run(mistake.wrong, cases)
        report = exercise.judge(cases, outcomes)
        assert report.diagnosis == mistake.id
        assert report.sentence.startswith(SPOKEN[mistake.sentence])
        assert report.section == SPOKEN[mistake.section]
        for said in (report, unknown.judge(cases, outcomes)):
            for text in (said.sentence, said.example, said.section):
                words = CODE.sub("", text)
                assert not ENGLISH.search(words), text


@pytest.mark.usefixtures("korean")
def test_words_around_a_report_are_korean() -> None:
    softmax = checks.softmax

    def printing(x, dim=-1):
        print(1)
        return x

    def unwritten(x, dim=-1):
        raise NotImplementedError

    wrong = softmax.misconceptions[0].wrong
    for answer in (softmax.right_answer, wrong, printing, unwritten, 3):
        report = softmax.check(answer)
        assert ' lang="ko"' in report._repr_html_(), "for screen readers"
        for text in (str(report), re.sub("<[^>]*>", " ", report._repr_html_())):
            assert not ENGLISH.search(CODE.sub("", text)), text
    for note in (softmax.hint(), checks.progress()):
        assert not ENGLISH.search(CODE.sub("", str(note))), str(note)


@pytest.mark.usefixtures("korean")
def test_equals_signs_stand_below_each_other() -> None:
    """A Hangul syllable takes two columns."""
    report = checks.softmax.check(checks.softmax.misconceptions[0].wrong)
    before = [line.partition(" = ")[0] for line in report.example.split("\n")]
    assert any(re.search("[가-힣]", text) for text in before)
    assert len({len(text) + len(re.findall("[가-힣]", text)) for text in before}) == 1


def test_an_unknown_language_is_refused_in_one_sentence() -> None:
    with pytest.raises(ValueError, match="'en' or 'ko', not 'fr'"):
        checks.set_language("fr")


@pytest.mark.parametrize(
    ("asked", "spoken"),
    [
        ("ko", "3장, √d_k로 나누는 까닭"),
        ("ko_KR.UTF-8", "3장, √d_k로 나누는 까닭"),
        ("en", "chapter 3, Why divide by √d_k?"),
        ("", "chapter 3, Why divide by √d_k?"),
        ("klingon", "chapter 3, Why divide by √d_k?"),
    ],
)
def test_course_lang_chooses_the_language_of_the_first_message(
    asked: str, spoken: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COURSE_LANG", asked)
    assert language.translate("chapter 3, Why divide by √d_k?") == spoken
    monkeypatch.setenv("COURSE_LANG", "en")
    assert language.translate("chapter 3, Why divide by √d_k?") == spoken


def test_english_where_the_catalogue_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(language, "LOCALE", tmp_path)
    checks.set_language("ko")
    assert language.translate("one tensor") == "one tensor"


def test_a_report_speaks_the_language_of_its_check() -> None:
    wrong = checks.softmax.misconceptions[0].wrong
    checks.set_language("ko")
    korean = checks.softmax.check(wrong)
    checks.set_language("en")
    english = checks.softmax.check(wrong)
    assert english.sentence == checks.softmax.misconceptions[0].sentence
    assert korean.sentence == SPOKEN[english.sentence]
