"""Plans on the ports of switches, in the formats that switches read.

| file | what |
|---|---|
| `port_map`, `port_csv` | the ports of each rack; reading them from a file |
| `lights` | the directions of light of a plan, and their ports |
| `sheet` | the rows of an output |
| `outputs` | the dialects, selected by name or by the ending of a file |
| `csv_rows`, `table`, `scpi`, `sonic`, `config_db`, `ocp_yang` | one dialect each |
"""

from lightloom.control.wiring.lights import Light, Wiring, lights_of, names_of, wired
from lightloom.control.wiring.outputs import BY_NAME, DIALECTS, Dialect, find, of_file, render
from lightloom.control.wiring.port_csv import read_port_map
from lightloom.control.wiring.port_map import Port, PortMap, SwitchSize

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
