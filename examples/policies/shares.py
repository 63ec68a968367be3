"""A policy that answers schedules, for switches that follow them: `kind = "mordia"`."""

import numpy as np

from lightloom.control import Schedule


class Shares:
    """A round robin whose slots are as long as what waits for them.

    In the slot of step k rack a sends to rack a + k, modulo all racks. Steps that no rack
    has anything for are left out; the longest queue says how much time the others get.
    """

    def decide(self, demand, switch):
        """What the switch follows until the next decision, again and again."""
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
