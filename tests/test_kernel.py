from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import cgscore
from cgscore.errors import DataError, OptionError
from cgscore.execution.progress import Silent
from cgscore.kernel import UnitRows, find_kernel, gram_block, unit_rows
from cgscore.solvers.cholesky.factor import factorise
from cgscore.solvers.cholesky.plan import plan
from cgscore.solvers.cholesky.storage import InMemory


def plain(X: Any, Z: Any) -> Any:
    """The definition, good enough away from +-1."""
    U, V = (A / np.linalg.norm(A, axis=1, keepdims=True) for A in (X, Z))
    g = np.clip(U @ V.T, -1, 1)
    return g * (np.pi - np.arccos(g)) / (2 * np.pi)


def turned(angle: float, p: int, seed: int = 0) -> Any:
    """Two unit rows at exactly this angle, in a random plane of p dimensions."""
    rng = np.random.default_rng(seed)
    e, f = np.linalg.qr(rng.standard_normal((p, 2)))[0].T
    return np.array([e, np.cos(angle) * e + np.sin(angle) * f])


def test_matches_the_definition() -> None:
    rng = np.random.default_rng(0)
    X, Z = rng.standard_normal((1100, 9)), rng.standard_normal((30, 9))
    np.testing.assert_allclose(cgscore.gram(X, Z), plain(X, Z), atol=1e-14)
    whole = cgscore.gram(X)
    np.testing.assert_allclose(whole, plain(X, X), atol=1e-7)  # arccos is that bad on the diagonal
    assert (np.diagonal(whole) == 0.5).all()
    assert (whole == whole.T).all()


def test_orthonormal_rows_give_half_the_identity() -> None:
    np.testing.assert_allclose(cgscore.gram(np.eye(5)), np.eye(5) / 2, atol=2.3e-16)


@pytest.mark.parametrize("angle", [1e-12, 1e-9, 1e-6, 1e-4, 3e-3, 1e-2, 0.1, 1.0])
@pytest.mark.parametrize("p", [2, 50, 3072])
def test_small_angles_keep_their_digits(angle: float, p: int) -> None:
    H = cgscore.gram(turned(angle, p))
    expected = 0.5 - (np.cos(angle) * (np.pi - angle)) / (2 * np.pi)
    # a row rounded to float64 is off by up to eps, which is all that may be lost
    assert 0.5 - H[0, 1] == pytest.approx(expected, rel=1e-9, abs=4e-16)


@pytest.mark.parametrize("rest", [1e-12, 1e-9, 1e-6, 1e-4, 1e-2, 0.5])
def test_nearly_opposite_rows_keep_their_digits(rest: float) -> None:
    rows = turned(rest, 40)
    rows[1] *= -1
    H = cgscore.gram(rows)
    assert H[0, 1] == pytest.approx(-np.cos(rest) * rest / (2 * np.pi), rel=1e-9, abs=4e-16)


def test_rows_that_crowd_around_one_direction_keep_their_digits() -> None:
    rng = np.random.default_rng(3)
    spread = 1e-6 * rng.standard_normal((40, 5))
    X = np.hstack([np.ones((40, 1)), spread])
    H = cgscore.gram(X)
    # for so small angles theta is the distance of the rows, to relative 1e-12
    distance = np.linalg.norm(spread[:, None] - spread[None], axis=2)
    off = ~np.eye(40, dtype=bool)
    np.testing.assert_allclose((0.5 - H)[off], distance[off] / (2 * np.pi), rtol=1e-5)


def test_identical_rows_give_exactly_half() -> None:
    rng = np.random.default_rng(1)
    X = rng.standard_normal((6, 20))
    Z = X * np.array([[1.0], [2.0], [0.5], [3.0], [1e-200], [1e200]])
    assert (np.diagonal(cgscore.gram(X, Z)) >= 0.5 - 1e-15).all()
    block = gram_block(unit_rows(X), unit_rows(X))
    assert (np.diagonal(block) == 0.5).all()


def test_integer_and_image_inputs_are_flattened() -> None:
    images = np.arange(1, 49, dtype=np.uint8).reshape(4, 3, 4)
    np.testing.assert_array_equal(
        cgscore.gram(images), cgscore.gram(images.reshape(4, 12).astype(float))
    )


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.array([[1.0, 2.0], [3.0, np.nan]]), r"nan in row 1, column 1"),
        (np.array([[1.0, -np.inf], [3.0, 4.0]]), r"-inf in row 0, column 1"),
        (np.array([[1.0, 2.0], [0.0, 0.0]]), r"zero in every column: 1"),
        (np.array([1.0, 2.0]), r"shape \(2,\)"),
        (np.array([["a", "b"]]), r"type <U1"),
        (np.array([[1j, 2]]), r"type complex128"),
        ([[1, 2], [3]], r"all of one length"),
        (np.empty((3, 0)), r"no columns"),
        (np.array([[None, "x"]], dtype=object), r"not numbers"),
    ],
)
def test_unusable_inputs_are_named(X: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        cgscore.gram(X)


def test_columns_must_agree() -> None:
    with pytest.raises(DataError, match=r"Z has 3 columns.* have 2"):
        cgscore.gram(np.ones((2, 2)), np.ones((2, 3)))


def off_alignment(array: Any, offset: int = 5) -> Any:
    """A copy whose numbers lie some bytes beside their natural addresses, as after a network."""
    room = np.empty(array.nbytes + 64, np.uint8)
    start = -room.ctypes.data % 64 + offset
    copy = room[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[:] = array
    return copy


@pytest.mark.parametrize("n", [33, 70, 101, 150, 203, 333, 450, 601, 777, 901])
def test_rows_from_a_network_give_the_same_bits(n: int) -> None:
    """At odd addresses numpy would use another routine, which rounds differently."""
    rows = unit_rows(np.random.default_rng(n).standard_normal((n, 13)))
    parts = [off_alignment(part) for part in (rows.centred, rows.centre, rows.squares)]
    assert not parts[0].flags.aligned
    beside = UnitRows(*parts)
    assert np.array_equal(gram_block(beside, beside), gram_block(rows, rows))
    frames: list[Any] = []
    sent = pickle.dumps(rows, protocol=5, buffer_callback=frames.append)
    back = pickle.loads(sent, buffers=[off_alignment(np.frombuffer(f, np.uint8)) for f in frames])
    assert np.array_equal(gram_block(back, back), gram_block(rows, rows))
    d = [
        factorise(one, 0.0, InMemory(plan(n)), Silent()).inverse_diagonal(Silent())
        for one in (rows, beside, back)
    ]
    assert np.array_equal(d[0], d[1])
    assert np.array_equal(d[0], d[2])


def deeper(X: Any) -> Any:
    """The definition of relu-ntk-3 by arc-cosine kernels, good enough away from +-1."""
    U = X / np.linalg.norm(X, axis=1, keepdims=True)

    def k0(g: Any) -> Any:
        return 1 - np.arccos(np.clip(g, -1, 1)) / np.pi

    def k1(g: Any) -> Any:
        g = np.clip(g, -1, 1)
        return (g * (np.pi - np.arccos(g)) + np.sqrt(1 - g**2)) / np.pi

    g = U @ U.T
    return (g * k0(g) + k1(g)) * k0(k1(g)) / 2


def test_the_deeper_kernel_matches_its_definition() -> None:
    X = np.random.default_rng(0).standard_normal((700, 6))
    H = cgscore.gram(X, kernel="relu-ntk-3")
    assert (np.diagonal(H) == 1.0).all()
    assert (H == H.T).all()
    apart = ~np.eye(700, dtype=bool)
    np.testing.assert_allclose(H[apart], deeper(X)[apart], atol=1e-12)


def test_the_deeper_kernel_is_that_of_a_wide_network() -> None:
    """Gradients of a network with two hidden layers, weights of variance 2 / width, halved."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((5, 4))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    width, total = 600, np.zeros((5, 5))
    for _ in range(20):
        W1, W2 = rng.standard_normal((width, 4)), rng.standard_normal((width, width))
        out = rng.standard_normal(width)
        first = X @ W1.T
        hidden = np.sqrt(2 / width) * np.maximum(first, 0)
        second = hidden @ W2.T
        back = np.sqrt(2 / width) * out * (second > 0)
        below = np.sqrt(2 / width) * (back @ W2) * (first > 0)
        total += (hidden @ hidden.T) * (back @ back.T) + (X @ X.T) * (below @ below.T)
    np.testing.assert_allclose(total / 20 / 2, cgscore.gram(X, kernel="relu-ntk-3"), atol=0.05)


@pytest.mark.parametrize("angle", [1e-12, 1e-9, 1e-6, 1e-4, 3e-3, 1e-2, 0.1, 1.0, 3.1, np.pi])
def test_the_deeper_kernel_keeps_its_digits(angle: float) -> None:
    mpmath = pytest.importorskip("mpmath")
    with mpmath.workdps(60):
        theta = mpmath.mpf(angle)
        g = mpmath.cos(theta)
        k1 = (g * (mpmath.pi - theta) + mpmath.sin(theta)) / mpmath.pi
        inner = g * (1 - theta / mpmath.pi) + k1
        expected = 1 - inner * (1 - mpmath.acos(k1) / mpmath.pi) / 2
    H = cgscore.gram(turned(angle, 30), kernel="relu-ntk-3")
    assert 1 - H[0, 1] == pytest.approx(float(expected), rel=1e-9, abs=2e-15)


def test_rows_keep_their_kernel() -> None:
    X = np.random.default_rng(4).standard_normal((6, 3))
    rows = unit_rows(X, kernel=find_kernel("relu-ntk-3"))
    for other in (pickle.loads(pickle.dumps(rows)), rows[1:3], rows[np.array([2])], rows.single()):
        assert other.kernel is rows.kernel
    with pytest.raises(OptionError, match="kernel must be one of: relu, relu-ntk-3; got 'rbf'"):
        cgscore.gram(X, kernel="rbf")
