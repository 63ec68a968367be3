"""The errors of NETCONF (RFC 6241 §4.3)."""

from __future__ import annotations

_OF_PROTOCOL = ("operation-not-supported", "lock-denied", "in-use", "unknown-namespace")
_OF_RPC = ("malformed-message", "missing-attribute")


class WrongError(Exception):
    """An rpc-error."""

    def __init__(self, tag: str, text: str, session: int | None = None) -> None:
        """`session` is the one that holds a lock."""
        self._tag, self._session = tag, session
        super().__init__(text)

    def xml(self) -> str:
        """The element."""
        text = str(self).replace("&", "&amp;").replace("<", "&lt;")
        kind = "protocol" if self._tag in _OF_PROTOCOL else "application"
        kind = "rpc" if self._tag in _OF_RPC else kind
        info = ""
        if self._session is not None:
            info = f"<error-info><session-id>{self._session}</session-id></error-info>"
        return (
            f"<rpc-error><error-type>{kind}</error-type><error-tag>{self._tag}</error-tag>"
            f"<error-severity>error</error-severity><error-message>{text}</error-message>"
            f"{info}</rpc-error>"
        )
