"""What a lesson shows of the library is the library's own file."""

from pathlib import Path

from course_lib import attention, masks, show


def test_source_is_the_file_itself_without_notes_to_tools():
    shown = show.source(attention.merge_heads, masks.padding_mask).data
    assert shown.startswith("```python\ndef merge_heads(") and shown.endswith("\n```")
    for module in (attention, masks):
        text = Path(module.__file__).read_text(encoding="utf-8")
        part = shown.split("def padding_mask")[module is masks].strip("`python \n")
        assert all(line.strip() in text for line in part.splitlines() if line.strip())
    method = show.source(attention.MultiHeadAttention.forward).data
    assert "\ndef forward(\n    self,\n" in method, "a method is shown from column 0"
    assert "# (B, H, Tq, d_k), (B, H, Tq, all)\n" in method
    assert "fmt: skip" not in method


def test_ready_names_versions_and_device(capsys, monkeypatch):
    monkeypatch.setenv("COURSE_DEVICE", "cpu")
    show.ready()
    line = capsys.readouterr().out
    assert line.startswith("Ready: course_lib 0.1.0, torch ")
    assert line.endswith(", cpu\n") and "+" not in line
