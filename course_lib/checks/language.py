"""The language that the checks speak: English, or Korean.

Every message stands in the code in English, inside `_("…")`, and its translation in
`course_lib/locale/<language>/LC_MESSAGES/checks.po`. `make messages` brings the two
together.
"""

import gettext
import os
from pathlib import Path

LOCALE = Path(__file__).parents[1] / "locale"
LANGUAGES = ("en", "ko")


class _Spoken:
    """The translations in use; those of `COURSE_LANG` when the first is needed."""

    language = ""
    now: gettext.NullTranslations | None = None


def set_language(language: str) -> None:
    """Choose the language of reports, hints and tasks from here on.

    Args:
        language: "en" or "ko".

    Raises:
        ValueError: if there is no such language.
    """
    if language not in LANGUAGES:
        known = " or ".join(map(repr, LANGUAGES))
        raise ValueError(f"the checks speak {known}, not {language!r}")
    _Spoken.language = language
    _Spoken.now = gettext.translation("checks", LOCALE, [language], fallback=True)


def spoken() -> str:
    """Give the language in use: "en" or "ko"."""
    if _Spoken.now is None:
        asked = os.environ.get("COURSE_LANG", "en")[:2].lower()
        set_language(asked if asked in LANGUAGES else "en")
    return _Spoken.language


def translate(message: str) -> str:
    """Give a message in the chosen language; English where it has none."""
    spoken()
    assert _Spoken.now is not None
    return _Spoken.now.gettext(message) if message else ""


def mark(message: str) -> str:
    """Mark a message for translation where it stands as data; give it unchanged."""
    return message
