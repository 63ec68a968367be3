"""What an operator lays down, whatever the demand: circuits that are there, pairs that are
kept apart, ports that are down; and how each kind of algorithm heeds it.

| file | what |
|---|---|
| `rules` | the rules, and which contradict each other |
| `parsing` | what is typed: `gpu-0:gpu-1`, `gpu-3:2`, `7A` |
| `demand` | the rest of a demand, a switch and a list of circuits |
| `joined` | circuits of one decision: what is added, and who is joined anew |
| `slots` | slots of a schedule: as many of their circuits as obey |
"""

from lightloom.control.rules.parsing import idle, read_rules
from lightloom.control.rules.rules import NONE, Rules

__all__ = ["NONE", "Rules", "idle", "read_rules"]
