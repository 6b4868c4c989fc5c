"""Python's ssl with the provider, as server and as client: versions, keys of two lengths, many threads."""

import socket
import ssl
import threading

import common

common.again_with_provider()
print(ssl.OPENSSL_VERSION)
if ssl.OPENSSL_VERSION_INFO < (3,):
    common.left_out("this Python has an OpenSSL before 3")


def serve(listener, context, count):
    for _ in range(count):
        connection, _ = listener.accept()
        threading.Thread(target=answer, args=(connection, context)).start()


def answer(connection, context):
    with context.wrap_socket(connection, server_side=True) as secured:
        secured.sendall(secured.recv(100))


def ask(port, context, failed):
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
            with context.wrap_socket(connection, server_hostname="localhost") as secured:
                secured.sendall(b"hello")
                assert secured.recv(100) == b"hello"
    except Exception as error:  # noqa: BLE001  every failure counts
        failed.append(error)


for bits in (2048, 4096):
    for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
        server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        server.load_cert_chain(common.path(f"site{bits}.pem"))
        client = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        client.load_verify_locations(common.path(f"cert{bits}.pem"))
        client.check_hostname = False
        client.minimum_version = client.maximum_version = version
        listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        failed, count = [], 48
        asking = [
            threading.Thread(target=ask, args=(listener.getsockname()[1], client, failed)) for _ in range(count)
        ]
        for thread in asking:
            thread.start()
        serve(listener, server, count)
        for thread in asking:
            thread.join()
        assert not failed, failed[:3]
        print(f"{bits} bits, {version.name}: {count} handshakes")
