"""BLAS and LAPACK on blocks of Fortran-ordered matrices, in place and outside of Python's lock.

`scipy.linalg.blas` copies what is not contiguous and holds the interpreter's lock, so that no tile
could be read or written while a product runs. scipy offers the same routines as C functions
(``scipy.linalg.cython_blas``); called through `ctypes` they take any block with unit stride down
its columns, work in place and let other threads run.

Every routine takes float64 or float32; all matrices of one call have one type.
"""

from __future__ import annotations

import ctypes
import functools
from types import ModuleType
from typing import Any

import numpy as np
from scipy.linalg import cython_blas, cython_lapack

from cgscore.typing import Matrix

MAX_TRIANGLE = 100  # side of a triangle, and of what it is solved for, that BLAS solves by itself
_REAL = {np.dtype(np.float64): ("d", ctypes.c_double), np.dtype(np.float32): ("s", ctypes.c_float)}


def subtract_product(A: Matrix, B: Matrix, C: Matrix, *, transposed: bool = True) -> None:
    """``C -= A B^T``, or ``C -= A B`` if not `transposed`."""
    m, k = A.shape
    n = C.shape[1]
    _require(C.shape == (m, n) and B.shape == ((n, k) if transposed else (k, n)))
    if m and n and k:
        _call("gemm", b"N", b"T" if transposed else b"N", m, n, k, -1.0, A, B, 1.0, C)


def subtract_square(A: Matrix, C: Matrix, *, transposed: bool = False) -> None:
    """``C -= A A^T`` in the lower half of C, or ``C -= A^T A`` if `transposed`."""
    n, k = A.shape[::-1] if transposed else A.shape
    _require(C.shape == (n, n))
    if n and k:
        _call("syrk", b"L", b"T" if transposed else b"N", n, k, -1.0, A, 1.0, C)


def right_solve(L: Matrix, B: Matrix, *, transposed: bool = True) -> None:
    """``B L^-T`` in place of B, or ``B L^-1`` if not `transposed`; L is lower triangular.

    Large triangles are halved until products have nearly all of the flops: BLAS's own routine runs
    at half the rate of a product.
    """
    m, n = B.shape
    _require(L.shape == (n, n))
    if n > MAX_TRIANGLE and m > MAX_TRIANGLE:
        h = n // 2
        left, right = B[:, :h], B[:, h:]
        if transposed:
            right_solve(L[:h, :h], left)
            subtract_product(left, L[h:, :h], right)
            right_solve(L[h:, h:], right)
        else:
            right_solve(L[h:, h:], right, transposed=False)
            subtract_product(right, L[h:, :h], left, transposed=False)
            right_solve(L[:h, :h], left, transposed=False)
    elif m and n:
        _call("trsm", b"R", b"L", b"T" if transposed else b"N", b"N", m, n, 1.0, L, B)


def left_solve(L: Matrix, B: Matrix, *, transposed: bool = False) -> None:
    """``L^-1 B`` in place of B, or ``L^-T B`` if `transposed`; L is lower triangular."""
    m, n = B.shape
    _require(L.shape == (m, m))
    if m and n:
        _call("trsm", b"L", b"L", b"T" if transposed else b"N", b"N", m, n, 1.0, L, B)


def cholesky(A: Matrix) -> int:
    """The Cholesky factor in place of the lower half of A; returns LAPACK's status.

    0 is success; i > 0 says that the leading minor of order i is not positive, and the i - 1
    columns before it are those of the factor.
    """
    n = len(A)
    _require(A.shape == (n, n))
    status = ctypes.c_int(0)
    if n:
        _call("potrf", b"L", n, A, status)
    if status.value < 0:
        raise RuntimeError(f"LAPACK potrf returned status {status.value}")
    return status.value


def _call(routine: str, *arguments: Any) -> None:
    """Call a routine: a matrix becomes its address and leading dimension, a number a pointer."""
    matrices = [a for a in arguments if isinstance(a, np.ndarray)]
    dtype = matrices[0].dtype
    letter, real = _REAL[dtype]
    _require(matrices[-1].flags.writeable)  # the result; others may come read-only from elsewhere
    sent: list[Any] = []
    for value in arguments:
        if isinstance(value, np.ndarray):
            _require(value.dtype == dtype and value.flags.aligned)
            rows, columns = value.shape
            _require(rows == 1 or value.strides[0] == value.itemsize)
            step = value.strides[1] // value.itemsize if columns > 1 else rows
            _require(step >= rows)
            sent += [value.ctypes.data, ctypes.byref(ctypes.c_int(max(step, 1)))]
        elif isinstance(value, float):
            sent.append(ctypes.byref(real(value)))
        elif isinstance(value, int):
            sent.append(ctypes.byref(ctypes.c_int(value)))
        elif isinstance(value, bytes):
            sent.append(value)
        else:
            sent.append(ctypes.byref(value))
    _routine(letter + routine, len(sent))(*sent)


@functools.cache
def _routine(name: str, count: int) -> Any:
    """A routine of scipy's library as a C function of `count` pointers."""
    module: ModuleType = cython_lapack if name.endswith("potrf") else cython_blas
    capsule = module.__pyx_capi__[name]
    get_name = ctypes.pythonapi.PyCapsule_GetName
    get_name.restype, get_name.argtypes = ctypes.c_char_p, [ctypes.py_object]
    signature = get_name(capsule)
    types = [part.strip() for part in signature[signature.index(b"(") + 1 : -1].split(b",")]
    real = b"_" + name[0].encode() + b" *"  # an alias of double or float
    is_expected = all(kind in (b"char *", b"int *") or kind.endswith(real) for kind in types)
    if len(types) != count or not is_expected:
        raise RuntimeError(f"scipy's {name} has another signature: {signature.decode()}")
    get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
    get_pointer.restype, get_pointer.argtypes = (
        ctypes.c_void_p,
        [ctypes.py_object, ctypes.c_char_p],
    )
    return ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * count)(get_pointer(capsule, signature))


def _require(condition: bool) -> None:
    if not condition:
        raise RuntimeError("shapes, types or strides of a BLAS call do not match")
