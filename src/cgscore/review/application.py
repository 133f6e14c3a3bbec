"""The web application: its addresses and what they return.

Every request is checked first (`access`). Examples are requested by number, never by path. If the
decisions file is gone or locked, the status is 503 and nothing counts as decided.
"""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable
from importlib.resources import files
from typing import Literal

from fastapi import FastAPI, HTTPException, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, PlainTextResponse
from pydantic import BaseModel, ConfigDict

from cgscore.errors import CGScoreError, StorageError
from cgscore.review.access import OPEN_ADDRESS, TAB_HEADER, Access
from cgscore.review.database import Decision
from cgscore.review.decisions import Overtaken
from cgscore.review.export import table_bytes
from cgscore.review.session import Review

PICTURE_PIXELS = 1024  # side of a picture
MAX_FURTHER = 1000  # examples that are put into the queue at once

_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_STATIC = {
    "nodes.js": ("cgscore.report", "nodes.js", "text/javascript"),
    "requests.js": ("cgscore.review", "requests.js", "text/javascript"),
    "queue.js": ("cgscore.review", "queue.js", "text/javascript"),
    "views.js": ("cgscore.review", "views.js", "text/javascript"),
    "page.js": ("cgscore.review", "page.js", "text/javascript"),
    "welcome.js": ("cgscore.review", "welcome.js", "text/javascript"),
    "page.css": ("cgscore.review", "page.css", "text/css"),
    "design.css": ("cgscore.report", "design.css", "text/css"),
}


class UndoRequest(BaseModel):
    """The decision, or several made in one step, to take back, as the page sends it."""

    model_config = ConfigDict(strict=True)

    number: int | None = None
    numbers: list[int] | None = None


class FurtherRequest(BaseModel):
    """How many more examples the page asks for, and which."""

    model_config = ConfigDict(strict=True)

    count: int
    at_random: bool = False


class DecisionRequest(BaseModel):
    """A decision as the page sends it."""

    model_config = ConfigDict(strict=True)

    at: int
    action: Literal["accept", "keep", "change", "skip"]
    label: int | float | None = None
    known: int | None = None


class DecisionsRequest(BaseModel):
    """Decisions that are made in one step."""

    model_config = ConfigDict(strict=True)

    decisions: list[DecisionRequest]


def application(review: Review, access: Access, entered: Callable[[str], object]) -> FastAPI:
    """The application for one review.

    Parameters
    ----------
    review : Review
        What is reviewed.
    access : Access
        Decides who may use it.
    entered : callable
        Called with every token that has admitted a tab.
    """
    app = FastAPI(title="cgscore review", docs_url=None, redoc_url=None, openapi_url=None)

    @app.middleware("http")
    async def guard(request: Request, answer: Callable[[Request], Awaitable[Response]]) -> Response:
        refusal = access.refusal(request)
        response = await answer(request) if refusal is None else _refused(refusal)
        response.headers.update(_HEADERS)
        return response

    @app.exception_handler(StorageError)
    def unavailable(_: Request, error: Exception) -> JSONResponse:
        return JSONResponse({"detail": str(error)}, 503)

    @app.exception_handler(RequestValidationError)
    def malformed(_: Request, error: Exception) -> JSONResponse:
        # without the values that were sent: NaN or half a surrogate pair cannot be sent back
        problems = error.errors() if isinstance(error, RequestValidationError) else []
        detail = "; ".join(str(problem["msg"]) for problem in problems)
        return JSONResponse({"detail": detail}, 422)

    @app.get("/")
    def page(request: Request) -> Response:
        if "token" not in request.query_params:
            return Response(_text("cgscore.review", "page.html"), media_type="text/html")
        token = request.query_params["token"]
        tab = access.exchange(token)
        if tab is None:
            return _refused(f"this token is not valid, or was used before. {OPEN_ADDRESS}")
        entered(token)
        # Not a redirection: after one from the file that opens the browser, cookies that are for
        # this site alone would not be sent.
        welcome = _text("cgscore.review", "welcome.html").replace("TAB-SECRET", tab)
        response = Response(welcome, media_type="text/html")
        response.set_cookie(
            access.cookie_name, access.cookie, path="/", httponly=True, samesite="strict"
        )
        return response

    @app.get("/static/{name}")
    def static(name: str) -> Response:
        if name not in _STATIC:
            raise HTTPException(404)
        package, file, kind = _STATIC[name]
        return Response(_text(package, file), media_type=kind)

    @app.get("/api/review")
    def overview(request: Request) -> JSONResponse:
        key = access.key(request.headers[TAB_HEADER])
        return JSONResponse({**review.overview(), "key": key})

    @app.get("/api/examples/{at}")
    def example(at: int) -> JSONResponse:
        _refuse_unknown(at, review)
        return JSONResponse(review.example(at))

    @app.get("/pictures/{at}")
    def picture(at: int) -> Response:
        _refuse_unknown(at, review)
        if review.dataset is None or not review.dataset.drawable:
            raise HTTPException(404)
        return Response(review.dataset.thumbnail(at, PICTURE_PIXELS), media_type="image/png")

    @app.post("/api/decisions")
    def decide(sent: DecisionRequest) -> JSONResponse:
        saved = save([sent])
        if isinstance(saved, JSONResponse):
            return saved
        return JSONResponse({"decision": _as_json(saved[0]), **standing()})

    @app.post("/api/decisions/many")
    def decide_many(sent: DecisionsRequest) -> JSONResponse:
        saved = save(sent.decisions)
        if isinstance(saved, JSONResponse):
            return saved
        return JSONResponse({"decisions": [_as_json(one) for one in saved], **standing()})

    def save(sent: list[DecisionRequest]) -> list[Decision] | JSONResponse:
        try:
            return review.decide_many([(row.at, row.action, row.label, row.known) for row in sent])
        except Overtaken as other:
            return JSONResponse({"decision": _as_json(other.decision)}, 409)
        except StorageError:
            raise
        except CGScoreError as error:
            raise HTTPException(422, str(error)) from error

    def standing() -> dict[str, object]:
        return {"progress": review.progress(), "version": review.live_state()["version"]}

    @app.post("/api/undo")
    def undo(back: UndoRequest) -> JSONResponse:
        numbers = back.numbers if back.number is None else [back.number]
        if not numbers:
            raise HTTPException(422, "number or numbers must be given.")
        try:
            undone = review.decisions.take_back_many(numbers)
        except Overtaken:
            return JSONResponse({}, 409)
        current = review.decisions.current()
        rows = [
            {"at": one.position, "decision": _as_json(current.get(one.position))} for one in undone
        ]
        return JSONResponse({**rows[0], "undone": rows, "progress": review.progress()})

    @app.post("/api/further")
    def further(sent: FurtherRequest) -> JSONResponse:
        if not 1 <= sent.count <= MAX_FURTHER:
            raise HTTPException(422, f"count must be from 1 to {MAX_FURTHER}.")
        return JSONResponse({"added": review.look_further(sent.count, at_random=sent.at_random)})

    @app.get("/api/live")
    def live() -> JSONResponse:
        return JSONResponse(review.live_state())

    @app.post("/api/rescore")
    def rescore() -> JSONResponse:
        if review.rescoring["state"] != "running":
            review.rescoring = {"state": "running"}
            threading.Thread(target=review.rescore, daemon=True).start()
        return JSONResponse(review.rescoring, 202)

    @app.get("/api/rescore")
    def rescoring() -> JSONResponse:
        return JSONResponse(review.rescoring)

    @app.get("/export/{what}.{kind}")
    def export(what: Literal["labels", "changes"], kind: Literal["csv", "parquet"]) -> Response:
        table = review.labels() if what == "labels" else review.changes()
        return Response(
            table_bytes(table, kind),
            media_type="text/csv" if kind == "csv" else "application/octet-stream",
            headers={"Content-Disposition": f'attachment; filename="{what}.{kind}"'},
        )

    return app


def _refused(why: str) -> Response:
    return PlainTextResponse(f"Refused: {why}", 403)


def _refuse_unknown(at: int, review: Review) -> None:
    if not 0 <= at < len(review.scores):
        raise HTTPException(404, f"There is no example {at}.")


def _text(package: str, name: str) -> str:
    return (files(package) / name).read_text(encoding="utf-8")


def _as_json(decision: Decision | None) -> dict[str, object] | None:
    return None if decision is None else vars(decision)
