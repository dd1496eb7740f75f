"""The frame of the page: it loads, shows what is there, follows what changes, and is loaded again after an update."""

import pathlib
import shutil
import tempfile
import unittest

from selenium.webdriver.common.by import By

from gallery import SERVER_GONE, Browser, Gallery, PageTest, program, wait
from test_upload import picture


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


class CutImportTests(PageTest):
    expected_errors = ("ERR_BLOCKED_BY_CLIENT", "Failed to fetch dynamically imported module")

    def block(self, *urls):
        self.browser.driver.execute_cdp_cmd("Network.enable", {})
        self.browser.driver.execute_cdp_cmd("Network.setBlockedURLs", {"urls": urls})

    def test_a_view_that_could_not_be_loaded_is_there_when_it_is_tried_again(self):
        self.addCleanup(self.block)
        self.browser.sign_in(self.gallery)
        self.browser.wait_text("12 photos", ".count")
        # The view, and with it what asks whether the server is there.
        self.block("*/views/search.js", "*/views/later.js")
        self.browser.click('[data-route="search"]')
        self.browser.wait_text("The server was not reached.", ".failure")
        self.block()
        # Where the browser keeps the failure, the page is loaded again.
        self.browser.click(".failure .button")
        self.browser.wait_text("Search", "main h1")


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


class UpdateTests(unittest.TestCase):
    """A copy of the program, with the page beside it that it serves; an update replaces the page."""

    def setUp(self):
        self.installed = pathlib.Path(tempfile.mkdtemp(prefix="page-program-"))
        self.addCleanup(shutil.rmtree, self.installed)
        built = pathlib.Path(program()).resolve()
        shutil.copy(built, self.installed)
        for resources in built.parent.glob("*_GalleryServer.resources"):
            shutil.copytree(resources, self.installed / resources.name)
        self.gallery = Gallery(3, installed=self.installed)
        self.addCleanup(self.gallery.close)
        self.browser = Browser(expected_errors=("404 (", "never had a user gesture", *SERVER_GONE))
        self.addCleanup(self.browser.close)

    def open(self, path):
        self.browser.sign_in(self.gallery, path=path)
        self.browser.one("main h1")
        self.browser.js("window.isFormer = true")

    def update(self):
        self.gallery.stop()
        [view] = self.installed.glob("*.resources/Page/views/trash.js")
        view.write_text(view.read_text() + "// Another one.\n")
        self.gallery.start()

    def wait_reloaded(self):
        wait(lambda: not self.browser.js("return window.isFormer ?? false"), "the page is loaded again")

    def test_an_open_page_is_loaded_again_after_an_update(self):
        self.open("/#/photos")
        self.browser.wait_text("3 photos", ".count")
        self.update()
        self.browser.click('[data-route="trash"]')
        self.wait_reloaded()
        self.browser.wait_text("Trash", "main h1")

    def test_an_update_is_said_while_files_are_sent_which_the_page_stays_for(self):
        self.open("/#/upload")
        self.browser.one(".drop-zone")
        # Nothing is sent, so that it is not done before the update.
        self.browser.js("XMLHttpRequest.prototype.send = function () {}")
        made = picture(self.gallery.folder / "sent", "sent.jpg", 91)
        self.browser.driver.find_element(By.CSS_SELECTOR, ".choose-files").send_keys(str(made))
        self.browser.one(".upload-row[data-state=sending]")
        self.update()
        self.browser.click('[data-route="trash"]')
        self.browser.wait_text("The gallery was updated", ".ending")
        self.browser.wait_text("The gallery was updated", ".failure")
        self.browser.click('[data-route="upload"]')
        self.browser.one(".upload-row[data-state=sending]")
        self.assertTrue(self.browser.js("return window.isFormer"), "the page is the one of before")
        self.browser.click(".upload-row .icon-button")
        self.browser.click(".ending .button")
        self.wait_reloaded()
        self.browser.click('[data-route="trash"]')
        self.browser.wait_text("Trash", "main h1")


if __name__ == "__main__":
    unittest.main()
