"""Plans on the ports of switches, in the formats that switches read.

| file | what |
|---|---|
| `plans` | a plan on ports, and its directions of light |
| `sheet` | the rows of an output |
| `outputs` | the dialects, selected by name or by the ending of a file |
| `csv_rows`, `table`, `scpi`, `sonic`, `config_db`, `ocp_yang` | one dialect each |
"""

from lightloom.control.ports.lights import Light, Wiring, names_of
from lightloom.control.ports.port_csv import read_port_map
from lightloom.control.ports.port_map import Port, PortMap, SwitchSize
from lightloom.control.wiring.outputs import BY_NAME, DIALECTS, Dialect, find, of_file, render
from lightloom.control.wiring.plans import lights_of, wired

__all__ = [
    "BY_NAME",
    "DIALECTS",
    "Dialect",
    "Light",
    "Port",
    "PortMap",
    "SwitchSize",
    "Wiring",
    "find",
    "lights_of",
    "names_of",
    "of_file",
    "read_port_map",
    "render",
    "wired",
]
