"""The web application: who may ask, and what is answered.

It listens on the loopback address only. Whoever knows the token in the address gets a cookie and
is let in; requests that name another host (a page elsewhere that resolves to this machine) or come
from a page of another origin are refused. Examples are asked for by number, never by path.
"""

from __future__ import annotations

import hashlib
import io
import secrets
import threading
from collections.abc import Awaitable, Callable
from importlib.resources import files
from typing import Literal
from urllib.parse import urlsplit

import pandas as pd
from fastapi import FastAPI, HTTPException, Request, Response
from fastapi.responses import JSONResponse, PlainTextResponse, RedirectResponse
from pydantic import BaseModel

from cgscore.errors import CGScoreError
from cgscore.review.decisions import Decision, Overtaken
from cgscore.review.session import Review

HOSTS = ("127.0.0.1", "localhost", "::1")
SIDE = 512  # pixels of a picture

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
    "page.js": ("cgscore.review", "page.js", "text/javascript"),
    "page.css": ("cgscore.review", "page.css", "text/css"),
    "base.css": ("cgscore.report", "page.css", "text/css"),
}


class Back(BaseModel):
    """A decision that is taken back."""

    number: int


class Asked(BaseModel):
    """A decision as the page sends it."""

    at: int
    action: Literal["accept", "keep", "change", "skip"]
    label: int | None = None
    known: int | None = None


def application(review: Review, token: str) -> FastAPI:
    """The application for one review."""
    app = FastAPI(title="cgscore review", docs_url=None, redoc_url=None, openapi_url=None)
    session = secrets.token_urlsafe(24)
    cookie = (
        f"cgscore-{hashlib.sha256(token.encode()).hexdigest()[:8]}"  # other reviews have others
    )

    @app.middleware("http")
    async def guard(request: Request, answer: Callable[[Request], Awaitable[Response]]) -> Response:
        response = _refusal(request, token, cookie, session)
        if response is None:
            response = await answer(request)
        response.headers.update(_HEADERS)
        return response

    @app.get("/")
    def page(request: Request) -> Response:
        if "token" in request.query_params:
            welcome = RedirectResponse("/", 303)
            welcome.set_cookie(cookie, session, httponly=True, samesite="strict")
            return welcome
        return Response(_text("cgscore.review", "page.html"), media_type="text/html")

    @app.get("/static/{name}")
    def static(name: str) -> Response:
        if name not in _STATIC:
            raise HTTPException(404)
        package, file, kind = _STATIC[name]
        return Response(_text(package, file), media_type=kind)

    @app.get("/api/review")
    def overview() -> JSONResponse:
        return JSONResponse(review.overview())

    @app.get("/api/examples/{at}")
    def example(at: int) -> JSONResponse:
        _refuse_unknown(at, review)
        return JSONResponse(review.example(at))

    @app.get("/pictures/{at}")
    def picture(at: int) -> Response:
        _refuse_unknown(at, review)
        if review.dataset is None or not review.dataset.drawable:
            raise HTTPException(404)
        return Response(review.dataset.thumbnail(at, SIDE), media_type="image/png")

    @app.post("/api/decisions")
    def decide(asked: Asked) -> JSONResponse:
        try:
            made = review.decide(asked.at, asked.action, asked.label, asked.known)
        except Overtaken as other:
            return JSONResponse({"decision": _shown(other.decision)}, 409)
        except CGScoreError as error:
            raise HTTPException(422, str(error)) from error
        return JSONResponse({"decision": _shown(made), "progress": review.progress()})

    @app.post("/api/undo")
    def undo(back: Back) -> JSONResponse:
        try:
            gone = review.decisions.take_back(back.number)
        except Overtaken:
            return JSONResponse({}, 409)
        now = review.decisions.current().get(gone.position)
        return JSONResponse(
            {"at": gone.position, "decision": _shown(now), "progress": review.progress()}
        )

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
            _file(table, kind),
            media_type="text/csv" if kind == "csv" else "application/octet-stream",
            headers={"Content-Disposition": f'attachment; filename="{what}.{kind}"'},
        )

    return app


def _refusal(request: Request, token: str, cookie: str, session: str) -> Response | None:
    """Why a request is not answered, or None."""
    host, origin = request.headers.get("host", ""), request.headers.get("origin")
    try:
        name = urlsplit(f"//{host}").hostname
        foreign = origin is not None and urlsplit(origin).netloc != host
    except ValueError:
        name, foreign = None, True
    if name not in HOSTS:
        return PlainTextResponse("Refused: this host name is not served.", 403)
    if foreign:
        return PlainTextResponse("Refused: the request comes from another page.", 403)
    given, wanted = request.cookies.get(cookie, ""), session
    if request.url.path == "/" and "token" in request.query_params:
        given, wanted = request.query_params["token"], token
    if not secrets.compare_digest(given.encode(), wanted.encode()):
        return PlainTextResponse(
            "Refused: open the whole address that `cgscore review` printed, with its token.", 403
        )
    return None


def _refuse_unknown(at: int, review: Review) -> None:
    if not 0 <= at < len(review.scores):
        raise HTTPException(404, f"There is no example {at}.")


def _text(package: str, name: str) -> str:
    return (files(package) / name).read_text(encoding="utf-8")


def _file(table: pd.DataFrame, kind: str) -> bytes:
    file = io.BytesIO()
    if kind == "csv":
        table.to_csv(file, index=False)
    else:
        table.to_parquet(file, index=False)
    return file.getvalue()


def _shown(decision: Decision | None) -> dict[str, object] | None:
    return None if decision is None else vars(decision)
