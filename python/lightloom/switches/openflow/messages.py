"""Messages of OpenFlow 1.3, encoded and decoded by os-ken as a library, without its event loop."""

from __future__ import annotations

from typing import Any

from lightloom.switches.openflow.rules import Match, Removal, Rule

VERSION = 4
"""The version number of OpenFlow 1.3 in the header of a message."""
HEADER = 8
"""The length of a header [bytes]."""
VLAN_PRESENT = 0x1000
ETH_IPV4 = 0x0800
ETH_VLAN = 0x8100


class Messages:
    """Encodes and decodes messages. os-ken is imported when an object is constructed.

    Raises:
        ImportError: if os-ken is not installed.
    """

    def __init__(self) -> None:
        from os_ken.ofproto import ofproto_parser, ofproto_v1_3, ofproto_v1_3_parser
        from os_ken.ofproto.ofproto_protocol import ProtocolDesc

        self._parse = ofproto_parser.msg
        self._own = ProtocolDesc(VERSION)
        self._numbers: Any = ofproto_v1_3
        self._classes: Any = ofproto_v1_3_parser

    def hello(self, xid: int) -> bytes:
        """The first message, which both sides send."""
        return self._written(self._classes.OFPHello(self._own), xid)

    def features_request(self, xid: int) -> bytes:
        """Requests the datapath ID."""
        return self._written(self._classes.OFPFeaturesRequest(self._own), xid)

    def echo_reply(self, xid: int, data: bytes) -> bytes:
        """The reply to an echo request of the switch."""
        return self._written(self._classes.OFPEchoReply(self._own, data=data), xid)

    def barrier(self, xid: int) -> bytes:
        """Requests a reply after all earlier messages have been processed."""
        return self._written(self._classes.OFPBarrierRequest(self._own), xid)

    def change(self, xid: int, change: Rule | Removal) -> bytes:
        """Adds or removes a rule."""
        numbers, classes = self._numbers, self._classes
        keys: dict[str, Any] = {
            "priority": change.priority,
            "match": self._match(change.match),
            "out_port": numbers.OFPP_ANY,
            "out_group": numbers.OFPG_ANY,
            "command": numbers.OFPFC_DELETE_STRICT,
        }
        if isinstance(change, Rule):
            keys |= {
                "command": numbers.OFPFC_ADD,
                "cookie": change.cookie,
                "instructions": [
                    classes.OFPInstructionActions(
                        numbers.OFPIT_APPLY_ACTIONS, self._actions(change)
                    )
                ],
            }
        return self._written(classes.OFPFlowMod(self._own, **keys), xid)

    def _match(self, match: Match) -> Any:
        fields: dict[str, Any] = {}
        if match.in_port is not None:
            fields["in_port"] = match.in_port
        if match.eth_dst is not None:
            fields["eth_dst"] = match.eth_dst
        if match.ipv4_dst is not None:
            fields |= {"eth_type": ETH_IPV4, "ipv4_dst": match.ipv4_dst}
        return self._classes.OFPMatch(**fields)

    def _actions(self, rule: Rule) -> list[Any]:
        classes = self._classes
        if rule.out is None:
            return []
        output = classes.OFPActionOutput(rule.out)
        if rule.vlan is None:
            return [output]
        tag = classes.OFPActionSetField(vlan_vid=VLAN_PRESENT | rule.vlan)
        return [classes.OFPActionPushVlan(ETH_VLAN), tag, output]

    @staticmethod
    def _written(message: Any, xid: int) -> bytes:
        message.set_xid(xid)
        message.serialize()
        return bytes(message.buf)

    def read(self, kind: int, xid: int, text: bytes) -> Any:
        """Decodes a message; None if it is malformed.

        Args:
            kind: the type in its header.
            xid: the transaction in its header.
            text: the whole message, including its header.
        """
        try:
            return self._parse(self._own, VERSION, kind, len(text), xid, text)
        except Exception:  # os-ken lets errors of struct and assert through
            return None

    def name_of(self, message: Any) -> str:
        """The type and code of a switch's error message, by their names in the standard."""
        return (
            f"{self._numbers.ofp_error_type_to_str(message.type)}, "
            f"{self._numbers.ofp_error_code_to_str(message.type, message.code)}"
        )
