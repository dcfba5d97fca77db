"""The nginx block and the systemd unit of the documentation, with a real nginx and TLS."""

import json
import os
import re
import shlex
import shutil
import signal
import ssl
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

from support.review_server import TIMEOUT, free_port
from support.users import PASSWORD, add_user, cheap_hashes

pytestmark = pytest.mark.slow

HOST = "reading.example.org"
DOCS = (Path(__file__).parents[2] / "docs" / "review.md").read_text(encoding="utf-8")


def block(kind: str) -> str:
    """Return the one block of the documentation in a language."""
    (found,) = re.findall(rf"```{kind}\n(.*?)```", DOCS, re.DOTALL)
    return found


def unit_command() -> list[str]:
    """Return the command of the systemd unit, as arguments of capsieve."""
    (line,) = re.findall(r"^ExecStart=(.*)$", block("ini"), re.MULTILINE)
    return shlex.split(line)[1:]


@pytest.fixture
def nginx():
    program = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
    if program is None:
        if os.environ.get("CI"):
            pytest.fail("nginx is not installed")
        pytest.skip("nginx is not installed: apt-get install nginx-light")
    return program


def write_configuration(folder: Path, *, listen: str, server: str) -> Path:
    """Write the documented block, with ports and certificate of this test."""
    key, certificate = folder / "key", folder / "certificate"
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"),
            *("-keyout", key, "-out", certificate, "-subj", f"/CN={HOST}"),
            *("-addext", f"subjectAltName=DNS:{HOST},IP:127.0.0.1"),
        ],
        check=True,
        capture_output=True,
    )
    site = block("nginx").replace("443 ssl", f"127.0.0.1:{listen} ssl")
    site = site.replace("/etc/ssl/reading.pem", str(certificate))
    site = site.replace("/etc/ssl/reading.key", str(key)).replace("8765", server)
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    temporary = "".join(f"{kind}_temp_path {folder}/{kind};\n" for kind in kinds)
    path = folder / "nginx.conf"
    path.write_text(
        f"daemon off;\npid {folder}/pid;\nerror_log {folder}/error.log;\nevents {{}}\n"
        f"http {{\naccess_log off;\n{temporary}{site}}}\n"
    )
    return path


def test_log_in_and_list_through_nginx_with_tls(results, tmp_path, monkeypatch, nginx):
    cheap_hashes(monkeypatch)
    add_user(tmp_path / "users.json", "anna")
    listen, port = free_port(), free_port()
    configuration = write_configuration(tmp_path, listen=listen, server=port)
    places = {
        "/srv/results": str(results),
        "/etc/capsieve/users.json": str(tmp_path / "users.json"),
        "/var/log/capsieve/review.log": str(tmp_path / "review.log"),
        "8765": port,
    }
    command = [places.get(word, word) for word in unit_command()]
    command += ["--database", str(tmp_path / "decisions.sqlite")]
    server = subprocess.Popen(
        [sys.executable, "-m", "capsieve", *command], stdout=subprocess.PIPE, text=True
    )
    proxy = subprocess.Popen([nginx, "-c", configuration, "-p", tmp_path])
    try:
        assert server.stdout is not None
        assert "reading room is open" in server.stdout.readline()
        trusted = ssl.create_default_context(cafile=str(tmp_path / "certificate"))
        browser = httpx.Client(
            base_url=f"https://127.0.0.1:{listen}",
            verify=trusted,
            headers={"host": HOST},
            timeout=TIMEOUT,
        )
        with browser:
            assert wait_for(browser).json() == {}
            headers = {"origin": f"https://{HOST}", "x-forwarded-for": "192.0.2.7"}
            form = {"name": "anna", "password": PASSWORD}
            answer = browser.post("/login", data=form, headers=headers)
            assert answer.status_code == 303, answer.text
            assert "Secure" in answer.headers["set-cookie"]
            cookie = answer.headers["set-cookie"].partition(";")[0]
            (exam,) = browser.get("/api/exams", headers={"cookie": cookie}).json()
            assert exam["exam"] == "small"
    finally:
        for process in (proxy, server):
            process.send_signal(signal.SIGTERM)
            process.wait(TIMEOUT)
        assert server.stdout is not None
        server.stdout.close()
    (login,) = [json.loads(line) for line in (tmp_path / "review.log").read_text().splitlines()]
    assert (login["event"], login["address"]) == ("login", "127.0.0.1")


def wait_for(browser: httpx.Client) -> httpx.Response:
    """Return the answer of the health check, once nginx listens."""
    end = time.monotonic() + TIMEOUT
    while True:
        try:
            return browser.get("/healthz")
        except httpx.ConnectError:
            if time.monotonic() > end:
                raise
            time.sleep(0.05)
