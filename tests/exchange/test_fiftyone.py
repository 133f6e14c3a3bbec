"""FiftyOne: what its own importer makes of our folder, and what comes back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import cgscore
from cgscore.exchange.fiftyone import read
from tests.command import invoke
from tests.exchange.data import images, pictures, table
from tests.exchange.peers import run_with_tools
from tests.exchange.test_round_trip import exported

# The database of FiftyOne need not be there for this: samples are made without it.
PROGRAM = """
import json, os, sys
import fiftyone as fo
import fiftyone.utils.data as foud

folder, root, target = sys.argv[1:]
importer = foud.FiftyOneDatasetImporter(folder)
assert importer._is_legacy_format_data()  # then this one reads it
importer = foud.LegacyFiftyOneDatasetImporter(folder, rel_dir=root)
importer.setup()
samples = list(importer)
assert len(samples) == len(importer)
for sample in samples:
    assert os.path.isfile(sample.filepath), sample.filepath
    assert isinstance(sample["given_label"], fo.Classification)
    assert 0 <= sample["suggested_label"].confidence <= 1
    assert "suspect" in sample.tags
print(importer.get_dataset_info()["cgscore_stamp"])
samples[0].tags.append("accept")
samples[1].tags.append("keep")
samples[2]["corrected_label"] = samples[2]["suggested_label"].label
samples[3]["corrected_label"] = fo.Classification(label=samples[3]["suggested_label"].label)
os.makedirs(target)
with open(os.path.join(target, "samples.json"), "w") as file:
    json.dump({"samples": [json.loads(sample.to_json()) for sample in samples]}, file)
"""


def test_the_importer_of_the_real_package(tmp_path: Path) -> None:
    source = images(tmp_path)
    result = source.scored()
    path, document = exported("fiftyone", source, result)
    assert str(tmp_path) not in (path / "samples.json").read_text()
    target = tmp_path / "corrected"
    stamp = run_with_tools(
        PROGRAM, path, source.path, target, FIFTYONE_DISABLE_SERVICES="1", HOME=str(tmp_path)
    )
    assert stamp.strip().endswith(document["fingerprint"])
    done = invoke("import", result.name, "corrected", "--json", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert (answer["from"], answer["accepted"], answer["kept"]) == ("fiftyone", 3, 1)


def test_pictures_without_files_are_written(tmp_path: Path) -> None:
    source = pictures(tmp_path)
    path, _ = exported("fiftyone", source, source.scored())
    samples = json.loads((path / "samples.json").read_text(encoding="utf-8"))["samples"]
    assert {sample["cgscore_position"] for sample in samples} == set(source.truth)
    assert all((path / sample["filepath"]).is_file() for sample in samples)
    assert list(read(path)) == []


@pytest.mark.parametrize("name", ["fiftyone"])
def test_only_images(name: str, tmp_path: Path) -> None:
    table(tmp_path).scored()
    done = invoke("export", "scores.parquet", "--to", name, "-o", "out", folder=tmp_path)
    assert done.returncode == 2
    assert "FiftyOne is for images" in done.stderr
    assert not (tmp_path / "out").exists()


def test_all_examples(tmp_path: Path) -> None:
    source = images(tmp_path)
    path, document = exported("fiftyone", source, source.scored(), "--all", "--copy-images")
    samples = json.loads((path / "samples.json").read_text(encoding="utf-8"))["samples"]
    assert len(samples) == document["examples"] == len(cgscore.load(tmp_path / "scores.parquet"))
    assert sum("suspect" in sample["tags"] for sample in samples) == document["suspects"]
