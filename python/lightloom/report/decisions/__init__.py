"""The decision at the beginning of a report with prices: performance, cost and power of every
fabric, the verdict in a sentence, and the changes that would overturn it.

`lightloom.decision` compares costs, and the rankings of the report compare performance; this
package reads both from comparisons and combines them.
"""

from __future__ import annotations

from .chart import KEY
from .decision import Decision, decide, joint
from .tables import BILL_HEADINGS

__all__ = ["BILL_HEADINGS", "KEY", "Decision", "decide", "joint"]
