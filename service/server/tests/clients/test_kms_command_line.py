"""The KMS door with the aws command line."""

import base64
import json
import os
import subprocess


def test_the_command_line_signs_and_verifies(service, credential, tmp_path):
    env = {
        **os.environ,
        "AWS_ACCESS_KEY_ID": credential["access_key_id"],
        "AWS_SECRET_ACCESS_KEY": credential["secret_access_key"],
        "AWS_DEFAULT_REGION": "us-east-1",
        "HOME": str(tmp_path),
    }

    def aws(*arguments):
        command = ["aws", "--endpoint-url", service.url, "--output", "json", "kms", *arguments]
        done = subprocess.run(command, env=env, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout or "null")

    key = aws("create-key", "--key-usage", "SIGN_VERIFY", "--key-spec", "RSA_2048")["KeyMetadata"]["KeyId"]
    (tmp_path / "message").write_bytes(b"from the command line")
    what = ("--key-id", key, "--message", f"fileb://{tmp_path}/message", "--signing-algorithm", "RSASSA_PSS_SHA_256")
    signature = base64.b64decode(aws("sign", *what)["Signature"])
    (tmp_path / "signature").write_bytes(signature)
    assert aws("verify", *what, "--signature", f"fileb://{tmp_path}/signature")["SignatureValid"]
