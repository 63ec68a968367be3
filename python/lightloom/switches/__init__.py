"""Optical circuit switches: drivers for real switches, and an emulated switch with their
interfaces.

| part | content |
|---|---|
| `protocol` | `CircuitSwitch`, which every driver, the emulator and files implement |
| `feasibility` | whether a switch can carry out a change |
| `targets` | drivers by URL: `scpi://`, `sonic://`, `gnmi://`, `tl1://`, `netconf://`, `file:` |
| `machine` | the state machine of the emulated switch, without I/O, on a virtual clock |
| `resolution` | which connections a requested change deletes, creates and keeps, or its refusal |
| `host`, `server`, `faces` | the emulated switch on the real clock, with interfaces on sockets |
| `drivers` | one driver per interface |
| `conformance` | one test that every driver and interface must pass |
| `reconfiguration` | changes between plans, under light, packets and a client program |
| `light`, `packets` | samples of light; counts of packets through the emulated switch |
| `openflow` | installs rules on OpenFlow 1.3 switches |
| `verdicts` | rows of the table that a test prints |
"""
