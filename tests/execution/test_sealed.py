"""Seals that hold for one content at one place."""

from __future__ import annotations

from cgscore.execution.sealed import LENGTH, renewed, sealed, unsealed, work_digest


def test_a_seal_holds_for_one_content_at_one_place() -> None:
    whole = sealed(b"content", "work", 3)
    assert unsealed(whole, "work", 3) == b"content"
    assert unsealed(sealed(b"", "work"), "work") == b""
    for place in (("work", 4), ("other", 3), ("work",), ("work3",), (3, "work")):
        assert unsealed(whole, *place) is None
    for at in range(len(whole)):
        assert unsealed(whole[:at], "work", 3) is None
        assert unsealed(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :], "work", 3) is None
    assert unsealed(whole + b"\0", "work", 3) is None
    assert len(whole) == len(b"content") + LENGTH


def test_work_is_what_it_says_in_any_order() -> None:
    work = {"ridge": 0.5, "n": 20, "seed": None}
    assert work_digest(dict(reversed(work.items()))) == work_digest(work)
    assert len({work_digest(w) for w in (work, {**work, "n": 21}, {**work, "seed": 0}, {})}) == 4


def test_parts_that_were_renewed_are_named() -> None:
    assert "Here: 1 part was damaged" in renewed("Here", ["a"])
    many = renewed("Here", [f"part-{i}" for i in range(7)])
    assert "7 parts were damaged" in many
    assert many.endswith("part-3, part-4 and 2 more.")
