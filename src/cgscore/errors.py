"""Every error a user can cause, and the one warning category.

::

    CGScoreError
    ├── InputError (also a ValueError)
    │   ├── DataError            inputs: shape, NaN, infinite values, all-zero rows
    │   ├── LabelError           labels: wrong length, missing, one class only
    │   └── OptionError          an argument or flag: unknown method, negative ridge
    ├── SourceError              a file or source that cannot be read
    ├── DuplicateRowsError       rows repeat and ``duplicates="error"`` was asked for
    ├── SingularKernelError      the kernel matrix has no usable Cholesky factor
    ├── ConvergenceError         an iteration gave up; nothing was returned
    ├── ClusterError             a cluster that cannot be reached, or lost workers or scheduler
    ├── MemoryLimitError         the work does not fit; raised before allocating
    └── StorageError             our files: a checkpoint of other work, damaged decisions
        └── ResultError          a saved result that is damaged, or cannot be read or written

    CGScoreWarning               what a careful reader of the scores should know

Messages follow one template: which argument or file; what was found; what was expected;
what to do.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice


class CGScoreError(Exception):
    """Base of every error that a user of this package can cause."""


class InputError(CGScoreError, ValueError):
    """An argument holds something that cannot be scored."""


class DataError(InputError):
    """The inputs cannot be used: shape, type, missing values or all-zero rows."""


class LabelError(InputError):
    """The labels cannot be used: length, missing values or number of classes."""


class OptionError(InputError):
    """An option has a value that does not exist or is out of range."""


class SourceError(CGScoreError):
    """A file or named source is missing, truncated or of another format."""


class DuplicateRowsError(CGScoreError):
    """Rows repeat, and ``duplicates="error"`` was given."""


class SingularKernelError(CGScoreError):
    """The kernel matrix is singular to working precision."""


class ConvergenceError(CGScoreError):
    """An iteration did not reach its accuracy."""


class ClusterError(CGScoreError):
    """The cluster cannot be used, or was lost; what is kept in a checkpoint stays."""


class MemoryLimitError(CGScoreError):
    """The work needs more memory than there is or than was allowed."""


class StorageError(CGScoreError):
    """Work kept on disk is of other data or options, is damaged, or cannot be written."""


class ResultError(StorageError):
    """A result file cannot be read or written."""


class CGScoreWarning(UserWarning):
    """The scores were computed, but there is something that users should know about them."""


def first_five(values: Iterable[object]) -> str:
    """The first five values, for a message, and dots if there are more."""
    six = [str(value) for value in islice(values, 6)]
    return ", ".join(six[:5]) + (", ..." if len(six) > 5 else "")
