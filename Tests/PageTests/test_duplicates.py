"""Photos that show one picture: found, looked at side by side, merged into one, and undone."""

import math
import random
import subprocess
import unittest

from selenium.webdriver.common.keys import Keys

from gallery import PageTest, wait


def add_duplicates(gallery, count=1):
    """Imports invented pictures, each with a copy of half the size that was encoded anew."""
    folder = gallery.folder / "duplicates"
    folder.mkdir()
    for number in range(count):
        chance = random.Random(number)
        waves = [(chance.uniform(0.2, 4), chance.uniform(0.2, 4), chance.uniform(0, 6), chance.randrange(3)) for _ in range(12)]
        width, height = 320, 240
        pixels = bytearray()
        for y in range(height):
            for x in range(width):
                colour = [128.0, 128.0, 128.0]
                for across, down, phase, channel in waves:
                    colour[channel] += 40 * math.cos(2 * math.pi * (across * x / width + down * y / height) + phase)
                pixels += bytes(min(255, max(0, int(one))) for one in colour)
        path = folder / f"whole-{number}.ppm"
        path.write_bytes(b"P6 %d %d 255\n" % (width, height) + pixels)
        whole, copy = path.with_suffix(".jpg"), folder / f"copy-{number}.jpg"
        subprocess.run(["vips", "copy", str(path), str(whole)], check=True, capture_output=True)
        subprocess.run(["vipsthumbnail", str(whole), "--size", "160x120", "-o", f"{copy}[Q=70,strip]"], check=True, capture_output=True)
        path.unlink()
    gallery.command("import", str(folder))


class DuplicateTests(PageTest):
    photos = 4
    groups = 3

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        add_duplicates(cls.gallery, cls.groups)
        cls.names = {one["resources"][0]["originalFilename"]: one["localIdentifier"] for one in cls.gallery.assets()}
        cls.browser.sign_in(cls.gallery, path="/healthz")

    def shown(self):
        """The file names of each group, in their order on the screen."""
        return self.browser.js("""return [...document.querySelectorAll('.duplicate-group')].map((group) =>
            [...group.querySelectorAll('li')].map((one) => one.querySelector('p').textContent).sort())""")

    def pair(self, number):
        return [f"copy-{number}.jpg", f"whole-{number}.jpg"]

    def trash(self):
        return sorted(one["resources"][0]["originalFilename"] for one in self.gallery.assets("--trash"))

    def group(self, number):
        return f'.duplicate-group:has([data-id="{self.names[f"whole-{number}.jpg"]}"])'

    def test_copies_are_found_compared_merged_and_taken_back(self):
        album = self.gallery.commit({"op": "album.create", "title": "Coast", "as": "$a"},
                                    {"op": "album.add", "album": "$a", "assets": [self.names["copy-1.jpg"]]})["created"][0]
        self.browser.driver.get(self.gallery.address + "/#/duplicates")
        self.browser.wait_text("No search since the server was started", "[role=status]")
        self.browser.click('[data-tool="search"]:not(:disabled)')
        self.browser.wait_text("3 groups found", "[role=status]", 120)
        wait(lambda: sorted(self.shown()) == [self.pair(0), self.pair(1), self.pair(2)], lambda: str(self.shown()))
        text = self.browser.text(self.group(1))
        for word in ["320 × 240", "160 × 120", "kB", "In Coast", "Not in any album", "whole-1.jpg"]:
            self.assertIn(word, text)
        wait(lambda: self.browser.js("return [...document.querySelectorAll('.duplicate-members img')].every((one) => one.naturalWidth > 0)"),
             "every picture is there")
        # What is rejected is proposed no more, also by a new search, until that is undone.
        self.browser.click(self.group(1) + " [data-act=reject]")
        self.browser.notice("These photos will not be suggested again")
        wait(lambda: sorted(self.shown()) == [self.pair(0), self.pair(2)], "the group is gone")
        self.browser.click(".notice-action")
        wait(lambda: len(self.shown()) == 3, "it is proposed again")
        self.browser.click(self.group(1) + " [data-act=reject]")
        wait(lambda: sorted(self.shown()) == [self.pair(0), self.pair(2)], "the group is gone")
        self.browser.click('[data-tool="search"]:not(:disabled)')
        self.browser.wait_text("2 groups found", "[role=status]", 120)
        self.gallery.command("duplicates", "reject", "--withdraw", *(self.names[name] for name in self.pair(1)))
        self.browser.click('[data-tool="search"]:not(:disabled)')
        self.browser.wait_text("3 groups found", "[role=status]", 120)
        wait(lambda: len(self.shown()) == 3, "it is found again")
        self.assertEqual(self.trash(), [])
        self.browser.js("document.querySelectorAll('.notice .icon-button').forEach((one) => one.click())")
        # The whole one is proposed to be kept, and gets the album.
        self.browser.click(self.group(1) + " [data-act=merge]")
        self.browser.notice("2 photos merged")
        wait(lambda: sorted(self.shown()) == [self.pair(0), self.pair(2)], "the group is gone")
        self.assertEqual(self.trash(), ["copy-1.jpg"])
        self.assertEqual([one["localIdentifier"] for one in self.gallery.assets("--album", album)], [self.names["whole-1.jpg"]])
        self.browser.click(".notice-action")
        wait(lambda: len(self.shown()) == 3, "it is proposed again")
        self.assertEqual(self.trash(), [])
        # By the keyboard, another one is kept, and the focus goes on to a group that is left.
        first = self.browser.one(self.group(0) + " input:checked")
        first.send_keys(Keys.ARROW_RIGHT)
        self.browser.one(self.group(0) + " [data-act=merge]").send_keys(Keys.ENTER)
        wait(lambda: sorted(self.shown()) == [self.pair(1), self.pair(2)], "merged")
        self.assertEqual(self.trash(), ["whole-0.jpg"])
        wait(lambda: self.browser.js("return document.activeElement.matches('.duplicate-group [data-act=merge]')"), "the focus")
        # What others do arrives too.
        self.gallery.commit({"op": "asset.trash", "assets": [self.names["copy-2.jpg"].split("/")[0]]})
        wait(lambda: self.shown() == [self.pair(1)], "one is left")
        # A choice that was made stays while others commit.
        self.browser.one(self.group(1) + " input:checked").send_keys(Keys.ARROW_RIGHT)
        self.gallery.commit({"op": "album.create", "title": "Other"})
        self.gallery.commit({"op": "asset.restore", "assets": [self.names["copy-2.jpg"].split("/")[0]]})
        wait(lambda: len(self.shown()) == 2, "it is back")
        chosen = self.browser.one(self.group(1) + " input:checked").get_attribute("value")
        self.assertEqual(chosen, self.names["copy-1.jpg"].split("/")[0])
        for number in (2, 1):
            self.browser.click(self.group(number) + " [data-act=merge]")
            wait(lambda: len(self.shown()) == number - 1, "merged")
        self.browser.wait_text("All groups are done", "[role=status]")
        self.assertEqual(self.trash(), ["copy-2.jpg", "whole-0.jpg", "whole-1.jpg"])


if __name__ == "__main__":
    unittest.main()
