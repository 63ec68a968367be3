"""The circuits that are lit now, read from a plan as JSON, from files that `plan` writes in other
dialects, and from the configuration or the output of a switch.

| file | what |
|---|---|
| `joined` | cross-connects and named circuits, and errors about a file |
| `switch_files` | cross-connects in CONFIG_DB, OCP YANG, SCPI, SONiC commands and tables |
| `plan_files` | directions of light by rack in plans as CSV and tables |
| `lights` | cross-connects on the ports of racks |
| `reader` | recognises the dialect of a file; returns its circuits in the form of a plan's JSON |
"""

from lightloom.control.lit.reader import NO_PORTS, Ports, read_lit

__all__ = ["NO_PORTS", "Ports", "read_lit"]
