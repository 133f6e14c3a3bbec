r"""What a choice is expected to cost: leave-one-out accuracy of kernel regression on it.

Kernel regression on the kept examples S, in the features Phi that stand for H (`selector.py`),
predicts every example,

    F = Phi M Phi_S^T N^-1 Y_S,   M = (I + Phi_S^T N^-1 Phi_S)^-1,   N = diag(rest_S + ridge),

those of S as if each had been left out: ``(F_j - h_j Y_j) / (1 - h_j)`` with
``h_j = phi_j . M phi_j / N_j``. Fitted values would reproduce any label, wrong ones too. The same
with all examples is what it is compared with. No network is trained, and none behaves exactly like
this regression: the difference is a guide.

Cost: about ``2 n m^2`` flops for rank m, twice.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf, dpotri

from cgscore.errors import SingularKernelError
from cgscore.execution.blas import all_blas_threads
from cgscore.selection.window import quality
from cgscore.solvers.lowrank.pivoted_cholesky import Features
from cgscore.typing import Array, Index


@dataclass(frozen=True)
class Expectation:
    """Leave-one-out accuracy with the kept examples and with all, or shares of the variance.

    Attributes
    ----------
    kept, all : float
        Of kernel regression on the kept examples and on all, at the same examples.
    rank : int
        Rank of the features.
    """

    kept: float
    all: float
    rank: int


def expected_quality(
    features: Features,
    Y: Array,
    ridge: float,
    kept: Index,
    judged: NDArray[np.bool_] | None = None,
) -> Expectation:
    """How well the kept examples predict, against all of them.

    Parameters
    ----------
    features : Features
        Of all n examples.
    Y : (n, k) array
        Targets.
    ridge : float
        Above 0.
    kept : array
        Positions of the kept examples.
    judged : (n,) mask, optional
        Examples that are predicted, and that `all` stands for; those with suspected labels are
        better left out.
    """
    everything = np.arange(len(Y)) if judged is None else np.flatnonzero(judged)
    with_kept, with_all = (
        quality(Y[everything], left_out_predictions(features, Y, ridge, fitted)[everything])
        for fitted in (np.asarray(kept), everything)
    )
    return Expectation(with_kept, with_all, features.Phi.shape[1])


def left_out_predictions(features: Features, Y: Array, ridge: float, fitted: Index) -> Array:
    """Predictions for all examples; leave-one-out for those that are fitted."""
    Phi, noise = features.Phi[fitted], (features.rest + ridge)[fitted]
    with all_blas_threads():
        weighted = Phi / noise[:, None]
        inner = weighted.T @ Phi
        inner[np.diag_indices(len(inner))] += 1.0
        L, status = dpotrf(inner, lower=1, clean=1, overwrite_a=1)
        M, inverted = dpotri(L, lower=1, overwrite_c=1)
        if status or inverted:
            raise SingularKernelError(
                f"The system of the kept examples is singular with {ridge=:g}. Use a larger ridge."
            )
        M = np.tril(M) + np.tril(M, -1).T
        F: Array = features.Phi @ (M @ (weighted.T @ Y[fitted]))
        own = np.einsum("ij,ij->i", Phi @ M, weighted)[:, None]
    F[fitted] = (F[fitted] - own * Y[fitted]) / (1 - own)
    return F
