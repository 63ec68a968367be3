"""Rules of an operator that hold for any demand (pinned circuits, pairs that are kept apart, ports
that are down), and their application to each kind of algorithm.

| file | what |
|---|---|
| `rules` | the rules, and contradictions between them |
| `parsing` | rules as users write them: `gpu-0:gpu-1`, `gpu-3:2`, `7A` |
| `demand` | the demand, the ports and the listed circuits that remain under rules |
| `joined` | permanent circuits: pinned ones are added, pairs that are kept apart are replaced |
| `slots` | slots of a schedule: circuits that break a rule are replaced |
"""

from lightloom.control.rules.parsing import idle, read_rules
from lightloom.control.rules.rules import NONE, Rules

__all__ = ["NONE", "Rules", "idle", "read_rules"]
