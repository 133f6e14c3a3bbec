"""Options in messages."""

from __future__ import annotations

import pytest

import cgscore
from cgscore.errors import SourceError
from cgscore.spelling import for_reader, messages_for, spelled


def test_options_are_spelled_for_the_reader() -> None:
    assert spelled(label_column="a b") == "label_column='a b'"
    with messages_for("command line"):
        assert spelled(skip_bad=True, resize=(64, 48)) == "--skip-bad --resize 64x48"
        assert spelled(drop=["a", "b"]) == "--drop a --drop b"
        with messages_for("python"):
            assert spelled(skip_bad=True, resize=(64, 48)) == "skip_bad=True, resize=(64, 48)"
        assert spelled(label_column="a b") == '--label-column "a b"'
        assert for_reader(python="data=...", command_line="--source PATH") == "--source PATH"
    assert for_reader(python="data=...", command_line="--source PATH") == "data=..."


def test_errors_speak_to_the_reader(tmp_path: object) -> None:
    path = f"{tmp_path}/t.csv"
    with open(path, "w") as file:
        file.write("a,b,kind\n1,2,x\n3,4,y\n")
    with messages_for("python"), pytest.raises(SourceError, match="which one: label_column='kind'"):
        cgscore.read(path)
    with (
        messages_for("command line"),
        pytest.raises(SourceError, match=r"which one: --label-column kind$"),
    ):
        cgscore.read(path)
