"""A policy that returns schedules, for switches that follow them: `kind = "mordia"`."""

import numpy as np

from lightloom.control import Schedule


class Shares:
    """A round robin with slots in proportion to the queues.

    In the slot of step k rack a sends to rack a + k, modulo all racks. Steps without demand
    are left out; the others get time in proportion to their longest queue.
    """

    def decide(self, demand, switch):
        """The schedule that the switch repeats until the next decision."""
        racks = np.arange(switch.racks)
        steps = np.array([(racks + k) % switch.racks for k in range(1, switch.racks)])
        waits = demand[racks, steps].max(axis=1)
        if not waits.any():
            waits += 1  # no rack has demand yet: all alike
        steps, waits = steps[waits > 0], waits[waits > 0]

        # Every slot is as long as the switch needs; the rest of the interval is shared.
        least = switch.shortest_slot_ps
        spare = max(0, switch.interval_ps - least * len(steps))
        slots = least + np.floor(spare * (waits / waits.sum())).astype(np.int64)
        return Schedule(steps, slots - switch.night_ps, switch.night_ps)
