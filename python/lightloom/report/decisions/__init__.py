"""The decision that stands first on the report where there are prices: performance, dollars and
watts of every fabric, the verdict in a sentence, and what would overturn it.

Who is cheaper is `lightloom.decision`'s to say, who is better the rankings' of the report; here
both are read from comparisons and joined.
"""

from __future__ import annotations

from .chart import KEY
from .decision import Decision, decide, joint
from .tables import BILL_HEADINGS

__all__ = ["BILL_HEADINGS", "KEY", "Decision", "decide", "joint"]
