"""The page holds at any length of the library: the last photo is reached at one and at two device pixels a CSS pixel, the
grid has at most 500 elements, the heap at most 80 MiB, and nothing moves under the eyes while photos come above.

PHOTOLEDGER_PAGE_SCALE=1000000 says how many photos are invented; a few thousand without it. Nothing here is timed: the
benchmark S36 does that.
"""

import base64
import itertools
import json
import os
import random
import subprocess
import time
import unittest

from gallery import Browser, Gallery, program, wait
from scale import heap, moved, page, reach_the_last, scrub, settled, wheel

SIZE = int(os.environ.get("PHOTOLEDGER_PAGE_SCALE", "3000"))
BLOCK = 1000
SHAPES = [(4032, 3024), (3024, 4032), (4000, 3000), (3000, 3000), (1600, 900), (900, 1600), (6000, 1500)]


class Invented:
    """Adds photos that have a shape, a date and no picture, through `photoledger apply`."""

    def __init__(self, gallery):
        self.random = random.Random(1)
        # A file that is not a picture is accepted without decoding it.
        self.process = subprocess.Popen(
            [program(), "apply", "--library", str(gallery.library)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env={**os.environ, "PHOTOLEDGER_PROBE": "none"})

    def add(self, seconds):
        """Adds a photo for each of the seconds since 1970."""
        changes = []
        for second in seconds:
            width, height = self.random.choice(SHAPES)
            changes.append({"op": "asset.create", "mediaType": "image", "pixelWidth": width, "pixelHeight": height,
                            "creationDate": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(second)),
                            "resources": [{"type": "photo", "data": base64.b64encode(b"no picture").decode(),
                                           "originalFilename": f"IMG_{second}.jpg"}]})
        self.process.stdin.write(json.dumps({"changes": changes}) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        assert "error" not in answer, answer
        return answer

    def close(self):
        self.process.stdin.close()
        self.process.wait(60)
        self.process.stdout.close()


class ScaleTests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.gallery = Gallery(0, ["--on-request"])
        cls.addClassCleanup(cls.gallery.close)
        cls.invented = Invented(cls.gallery)
        cls.addClassCleanup(cls.invented.close)
        # Twenty years, however many photos there are.
        step = 20 * 365 * 86_400 // SIZE
        for first in range(0, SIZE, BLOCK):
            cls.invented.add([1_000_000_000 + number * step for number in range(first, min(first + BLOCK, SIZE))])
        cls.second = 1_800_000_000

    def opened(self, scale):
        # The photos are invented, so none has a picture.
        browser = Browser(1280, 800, scale, expected_errors=("/renditions/",))
        self.addCleanup(browser.close)
        browser.sign_in(self.gallery)
        browser.one(".tile[data-id]", 120)
        self.assertGreaterEqual(page(browser, "return list.count"), SIZE)
        return browser

    def add_above(self, count):
        """Adds photos that are newer than all others."""
        answer = self.invented.add(range(self.second, self.second + count))
        type(self).second += count
        return answer

    def newest(self, count):
        fetch = self.gallery.ask("POST", "/v1/fetches", {"sort": ["creationDate:desc"], "limit": count}).json["fetch"]
        items = self.gallery.ask("GET", f"/v1/fetches/{fetch}/items?count={count}&form=columns").json
        return items["columns"]["localIdentifier"]

    def change_above(self, count):
        """Takes photos away above, brings them back, and puts some of them below, turn by turn."""
        turn = next(self.turns)
        if turn % 3 == 0:
            self.away = self.newest(count)
            return self.gallery.commit({"op": "asset.trash", "assets": self.away})
        if turn % 3 == 1:
            return self.gallery.commit({"op": "asset.restore", "assets": self.away})
        return self.gallery.commit(
            {"op": "asset.edit", "assets": self.away[::2], "creationDate": "1990-01-01T00:00:00Z"})

    def test_the_last_photo_is_reached_at_one_device_pixel_a_pixel(self):
        browser = self.opened(1)
        # At once, while most of the shapes are still on their way, and again with all of them.
        reach_the_last(browser)
        settled(browser)
        reach_the_last(browser)

    def test_the_last_photo_is_reached_at_two_device_pixels_a_pixel(self):
        browser = self.opened(2)
        settled(browser)
        reach_the_last(browser)

    def test_grid_and_heap_stay_small_while_a_person_goes_through_everything(self):
        browser = self.opened(1)
        settled(browser)
        self.assertLessEqual(max(scrub(browser), wheel(browser)), 500, "elements in the grid")
        self.assertLessEqual(heap(browser), 80 << 20, "bytes of the heap")

    def test_what_is_looked_at_does_not_move_while_photos_come_above_it(self):
        browser = self.opened(1)
        settled(browser)
        self.assertEqual(moved(browser, self.add_above), 0)

    def test_what_is_looked_at_does_not_move_while_photos_leave_and_change_above_it(self):
        self.turns = itertools.count()
        browser = self.opened(2)
        settled(browser)
        self.assertEqual(moved(browser, self.change_above, rounds=9), 0)

    def test_what_is_looked_at_stays_when_the_first_photo_on_the_screen_goes_elsewhere(self):
        browser = self.opened(1)
        settled(browser)
        page(browser, "grid.scroller.setTop(list.blocks.height / 2); grid.scrolled(); await frame(); return null")
        settled(browser)
        page(browser, """
            grid.scroller.setTop(grid.scroller.top + grid.seen[0].offset);
            grid.scrolled();
            await frame();
            return null;
        """)
        first, next_one, place = wait(lambda: page(browser, """
            const [{ first }] = grid.seen;
            const tile = document.querySelector(`.tile[data-id='${list.item(first + 1)?.id}']`);
            return list.item(first) && tile && [list.item(first).id, tile.dataset.id, tile.getBoundingClientRect().top];
        """), "the first row")
        token = self.gallery.commit({"op": "asset.edit", "assets": [first], "creationDate": "1985-01-01T00:00:00Z"})["token"]
        wait(lambda: page(browser, "return list.token") == token, "the commit arrived")
        top = browser.js("return document.querySelector(`.tile[data-id='${arguments[0]}']`)?.getBoundingClientRect().top", next_one)
        self.assertIsNotNone(top, "the view went where the photo was moved to")
        self.assertLess(abs(top - place), 1)


if __name__ == "__main__":
    unittest.main()
