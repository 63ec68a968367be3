"""OpenFlow 1.3: installs rules on switches that connect to this process.

| module | content |
|---|---|
| `rules` | rules and their removal, pure |
| `messages` | messages, encoded and decoded by os-ken as a library |
| `session` | the connection of one switch |
| `listener` | accepts switches and makes all of them apply rules in stages |

>>> from lightloom.switches.openflow import Match, Rule
>>> Rule(100, Match(ipv4_dst=("10.0.1.0", "255.255.255.0")), out=1, vlan=1000).out
1
"""

from lightloom.switches.openflow.listener import (
    UNIX,
    Listener,
    check_address,
    installed_messages,
)
from lightloom.switches.openflow.rules import LOCAL, NORMAL, Match, Removal, Rule, Stage
from lightloom.switches.openflow.session import OpenFlowError

__all__ = [
    "LOCAL",
    "NORMAL",
    "UNIX",
    "Listener",
    "Match",
    "OpenFlowError",
    "Removal",
    "Rule",
    "Stage",
    "check_address",
    "installed_messages",
]
