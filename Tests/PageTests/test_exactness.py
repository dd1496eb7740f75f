"""The grid stays exact while the library changes under it: what is on the screen and the whole order of the page's model
equal `photoledger ls` at the state that the page says it shows.

PHOTOLEDGER_PAGE_SOAK=60 lets each test run for so many seconds; without it a few.
"""

import base64
import json
import os
import random
import signal
import socket
import subprocess
import threading
import time
import unittest

from gallery import LIMIT, SERVER_GONE, Browser, Gallery, program, wait

IS_SOAK = "PHOTOLEDGER_PAGE_SOAK" in os.environ
SECONDS = float(os.environ.get("PHOTOLEDGER_PAGE_SOAK", "6"))
SEED = int(os.environ.get("PHOTOLEDGER_PAGE_SEED", "1"))
STOPS = max(6, min(50, int(SECONDS)))

#: What the page's model holds at one moment, and what is on the screen. Both are read in one turn of the page's loop, and
#: nothing is drawn or loaded for the reader. `isWhole` says whether tiles with pictures' names fill what can be seen.
LOOK = """
    const found = { token: grid.list.token, count: grid.list.count, loaded: [], tiles: [], parts: [] };
    for (let index = 0, { blocks } = grid.list; index < blocks.count; index += 1) {
      const item = blocks.cell(index)?.item;
      if (item) found.loaded.push([index, item.id]);
    }
    for (const tile of grid.layer.querySelectorAll('.tile:not([hidden])')) {
      const box = tile.getBoundingClientRect();
      found.tiles.push([Number(tile.dataset.index), tile.dataset.id ?? null, box.left, box.top, box.width, box.height]);
    }
    found.parts = grid.list.blocks.parts.map((part) => [part.key, part.count]);
    const view = grid.scroll.getBoundingClientRect();
    const seen = found.tiles.filter((one) => one[3] < view.bottom && one[3] + one[5] > view.top);
    const first = seen.reduce((one, other) => Math.min(one, other[0]), Infinity);
    const last = seen.reduce((one, other) => Math.max(one, other[0]), -1);
    // Above a month is its name, 52 px high, and between rows is a gap.
    const isFilled = seen.length > 0 && (first === 0 || Math.min(...seen.map((one) => one[3])) <= view.top + 60)
      && (last === found.count - 1 || Math.max(...seen.map((one) => one[3] + one[5])) >= view.bottom - 60);
    found.isFilled = found.count === 0 || isFilled;
    found.isWhole = found.isFilled && seen.every((one) => one[1] !== null);
    return found;
"""

#: The identifiers of the whole list, read from the tiles while the page is scrolled from its beginning to its end. The page
#: itself loads and draws them; where it does not within the limit, what is missing stays null.
WHOLE = """
    const list = grid.list;
    const frame = () => new Promise((resolve) => requestAnimationFrame(() => resolve()));
    const look = () => { %s };
    for (let top = 0; ; top += grid.scroller.view * 0.8) {
      grid.scroller.setTop(top);
      grid.scrolled();
      await frame();
      const end = performance.now() + %d;
      while (!look().isWhole && performance.now() < end) await frame();
      const { tiles, token, count, isWhole } = look();
      if (top === 0 || token !== read.token || count !== read.order.length) read = { token, order: Array(count).fill(null) };
      for (const [index, id] of tiles) read.order[index] ??= id;
      if (!isWhole || top > list.blocks.height) return read;
    }
"""


class Proxy:
    """A network between browser and server that can be cut."""

    def __init__(self, port):
        self.port_there = port
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.is_cut = False
        self.ends, self.ended, self.threads = set(), [], []
        self.lock = threading.Lock()
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            if self.is_cut:
                near.close()
                continue
            try:
                far = socket.create_connection(("127.0.0.1", self.port_there))
            except OSError:
                near.close()
                continue
            with self.lock:
                self.ends |= {near, far}
            for one, other in [(near, far), (far, near)]:
                self.threads.append(threading.Thread(target=self.copy, args=(one, other), daemon=True))
                self.threads[-1].start()

    def copy(self, one, other):
        try:
            while data := one.recv(65536):
                other.sendall(data)
        except OSError:
            pass  # The other end was closed, or the network was cut: both ends go.
        with self.lock:
            for end in {one, other} & self.ends:
                self.shut(end)
                self.ends.remove(end)
                self.ended.append(end)

    @staticmethod
    def shut(end):
        try:
            end.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass  # It is shut already.

    def cut(self):
        self.is_cut = True
        with self.lock:
            for end in self.ends:
                self.shut(end)

    def restore(self):
        self.is_cut = False

    def close(self):
        self.listener.close()
        self.cut()
        for thread in self.threads:
            thread.join()
        for end in self.ended:
            end.close()


class Changes(threading.Thread):
    """Random blocks, twenty a second, through a process of its own: `photoledger apply`."""

    def __init__(self, gallery, seed, client=None, album=None, rate=20):
        super().__init__(daemon=True)
        self.random = random.Random(seed)
        self.client, self.album, self.rate = client, album, rate
        self.assets, self.trashed, self.members = [], [], []
        self.ending = threading.Event()
        self.failure = None
        self.count = 0
        self.files = [base64.b64encode(path.read_bytes()).decode() for path in sorted(gallery.folder.glob("photos-0/*.jpg"))]
        self.process = subprocess.Popen(
            [program(), "apply", "--library", str(gallery.library)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env={**os.environ, "PHOTOLEDGER_PROBE": "none"})

    def apply(self, *changes):
        self.process.stdin.write(json.dumps({"changes": list(changes)}) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        assert "error" not in answer, f"{answer} for {json.dumps(changes)[:500]}"
        self.count += 1
        return answer

    def date(self):
        second = self.random.choice([0, self.random.randrange(86_400)])
        day = self.random.randrange(900)
        return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(1_640_000_000 + day * 86_400 + second))

    def creation(self):
        number = self.random.randrange(len(self.files))
        width, height = [(120, 80), (80, 120), (100, 100), (160, 60)][number % 4]
        creation = {"op": "asset.create", "mediaType": "image", "pixelWidth": width, "pixelHeight": height,
                    "resources": [{"type": "photo", "data": self.files[number], "originalFilename": "a.jpg"}]}
        if self.random.random() < 0.9:
            creation["creationDate"] = self.date()
        return creation

    def add(self, count):
        created = self.apply(*[self.creation() for _ in range(count)])["created"]
        self.assets += created
        return created

    def some(self, assets, most):
        return self.random.sample(assets, min(len(assets), self.random.randint(1, most)))

    def step(self):
        kind = self.random.random()
        if kind < 0.25 or len(self.assets) < 60:
            self.add(self.random.randint(1, 8))
        elif kind < 0.45:
            date = self.date()
            self.apply({"op": "asset.edit", "assets": self.some(self.assets, 10), "creationDate": date})
        elif kind < 0.60:
            gone = self.some(self.assets, 10)
            self.apply({"op": "asset.trash", "assets": gone})
            self.assets = [one for one in self.assets if one not in gone]
            self.members = [one for one in self.members if one not in gone]
            self.trashed += gone
        elif kind < 0.75 and self.trashed:
            back = self.some(self.trashed, 12)
            self.apply({"op": "asset.restore", "assets": back})
            self.trashed = [one for one in self.trashed if one not in back]
            self.assets += back
        elif kind < 0.85:
            self.apply({"op": "asset.edit", "assets": self.some(self.assets, 10), "isFavorite": self.random.random() < 0.5})
        elif self.client and kind < 0.95:
            kind = self.random.choice(["client.grant", "client.withdraw"])
            self.apply({"op": kind, "client": self.client, "assets": self.some(self.assets, 40)})
        elif self.album:
            self.change_album()
        else:
            self.apply({"op": "asset.edit", "assets": self.some(self.assets, 5), "isHidden": self.random.random() < 0.3})

    def change_album(self):
        kind = self.random.random()
        if kind < 0.4 or len(self.members) < 10:
            members = [one for one in self.some(self.assets, 20) if one not in self.members]
            if members:
                index = self.random.randint(0, len(self.members) // 2)
                self.apply({"op": "album.insert", "album": self.album, "assets": members, "index": index})
                self.members += members
        elif kind < 0.6:
            gone = self.some(self.members, 5)
            self.apply({"op": "album.remove", "album": self.album, "assets": gone})
            self.members = [one for one in self.members if one not in gone]
        else:
            half = len(self.members) // 2
            indexes = sorted(self.random.sample(range(half), min(half, self.random.randint(1, 5))))
            self.apply({"op": "album.moveAt", "album": self.album, "indexes": indexes,
                        "to": self.random.randint(0, half - len(indexes))})

    def run(self):
        try:
            start = time.monotonic()
            self.began, self.first = start, self.count
            while not self.ending.is_set():
                if self.count == 100:
                    self.add(1000)
                self.step()
                # The pace of the commits, not a wait for something to become true.
                self.ending.wait(max(0, start + (self.count - self.first) / self.rate - time.monotonic()))
        except BaseException as error:  # The test's thread raises it.
            self.failure = error

    def end(self):
        """Ends the changes; how many were committed a second."""
        self.ending.set()
        self.join(60)
        rate = (self.count - self.first) / (time.monotonic() - self.began)
        self.process.stdin.close()
        self.process.wait(60)
        self.process.stdout.close()
        if self.failure:
            raise self.failure
        return rate


class ExactnessTests(unittest.TestCase):
    client = None
    hash = "#/photos"
    #: Whether the page cannot reach the server, and so shows tiles without pictures.
    is_cut = False

    def setUp(self):
        self.gallery = Gallery(8, ["--on-request"])
        self.addCleanup(self.gallery.close)
        self.browser = Browser()
        self.addCleanup(self.browser.close)
        self.browser.driver.set_script_timeout(300)
        self.random = random.Random(SEED)
        self.stops = 0

    def begin(self, client=None, album=False, port=None):
        """Some photos, and changes that go on until `finish`."""
        self.client = client
        self.options = ["--sort", "creationDate:desc"]
        self.changes = Changes(self.gallery, SEED, client)
        self.changes.add(300)
        if client:
            self.changes.apply({"op": "client.register", "client": client},
                               {"op": "client.authorize", "client": client, "status": "limited"},
                               {"op": "client.grant", "client": client, "assets": self.changes.assets[:150]})
        if album:
            created = self.changes.apply({"op": "album.create", "title": "An order of its own"})["created"]
            self.changes.album = created[0]
            self.changes.members = self.changes.assets[:200]
            self.changes.apply({"op": "album.add", "album": created[0], "assets": self.changes.members})
            self.options = ["--album", created[0]]
        key = self.gallery.key(client, ["read"]) if client else None
        address = f"http://127.0.0.1:{port or self.gallery.port}"
        self.browser.driver.get(address + "/healthz")
        self.browser.driver.add_cookie({"name": "photoledger-key", "value": key or self.gallery.owner, "path": "/"})
        self.browser.driver.get(address + "/" + (self.hash if not album else f"#/albums/{created[0]}"))
        self.browser.one(".tile[data-id]")
        self.addCleanup(self.changes.ending.set)
        self.changes.start()

    def page(self, script):
        """Runs a function body of the page that knows its grid."""
        result = self.browser.driver.execute_async_script("""
            const done = arguments[arguments.length - 1];
            (async () => {
              const { app } = await import(document.querySelector('script[type=module]').src);
              const grid = app.view.grid;
              return await (async () => { %s })();
            })().then(done, (error) => done({ failure: String(error?.stack ?? error) }));
        """ % script)
        assert not (isinstance(result, dict) and "failure" in result), result["failure"]
        return result

    def look(self):
        return self.page(LOOK)

    def truth(self, token):
        options = self.options + (["--as", self.client] if self.client else [])
        return [asset["localIdentifier"] for asset in self.gallery.assets("--at", token, *options)]

    def scroll(self):
        """Moves somewhere else, near or far."""
        where = self.random.random()
        self.page(f"grid.scroller.setTop({where} * grid.list.blocks.height); grid.scrolled();" if self.random.random() < 0.5 else
                  f"grid.scroller.setTop(grid.scroller.top + {self.random.randint(-900, 900)}); grid.scrolled();")

    def check(self):
        """Compares the model and the screen with the library at the state that the page says it shows: at once, whatever has
        been loaded, and again when the page has filled the screen.
        """
        self.compare(self.look())
        self.compare(wait(self.filled, "the page fills the screen by itself"))

    def filled(self):
        found = self.look()
        return found if found["isFilled"] and (found["isWhole"] or self.is_cut) else None

    def compare(self, found):
        order = self.truth(found["token"])
        self.stops += 1
        self.assertEqual(found["count"], len(order), found["token"])
        self.assertEqual([one for one in found["loaded"] if order[one[0]] != one[1]], [], "what is loaded")
        tiles = found["tiles"]
        self.assertEqual([one[:2] for one in tiles if one[1] is not None and order[one[0]] != one[1]], [], "what is shown")
        indexes = sorted(one[0] for one in tiles)
        if indexes:
            self.assertEqual(indexes, list(range(indexes[0], indexes[-1] + 1)), "the tiles follow one another")
        places = sorted((round(one[3]), round(one[2]), one[0]) for one in tiles)
        self.assertEqual([one[2] for one in places], indexes, "the tiles stand in the order of the list")
        self.assertEqual(sum(part[1] for part in found["parts"]), len(order), "months")

    def check_all(self, message):
        """Compares the whole order, once the page has come to the library's state."""
        # Tokens count commits, also those that this fetch does not see; so the page may stay at an earlier one.
        def now():
            return [asset["localIdentifier"] for asset in
                    self.gallery.assets(*self.options, *(["--as", self.client] if self.client else []))]
        truth = now()
        wait(lambda: self.page("return grid.list.count") == len(truth), message)
        script = "let read;" + WHOLE % (LOOK, 1000 * LIMIT)
        wait(lambda: self.page(script)["order"] == truth, message)
        self.check()

    def soak(self, while_it_runs=lambda part: None):
        end = time.monotonic() + SECONDS
        for stop in range(STOPS):
            self.scroll()
            self.check()
            while_it_runs((stop + 1) / STOPS)
            # The stops are spread over the time of the test.
            self.changes.ending.wait(max(0, end - time.monotonic()) / (STOPS - stop))
            if self.changes.failure:
                break
        rate = self.changes.end()
        self.assertGreater(self.changes.count, 10)
        if IS_SOAK:
            self.assertGreater(rate, 0.9 * self.changes.rate, "commits a second")

    def test_while_the_page_scrolls(self):
        self.begin()
        self.soak()
        self.check_all("the whole order equals the library's")

    def test_with_the_network_cut_and_restored(self):
        self.browser.expected_errors = SERVER_GONE
        proxy = Proxy(self.gallery.port)
        self.addCleanup(proxy.close)
        self.begin(port=proxy.port)

        def cut(part):
            if part < 0.3 or proxy.is_cut or part > 0.7:
                proxy.restore()
            else:
                proxy.cut()
            self.is_cut = proxy.is_cut
        self.soak(cut)
        proxy.restore()
        self.is_cut = False
        self.check_all("the whole order equals the library's after cuts")
        wait(lambda: not any(one.is_displayed() for one in self.browser.all(".banner")), "the offline banner is gone")

    def test_with_the_server_killed_and_started_again(self):
        self.browser.expected_errors = SERVER_GONE
        self.begin()
        killed = []

        def kill(part):
            if part >= 0.5 and not killed:
                killed.append(part)
                self.gallery.stop(signal.SIGKILL)
                wait(lambda: any(one.is_displayed() for one in self.browser.all(".banner")), "the offline banner is there")
                self.gallery.start()
        self.soak(kill)
        self.check_all("the whole order equals the library's after a crash of the server")

    def test_in_two_tabs(self):
        self.begin()
        wait(lambda: self.streams() == 1, "the page has a stream")
        first = self.browser.driver.current_window_handle
        address = self.browser.driver.current_url
        self.browser.driver.switch_to.new_window("tab")
        self.browser.driver.get(address)
        self.browser.one(".tile[data-id]")
        second = self.browser.driver.current_window_handle

        def other(part):
            here = self.browser.driver.current_window_handle
            show(first if here == second else second)
            streams.append(self.streams())

        def show(tab):
            self.browser.driver.switch_to.window(tab)
            self.browser.driver.execute_cdp_cmd("Page.bringToFront", {})
        streams = []
        self.soak(other)
        for tab in (first, second):
            show(tab)
            self.check_all("the whole order equals the library's in both tabs")
            streams.append(self.streams())
        self.assertEqual(set(streams), {1}, "two tabs share one stream")

    def streams(self):
        """How many feeds of the server are open."""
        lines = self.gallery.ask("GET", "/metrics").body.decode().splitlines()
        [value] = [line.split()[1] for line in lines if line.startswith("photoledger_feeds_open ")]
        return int(float(value))

    def test_as_a_limited_client_whose_selection_changes(self):
        # A photo may leave the selection while its picture is asked for: then it is not there for this client.
        self.browser.expected_errors = (("/renditions/", "404 ("),)
        self.begin(client="app")
        self.soak()
        self.check_all("the whole order equals what the client may see")

    def test_in_an_album_with_an_order_of_its_own(self):
        self.begin(album=True)
        self.soak()
        self.check_all("the whole order equals the album's")


if __name__ == "__main__":
    unittest.main()
