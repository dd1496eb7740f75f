"""The frame of the page: it loads, shows what is there, and follows what changes."""

import unittest

from gallery import PageTest, wait


class FrameTests(PageTest):
    def test_the_photos_are_shown_newest_first_and_follow_a_commit(self):
        self.browser.sign_in(self.gallery)
        self.browser.wait_text("12 photos", ".count")
        newest = self.gallery.assets("--sort", "creationDate:desc")[0]["localIdentifier"]
        self.browser.one(f'.tile[data-id="{newest}"][data-index="0"]')
        self.gallery.commit({"op": "asset.trash", "assets": [newest]})
        wait(lambda: not self.browser.all(f'.tile[data-id="{newest}"]'), "the tile is gone")
        self.browser.wait_text("11 photos", ".count")

    def test_an_address_that_names_nothing_is_answered_by_a_view(self):
        for address in ["#/albums/%E0", "#/constructor", "#/albums/constructor", "#/photos?kind=constructor"]:
            self.browser.sign_in(self.gallery, path="/healthz")
            self.browser.driver.get(f"{self.gallery.address}/{address}")
            self.browser.one("main h1")
            self.assertEqual(self.browser.all(".failure"), [], address)


class OnRequestTests(PageTest):
    """A server that makes pictures only when they are asked for."""
    options = ("--on-request",)

    def all_pictures(self):
        wait(lambda: self.browser.js("""return [...document.querySelectorAll('.tile[data-id]')].filter((tile) => !tile.hidden)
            .every((tile) => tile.querySelector('img.there'))"""), "every tile has its picture")

    def test_every_tile_gets_its_picture_now_and_when_looking_back(self):
        self.browser.sign_in(self.gallery, path="/#/moment")
        self.browser.one(".tile[data-id]")
        self.all_pictures()
        self.browser.driver.get(self.gallery.address + "/#/photos")
        self.browser.wait_text("12 photos", ".count")
        self.all_pictures()


if __name__ == "__main__":
    unittest.main()
