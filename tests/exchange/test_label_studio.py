"""Label Studio: what its own package says of our tasks, and what comes back."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import parse_qs, urlparse
from xml.etree import ElementTree

import numpy as np

import cgscore
from cgscore.exchange.examples import Examples
from cgscore.exchange.label_studio import labelling_configuration, read
from cgscore.exchange.registry import find_tool, tool_of
from tests.command import invoke
from tests.exchange.annotators import in_label_studio
from tests.exchange.data import SOURCES, Source, crowd, images, pictures, table
from tests.exchange.peers import run_with_tools
from tests.exchange.test_round_trip import caption_of, exported

PROGRAM = """
import json, sys
from pathlib import Path
from label_studio_sdk.converter import Converter
from label_studio_sdk.label_interface import LabelInterface

for folder in map(Path, sys.argv[1:]):
    config = (folder / "export" / "labelling_config.xml").read_text()
    interface = LabelInterface(config)
    interface.validate()
    tasks = json.loads((folder / "export" / "tasks.json").read_text())
    for task in tasks:
        assert interface.validate_task({"data": task["data"]}), task
        for prediction in task["predictions"]:
            errors = interface.validate_prediction(prediction, return_errors=True)
            assert not errors, errors
    bad = json.loads(json.dumps(tasks[0]["predictions"][0]))
    bad["result"][0]["value"] = {"choices": ["no such class"]}
    assert not interface.validate_prediction(bad)
    for task in json.loads((folder / "project.json").read_text()):
        assert all(map(interface.validate_annotation, task["annotations"]))
    target = str(folder / "short")
    Converter(config, target).convert_to_json_min(str(folder / "project.json"), target, False)
    print(json.dumps([len(tasks), list(interface.get_control("label").labels or [])]))
"""


def corrected(source: Source, result: Path) -> tuple[Path, int]:
    """A project in which all wrong labels are corrected, and its number of tasks."""
    path, document = exported("label-studio", source, result)
    scores = cgscore.load(result)
    choices = {at: caption_of("label-studio", scores, label) for at, label in source.truth.items()}
    return in_label_studio(path, choices), document["examples"]


def test_the_real_package_accepts_what_is_written_and_what_it_writes_comes_back(
    tmp_path: Path,
) -> None:
    expected: dict[Path, tuple[int, list[str]]] = {}
    sources: dict[Path, Source] = {}
    for kind, make in SOURCES.items():
        folder = tmp_path / kind
        folder.mkdir()
        source = sources[folder] = make(folder)
        result = source.scored()
        project, count = corrected(source, result)
        tasks = json.loads(project.read_text())
        for task in tasks:  # one annotation, with what a server adds
            task["annotations"] = [
                {**one, "completed_by": 1, "created_at": "", "updated_at": "", "lead_time": 1.0}
                for one in task["annotations"][2:3]
            ]
        project.write_text(json.dumps(tasks))
        texts = find_tool("label-studio").captions(cgscore.load(result)).texts
        expected[folder] = (count, texts)
    answers = run_with_tools(PROGRAM, *expected).splitlines()
    for answer, (folder, (count, texts)) in zip(answers, expected.items(), strict=True):
        found, labels = json.loads(answer)
        assert found == count > 0
        assert sorted(labels) == sorted(texts)
        short = folder / "short" / "result.json"
        assert "annotations" not in short.read_text()
        done = invoke("import", "scores.parquet", str(short), "--json", folder=folder)
        assert done.returncode == 0, done.stderr
        document = json.loads(done.stdout)
        assert document["from"] == "label-studio"
        assert document["accepted"] + document["changed"] == len(sources[folder].truth)


def test_the_configuration_escapes_what_comes_from_the_data(tmp_path: Path) -> None:
    source = table(tmp_path)
    path, _ = exported("label-studio", source, source.scored())
    text = (path / "labelling_config.xml").read_text(encoding="utf-8")
    root = ElementTree.fromstring(text)
    assert {tag.tag for tag in root.iter()} == {"View", "Header", "Table", "Choices", "Choice"}
    values = [tag.attrib["value"] for tag in root.iter("Choice")]
    assert "<b>dog</b> & 'co'" in values
    assert "日本 ＄x {y}" in values  # a dollar sign would stand for a field of the task
    assert "<b>" not in text


def test_many_classes_are_a_list_to_search_in(tmp_path: Path) -> None:
    scores, issues = crowd(tmp_path)
    captions = find_tool("label-studio").captions(scores)
    examples = Examples(scores, None, issues, np.arange(3), captions)
    root = ElementTree.fromstring(labelling_configuration(examples))
    (choices,) = root.iter("Choices")
    assert choices.attrib["layout"] == "select"
    assert [choice.attrib["value"] for choice in choices] == captions.texts
    assert len(choices) == 1000


def addresses(path: Path) -> dict[int, str]:
    """The path that each address of a local file stands for."""
    found = {}
    for task in json.loads((path / "tasks.json").read_text(encoding="utf-8")):
        address = urlparse(task["data"]["image"])
        assert address.path == "/data/local-files/"
        (found[task["data"]["cgscore_position"]],) = parse_qs(address.query)["d"]
    return found


def test_images_are_local_files_relative_to_a_root(tmp_path: Path) -> None:
    source = images(tmp_path)
    result = source.scored()
    ids = cgscore.load(result).table["id"]
    path, _ = exported("label-studio", source, result)
    assert str(tmp_path) not in (path / "tasks.json").read_text(encoding="utf-8")
    for at, name in addresses(path).items():
        assert name == ids[at]
        assert (source.path / name).is_file()
    path.rename(tmp_path / "first")
    path, _ = exported("label-studio", source, result, "--image-root", str(tmp_path))
    assert all((tmp_path / name).is_file() for name in addresses(path).values())
    path.rename(tmp_path / "second")
    path, _ = exported("label-studio", source, result, "--absolute-paths")
    assert set(addresses(path).values()) <= {str(source.path / name) for name in ids}
    path.rename(tmp_path / "third")
    path, document = exported("label-studio", source, result, "--copy-images")
    assert all((path / name).is_file() for name in addresses(path).values())
    assert str(path / "images") in document["written"]
    (tmp_path / "elsewhere").mkdir()
    arguments = ("export", result.name, "--to", "label-studio", "-o", "x", "--image-root")
    done = invoke(*arguments, "elsewhere", folder=tmp_path)
    assert done.returncode == 2
    assert "--image-root FOLDER" in done.stderr
    assert not (tmp_path / "x").exists()


def test_images_without_files_are_written(tmp_path: Path) -> None:
    source = pictures(tmp_path)
    path, _ = exported("label-studio", source, source.scored())
    found = addresses(path)
    assert set(source.truth) <= set(found)
    assert all((path / name).is_file() for name in found.values())


def test_two_labels_of_one_example(tmp_path: Path) -> None:
    source = table(tmp_path)
    result = source.scored()
    scores = cgscore.load(result)
    project, _ = corrected(source, result)
    assert tool_of(project).name == "label-studio"
    assert len(list(read(project))) == 2 * len(source.truth)
    tasks = json.loads(project.read_text())
    value = tasks[0]["annotations"][-1]["result"][0]["value"]
    others = find_tool("label-studio").captions(scores).texts
    value["choices"] = [next(text for text in others if text != value["choices"][0])]
    project.write_text(json.dumps(tasks))
    done = invoke("import", result.name, str(project), folder=tmp_path)
    assert done.returncode == 2
    assert "annotation 3: example" in done.stderr
    assert "has two different labels" in done.stderr
    assert not (tmp_path / "scores-corrected.parquet").exists()
    assert not (tmp_path / "scores.parquet.review").exists()
    done = invoke("import", result.name, str(project), "--skip-bad", "--json", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["left_out"] == 1
    assert document["decisions"] == len(source.truth) - 1
