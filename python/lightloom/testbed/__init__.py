"""The Linux testbed: unmodified applications on hosts in network namespaces, over an emulated
optical fabric that the simulated fabric's own controller drives.

| module | content |
|---|---|
| `setup`, `application_checks`, `limits` | checks before and after a run: pure |
| `emulation`, `idealised` | how a kind of fabric is emulated; keys without an effect: pure |
| `layout`, `path_tags` | names and VLANs: pure |
| `bed`, `namespaces`, `links`, `folders`, `guardian`, `shell` | set-up and removal of a testbed |
| `kernel`, `user`, `forwarding`, `optical_switch` | planes of circuits: drivers of the controller |
| `server_rules`, `open_vswitch`, `packet_sockets` | HydRA's rules on servers, by Open vSwitch |
| `host`, `priority` | runs the controller in real time; its scheduling policy |
| `applications`, `live`, `measure`, `capture` | programs, and samples and packets of their run |
| `memcached_client` | a program that measures the latency of memcached |
| `claims`, `claims_table`, `programs` | claims of papers that a testbed judges; their programs |
| `agreement`, `agreement_text`, `matched` | a run and its simulation; rates with circuits |
| `tables`, `result`, `report` | measured tables, files and page |

>>> from lightloom.testbed import Testbed, measure, setup_of  # doctest: +SKIP
>>> setup = setup_of(lightloom.load("examples/testbed-cthrough.toml"))  # doctest: +SKIP
>>> live = measure(setup)  # doctest: +SKIP
"""

from lightloom.testbed.bed import Testbed
from lightloom.testbed.live import Live, measure
from lightloom.testbed.setup import Setup, setup_of

__all__ = ["Live", "Setup", "Testbed", "measure", "setup_of"]
