"""Files that no tool wrote: a program that imports each with little memory, and says what came."""

from __future__ import annotations

import datetime
import gzip
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

ADDRESS_SPACE = 8 << 30
SECONDS = 30
STAMP = "cgscore-1-{fingerprint}"


class Case(NamedTuple):
    """A file, and what the message about it must say; empty if it is imported."""

    make: Callable[[Path, str], Path]
    words: str


def _bytes(name: str, content: bytes | str) -> Callable[[Path, str], Path]:
    def make(folder: Path, stamp: str) -> Path:
        path = folder / name
        data = content.encode() if isinstance(content, str) else content
        path.write_bytes(data.replace(b"STAMP", stamp.encode()))
        return path

    return make


def _tasks(*tasks: Any) -> Callable[[Path, str], Path]:
    return _bytes("project.json", json.dumps(tasks))


def task(label: Any = "a", position: Any = 0, identity: Any = "r0", stamp: Any = "STAMP") -> Any:
    """A task of Label Studio with one annotation."""
    data = {"cgscore_position": position, "cgscore_id": identity, "cgscore_stamp": stamp}
    region = {"from_name": "label", "type": "choices", "value": {"choices": [label]}}
    return {"data": data, "annotations": [{"result": [region]}]}


def samples(fields: Any) -> str:
    """A sample of FiftyOne."""
    names = {"cgscore_position": 0, "cgscore_id": "r0", "cgscore_stamp": "STAMP"}
    return json.dumps({"samples": [{**names, **fields}]})


def record(response: Any) -> dict[str, Any]:
    """A record of Argilla."""
    metadata = {"cgscore_position": 0, "cgscore_id": "r0", "cgscore_stamp": "STAMP"}
    return {"metadata": metadata, "responses": {"label": [response]}, "status": "completed"}


def _records(response: Any) -> Callable[[Path, str], Path]:
    return _bytes("r.json", json.dumps([record(response)]))


def _pipe(folder: Path, name: str) -> Path:
    os.mkfifo(folder / name)
    return folder / name


def _device(folder: Path, name: str) -> Path:
    (folder / name).symlink_to("/dev/zero")
    return folder / name


def _sparse(folder: Path, name: str) -> Path:
    with (folder / name).open("wb") as file:
        file.write(b"cgscore_position,cgscore_id,corrected_label,cgscore_stamp\n")
        file.truncate(50_000_000)
    return folder / name


def _parquet(**columns: Any) -> Callable[[Path, str], Path]:
    """A Parquet file; columns are lists, or functions that make arrays of Arrow."""

    def make(folder: Path, stamp: str) -> Path:
        import pyarrow as pa
        import pyarrow.parquet as pq

        made = {
            name: values() if callable(values) else [_stamped(value, stamp) for value in values]
            for name, values in columns.items()
        }
        pq.write_table(pa.table(made), folder / "c.parquet")
        return folder / "c.parquet"

    return make


def _stamped(value: Any, stamp: str) -> Any:
    return stamp if value == "STAMP" else value


def _saved(folder: Path, files: Any) -> Path:
    (folder / "d").mkdir()
    (folder / "d" / "state.json").write_text(json.dumps({"_data_files": files}))
    return folder / "d"


def _zeros() -> Any:
    import pyarrow as pa

    return pa.nulls(30_000_000, pa.int64()).fill_null(0)


HEADER = "cgscore_position,cgscore_id,corrected_label,cgscore_stamp\n"

CASES: dict[str, Case] = {
    "a sound table": Case(_bytes("t.csv", HEADER + "0,r0,a,STAMP\n"), ""),
    "a table without corrections": Case(_bytes("t.csv", HEADER + "0,r0,,STAMP\n"), ""),
    "semicolons": Case(_bytes("t.csv", HEADER.replace(",", ";") + "0;r0;a;STAMP\n"), ""),
    "UTF-16": Case(
        lambda d, stamp: _bytes("t.csv", (HEADER + f"0,r0,a,{stamp}\n").encode("utf-16"))(d, ""), ""
    ),
    "a pipe": Case(lambda d, _: _pipe(d, "t.csv"), "t.csv is a named pipe"),
    "a device": Case(lambda d, _: _device(d, "t.csv"), "t.csv is a device"),
    "a pipe as JSON": Case(lambda d, _: _pipe(d, "p.json"), "p.json is a named pipe"),
    "50 MB of zeros": Case(lambda d, _: _sparse(d, "t.csv"), "holds zero bytes"),
    "a picture as a table": Case(_bytes("t.csv", bytes(range(128, 256)) * 99), "not text"),
    "an empty table": Case(_bytes("t.csv", ""), "has no column 'corrected_label'"),
    "another table": Case(_bytes("t.csv", "a,b\n1,2\n"), "has no column 'corrected_label'"),
    "a column twice": Case(
        _bytes("t.csv", "corrected_label," + HEADER + "a,0,r0,b,STAMP\n"), "more than one column"
    ),
    "no stamp": Case(_bytes("t.csv", HEADER + "0,r0,a,\n"), "does not say from which data"),
    "a stamp of nonsense": Case(
        _bytes("t.csv", HEADER + "0,r0,a,cgscore-1-xyz\n"), "does not say from which data"
    ),
    "another result": Case(
        _bytes("t.csv", HEADER + f"0,r0,a,cgscore-1-{'0' * 32}\n"), "not exported from this result"
    ),
    "a newer format": Case(
        _bytes("t.csv", HEADER + f"0,r0,a,cgscore-2-{'0' * 32}\n"), "newer version of cgscore"
    ),
    "mixed stamps": Case(
        _bytes("t.csv", HEADER + f"0,r0,a,STAMP\n1,r1,a,cgscore-1-{'0' * 32}\n"),
        "line 3 is about data with the fingerprint",
    ),
    "short rows": Case(_bytes("t.csv", HEADER + "0,r0\n"), "line 2 has 2 cells"),
    "a quotation mark that is not closed": Case(
        _bytes("t.csv", HEADER + '0,r0,"a,STAMP\n' * 3), "not a table in CSV format"
    ),
    "a cell of 10 MB": Case(
        _bytes("t.csv", HEADER + f"0,{'x' * 10**7},a,STAMP\n"), "field larger than field limit"
    ),
    "an unknown label": Case(
        _bytes("t.csv", HEADER + "0,r0,aa,STAMP\n"), "'aa' is not one of the 3 classes. Did you"
    ),
    "an unknown position": Case(
        _bytes("t.csv", HEADER + "60,r0,a,STAMP\n"), "no example '60'; positions are from 0"
    ),
    "a negative position": Case(_bytes("t.csv", HEADER + "-1,r0,a,STAMP\n"), "no example '-1'"),
    "a position of 400 digits": Case(
        _bytes("t.csv", HEADER + f"{'9' * 400},r0,a,STAMP\n"), "no example '999"
    ),
    "an unknown id": Case(_bytes("t.csv", HEADER + ",r99,a,STAMP\n"), "no example 'r99'"),
    "another id": Case(_bytes("t.csv", HEADER + "0,r1,a,STAMP\n"), "called 'r0', and not 'r1'"),
    "no name at all": Case(_bytes("t.csv", HEADER + ",,a,STAMP\n"), "neither position nor id"),
    "an example twice": Case(
        _bytes("t.csv", HEADER + "0,r0,a,STAMP\n0,r0,b,STAMP\n"), "two different labels"
    ),
    "the same twice": Case(_bytes("t.csv", HEADER + "0,r0,a,STAMP\n0,r0,a,STAMP\n"), ""),
    "20,000 bad rows": Case(
        _bytes("t.csv", HEADER + "0,r0,zzz,STAMP\n" * 20_000), "20,000 corrections do not fit"
    ),
    "4 GB of CSV in 4 MB": Case(
        lambda d, _: _bytes("t.csv.gz", gzip.compress(b"0,r0,a,b\n" * 10**6, 9) * 200)(d, ""),
        "not recognised as the output",
    ),
    "a sound project": Case(_tasks(task(), task("b", 1, "r1")), ""),
    "NaN as a label": Case(_tasks(task(float("nan"))), "'nan' is not one of|nan is not one of"),
    "a list as a label": Case(_tasks(task(["a", "b"])), "is not one label"),
    "an object as a label": Case(_tasks(task({"a": 1})), "is not one label"),
    "two choices": Case(
        _bytes("p.json", json.dumps([task()]).replace('["a"]', '["a", "b"]')), "not one label"
    ),
    "a boolean as a position": Case(_tasks(task(position=True)), "no example True"),
    "a fraction as a position": Case(_tasks(task(position=0.5)), "no example 0.5"),
    "infinity as a position": Case(_tasks(task(position=float("inf"))), "no example inf"),
    "a list as a position": Case(_tasks(task(position=[0])), r"no example \[0\]"),
    "a list as an id": Case(_tasks(task(identity=["r0"])), "called 'r0', and not"),
    "a list as a stamp": Case(_tasks(task(stamp=["STAMP"])), "does not say from which data"),
    "data that are a list": Case(_tasks({"data": [], "annotations": []}), "data is not an object"),
    "annotations that are a text": Case(
        _tasks({"data": {}, "annotations": "x"}), "annotations are not a list"
    ),
    "an annotation that is a number": Case(
        _tasks({"data": {}, "annotations": [1]}), "annotation is not an object"
    ),
    "a result that is a number": Case(
        _tasks({"data": {}, "annotations": [{"result": 1}]}), "result is not a list"
    ),
    "a region that is null": Case(
        _tasks({"data": {}, "annotations": [{"result": [None]}]}), "region is not an object"
    ),
    "tasks that are numbers": Case(_bytes("p.json", '["annotations", 1]'), "is not an object"),
    "a truncated project": Case(_bytes("p.json", json.dumps([task()])[:-9]), "not JSON|no end"),
    "nested 100,000 deep": Case(
        _bytes("p.json", '[{"annotations": ' + "[" * 100_000), "nests lists or objects too deep"
    ),
    "300,000 empty lists": Case(
        _bytes("p.json", '[{"annotations": [' + "[]," * 300_000 + "[]]}]"), "data is not an object"
    ),
    "JSON of another program": Case(_bytes("p.json", '{"a": 1}'), "not recognised as the output"),
    "half a character": Case(
        _bytes("p.json", json.dumps([task("\ud800")])), r"'\\ud800' is not one of"
    ),
    "a sound dataset": Case(
        _parquet(corrected_label=["a", None], cgscore_stamp=["STAMP"] * 2, cgscore_position=[0, 1]),
        "",
    ),
    "a dataset without a stamp": Case(_parquet(corrected_label=["a"]), "no column 'cgscore_stamp'"),
    "a dataset of lists": Case(
        _parquet(corrected_label=[["a"]], cgscore_stamp=["STAMP"]), "is of the type list"
    ),
    "a dataset of bytes": Case(
        _parquet(corrected_label=[b"a"], cgscore_stamp=["STAMP"], cgscore_id=["r0"]),
        "is not one label",
    ),
    "a dataset of dates": Case(
        _parquet(
            corrected_label=[datetime.date(2020, 1, 1)], cgscore_stamp=["STAMP"], cgscore_id=["r0"]
        ),
        "is not one label",
    ),
    "240 MB of zeros": Case(_parquet(corrected_label=_zeros), "claims to hold 240 MB in"),
    "a truncated dataset": Case(_bytes("c.parquet", b"PAR1" * 9), "not a complete Parquet file"),
    "a dataset elsewhere": Case(
        lambda d, _: _saved(d, [{"filename": "../../scores.parquet"}]), "does not name the data"
    ),
    "a dataset of nothing": Case(lambda d, _: _saved(d, []), "does not name the data files"),
    "a folder of nothing": Case(lambda d, _: d, "not recognised as the output"),
    "sound samples": Case(
        _bytes("samples.json", samples({"corrected_label": {"label": "a"}})), ""
    ),
    "a tagged sample": Case(
        _bytes("samples.json", samples({"tags": ["keep"], "given_label": {"label": "a"}})), ""
    ),
    "two tags": Case(
        _bytes(
            "samples.json",
            samples({"tags": ["keep", "accept"], "given_label": "a", "suggested_label": "b"}),
        ),
        "two different labels",
    ),
    "tags that are a number": Case(_bytes("samples.json", samples({"tags": 7})), "not a list"),
    "a tag without a label": Case(
        _bytes("samples.json", samples({"tags": ["accept"]})), "None is not one label"
    ),
    "no samples": Case(_bytes("samples.json", '{"a": 1}'), "has no list of samples"),
    "samples of numbers": Case(_bytes("samples.json", '{"samples": [1]}'), "sample 0: it is no"),
    "samples that are a list": Case(_bytes("samples.json", "[]"), "it is not an object"),
    "truncated samples": Case(_bytes("samples.json", '{"samples": [{'), "is not JSON"),
    "samples nested deep": Case(_bytes("samples.json", "[" * 100_000), "too deep"),
    "sound records": Case(_records({"value": "a"}), ""),
    "a response that is a text": Case(_records("a"), "response is not an object"),
    "a response of a list": Case(_records({"value": ["a", "b"]}), "is not one label"),
    "metadata that are a list": Case(
        _bytes("r.json", '[{"responses": {}, "metadata": []}]'), "metadata is not an object"
    ),
    "responses that are a list": Case(_bytes("r.json", '[{"responses": []}]'), "is not an object"),
    "responses that are a number": Case(
        _bytes("r.json", '[{"responses": {"label": 1}}]'), "responses are not a list"
    ),
    "a name that nobody knows": Case(_bytes("t.exe", "x"), "not recognised as the output"),
    "nothing": Case(lambda d, _: d / "nowhere.csv", "nowhere.csv does not exist"),
}  # fmt: skip


def import_one(case: Case, folder: Path, result: Path) -> dict[str, Any]:
    """What comes of importing one case, in this process."""
    import resource
    import signal
    import time

    import cgscore
    from cgscore.exchange.corrections import check_corrections
    from cgscore.exchange.registry import tool_of
    from cgscore.execution.machine import peak_memory

    scores = cgscore.load(result)
    path = case.make(folder, STAMP.format(fingerprint=scores.meta["fingerprint"]))
    Path("/proc/self/clear_refs").write_text("5")  # the peak counts from here
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    signal.alarm(SECONDS)
    before, start = peak_memory(), time.monotonic()
    try:
        tool = tool_of(path)
        checked = check_corrections(scores, tool.read(path), path, tool.captions(scores))
        found: dict[str, Any] = {"labels": len(checked.labels)}
    except cgscore.CGScoreError as error:
        found = {"error": str(error)}
    except BaseException as error:
        found = {"traceback": repr(error)[:2000]}
    seconds = round(time.monotonic() - start, 2)
    return {**found, "bytes": peak_memory() - before, "seconds": seconds}


def main(folder: Path) -> None:
    """Import every case in a process of its own."""
    import numpy as np
    import pandas as pd

    import cgscore
    from cgscore.exchange.registry import MODULES, find_tool

    X = np.random.default_rng(0).standard_normal((60, 4))
    frame = pd.DataFrame(X).add_prefix("x").assign(label=list("abc" * 20))
    frame["id"] = [f"r{i}" for i in range(60)]
    result = folder / "scores.parquet"
    cgscore.score(frame, label_column="label", id_column="id", ridge=0.1).save(result)
    loaded = [find_tool(name) for name in MODULES]
    assert loaded  # so that no case pays for them
    answers = {}
    for number, (name, case) in enumerate(CASES.items()):
        place = folder / str(number)
        place.mkdir()
        child = os.fork()
        if child == 0:
            try:
                answer = import_one(case, place, result)
            except BaseException as error:
                answer = {"traceback": f"while making the file: {error!r}"}
            (folder / f"{number}.json").write_text(json.dumps(answer))
            os._exit(0)
        _, status = os.waitpid(child, 0)
        file = folder / f"{number}.json"
        answers[name] = (
            json.loads(file.read_text()) if status == 0 else {"traceback": f"status {status}"}
        )
        subprocess.run(["rm", "-rf", str(place)])
    print(json.dumps(answers))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
