"""Plans on the ports of switches, in the languages that switches read.

| file | what |
|---|---|
| `port_map`, `port_csv` | which rack is at which ports; read from a file |
| `lights` | the directions of light of a plan, and their ports |
| `sheet` | what is to be said, row by row |
| `outputs` | the dialects, chosen by name or by a file's ending |
| `csv_rows`, `table`, `scpi`, `sonic`, `config_db`, `ocp_yang` | a dialect each |
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
