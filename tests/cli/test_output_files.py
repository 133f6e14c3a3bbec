"""Output files: refused before any work, written without what pandas would add."""

from __future__ import annotations

import os
from pathlib import Path

import pandas as pd
import pytest

from cgscore.cli.output_files import check_not_input, check_output, write_table
from cgscore.errors import OptionError
from tests.cli import data
from tests.command import invoke


def test_a_name_with_another_ending_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=r"ends in \.html or \.htm\."):
        check_output(tmp_path / "page.pdf", suffixes=(".html", ".htm"))


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write")
def test_a_folder_without_permission_is_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(OptionError, match="cannot be written to"):
        check_output(tmp_path / "scores.csv")


def test_an_input_by_another_name_is_refused(tmp_path: Path) -> None:
    (tmp_path / "input.csv").write_text("x\n")
    (tmp_path / "link.csv").symlink_to("input.csv")
    with pytest.raises(OptionError, match=r"--to .*link\.csv is the input itself"):
        check_not_input("--to", tmp_path / "link.csv", None, str(tmp_path / "input.csv"))


@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
def test_tables_are_written_without_index_and_attributes(tmp_path: Path, name: str) -> None:
    table = pd.DataFrame({"id": ["a", "b"], "cg": [1.0, 2.0]}, index=[5, 7])
    table.attrs["hint"] = object()  # which Parquet could not store
    write_table(table, tmp_path / name)
    written = pd.read_csv(tmp_path / name) if name == "t.csv" else pd.read_parquet(tmp_path / name)
    pd.testing.assert_frame_equal(written, table.reset_index(drop=True))
    assert table.attrs


@pytest.mark.parametrize(
    "call",
    [
        ("issues", "s.parquet", "-o", "t.csv"),
        ("issues", "s.parquet", "-o", "answers.csv"),
        ("export", "s.parquet", "--to", "csv", "-o", "t.csv"),
        ("import", "s.parquet", "corrected.csv", "--labels-to", "t.csv"),
        ("review", "s.parquet", "--labels-to", "t.csv"),
        ("prune", "s.parquet", "--keep", "0.5", "-o", "t.csv"),
        ("next", "pool.csv", "--like", "s.parquet", "--budget", "3", "-o", "t.csv"),
    ],
)
def test_no_command_on_a_saved_result_writes_over_its_source(
    tmp_path: Path, call: tuple[str, ...]
) -> None:
    data.write_table(tmp_path / "t.csv")
    frame = pd.read_csv(tmp_path / "t.csv")
    frame.drop(columns="label").to_csv(tmp_path / "pool.csv", index=False)
    source, answers = tmp_path / "t.csv", tmp_path / "answers.csv"
    frame["label"].to_csv(answers, index=False, header=False)
    scores = ("score", "t.csv", "-o", "s.parquet", "--quiet")
    assert invoke(*scores, folder=tmp_path).returncode == 0
    if "answers.csv" in call:
        (tmp_path / "t.csv").write_text(frame.drop(columns="label").to_csv(index=False))
        labelled = (*scores, "--labels", "answers.csv")
        assert invoke(*labelled, folder=tmp_path).returncode == 0
    if "import" in call:
        exported = ("export", "s.parquet", "--to", "csv", "--all", "-o", "suspects.csv")
        assert invoke(*exported, folder=tmp_path).returncode == 0
        rows = pd.read_csv(tmp_path / "suspects.csv", dtype=str)
        rows["corrected_label"] = rows["given_label"]
        rows.to_csv(tmp_path / "corrected.csv", index=False)
    before = source.read_bytes(), answers.read_bytes()
    done = invoke(*call, folder=tmp_path)
    assert done.returncode == 2
    assert "is the input itself" in done.stderr
    assert (source.read_bytes(), answers.read_bytes()) == before
