"""A server on a library of its own and a browser that looks at it, for the tests of the page.

Needs Debian's chromium, chromium-driver and python3-selenium. The program is that of PHOTOLEDGER, or the debug build of
the package with the trait Gallery. Tests wait for conditions and never for a time to pass.
"""

import contextlib
import json
import os
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import unittest
import urllib.error
import urllib.request

from selenium import webdriver
from selenium.common.exceptions import StaleElementReferenceException, WebDriverException
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "Sources/GalleryServer/Page"
#: What the console says of requests that a stopped server cuts or refuses, on new connections and on those that were open.
SERVER_GONE = ("net::ERR_CONNECTION_REFUSED", "net::ERR_CONNECTION_RESET", "net::ERR_EMPTY_RESPONSE",
               "net::ERR_INCOMPLETE_CHUNKED_ENCODING", "net::ERR_SOCKET_NOT_CONNECTED", "503 (Service Unavailable)")
#: For how long a condition is waited for, seconds. It is reached only if something is broken.
LIMIT = float(os.environ.get("PHOTOLEDGER_PAGE_LIMIT", "120"))


def program():
    """The program under test."""
    named = os.environ.get("PHOTOLEDGER")
    for path in [named] if named else [ROOT / ".build/gallery/debug/photoledger", ROOT / ".build/debug/photoledger"]:
        if os.access(path, os.X_OK):
            return str(path)
    raise RuntimeError("Build the program first: swift build --traits Gallery, or name it in PHOTOLEDGER.")


def wait(condition, what, limit=LIMIT):
    """The first true value of a condition; fails with what was waited for, a sentence or what gives one then."""
    end = time.monotonic() + limit
    while True:
        try:
            value = condition()
        except StaleElementReferenceException:
            # The page drew anew while it was looked at.
            value = None
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f"After {limit:g} s still not: {what() if callable(what) else what}.")
        time.sleep(0.02)


def held_port(first=None):
    """A socket on a port that is free, below the first of those that the system gives to sockets; where there is none,
    on one that the system gives.

    While it is open, no other look-up of a port gets this one. A server sets SO_REUSEADDR before it binds, so it may
    listen there, again and again."""
    if first is None:
        first = int(pathlib.Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    # Browsers refuse some of the ports below 11,000.
    ports = list(range(11_000, first))
    random.shuffle(ports)
    for port in [*ports, 0]:
        held = socket.socket()
        try:
            held.bind(("127.0.0.1", port))
        except OSError:
            held.close()
            continue
        # After the bind: two holders that set it before would share the port.
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        return held
    raise RuntimeError("No port is free.")


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    @property
    def json(self):
        return json.loads(self.body)


class Gallery:
    """A library in a folder of its own, served on a free port."""

    def __init__(self, photos=12, options=(), installed=None):
        #: The folder of a program that serves the page beside it; else the page is that of the sources.
        self.installed = installed
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="page-"))
        self.library = self.folder / "library"
        self.options = list(options)
        self.held = held_port()
        self.port = self.held.getsockname()[1]
        self.process = None
        self.run("init", str(self.library))
        if photos:
            self.add_photos(photos)
        self.start()

    def run(self, *words, input=None):
        """Runs a command of the program on the library's files and gives its output."""
        done = subprocess.run([program(), *words], input=input, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, f"photoledger {' '.join(words)}: {done.stderr}"
        return done.stdout

    def command(self, *words, input=None):
        """Runs a command with --library."""
        return self.run(*words, "--library", str(self.library), input=input)

    def add_photos(self, count, first=0):
        """Imports invented JPEGs, a day apart, of several shapes."""
        folder = self.folder / f"photos-{first}"
        folder.mkdir()
        shapes = [(120, 80), (80, 120), (100, 100), (160, 60)]
        for number in range(first, first + count):
            width, height = shapes[number % len(shapes)]
            path = folder / f"IMG_{number:04}.ppm"
            colour = bytes([(37 * number) % 256, (91 * number) % 256, (151 * number + 80) % 256])
            path.write_bytes(b"P6 %d %d 255\n" % (width, height) + colour * (width * height))
            jpeg = path.with_suffix(".jpg")
            subprocess.run(["vips", "copy", str(path), str(jpeg)], check=True, capture_output=True)
            path.unlink()
            day = time.gmtime(1_700_000_000 + number * 86_400)
            subprocess.run(["exiftool", "-q", "-overwrite_original", f"-DateTimeOriginal={time.strftime('%Y:%m:%d %H:%M:%S', day)}",
                            "-OffsetTimeOriginal=+00:00", str(jpeg)], check=True)
        self.command("import", str(folder))

    def start(self):
        """Starts the server, on the same port each time."""
        self.log = open(self.folder / "server.log", "a")
        serve = [str(self.installed / "photoledger"), "serve"] if self.installed else [program(), "serve", "--page", str(PAGE)]
        self.process = subprocess.Popen(
            [*serve, "--library", str(self.library), "--listen", f"127.0.0.1:{self.port}", "--json", *self.options],
            stdout=subprocess.PIPE, stderr=self.log, text=True)
        line = self.process.stdout.readline()
        assert line, (self.folder / "server.log").read_text()[-2000:]
        said = json.loads(line)
        self.address, self.link = said["address"], said["link"]
        self.port = int(self.address.rsplit(":", 1)[1])
        secret = self.link.split("link=")[1]
        self.owner = self.ask("POST", "/v1/sessions", {"link": secret}, key=None).json["secret"]

    def stop(self, sign=signal.SIGTERM):
        self.process.send_signal(sign)
        self.process.wait(LIMIT)
        self.process.stdout.close()
        self.log.close()

    def close(self):
        if self.process.poll() is None:
            self.stop()
        self.held.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def ask(self, method, path, json_body=None, key="owner", headers=None):
        """Sends a request to the server."""
        headers = dict(headers or {})
        if key:
            headers["Authorization"] = f"Bearer {self.owner if key == 'owner' else key}"
        data = None
        if json_body is not None:
            data = json.dumps(json_body).encode()
            headers["Content-Type"] = "application/json"
        request = urllib.request.Request(self.address + path, data, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return Answer(answer.status, dict(answer.headers), answer.read())
        except urllib.error.HTTPError as error:
            return Answer(error.code, dict(error.headers), error.read())

    def commit(self, *changes, key="owner"):
        """Commits changes and gives the receipt."""
        answer = self.ask("POST", "/v1/blocks", {"changes": list(changes)}, key)
        assert answer.status == 200, answer.body
        return answer.json

    def assets(self, *options):
        """The assets as `photoledger ls --json` prints them."""
        return [json.loads(line) for line in self.command("ls", "--json", *options).splitlines()]

    def key(self, client, scopes=("read", "originals", "add", "change")):
        """A key for another client."""
        return self.ask("POST", "/v1/keys", {"client": client, "scopes": list(scopes)}).json["secret"]

    def owner_session(self):
        """The secret of another session of the owner, which has streams of its own."""
        link = self.ask("POST", "/v1/links", {}).json["link"]
        return self.ask("POST", "/v1/sessions", {"link": link}, key=None).json["secret"]


class Browser:
    """Headless Chromium with what the page reported."""

    def __init__(self, width=1280, height=800, scale=1, language="en-GB", dark=False, phone=False,
                 network=False, expected_errors=()):
        #: Parts of console errors that a test provokes, such as the status of a request that has to be refused; of several
        #: parts in a tuple, all have to be there.
        self.expected_errors = expected_errors
        options = Options()
        options.binary_location = shutil.which("chromium") or "/usr/bin/chromium"
        for argument in ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", f"--lang={language}",
                         f"--force-device-scale-factor={scale}", f"--window-size={width},{height}", "--hide-scrollbars",
                         "--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream"]:
            options.add_argument(argument)
        options.add_experimental_option("prefs", {"intl.accept_languages": language})
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", **({"performance": "ALL"} if network else {})})
        service = Service(shutil.which("chromedriver") or "/usr/bin/chromedriver")
        self.driver = webdriver.Chrome(options=options, service=service)
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": height, "deviceScaleFactor": scale, "mobile": phone})
        if phone:
            self.driver.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": True, "maxTouchPoints": 5})
        if dark:
            self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {
                "features": [{"name": "prefers-color-scheme", "value": "dark"}]})

    def sign_in(self, gallery, key=None, path="/"):
        """Gives the browser the cookie of a key, the owner's unless another is given, and opens a page."""
        self.driver.get(gallery.address + "/healthz")
        self.driver.add_cookie({"name": "photoledger-key", "value": key or gallery.owner, "path": "/"})
        self.driver.get(gallery.address + path)

    def js(self, script, *arguments):
        """Runs a function body in the page."""
        return self.driver.execute_script(script, *arguments)

    def all(self, selector):
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def one(self, selector, limit=LIMIT):
        """The element of a selector, once it is there and shown."""
        def shown():
            return next((element for element in self.all(selector) if element.is_displayed()), None)
        return wait(shown, f"{selector} is shown", limit)

    def click(self, selector):
        """Presses the element of a selector, also where the page draws it anew between the look and the press."""
        def pressed():
            self.one(selector).click()
            return True
        wait(pressed, f"{selector} is pressed")

    def text(self, selector="body"):
        """What the element of a selector says, also where the page draws it anew between the look and the read."""
        said = []

        def read():
            said.append(self.one(selector).text)
            return True
        wait(read, f"{selector} is read")
        return said[-1]

    def notice(self, text):
        """Waits for a notice that says something and holds it, as a pointer on it does, until it is pressed."""
        def held():
            return self.js("""
                const notices = [...document.querySelectorAll('.notice')];
                const notice = notices.findLast((one) => one.innerText.includes(arguments[0]));
                notice?.dispatchEvent(new PointerEvent('pointerenter'));
                return notice !== undefined;
            """, text)
        wait(held, f"a notice says '{text}'")

    def wait_text(self, text, selector="body", limit=LIMIT):
        def said():
            return " ".join(element.text for element in self.all(selector))
        wait(lambda: text in said(), lambda: f"'{text}' in {selector}; it says '{said()[:300]}'", limit)

    def screenshot(self, name):
        folder = ROOT / ".build/screenshots"
        folder.mkdir(parents=True, exist_ok=True)
        self.driver.save_screenshot(str(folder / f"{name}.png"))

    def responses(self):
        """The URL and text of every answer since the last call; needs `network`. Bytes and streams have no text."""
        found = []
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] != "Network.responseReceived":
                continue
            body = {}
            with contextlib.suppress(WebDriverException):
                body = self.driver.execute_cdp_cmd("Network.getResponseBody", {"requestId": message["params"]["requestId"]})
            text = "" if body.get("base64Encoded", True) else body["body"]
            found.append((message["params"]["response"]["url"], text))
        return found

    def is_expected(self, message):
        return any(all(part in message for part in ((parts,) if isinstance(parts, str) else parts))
                   for parts in self.expected_errors)

    def errors(self):
        """The errors of the console since the last call that are not expected: failed scripts, broken policies."""
        severe = [entry["message"] for entry in self.driver.get_log("browser") if entry["level"] == "SEVERE"]
        return [one for one in severe if not self.is_expected(one)]

    def check(self):
        """Fails if the console of a tab holds errors that are not expected."""
        unexpected = self.errors()
        assert unexpected == [], "The console holds errors:\n" + "\n".join(unexpected)

    def close(self):
        """Ends the browser. No test ends without this, so none passes over an error of its pages."""
        try:
            self.check()
        finally:
            self.driver.quit()


class PageTest(unittest.TestCase):
    """A test with a gallery and a browser of its own class; fails if the console holds an error at the end."""

    photos = 12
    options = ()
    #: What its browser expects of errors.
    expected_errors = ()

    @classmethod
    def setUpClass(cls):
        cls.gallery = Gallery(cls.photos, cls.options)
        try:
            cls.browser = Browser(expected_errors=cls.expected_errors)
        except BaseException:
            cls.gallery.close()
            raise

    @classmethod
    def tearDownClass(cls):
        try:
            cls.browser.close()
        finally:
            cls.gallery.close()

    def tearDown(self):
        self.browser.check()
