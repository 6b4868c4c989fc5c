"""The live page in a real browser, while requests are answered. Screenshots are kept where PAGE_OUT says, or in target/page."""

import shutil
import subprocess
import threading
import time
from pathlib import Path

import pytest


@pytest.mark.skipif(not shutil.which("chromium"), reason="LEFT OUT: no chromium")
def test_the_page_shows_live_figures(service, kms):
    key = kms.create_key(KeyUsage="SIGN_VERIFY", KeySpec="RSA_2048")["KeyMetadata"]["KeyId"]
    done = threading.Event()

    def sign():
        while not done.is_set():
            kms.sign(KeyId=key, Message=b"m", SigningAlgorithm="RSASSA_PSS_SHA_256")

    client = threading.Thread(target=sign)
    client.start()
    try:
        # A curve needs a few seconds of figures.
        time.sleep(5)
        token = service.credential("watcher", "--allow", "watch")["token"]
        url = service.url.replace("://", f"://watcher:{token}@")
        looked = subprocess.run([Path(__file__).with_name("page.sh"), url], capture_output=True, text=True)
        assert looked.returncode == 0, looked.stderr
    finally:
        done.set()
        client.join()
