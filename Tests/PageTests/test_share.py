"""Share links: what a visitor sees, passwords, ends, downloads, uploads; and a signed-in owner who opens one."""

import datetime
import json
import unittest

from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from gallery import SERVER_GONE, PageTest, wait
from test_scale import Invented
from test_upload import picture

HOSTILE = "<img src=x onerror=\"document.title='XSS'\"> ‮txet " + "long" * 20


class ShareTests(PageTest):
    photos = 8
    # Each of these is an answer that the page turns into a sentence.
    expected_errors = ("401 (", "/v1/shares:open - Failed to load resource")

    def setUp(self):
        self.newest = [one["localIdentifier"] for one in self.gallery.assets("--sort", "creationDate:desc")]

    def share(self, assets, **options):
        answer = self.gallery.ask("POST", "/v1/shares", {"title": "Sea", "assets": assets} | options)
        self.assertEqual(answer.status, 201, answer.body)
        return answer.json

    def visit(self, share, cookie=False):
        """Opens a link in a browser without a sign-in, unless one is given."""
        self.browser.driver.get(self.gallery.address + "/healthz")
        if not cookie:
            self.browser.driver.delete_all_cookies()
        self.browser.driver.get(self.gallery.address + share["link"])

    def tiles(self):
        return self.browser.js("return [...document.querySelectorAll('.tile[data-id]')].map((tile) => tile.dataset.id)")

    def wait_tiles(self, expected):
        wait(lambda: sorted(self.tiles()) == sorted(expected), lambda: f"tiles {expected}, but {self.tiles()}")

    def test_a_visitor_sees_what_was_shared_and_follows_it(self):
        share = self.share(self.newest[:3], title=HOSTILE)
        self.visit(share)
        self.wait_tiles(self.newest[:3])
        self.browser.wait_text("3 photos", ".count")
        self.assertIn("<img src=x", self.browser.text("h1"))
        self.assertNotIn("XSS", self.browser.driver.title.split(" – ")[-1])
        wait(lambda: len(self.browser.all(".tile img.there")) == 3, "the pictures are shown")
        self.assertEqual([one["name"] for one in self.browser.driver.get_cookies()], [])
        self.browser.screenshot("share")
        page = self.browser.js("return document.documentElement.outerHTML")
        for other in self.newest[3:]:
            self.assertNotIn(other.split("/")[0], page)
        # No download without the permission for it.
        self.assertNotIn("Download", self.browser.text())
        self.gallery.commit({"op": "client.grant", "client": share["client"], "assets": [self.newest[5]]})
        self.wait_tiles(self.newest[:3] + [self.newest[5]])

    def test_a_link_follows_an_album_from_its_menu(self):
        album = self.gallery.commit({"op": "album.create", "title": HOSTILE, "as": "$a"},
                                    {"op": "album.add", "album": "$a", "assets": self.newest[:2]})["created"][0]
        self.addCleanup(self.gallery.commit, {"op": "album.delete", "albums": [album]})
        self.browser.sign_in(self.gallery, path="/#/albums")
        self.browser.click(".card .card-menu")
        self.browser.click('[data-choice="share"]')
        self.browser.wait_text("including those added later", "dialog")
        self.browser.screenshot("share-album")
        self.browser.click("dialog .button.main")
        link = self.browser.one("input.secret").get_attribute("value")
        self.browser.click("dialog .button.main")
        self.browser.wait_text("Album shared", ".notices")
        self.browser.js("location.hash = '#/people'")
        follows = self.browser.one('[data-part="shares"] .entry a')
        self.assertEqual((follows.text, follows.get_attribute("href").split("/")[-1]), ("Follows an album", album.split("/")[0]))
        self.visit({"link": link.removeprefix(self.gallery.address)})
        self.wait_tiles(self.newest[:2])
        self.gallery.commit({"op": "album.add", "album": album, "assets": [self.newest[4]]},
                            {"op": "album.remove", "album": album, "assets": [self.newest[0]]})
        self.wait_tiles([self.newest[1], self.newest[4]])

    def test_a_selection_in_an_album_is_shared_or_the_album_is_followed(self):
        album = self.gallery.commit({"op": "album.create", "title": "Regatta", "as": "$a"},
                                    {"op": "album.add", "album": "$a", "assets": self.newest[:3]})["created"][0]
        self.addCleanup(self.gallery.commit, {"op": "album.delete", "albums": [album]})
        for is_followed in (False, True):
            with self.subTest(is_followed=is_followed):
                self.browser.driver.get("about:blank")
                self.browser.sign_in(self.gallery, path=f"/#/albums/{album.split('/')[0]}")
                self.browser.one(".tile[data-index='0'][data-id]")
                self.browser.js("document.querySelector('.grid-scroll').focus()")
                self.browser.driver.switch_to.active_element.send_keys(" ")
                self.browser.click('[data-action="share"]')
                self.browser.one("dialog .field input").send_keys("Shared")
                if is_followed:
                    self.browser.one("dialog .choice input").click()
                self.browser.click("dialog .button.main")
                self.browser.one("input.secret")
                share = self.gallery.ask("GET", "/v1/shares").json["shares"][-1]
                self.assertEqual(share["album"] and share["album"].split("/")[0], album.split("/")[0] if is_followed else None)
        # Of photos of the timeline there is no album to follow.
        self.browser.sign_in(self.gallery, path="/#/photos")
        self.browser.driver.refresh()
        self.browser.one(".tile[data-index='0'][data-id]")
        self.browser.js("document.querySelector('.grid-scroll').focus()")
        self.browser.driver.switch_to.active_element.send_keys(" ")
        self.browser.click('[data-action="share"]')
        self.browser.one("dialog .field input")
        self.assertNotIn("Follow the album", self.browser.text("dialog"))

    def test_the_viewer_goes_from_one_to_the_next(self):
        self.visit(self.share(self.newest[:2], originals=True))
        self.wait_tiles(self.newest[:2])
        self.browser.one(".tile[data-index='0']").click()
        wait(lambda: self.browser.js("return document.querySelector('.guest-stage img')?.naturalWidth > 0"), "the picture is shown")
        self.assertFalse(self.browser.one(".guest-back").is_enabled())
        first = self.browser.js("return document.querySelector('.guest-stage img').alt")
        self.browser.click(".guest-next")
        wait(lambda: self.browser.js("const image = document.querySelector('.guest-stage img');"
                                     "return image?.naturalWidth > 0 && image.alt !== arguments[0]", first), "the next one is shown")
        # The button went out of use, and the keyboard stays in the viewer.
        self.assertFalse(self.browser.one(".guest-next").is_enabled())
        self.assertEqual(self.browser.js("return document.activeElement.className"), "guest-stage")
        self.browser.screenshot("share-viewer")
        self.browser.js("""window.saved = []; window.sizes = []; const make = URL.createObjectURL;
            URL.createObjectURL = (blob) => { sizes.push(blob.size); return make.call(URL, blob); };
            HTMLAnchorElement.prototype.click = function () { saved.push(this.download); };""")
        self.browser.click(".guest-bar .icon-button")
        wait(lambda: self.browser.js("return saved.length"), "the original is saved")
        second = json.loads(self.gallery.command("show", self.newest[1], "--json"))["resources"][0]
        self.assertEqual(self.browser.js("return [saved[0], sizes[0]]"), [second["originalFilename"], second["dataSize"]])
        self.browser.driver.find_element(By.CSS_SELECTOR, ".guest-viewer [aria-label='Close']").click()
        wait(lambda: not self.browser.all(".guest-viewer"), "the viewer is closed")
        self.browser.click(".view-actions .button")
        wait(lambda: self.browser.js("return saved.length") == 2, "the archive is saved")
        self.assertEqual(self.browser.js("return saved[1]"), "Sea.zip")

    def test_a_picture_that_is_dragged_aside_is_not_uploaded(self):
        self.visit(self.share(self.newest[:2], upload=True))
        self.wait_tiles(self.newest[:2])
        self.browser.one(".tile[data-index='0']").click()
        wait(lambda: self.browser.js("return document.querySelector('.guest-stage img')?.naturalWidth > 0"), "the picture is shown")
        self.browser.js("""window.seen = [];
            for (const name of ['dragstart', 'dragover', 'dragend', 'drop', 'pointerup']) {
              addEventListener(name, () => seen.push(name), true);
            }""")
        x, y = self.browser.js("""const box = document.querySelector('.guest-stage img').getBoundingClientRect();
            return [box.x + box.width / 2, box.y + box.height / 2];""")

        def drag():
            for kind, way in [("mousePressed", 0), ("mouseMoved", 15), ("mouseMoved", 40), ("mouseMoved", 60), ("mouseReleased", 60)]:
                self.browser.driver.execute_cdp_cmd("Input.dispatchMouseEvent", {
                    "type": kind, "x": x - way, "y": y, "button": "left", "clickCount": 1,
                    "buttons": 0 if kind == "mouseReleased" else 1})

        drag()
        wait(lambda: self.browser.js("return seen.includes('pointerup')"), "the mouse is released")
        self.assertEqual(self.browser.js("return seen.splice(0)"), ["pointerup"], "no drag begins")
        # The browser would give any other picture as a file.
        self.browser.js("document.querySelector('.guest-stage img').draggable = true")
        drag()
        wait(lambda: self.browser.js("return seen.includes('dragend')"), "the drag ends")
        self.assertIn("dragover", self.browser.js("return seen"))
        self.assertEqual(self.browser.all(".upload-row, .drop-veil"), [])
        self.assertEqual(len(self.gallery.assets()), len(self.newest))

    def test_everything_is_downloaded_once_however_often_that_is_pressed(self):
        made = self.browser.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": """
            window.saved = [];
            window.asked = [];
            window.held = null;
            const send = window.fetch;
            window.fetch = async (url, options) => {
              asked.push(`${options?.method} ${new URL(url, location.href).pathname}`);
              await held;
              return send(url, options);
            };
            HTMLAnchorElement.prototype.click = function () { saved.push(this.download); };"""})
        self.addCleanup(self.browser.driver.execute_cdp_cmd, "Page.removeScriptToEvaluateOnNewDocument", made)
        self.visit(self.share(self.newest[:3], originals=True))
        self.wait_tiles(self.newest[:3])
        self.browser.js("window.held = new Promise((resolve) => { window.letGo = resolve; })")
        button = "document.querySelectorAll('.view-actions .button')[1]"
        self.browser.js(f"{button}.click(); {button}.click()")
        # It is said before the identifiers are read.
        self.browser.wait_text("Preparing the download", ".notice")
        self.browser.js("letGo(); window.held = null")
        wait(lambda: self.browser.js("return saved.length > 0"), "the archive is saved")
        wait(lambda: not self.browser.all(".notice"), "it is done")
        self.assertEqual(self.browser.js("return asked.filter((one) => one === 'POST /v1/downloads').length"), 1)
        self.assertEqual(self.browser.js("return saved"), ["Sea.zip"])
        self.browser.js(f"{button}.click()")
        wait(lambda: self.browser.js("return saved.length") == 2, "it can be downloaded again")

    def test_back_closes_a_photo_and_stays_on_the_page(self):
        self.visit(self.share(self.newest[:2]))
        self.wait_tiles(self.newest[:2])
        address = self.browser.driver.current_url
        closed = lambda: self.browser.js("return document.querySelector('dialog') === null && history.state === null")
        self.browser.one(".tile[data-index='0']").click()
        self.browser.one("dialog.guest-viewer")
        self.browser.driver.back()
        wait(closed, "Back closes the photo")
        self.assertEqual(self.browser.driver.current_url, address)
        self.wait_tiles(self.newest[:2])
        # Closed otherwise, it leaves no entry in the history.
        self.browser.one(".tile[data-index='1']").click()
        self.browser.one("dialog.guest-viewer")
        self.browser.driver.switch_to.active_element.send_keys(Keys.ESCAPE)
        wait(closed, "the photo is closed, and its entry is gone")
        self.assertEqual(self.browser.driver.current_url, address)

    def test_a_drag_goes_to_the_next_photo_unless_the_page_is_enlarged(self):
        self.visit(self.share(self.newest[:2]))
        self.wait_tiles(self.newest[:2])
        self.browser.one(".tile[data-index='0']").click()
        place = "return document.querySelector('.guest-viewer [role=status].visually-hidden').textContent"
        wait(lambda: "1 of 2" in self.browser.js(place), "the first photo is shown")
        touch = "document.querySelector('.guest-stage').style.touchAction"

        def scale(factor):
            self.browser.driver.execute_cdp_cmd("Emulation.setPageScaleFactor", {"pageScaleFactor": factor})
        drag = f"""
            const stage = document.querySelector('.guest-stage');
            for (const [name, clientX] of [['pointerdown', 300], ['pointerup', 200]])
              stage.dispatchEvent(new PointerEvent(name, {{ clientX, pointerType: 'touch', bubbles: true }}));
            {place};"""
        self.addCleanup(scale, 1)
        scale(2)
        wait(lambda: self.browser.js(f"return visualViewport.scale > 1.5 && {touch}"), "the browser moves the page")
        self.assertIn("1 of 2", self.browser.js(drag))
        scale(1)
        wait(lambda: self.browser.js(f"return {touch} === ''"), "the page has its size")
        self.assertIn("2 of 2", self.browser.js(drag))

    def test_a_password_is_asked_for_and_a_wrong_one_is_refused(self):
        share = self.share(self.newest[:1], password="correct horse")
        self.visit(share)
        self.browser.wait_text("Password required", "h1")
        self.browser.one("input[type=password]").send_keys("wrong horse\n")
        self.browser.wait_text("The password is wrong", ".wrong")
        self.browser.one("input[type=password]").send_keys("correct horse\n")
        self.wait_tiles(self.newest[:1])
        # A reload of the tab asks for nothing.
        self.browser.driver.refresh()
        self.wait_tiles(self.newest[:1])

    def visit_key(self):
        """The key of the visit; nothing while the page does not have one."""
        return self.browser.js("return JSON.parse(sessionStorage.getItem('photoledger.share'))?.visit.secret")

    def end_visit(self):
        """Ends the key of the visit, as a day does; the link stays."""
        self.former = self.visit_key()
        self.assertEqual(self.gallery.ask("DELETE", "/v1/session", key=self.former).status, 204)

    def wait_next_visit(self):
        wait(lambda: self.visit_key() not in (None, self.former), "there is another visit")

    def test_a_link_that_is_open_for_longer_than_a_visit_goes_on(self):
        share = self.share(self.newest[:2])
        self.visit(share)
        self.wait_tiles(self.newest[:2])
        self.browser.one(".tile[data-index='0']").click()
        self.browser.one("dialog.guest-viewer")
        self.end_visit()
        self.wait_next_visit()
        wait(lambda: not self.browser.all("dialog.guest-viewer"), "the viewer of the former visit is gone")
        self.gallery.commit({"op": "client.grant", "client": share["client"], "assets": [self.newest[5]]})
        self.wait_tiles(self.newest[:2] + [self.newest[5]])
        self.gallery.ask("DELETE", f"/v1/shares/{share['name']}")
        self.browser.wait_text("This link has ended", "h1")

    def test_an_end_is_said_also_after_the_permission_has_ended(self):
        self.browser.expected_errors = (*self.expected_errors, "403 (")
        self.addCleanup(setattr, self.browser, "expected_errors", self.expected_errors)
        share = self.share(self.newest[:2])
        self.visit(share)
        self.wait_tiles(self.newest[:2])
        # A withdrawal ends first the permission and then the keys; here the feed is refused in between.
        self.gallery.commit({"op": "client.authorize", "client": share["client"], "status": "denied"})
        asked = "return performance.getEntriesByType('resource').some(({ name }) => name.includes('/v1/changes?'))"
        wait(lambda: self.browser.js(asked), "the page asks why the feed is refused")
        self.gallery.ask("DELETE", f"/v1/shares/{share['name']}")
        self.browser.wait_text("This link has ended", "h1")

    def listeners(self):
        """How many listeners the window and the document have, of each event."""
        found = {}
        for target in ("window", "document"):
            evaluate = {"expression": target, "objectGroup": "listeners"}
            name = self.browser.driver.execute_cdp_cmd("Runtime.evaluate", evaluate)["result"]["objectId"]
            heard = self.browser.driver.execute_cdp_cmd("DOMDebugger.getEventListeners", {"objectId": name})["listeners"]
            for one in heard:
                found[target, one["type"]] = found.get((target, one["type"]), 0) + 1
        return found

    def test_a_visit_leaves_no_listener_to_the_next(self):
        self.visit(self.share(self.newest[:1], upload=True))
        self.wait_tiles(self.newest[:1])
        before = self.listeners()
        self.assertIn(("document", "visibilitychange"), before)
        self.end_visit()
        self.wait_next_visit()
        self.wait_tiles(self.newest[:1])
        wait(lambda: self.listeners() == before, lambda: f"{before} are heard, not {self.listeners()}")

    def test_the_password_of_a_link_that_is_open_for_longer_than_a_visit_is_asked_for_again(self):
        self.visit(self.share(self.newest[:1], password="correct horse"))
        self.browser.one("input[type=password]").send_keys("correct horse\n")
        self.wait_tiles(self.newest[:1])
        self.end_visit()
        self.browser.one("input[type=password]").send_keys("correct horse\n")
        self.wait_tiles(self.newest[:1])

    def test_what_a_visitor_adds_goes_on_with_the_next_visit(self):
        self.visit(self.share([], upload=True))
        self.browser.one(".share-upload")
        # The file waits until the visit has ended.
        self.browser.js("""const { send } = XMLHttpRequest.prototype;
            window.held = [];
            XMLHttpRequest.prototype.send = function (part) { held.push(() => send.call(this, part)); };
            window.letGo = () => {
              XMLHttpRequest.prototype.send = send;
              for (const go of held) go();
            };""")
        made = picture(self.gallery.folder / "day", "day.jpg", 78)
        self.browser.driver.find_element(By.CSS_SELECTOR, ".choose-files").send_keys(str(made))
        wait(lambda: self.browser.js("return held.length > 0"), "the file is being sent")
        self.end_visit()
        self.wait_next_visit()
        # It is sent with the key that has ended, and then with the one of now.
        self.browser.js("letGo()")
        self.browser.one(".upload-row[data-state=taken]")
        added = [one["localIdentifier"] for one in self.gallery.assets() if one["localIdentifier"] not in self.newest]
        self.assertEqual(len(added), 1)

    def test_an_end_is_said_also_while_it_is_looked_at(self):
        share = self.share(self.newest[:1])
        self.visit(share)
        self.wait_tiles(self.newest[:1])
        self.gallery.ask("DELETE", f"/v1/shares/{share['name']}")
        self.browser.wait_text("This link has ended", "h1")
        self.assertEqual(self.tiles(), [])
        self.browser.driver.refresh()
        self.browser.wait_text("This link has ended", "h1")
        self.visit({"link": "/share"})
        self.browser.wait_text("The link is incomplete", "h1")

    def test_a_link_that_expires_while_it_is_looked_at_says_so(self):
        # The page asks for its session when its feed ends.
        self.browser.expected_errors = (*self.expected_errors, *SERVER_GONE)
        self.addCleanup(setattr, self.browser, "expected_errors", self.expected_errors)
        share = self.share(self.newest[:1], days=1)
        self.visit(share)
        self.wait_tiles(self.newest[:1])
        # The day is over in a minute, after the server has started again.
        self.gallery.stop()
        [file] = self.gallery.folder.rglob("shares.json")
        kept = json.loads(file.read_text())
        rows = kept if isinstance(kept, list) else kept["shares"]
        [row] = [one for one in rows if one["name"] == share["name"]]
        end = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=60)
        row["expires"] = end.strftime("%Y-%m-%dT%H:%M:%SZ")
        file.write_text(json.dumps(kept))
        self.gallery.start()
        self.visit(share)
        self.wait_tiles(self.newest[:1])
        self.assertLess(datetime.datetime.now(datetime.timezone.utc), end, "the link was opened while it was good")
        self.browser.wait_text("This link has ended", "h1", 180)
        self.assertEqual(self.tiles(), [])
        self.browser.driver.refresh()
        self.browser.wait_text("This link has ended", "h1")
        listed = self.gallery.ask("GET", "/v1/shares").json["shares"]
        self.assertEqual([one["isExpired"] for one in listed if one["name"] == share["name"]], [True])

    def test_a_picture_that_could_not_be_had_is_shown_when_the_server_is_there_again(self):
        self.browser.expected_errors = (*self.expected_errors, *SERVER_GONE)
        self.addCleanup(setattr, self.browser, "expected_errors", self.expected_errors)
        self.visit(self.share(self.newest[:2]))
        self.wait_tiles(self.newest[:2])
        self.browser.one(".tile[data-index='0']").click()
        seen = lambda: self.browser.js("return document.querySelector('.guest-stage img')?.naturalWidth > 0")
        wait(seen, "the picture is shown")
        self.gallery.stop()
        self.browser.click(".guest-next")
        self.browser.wait_text("cannot be shown", ".guest-state")
        self.gallery.start()
        wait(seen, "the picture is shown by itself")
        self.assertEqual(self.browser.all(".guest-state"), [])
        self.browser.driver.find_element(By.CSS_SELECTOR, ".guest-viewer [aria-label='Close']").click()

    def test_a_visitor_adds_photos(self):
        share = self.share([], upload=True)
        self.visit(share)
        self.browser.wait_text("Add the first ones", ".empty")
        made = picture(self.gallery.folder / "guest", "guest.jpg", 77)
        self.browser.driver.find_element(By.CSS_SELECTOR, ".choose-files").send_keys(str(made))
        self.browser.one(".upload-row[data-state=taken]")
        added = [one["localIdentifier"] for one in self.gallery.assets() if one["localIdentifier"] not in self.newest]
        self.assertEqual(len(added), 1)
        self.wait_tiles(added)

    def test_a_signed_in_owner_keeps_the_session_and_sees_what_visitors_see(self):
        share = self.share(self.newest[:2])
        self.browser.sign_in(self.gallery)
        self.browser.wait_text("photos", ".count")
        self.visit(share, cookie=True)
        self.wait_tiles(self.newest[:2])
        self.browser.wait_text("2 photos", ".count")
        cookies = {one["name"]: one["value"] for one in self.browser.driver.get_cookies()}
        self.assertEqual(cookies, {"photoledger-key": self.gallery.owner})


class LongShareTests(PageTest):
    """A share with more photos than are loaded at first. They are invented and have no pictures."""

    photos = 0
    options = ("--on-request",)
    expected_errors = ("/renditions/", *SERVER_GONE)

    def test_a_photo_that_could_not_be_loaded_is_shown_when_the_server_is_there_again(self):
        invented = Invented(self.gallery)
        ids = invented.add(range(1_000_000_000, 1_000_000_600))["created"]
        invented.close()
        share = self.gallery.ask("POST", "/v1/shares", {"title": "Sea", "assets": ids}).json
        self.browser.driver.get(self.gallery.address + share["link"])
        self.browser.one(".tile[data-id]")
        self.browser.wait_text("600 photos", ".count")
        self.gallery.stop()
        self.browser.one(".banner")
        self.browser.one(".grid-scroll").send_keys(Keys.END)
        self.assertIsNone(self.browser.one(".tile[data-index='599']").get_attribute("data-id"))
        self.browser.one(".grid-scroll").send_keys(Keys.ENTER)
        self.browser.one("dialog.guest-viewer")
        # The banner of the page lies behind the viewer.
        self.browser.wait_text("The server cannot be reached.", ".guest-viewer .banner")
        self.browser.wait_text("Loading", ".guest-viewer .guest-state")
        self.gallery.start()
        said = "return document.querySelector('.guest-viewer [role=status].visually-hidden').textContent"
        wait(lambda: "600 of 600" in self.browser.js(said), "the last photo is shown by itself")
        wait(lambda: not self.browser.one(".guest-viewer").find_element(By.CSS_SELECTOR, ".banner").is_displayed(),
             "the banner goes")


if __name__ == "__main__":
    unittest.main()
