"""ARFF files."""

from __future__ import annotations

from pathlib import Path

import pytest

import cgscore
from cgscore.errors import CGScoreError

WEATHER = """% The weather
@RELATION weather

@ATTRIBUTE 'out look' {sunny, 'very rainy', "over\\"cast"}
@attribute temperature REAL
@attribute windy {TRUE,FALSE}
@attribute when date "yyyy-MM-dd"
@attribute remark string
@attribute class {yes, no}

@DATA
sunny, 85, FALSE, 2024-01-31, 'it\\'s hot, dry', no
% a comment
'very rainy',?,TRUE,2024-02-01,"cold",yes
"over\\"cast" , 64.5 ,TRUE,"2024-02-03",?,yes
sunny,70,FALSE,2024-02-04,fine,no
"""


def test_all_kinds_of_attributes(tmp_path: Path) -> None:
    (tmp_path / "t.arff").write_text(WEATHER)
    data = cgscore.read(tmp_path / "t.arff")
    assert data.notes[0] == "labels are the attribute 'class'"
    assert data.y is not None
    assert data.y.tolist() == ["no", "yes", "yes", "no"]
    assert data.frame is not None
    frame = data.frame
    assert frame["out look"].tolist() == ["sunny", "very rainy", 'over"cast', "sunny"]
    assert frame["temperature"].fillna(-1).tolist() == [85, -1, 64.5, 70]
    assert frame["remark"].tolist()[:2] == ["it's hot, dry", "cold"]
    assert frame["remark"].isna().tolist() == [False, False, True, False]
    assert "1 columns standardised, 3 encoded one-hot, 1 dates" in data.preprocessing
    named = cgscore.read(tmp_path / "t.arff", label_column="windy")
    assert named.y is not None
    assert named.y.tolist() == ["FALSE", "TRUE", "TRUE", "FALSE"]


def test_nominal_numbers_are_numbers_as_labels(tmp_path: Path) -> None:
    text = "@relation r\n@attribute a numeric\n@attribute label {0,1}\n@data\n1,0\n2,1\n"
    (tmp_path / "t.arff").write_text(text)
    data = cgscore.read(tmp_path / "t.arff", preprocess="none")
    assert data.y is not None
    assert data.y.tolist() == [0, 1]
    assert data.X.tolist() == [[1], [2]]


HEAD = "@relation r\n@attribute a numeric\n@attribute label {x,y}\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"{HEAD}@data\n{{0 1, 1 x}}\n", r"line 5 is sparse .*Sparse ARFF is not read"),
        (f"{HEAD}@data\n1,x\n2\n", "line 6 has 1 values. Expected 2"),
        (f"{HEAD}@data\n1,x\n2,z\n", "line 6 has 'z' as 'label'. Expected one of the values"),
        (f"{HEAD}@data\none,x\n", "line 5 has 'one' as 'a'. Expected a number"),
        (f"{HEAD}@data\n1,'x\n", "line 5 has a quotation mark that is not closed"),
        (f"{HEAD}@data\n1,'x' y\n", "line 5 has a quotation mark that is not closed"),
        (f"{HEAD}@data\n", "has no rows"),
        (HEAD, "has no @data"),
        ("@relation r\n@data\n1\n", "has no @attribute before @data"),
        (f"{HEAD}@attribute a numeric\n@data\n", "more than one attribute 'a'"),
        (f"{HEAD}@attribute b relational\n@data\n", "attribute 'b' has the type 'relational'"),
        ("1,2,3\n", "line 1 is '1,2,3'. Expected @attribute"),
        (f"{HEAD}@data\n1,?\n2,x\n", "'label' has no label in 1 rows"),
    ],
)
def test_files_with_mistakes(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "t.arff").write_text(text)
    with pytest.raises(CGScoreError, match=message):
        cgscore.read(tmp_path / "t.arff")
