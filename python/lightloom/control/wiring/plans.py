"""A plan on the ports of its switches, and its directions of light."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType

from lightloom.control.plans import Plan
from lightloom.control.ports.lights import Held, Light, assigned
from lightloom.control.ports.port_map import PortMap


def wired(plan: Plan, ports: PortMap, held: Held = MappingProxyType({})) -> Plan:
    """Assigns a plan to the ports of its switches.

    Args:
        plan: the plan.
        ports: the port map.
        held: the A port and B port of each present direction of light, by sender, receiver and
            plane: if a rack has several ports on a plane, circuits that stay keep theirs.

    Raises:
        ConfigError: naming a rack that has no port left.
    """
    return replace(plan, wiring=assigned(plan.circuits, plan.demand, ports, held))


def lights_of(plan: Plan) -> list[Light]:
    """All directions of light of a plan, in the order of its circuits or slots."""
    return [light for _, light in plan.numbered_lights()]
