"""The ports of switches, and the light between them.

| file | what |
|---|---|
| `port_map`, `port_csv` | the ports of each rack; reading them from a file |
| `lights` | directions of light of circuits and schedules, and their ports |
"""
