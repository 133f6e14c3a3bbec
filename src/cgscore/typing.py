"""Types of arrays, defined once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Numbers in double precision.
Array = NDArray[np.float64]

#: Numbers in single or double precision.
Matrix = NDArray[np.floating[Any]]

#: Positions of rows or columns.
Index = NDArray[np.intp]

#: The class of every example, as a position among the classes; 0 everywhere for a regression.
Codes = NDArray[np.intp]
