"""The order of the suspects, renewed by what has been decided.

The kernel matrix does not depend on labels. It is factorised once, in the background, after the
review is opened; afterwards every renewal solves for the corrected labels alone. A renewal comes
after every `LABELS_PER_RENEWAL` changed labels, so that the order holds still for a while.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from cgscore.execution.machine import available_memory, product_rate, show_bytes, show_seconds
from cgscore.methods.cost import Sizes
from cgscore.methods.exact import METHOD
from cgscore.methods.options import Options

if TYPE_CHECKING:
    from cgscore.data import Dataset

LABELS_PER_RENEWAL = 10  # changed labels
MAX_SECONDS = 600.0  # for the factor; beyond that it is made on request only
MEMORY_SHARE = 0.5  # of the memory that is available


class LiveOrder:
    """A thread that makes the factor, and renews the order when it is told to.

    Parameters
    ----------
    dataset : Dataset
        The scored data.
    classes : int
        Number of classes.
    factorise : callable
        Makes the factor.
    renew : callable
        Renews the scores with the factor.
    """

    def __init__(
        self,
        dataset: Dataset,
        classes: int,
        factorise: Callable[[], object],
        renew: Callable[[], object],
    ) -> None:
        self._sizes = Sizes(*dataset.shape, max(1, classes))
        self._factorise, self._renew = factorise, renew
        self._wanted = threading.Event()
        self._changed: set[int] = set()
        self.version = 0
        self.state: dict[str, Any] = {"state": "off", "words": ""}

    def start(self) -> None:
        """Make the factor in the background, if that is not too much for this machine."""
        self.state = {"state": "preparing", "words": "Live order: estimating its cost …"}
        threading.Thread(target=self._run, daemon=True).start()

    def decided(self, position: int) -> None:
        """Count a changed label; from time to time the order is renewed."""
        self._changed.add(position)
        self._renew_if_due()

    def _renew_if_due(self) -> None:
        if self.state["state"] == "ready" and len(self._changed) >= LABELS_PER_RENEWAL:
            self._changed.clear()
            self._wanted.set()

    def _run(self) -> None:
        try:
            if not self._affordable():
                return
            self._factorise()
            self.state = {
                "state": "ready",
                "words": f"Live order: updated after every {LABELS_PER_RENEWAL} changed labels.",
            }
            self._renew_if_due()
            while True:
                self._wanted.wait()
                self._wanted.clear()
                self._renew()
                self.version += 1
        except Exception as error:  # the page shows it, whatever it is
            self.state = {
                "state": "failed",
                "words": f"Live order: {type(error).__name__}: {error}",
            }

    def _affordable(self) -> bool:
        """Whether the factor is worth making unasked; the state says what it costs."""
        cost = METHOD.cost(self._sizes, Options.checked())
        seconds, room = cost.seconds(product_rate()), MEMORY_SHARE * available_memory()
        price = f"about {show_seconds(seconds)} and {show_bytes(cost.bytes)} of memory"
        if seconds > MAX_SECONDS or cost.bytes > room:
            words = (
                f"Live order: off, because it would take {price}. Use the button "
                '"Score again with corrections" instead.'
            )
            self.state = {"state": "off", "words": words}
            return False
        self.state = {"state": "preparing", "words": f"Live order: being prepared, {price} …"}
        return True
