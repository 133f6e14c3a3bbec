"""The web application for reviewing suspected labels: `cgscore review`.

=============  ==============================================================
module         content
=============  ==============================================================
`session`      the review: suspects, decisions, scoring again, exports
`decisions`    decisions, saved as they are made
`merging`      decisions of several reviewers in one file
`cleanliness`  how clean the labels are by now
`live_order`   the order of suspects, renewed by what is decided
`database`     the file they are saved in, and its checks
`application`  the web application
`access`       who may use it
`server`       serving it until interrupted
`running`      serving it beside a notebook
`launch_page`  opening the browser
`export`       tables as downloads
=============  ==============================================================
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cgscore.lazy_names import lazy_names

if TYPE_CHECKING:
    from cgscore.review.application import application as application
    from cgscore.review.decisions import Decisions as Decisions
    from cgscore.review.session import Review as Review

# on first use: decisions are also made elsewhere, without the packages of the web application
_HOMES = {"Decisions": "decisions", "Review": "session", "application": "application"}

__all__ = ["Decisions", "Review", "application"]

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
