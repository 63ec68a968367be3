"""The parts of networks, which price books may price and bills count."""

from __future__ import annotations

from dataclasses import dataclass

#: Numbers that a part must have besides its price: ports of a box, rate of a port.
PORTS, RATE = "ports", "rate"


@dataclass(frozen=True)
class Kind:
    """A kind of part, and the numbers of it that a bill needs."""

    about: str
    needs: tuple[str, ...] = ()


_BOX = (PORTS, RATE)
#: Name of a part → kind. The names are terms of the field; a book prices some of them.
PARTS: dict[str, Kind] = {
    "switch": Kind("electrical packet switch, a box", _BOX),
    "tree-switch": Kind("switch of the electrical network beside circuits", _BOX),
    "server-transceiver": Kind("transceiver at the rack's end of a server's link", (RATE,)),
    "server-cable": Kind("cable of a server's link"),
    "transceiver": Kind("optical transceiver at an end of a link between switches", (RATE,)),
    "tree-transceiver": Kind("the same in the electrical network beside circuits", (RATE,)),
    "cable": Kind("fibre of a link between switches"),
    "tree-cable": Kind("the same in the electrical network beside circuits"),
    "circuit-transceiver": Kind("transceiver at a port of an optical circuit switch", (RATE,)),
    "circuit-cable": Kind("fibre from a rack to an optical switch or grating"),
    "circuit-switch": Kind("optical circuit switch of mirrors, with duplex ports", (PORTS,)),
    "circulator": Kind("circulator, by which one fibre carries both directions"),
    "rotor-switch": Kind("optical switch that turns through fixed matchings", (PORTS,)),
    "grating": Kind("arrayed waveguide grating router, passive", (PORTS,)),
    "tunable-transceiver": Kind("transceiver with a fast tunable laser", (RATE,)),
    "laserless-transceiver": Kind("transceiver whose light is from a shared laser", (RATE,)),
    "tunable-laser": Kind("tunable laser, which may feed several transceivers"),
    "dwdm-transceiver": Kind("transceiver of one fixed wavelength of a ring", (RATE,)),
    "wss-output": Kind("output of a wavelength-selective switch"),
    "wavelength-converter": Kind("fast tunable wavelength converter"),
    "burst-receiver": Kind("burst-mode receiver", (RATE,)),
    "host-transmitter": Kind("transmitter of a host, of one wavelength", (RATE,)),
    "loopback-transmitter": Kind("transmitter of a loop-back buffer", (RATE,)),
    "buffer-memory": Kind("memory of a loop-back buffer"),
    "label-extractor": Kind("label extractor with its receiver"),
    "delay-line": Kind("fibre delay line"),
    "coupler": Kind("optical coupler, 2:1"),
}
