"""Optical circuit switches: an emulated one with real interfaces, and drivers for real ones.

| part | what it holds |
|---|---|
| `protocol` | `CircuitSwitch`, which every driver, the emulator and files implement |
| `feasibility` | whether a switch can carry out a change |
| `targets` | drivers by URL: `scpi://`, `sonic://`, `gnmi://`, `tl1://`, `netconf://`, `file:` |
| `machine` | the state machine of the emulated switch, pure, on a virtual clock |
| `host`, `server`, `faces` | the emulated switch on the real clock, behind sockets |
| `drivers` | one driver per interface |
| `conformance` | one test for every driver and interface |
| `reconfiguration` | changes between plans under light, packets and a client |
| `light`, `packets` | light that is sampled; packets through the emulated switch |
| `openflow` | rules pushed to OpenFlow 1.3 switches |
| `verdicts` | rows of a test's table |
"""
