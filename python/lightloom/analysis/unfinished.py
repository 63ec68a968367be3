"""The fabrics whose completion times can be compared.

Completion times are those of finished flows. If a fabric left many flows unfinished that others
finished, the finished ones are the fast ones, and their percentiles do not describe the fabric.
"""

from __future__ import annotations

from collections.abc import Sequence

CENSORED = 0.9
"""A fabric that finished less than this share of the best is not ranked by speed."""


def ranked(shares: Sequence[float | None]) -> list[bool]:
    """Whether each fabric is ranked, from the share of flows that it finished; fabrics with an
    unknown share are ranked if they have a figure.

    >>> ranked([1.0, 0.057, None, 0.95])
    [True, False, True, True]
    """
    most = max((s for s in shares if s is not None), default=0.0)
    return [s is None or s >= CENSORED * most for s in shares]
