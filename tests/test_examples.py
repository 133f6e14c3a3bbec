"""The examples run from end to end, and show what they are there to show."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"


def numbers(pattern: str, text: str) -> list[float]:
    """The numbers that a line of output holds."""
    found = re.search(pattern, text)
    assert found, text
    return [float(one) for one in found.groups()]


@pytest.fixture
def output(request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]) -> str:
    runpy.run_path(str(EXAMPLES / f"{request.param}.py"), run_name="__main__")
    return capsys.readouterr().out


pytestmark = pytest.mark.filterwarnings("default")  # of the libraries shown


@pytest.mark.parametrize("output", ["sklearn_pipeline"], indirect=True)
def test_scikit_learn(output: str) -> None:
    dropped, wrong = numbers(r"dropped (\d+), of which (\d+)", output)
    assert wrong > 0.9 * dropped > 300
    before, after = numbers(r"accuracy ([\d.]+) with all labels, ([\d.]+) without", output)
    assert after > before + 0.02


@pytest.mark.parametrize("output", ["torch_dataloader"], indirect=True)
def test_torch(output: str) -> None:
    whole, half, drawn = (float(one) for one in re.findall(r"test accuracy ([\d.]+)", output))
    assert half > whole + 0.02
    assert drawn > whole + 0.02
    wrong, kept = numbers(r"was kept: (\d+) of (\d+)", output)
    assert kept == 600
    assert wrong < 10


@pytest.mark.parametrize("output", ["hugging_face_dataset"], indirect=True)
def test_hugging_face(output: str) -> None:
    suspects, found, wrong = numbers(r"(\d+) suspects, (\d+) of (\d+)", output)
    assert found > 0.9 * wrong
    assert suspects < 1.2 * wrong
    assert numbers(r"(\d+) rows left", output) == [1797 - suspects]
    assert numbers(r"'label_score': ([\d.e-]+)", output)[0] < 0.5  # the first label is wrong


@pytest.mark.parametrize("output", ["datalab"], indirect=True)
def test_datalab(output: str) -> None:
    issues, wrong = numbers(r"our probabilities: (\d+) issues, (\d+) wrong", output)
    assert wrong > 0.9 * issues
    issues, found, there = numbers(r"cg_score: (\d+) issues, (\d+) wrong of (\d+)", output)
    assert found > 0.95 * there
    assert issues < 1.1 * there


@pytest.mark.parametrize("output", ["clean_and_retrain"], indirect=True)
def test_clean_and_retrain(output: str) -> None:
    before, dropped, corrected, true = (
        float(one) for one in re.findall(r"test accuracy ([\d.]+)", output)
    )
    assert before < dropped < corrected <= true
    were, are = numbers(r"before (\d+), after (\d+)", output)
    assert are < 0.1 * were


def test_there_is_no_example_without_a_test() -> None:
    names = {path.stem for path in EXAMPLES.glob("*.py")}
    tested = set(re.findall(r'"output", \["(\w+)"\]', Path(__file__).read_text()))
    assert names == tested


@pytest.mark.parametrize("output", ["sources"], indirect=True)
def test_sources(output: str) -> None:
    assert re.search(r"\n0 +bob .* more ", output)
    majority, consensus = numbers(r"([\d.]+) by majority, ([\d.]+) by consensus", output)
    assert majority < 0.85
    assert consensus > 0.97
