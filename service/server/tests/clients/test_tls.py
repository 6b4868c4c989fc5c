"""Connections with TLS, with the certificate for development."""

import pytest
from botocore.exceptions import SSLError
from conftest import Service


def test_clients_trust_the_development_certificate_only_if_they_are_told(tmp_path):
    service = Service(tmp_path, tls=True).start()
    assert service.url.startswith("https://")
    credential = service.credential()
    with pytest.raises(SSLError):
        service.kms(credential).list_keys()
    certificate = str(service.data / "tls" / "development.pem")
    assert service.kms(credential, verify=certificate).list_keys()["Keys"] == []
    assert "FOR DEVELOPMENT" in service.messages()
    assert service.stop() == 0
