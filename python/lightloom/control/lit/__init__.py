"""Circuits that are lit now, in whatever holds them: a plan as JSON, the files that `plan`
writes in other dialects, and what a switch itself has or prints.

| file | what |
|---|---|
| `joined` | cross-connects and named circuits, and the refusals of a file |
| `switch_files` | CONFIG_DB, OCP YANG, SCPI, SONiC commands, SONiC's tables: cross-connects |
| `plan_files` | CSV and tables of a plan: directions of light by rack |
| `lights` | cross-connects on the ports of racks |
| `reader` | which of these a file is, and its circuits as a plan as JSON has them |
"""

from lightloom.control.lit.reader import NO_PORTS, Ports, read_lit

__all__ = ["NO_PORTS", "Ports", "read_lit"]
