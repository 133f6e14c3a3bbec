"""Every figure and table of "Data Valuation Without Training of a Model", by one command each.

One module makes one figure or table (`items.ITEMS`). What takes long is a `jobs.Job`, whose results
`cells.Work` stores. Only public names of cgscore are used.
"""

from __future__ import annotations

from importlib.util import find_spec

from cgscore.errors import OptionError

_MISSING = [name for name in ("matplotlib", "torch", "transformers") if find_spec(name) is None]
if _MISSING:
    raise OptionError(
        f"The figures and tables of the paper need {', '.join(_MISSING)}, which is not installed. "
        'Run: pip install "cgscore[paper]"'
    )
