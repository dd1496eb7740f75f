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


if __name__ == "__main__":
    unittest.main()
