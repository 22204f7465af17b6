"""A headless Chromium for tests: driven by plain WebDriver over HTTP, with every request recorded by one proxy.

The proxy is also the origin of every host that ends in `.test`, so each test has an origin and a storage of its own.
"""

import base64
import contextlib
import http.client
import json
import shutil
import subprocess
import threading
import time
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

FLAGS = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions"),
    *("--disable-default-apps", "--disable-dev-shm-usage", "--window-size=900,900", "--lang=en"),
)
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"  # the key of an element in WebDriver's JSON
LONGEST_BODY = 1_000_000


@dataclass
class Request:
    """One request as the proxy saw it."""

    method: str
    host: str
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Site:
    """A host that the proxy serves: its page, and what it replies to a report."""

    page: str
    reply: Callable[[int, Request], int | None] = lambda count, request: 200  # None drops the connection unanswered
    posts: list[Request] = field(default_factory=list)
    upstream: int | None = None  # the port of a server that replies instead
    host: str = ""


class Recorder:
    """The proxy: it records every request, serves the sites it knows and refuses all others."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.sites: dict[str, Site] = {}
        recorder = self

        class Handler(BaseHTTPRequestHandler):
            timeout = 30

            def log_message(self, format: str, *args: Any) -> None:
                """Write nothing."""

            def do_GET(self) -> None:
                recorder.handle(self)

            do_POST = do_HEAD = do_OPTIONS = do_CONNECT = do_PUT = do_GET

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05})
        self.thread.start()

    def handle(self, handler: BaseHTTPRequestHandler) -> None:
        parts = urllib.parse.urlsplit(handler.path)
        length = min(int(handler.headers.get("Content-Length") or 0), LONGEST_BODY)
        host = parts.netloc or handler.headers.get("Host", "") or handler.path
        body = handler.rfile.read(length)
        request = Request(handler.command, host, parts.path, dict(handler.headers.items()), body)
        self.requests.append(request)
        site = self.sites.get(host)
        if site is None:
            respond(handler, 404, b"", "text/plain")
        elif site.upstream is not None:
            site.posts += [request] * (request.method == "POST")
            relay(handler, request, site.upstream)
        elif request.method == "OPTIONS":
            respond(handler, 204, b"", "text/plain")
        elif request.method == "POST":
            site.posts.append(request)
            status = site.reply(len(site.posts), request)
            if status is None:
                handler.close_connection = True
                handler.connection.close()
            else:
                respond(handler, status, b"{}", "application/json")
        else:
            is_page = request.path == "/"
            respond(
                handler, 200 if is_page else 404, site.page.encode() if is_page else b"", "text/html; charset=utf-8"
            )

    def serve(self, host: str, page: str, **more: Any) -> Site:
        """A new site of that host."""
        site = self.sites[host] = Site(page, host=host, **more)
        return site

    def stop(self) -> None:
        self.server.shutdown()
        self.thread.join(10)
        self.server.server_close()


def relay(handler: BaseHTTPRequestHandler, request: Request, port: int) -> None:
    """Hand the request to a server and its reply to the browser."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    connection.request(request.method, request.path, request.body or None, request.headers | {"Connection": "close"})
    reply = connection.getresponse()
    body = reply.read()
    handler.send_response(reply.status)
    for name, text in reply.getheaders():
        handler.send_header(name, text)
    handler.end_headers()
    handler.wfile.write(body)
    connection.close()


def respond(handler: BaseHTTPRequestHandler, status: int, body: bytes, kind: str) -> None:
    with contextlib.suppress(OSError):
        handler.send_response(status)
        handler.send_header("Content-Type", kind)
        handler.send_header("Content-Length", str(len(body)))
        handler.send_header("Access-Control-Allow-Origin", "*")
        handler.send_header("Access-Control-Allow-Headers", "Content-Type")
        handler.send_header("Connection", "close")
        handler.end_headers()
        handler.wfile.write(body)


class Browser:
    """One WebDriver session."""

    def __init__(self, base: str, session: str) -> None:
        self.base, self.session = base, session

    def call(self, method: str, path: str, **body: Any) -> Any:
        return call(method, f"{self.base}/session/{self.session}{path}", body)

    def cdp(self, command: str, **parameters: Any) -> Any:
        return self.call("POST", "/goog/cdp/execute", cmd=command, params=parameters)

    def open(self, url: str) -> None:
        self.call("POST", "/url", url=url)

    def reload(self) -> None:
        self.call("POST", "/refresh")

    def back(self) -> None:
        self.call("POST", "/back")

    def run(self, script: str, *arguments: Any) -> Any:
        """What the script returns."""
        return self.call("POST", "/execute/sync", script=script, args=list(arguments))

    def element(self, selector: str) -> str:
        return self.call("POST", "/element", using="css selector", value=selector)[ELEMENT]

    def click(self, selector: str) -> None:
        self.call("POST", f"/element/{self.element(selector)}/click")

    def text(self, selector: str = "body") -> str:
        return self.call("GET", f"/element/{self.element(selector)}/text")

    def press(self, *keys: str) -> None:
        """Press and release keys where the focus is."""
        actions = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        self.call("POST", "/actions", actions=[{"type": "key", "id": "keys", "actions": actions}])

    def tap(self, selector: str) -> None:
        """Touch the middle of an element with one finger."""
        script = """const node = document.querySelector(arguments[0]); node.scrollIntoView({block: "center"});
            const box = node.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2];"""
        x, y = self.run(script, selector)
        self.cdp("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": x, "y": y}])
        self.cdp("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])

    def before_load(self, script: str) -> str:
        """Run the script in each new page before its own; the result names it for `forget`."""
        return self.cdp("Page.addScriptToEvaluateOnNewDocument", source=script)["identifier"]

    def forget(self, identifier: str) -> None:
        self.cdp("Page.removeScriptToEvaluateOnNewDocument", identifier=identifier)

    def wait(self, script: str, seconds: float = 10) -> Any:
        """The first true value of the script."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            value = self.run(script)
            if value:
                return value
            time.sleep(0.03)
        raise AssertionError(f"never true: {script}; the page says: {self.text()}")

    def wait_for_status(self, kind: str) -> None:
        self.wait(f"return document.getElementById('status').dataset.kind === '{kind}'")

    def storage(self) -> dict[str, str]:
        return self.run("return Object.fromEntries(Object.entries(localStorage))")

    def screenshot(self, path: Path) -> None:
        path.write_bytes(base64.b64decode(self.call("GET", "/screenshot")))


def call(method: str, url: str, body: dict[str, Any]) -> Any:
    data = json.dumps(body).encode() if method == "POST" else None
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"}, method=method)
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=60) as reply:
            return json.load(reply)["value"]
    except urllib.error.HTTPError as error:
        with error:
            raise AssertionError(error.read().decode()[:2000]) from None


@contextlib.contextmanager
def open_browser(folder: Path, proxy_port: int) -> Iterator[Browser]:
    """A browser whose every request goes through the proxy; it ends with the block."""
    driver = subprocess.Popen(
        [shutil.which("chromedriver") or "chromedriver", "--port=0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        port = next(line.rsplit(" ", 1)[1].strip(" .\n") for line in driver.stdout if "successfully on port" in line)
        base = f"http://127.0.0.1:{port}"
        proxy = (f"--proxy-server=127.0.0.1:{proxy_port}", "--proxy-bypass-list=<-loopback>")
        options = {"binary": shutil.which("chromium"), "args": [*FLAGS, *proxy, f"--user-data-dir={folder}"]}
        wanted = {
            "alwaysMatch": {
                "browserName": "chrome",
                "goog:chromeOptions": options,
                "goog:loggingPrefs": {"performance": "ALL"},
            }
        }
        browser = Browser(base, call("POST", f"{base}/session", {"capabilities": wanted})["sessionId"])
        try:
            yield browser
        finally:
            browser.call("DELETE", "")
    finally:
        driver.terminate()
        driver.wait(20)
        driver.stdout.close()
