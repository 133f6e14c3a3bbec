"""The round trip through a real server of Label Studio, which `make test` does not start.

Start one with an API token, then run this from the root of the repository::

    label-studio start --no-browser --port 8080 --username me@example.com --password PASSWORD \
        --user-token TOKEN --enable-legacy-api-token
    python -m tests.exchange.label_studio_server http://localhost:8080 TOKEN
"""

from __future__ import annotations

import json
import sys
import tempfile
import urllib.request
from pathlib import Path
from typing import Any

import cgscore
from tests.command import invoke
from tests.exchange.data import SOURCES
from tests.exchange.test_round_trip import caption_of


def call(address: str, token: str, document: Any = None) -> Any:
    """The answer of the server to a document, or to a question without one."""
    content = None if document is None else json.dumps(document).encode()
    headers = {"Authorization": f"Token {token}", "Content-Type": "application/json"}
    request = urllib.request.Request(address, content, headers)
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


def round_trip(kind: str, folder: Path, server: str, token: str) -> dict[str, int]:
    """Corrections that came back from the server, by the format of its export."""
    source = SOURCES[kind](folder)
    scores = cgscore.load(source.scored())
    done = invoke("export", "scores.parquet", "--to", "label-studio", "-o", "ls", folder=folder)
    assert done.returncode == 0, done.stderr
    config = (folder / "ls" / "labelling_config.xml").read_text(encoding="utf-8")
    tasks = json.loads((folder / "ls" / "tasks.json").read_text(encoding="utf-8"))
    project = call(f"{server}/api/projects", token, {"title": kind, "label_config": config})["id"]
    imported = call(f"{server}/api/projects/{project}/import", token, tasks)
    assert imported["task_count"] == imported["prediction_count"] == len(tasks), imported
    listed = call(f"{server}/api/tasks?project={project}&fields=all&page_size=1000", token)
    for task in listed["tasks"]:
        at = task["data"]["cgscore_position"]
        if at in source.truth:
            label = caption_of("label-studio", scores, source.truth[at])
            region = task["predictions"][0]["result"][0]
            value = {region["type"]: label if region["type"] == "number" else [label]}
            answer = {"result": [{**region, "value": value}]}
            call(f"{server}/api/tasks/{task['id']}/annotations/", token, answer)
    counts = {}
    for form in ("JSON", "JSON_MIN"):
        content = call(f"{server}/api/projects/{project}/export?exportType={form}", token)
        (folder / f"{form}.json").write_text(json.dumps(content))
        arguments = ("-o", f"{form}.parquet", "--decisions", f"{form}.review", "-q", "--json")
        done = invoke("import", "scores.parquet", f"{form}.json", *arguments, folder=folder)
        assert done.returncode == 0, done.stderr
        labels = cgscore.load(folder / f"{form}.parquet").table["given_label"]
        assert {at: labels[at] for at in source.truth} == source.truth
        counts[form] = json.loads(done.stdout)["decisions"]
    return counts


if __name__ == "__main__":
    for name in SOURCES:
        with tempfile.TemporaryDirectory() as place:
            print(name, round_trip(name, Path(place), *sys.argv[1:]))
