"""The interface over TLS: a client trusts the controller's certificate, or names the reason."""

from pathlib import Path

import pytest
from controller_support import Served
from test_switch_security import certificate

from lightloom.controller.client import Client
from lightloom.errors import ConfigError


def test_a_client_uses_a_controller_whose_certificate_it_trusts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    certificate(tmp_path)
    own, key = tmp_path / "certificate.pem", tmp_path / "key.pem"
    served = Served(tmp_path, ssl_certfile=str(own), ssl_keyfile=str(key))
    try:
        monkeypatch.delenv("SSL_CERT_FILE", raising=False)
        client = Client(served.url, served.tokens["read"])
        with pytest.raises(ConfigError) as refused:
            client.state()
        assert "SSL_CERT_FILE" in (refused.value.remedy or "")
        monkeypatch.setenv("SSL_CERT_FILE", str(own))
        assert client.state()["switches"][0]["name"] == "east"
        other = Client(served.url.replace("127.0.0.1", "localhost"), served.tokens["read"])
        with pytest.raises(ConfigError) as refused:
            other.state()
        assert "localhost" in (refused.value.limit or "")
    finally:
        served.close()
