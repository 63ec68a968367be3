"""Optical circuit switches: drivers for real switches, and an emulated switch with their
interfaces.

| part | content |
|---|---|
| `protocol` | `CircuitSwitch`, which every driver, the emulator and files implement |
| `feasibility` | whether a switch can carry out a change |
| `targets` | opens the driver for a URL: `scpi://`, `sonic://`, `gnmi://`, `tl1://`, `netconf://`,
`file:` |
| `machine` | the state machine of the emulated switch, without I/O, on a virtual clock |
| `host`, `server`, `faces` | run the emulated switch on the real clock and serve its interfaces on
sockets |
| `drivers` | one driver per interface |
| `conformance` | one test that every driver and interface must pass |
| `reconfiguration` | changes between plans, with light, packets and a client program measured
meanwhile |
| `light`, `packets` | samples of light; counts of packets through the emulated switch |
| `openflow` | installs rules on OpenFlow 1.3 switches |
| `verdicts` | rows of the table that a test prints |
"""
