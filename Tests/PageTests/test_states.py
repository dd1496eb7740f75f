"""States that are easily forgotten: an empty library, a server that is gone, a tab that was left behind, a file that was
altered on the disk, an as-of view; and how the timeline is held: sizes, scrubber, pinch, reduced motion, installed.
"""

import json
import pathlib
import unittest

from selenium.common.exceptions import WebDriverException
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from gallery import SERVER_GONE, Browser, Gallery, PageTest, wait


class EmptyTests(PageTest):
    photos = 0

    def test_an_empty_library_says_how_photos_come_and_shows_the_first_at_once(self):
        self.browser.sign_in(self.gallery)
        self.browser.wait_text("No photos yet.", ".empty")
        self.browser.wait_text("0 photos", ".count")
        self.gallery.add_photos(1)
        self.browser.one(".tile[data-id]")
        self.assertFalse(any(one.is_displayed() for one in self.browser.all(".empty")))
        [asset] = self.gallery.assets()
        self.gallery.commit({"op": "asset.trash", "assets": [asset["localIdentifier"]]})
        self.browser.wait_text("No photos yet.", ".empty")


class BeginningTests(PageTest):
    def test_a_page_that_could_not_begin_does_so_by_itself_and_at_a_press(self):
        failing = self.browser.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": """
            const send = window.fetch;
            window.isFailing = true;
            window.attempts = 0;
            window.later = window.setTimeout;
            // Nothing is tried by itself where the button is to be pressed.
            if (location.hash === '#/albums') window.setTimeout = () => 0;
            window.fetch = async (url, options) => {
              const isSession = new URL(url, location.href).pathname === '/v1/session';
              if (isSession) window.attempts += 1;
              return isSession && window.isFailing ? new Response('', { status: 503 }) : send(url, options);
            };"""})
        self.addCleanup(self.browser.driver.execute_cdp_cmd, "Page.removeScriptToEvaluateOnNewDocument", failing)
        self.browser.sign_in(self.gallery)
        self.browser.wait_text("503", ".failure")
        self.browser.js("window.isSame = true; window.isFailing = false")
        self.browser.wait_text("12 photos", ".count")
        self.assertTrue(self.browser.js("return window.isSame"), "the page was not loaded again")
        self.browser.driver.get("about:blank")
        self.browser.sign_in(self.gallery, path="/#/albums")
        self.browser.wait_text("503", ".failure")
        self.browser.js("window.held = document.querySelector('.failure .button'); held.focus()")
        wait(lambda: self.browser.js("held.click(); return attempts > 3"), "it was tried again")
        self.assertTrue(self.browser.js("return document.activeElement === held"), "the button keeps the focus")
        self.browser.js("window.isFailing = false; window.setTimeout = window.later")
        self.browser.click(".failure .button")
        self.browser.wait_text("Albums", "main h1")


class RefusedPictureTests(PageTest):
    options = ("--on-request",)
    expected_errors = ("/renditions/", "ERR_BLOCKED_BY_CLIENT")

    def test_a_picture_that_cannot_be_had_is_not_asked_for_at_each_frame(self):
        self.browser.driver.execute_cdp_cmd("Network.enable", {})
        self.browser.driver.execute_cdp_cmd("Network.setBlockedURLs", {"urls": ["*/renditions/*"]})
        self.browser.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": """
            window.asked = [];
            const source = Object.getOwnPropertyDescriptor(HTMLImageElement.prototype, 'src');
            Object.defineProperty(HTMLImageElement.prototype, 'src', { ...source, set(url) {
              window.asked.push([url, performance.now()]);
              source.set.call(this, url);
            } });"""})
        self.browser.sign_in(self.gallery)
        wait(lambda: len({url for url, _ in self.browser.js("return asked")}) == 12, "each picture was asked for")
        # A second of frames, in which each answer draws anew.
        self.browser.driver.execute_async_script("""
            const done = arguments[0];
            let left = 60;
            const frame = () => { if ((left -= 1) > 0) requestAnimationFrame(frame); else done(); };
            frame();""")
        # A picture is asked for again ten seconds after it was refused, which a slow machine may reach here.
        before = {}
        for url, time in self.browser.js("return asked"):
            self.assertGreater(time - before.get(url, -9_001), 9_000, f"{url} was asked for again")
            before[url] = time


class ReturningPictureTests(PageTest):
    expected_errors = ("/renditions/", *SERVER_GONE)

    def setUp(self):
        self.browser.sign_in(self.gallery)
        wait(lambda: self.shown() == 12, "the pictures are made and shown")
        self.browser.driver.execute_cdp_cmd("Network.enable", {})
        self.browser.driver.execute_cdp_cmd("Network.setCacheDisabled", {"cacheDisabled": True})
        self.browser.driver.execute_cdp_cmd("Network.setBlockedURLs", {"urls": ["*/renditions/*"]})
        self.addCleanup(self.browser.driver.execute_cdp_cmd, "Network.setBlockedURLs", {"urls": []})
        # Another view and back: the tiles are new, and what they ask for is refused.
        self.browser.js("location.hash = '#/albums'")
        self.browser.one("h1")
        self.browser.js("location.hash = '#/photos'")
        self.browser.one(".tile[data-id]")
        wait(lambda: len(self.browser.all(".tile[data-id]")) == 12 and not self.browser.all(".tile img"), "no picture")
        self.browser.driver.execute_cdp_cmd("Network.setBlockedURLs", {"urls": []})

    def shown(self):
        return len(self.browser.all(".tile img.there"))

    def test_a_picture_that_could_not_be_had_is_asked_for_again_after_a_while(self):
        wait(lambda: self.shown() == 12, "the pictures are shown by themselves")

    def test_a_picture_that_could_not_be_had_is_shown_when_the_server_is_there_again(self):
        self.gallery.stop()
        self.browser.one(".banner")
        self.gallery.start()
        wait(lambda: self.shown() == 12, "the pictures are shown by themselves")


class TimelineTests(PageTest):
    photos = 40

    def setUp(self):
        self.browser.sign_in(self.gallery)
        self.browser.one(".tile[data-id]")
        self.browser.js("localStorage.clear()")
        self.browser.driver.refresh()
        self.browser.one(".tile[data-id]")

    def height(self):
        return self.browser.js("return document.querySelector('.tile[data-index=\"0\"]').getBoundingClientRect().height")

    def test_buttons_and_keys_make_pictures_larger_and_smaller_to_an_end(self):
        usual = self.height()
        self.browser.click("button[aria-label='Larger pictures']")
        wait(lambda: self.height() > usual * 1.1, "larger pictures")
        grid = self.browser.one(".grid-scroll")
        grid.send_keys("-")
        wait(lambda: abs(self.height() - usual) < 1, "the size of before")
        for _ in range(8):
            grid.send_keys("-")
        wait(lambda: self.height() < usual, "smaller pictures")
        smaller = self.browser.one("button[aria-label='Smaller pictures']")
        wait(lambda: not smaller.is_enabled(), "the button for smaller ones is off at the end")
        # The size is the reader's, and stays.
        small = self.height()
        self.browser.driver.refresh()
        self.browser.one(".tile[data-id]")
        wait(lambda: abs(self.height() - small) < 1, "the size is kept")

    def test_fingers_that_move_apart_make_pictures_larger_around_what_is_between_them(self):
        phone = Browser(width=360, height=740, scale=3, phone=True)
        self.addCleanup(phone.close)
        phone.sign_in(self.gallery)
        phone.one(".tile[data-id]")
        mean = """
            const heights = [...document.querySelectorAll('.tile[data-id]:not([hidden])')].map((one) => one.getBoundingClientRect())
              .filter((box) => box.bottom > 0 && box.top < innerHeight).map((box) => box.height);
            return heights.reduce((sum, one) => sum + one, 0) / Math.max(1, heights.length);
        """
        height = lambda: phone.js(mean)
        usual = height()
        name = phone.js("return document.elementFromPoint(180, 400).closest('.tile').dataset.id")

        def touch(*steps):
            for kind, points in steps:
                phone.driver.execute_cdp_cmd("Input.dispatchTouchEvent", {
                    "type": kind, "touchPoints": [{"x": x, "y": y, "id": number} for number, (x, y) in enumerate(points)]})

        touch(("touchStart", [(160, 400)]), ("touchStart", [(160, 400), (200, 400)]), ("touchMove", [(120, 400), (240, 400)]),
              ("touchEnd", []))
        wait(lambda: height() > usual * 1.1, "larger pictures")
        phone.one(f'.tile[data-id="{name}"]')
        self.assertEqual(phone.all("dialog.viewer"), [], "the fingers opened nothing")
        larger = height()
        touch(("touchStart", [(100, 400)]), ("touchStart", [(100, 400), (260, 400)]), ("touchMove", [(160, 400), (200, 400)]),
              ("touchEnd", []))
        wait(lambda: 0 < height() < larger, "smaller pictures")

    def test_the_scrubber_goes_anywhere_by_pointer_and_by_month_with_keys(self):
        grid = self.browser.one(".grid-scroll")
        for _ in range(4):
            grid.send_keys("+")
        self.browser.driver.execute_script("document.querySelector('.scrubber').classList.add('held')")
        handle = self.browser.one(".scrubber-handle")
        first = handle.get_attribute("aria-valuetext")
        handle.send_keys(Keys.END)
        wait(lambda: handle.get_attribute("aria-valuenow") == "1000", "the end")
        last = handle.get_attribute("aria-valuetext")
        self.assertNotEqual(first, last)
        handle.send_keys(Keys.HOME)
        wait(lambda: handle.get_attribute("aria-valuetext") == first, "the newest month")
        handle.send_keys(Keys.ARROW_DOWN)
        wait(lambda: handle.get_attribute("aria-valuetext") not in (first, last) or handle.get_attribute("aria-valuenow") != "0",
             "the month before")
        self.assertTrue([one.text for one in self.browser.all(".scrubber-years span")], "years stand beside the timeline")

    def test_a_finger_at_the_edge_means_the_photos_and_one_on_the_handle_goes_anywhere(self):
        phone = Browser(width=360, height=400, scale=2, phone=True)
        self.addCleanup(phone.close)
        phone.sign_in(self.gallery)
        phone.one(".tile[data-id]")
        self.assertTrue(phone.js("return matchMedia('(hover: none)').matches"), "the browser has fingers only")
        # The wish for larger pictures makes the list longer than the screen.
        for _ in range(2):
            phone.one(".grid-scroll").send_keys("+")
        wait(lambda: phone.js("return !document.querySelector('.scrubber').hidden"), "the scrubber is there")
        x, y, height = phone.js("""
            const box = document.querySelector('.scrubber-handle').getBoundingClientRect();
            return [box.x + box.width / 2, box.y + box.height / 2, box.height];
        """)
        self.assertGreaterEqual(height, 44)
        at = "return document.elementFromPoint(arguments[0], arguments[1]).closest('.scrubber') !== null"
        self.assertFalse(phone.js(at, x, y + 2 * height), "below the handle are photos")
        self.assertTrue(phone.js(at, x, y))
        place = lambda: int(phone.js("return document.querySelector('.scrubber-handle').getAttribute('aria-valuenow')"))

        def touch(kind, *points):
            phone.driver.execute_cdp_cmd("Input.dispatchTouchEvent", {
                "type": kind, "touchPoints": [{"x": x, "y": y} for x, y in points]})

        touch("touchStart", (x, y + 10))
        phone.one(".scrubber.held .scrubber-handle")
        # What it says is drawn with the next picture of the screen.
        phone.driver.execute_async_script(
            "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => done()));")
        self.assertEqual(place(), 0, "who holds it has not moved it yet")
        touch("touchMove", (x, y + 60))
        touch("touchMove", (x, y + 90))
        wait(lambda: place() > 0, "it goes with the finger")
        touch("touchEnd")
        wait(lambda: not phone.all(".scrubber.held"), "it is let go")
        self.assertEqual(phone.all("dialog.viewer"), [])

    def test_nothing_lies_beneath_the_notch_of_a_phone_on_its_side(self):
        phone = Browser(width=780, height=360, scale=2, phone=True)
        self.addCleanup(phone.close)
        try:
            phone.driver.execute_cdp_cmd("Emulation.setSafeAreaInsetsOverride", {"insets": {"left": 44, "right": 32}})
        except WebDriverException:
            self.skipTest("This browser cannot emulate a notch.")
        phone.sign_in(self.gallery)
        phone.one(".tile[data-id]")
        left, right = phone.js("""
            const parts = [...document.querySelectorAll('.nav, .stage')].map((one) => one.getBoundingClientRect());
            return [Math.min(...parts.map((box) => box.left)), innerWidth - Math.max(...parts.map((box) => box.right))];
        """)
        self.assertEqual((left, right), (44, 32))

    def test_nothing_moves_by_itself_for_who_asks_for_less_motion(self):
        self.browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {
            "features": [{"name": "prefers-reduced-motion", "value": "reduce"}]})
        self.addCleanup(self.browser.driver.execute_cdp_cmd, "Emulation.setEmulatedMedia", {"features": []})
        moving = self.browser.js("""
            const seconds = (text) => Math.max(...text.split(',').map((one) => parseFloat(one) * (one.includes('ms') ? .001 : 1)));
            return [...document.querySelectorAll('*')].filter((one) => {
              const style = getComputedStyle(one);
              return seconds(style.transitionDuration) > .001 || seconds(style.animationDuration) > .001;
            }).map((one) => one.outerHTML.slice(0, 80));
        """)
        self.assertEqual(moving, [])

    def test_a_browser_can_install_the_page(self):
        found = self.browser.driver.execute_cdp_cmd("Page.getAppManifest", {})
        self.assertEqual(found.get("errors", []), [])
        manifest = json.loads(found["data"])
        self.assertEqual(manifest["display"], "standalone")
        base = found["url"]
        for icon in manifest["icons"]:
            size = self.browser.driver.execute_async_script("""
                const [url, done] = arguments;
                const image = new Image();
                image.onload = () => done(`${image.naturalWidth}x${image.naturalHeight}`);
                image.onerror = () => done('not there');
                image.src = url;
            """, base.rsplit("/", 1)[0] + "/" + icon["src"])
            self.assertIn(icon["sizes"], ("any", size), icon)
        missing = self.browser.driver.execute_cdp_cmd("Page.getInstallabilityErrors", {})["installabilityErrors"]
        # A headless browser has no profile to install to, which is the browser's and not the page's.
        self.assertEqual([one["errorId"] for one in missing if one["errorId"] != "in-incognito"], [])


class PastTests(PageTest):
    photos = 6

    def test_a_view_of_the_past_changes_nothing(self):
        [asset, *_] = self.gallery.assets("--sort", "creationDate:desc")
        token = self.gallery.ask("POST", "/v1/fetches", {}).json["token"]
        self.gallery.commit({"op": "asset.edit", "assets": [asset["localIdentifier"]], "caption": "Later"})
        before = self.gallery.ask("POST", "/v1/fetches", {}).json["token"]
        self.browser.sign_in(self.gallery, path=f"/#/moment?at={token}")
        tile = self.browser.one(".tile[data-id]")
        grid = self.browser.one(".grid-scroll")
        self.assertIsNone(grid.get_attribute("aria-multiselectable"))
        grid.send_keys(" ")
        grid.send_keys(Keys.CONTROL, "a")
        self.assertEqual(self.browser.all(".tile[aria-selected=true]"), [])
        tile.click()
        self.browser.one("dialog.viewer")
        for key in ["f", "i", Keys.DELETE, "3"]:
            self.browser.driver.switch_to.active_element.send_keys(key)
        self.browser.one("dialog.viewer .panel, dialog.viewer [class*=panel]")
        edits = self.browser.js("""return [...document.querySelectorAll('dialog.viewer input, dialog.viewer textarea, dialog.viewer select')]
            .filter((one) => one.checkVisibility() && !one.disabled && !one.readOnly).map((one) => one.outerHTML)""")
        self.assertEqual(edits, [], "nothing of an as-of view can be written")
        self.assertNotIn("Later", self.browser.text("dialog.viewer"))
        self.assertEqual(self.gallery.ask("POST", "/v1/fetches", {}).json["token"], before, "nothing was committed")


class GoneTests(PageTest):
    photos = 6
    options = ("--on-request",)
    #: What the test takes away is missed, and said.
    expected_errors = ("/renditions/", "/resources/", "net::ERR", "503", "/v1/", "/healthz")

    def test_a_file_that_was_altered_on_the_disk_is_said_and_never_shown(self):
        asset = self.gallery.assets("--sort", "creationDate:desc")[0]
        sha256 = self.gallery.ask("GET", f"/v1/assets/{asset['localIdentifier'].replace('/', '%2F')}").json["resources"][0]["sha256"]
        [path] = [one for one in pathlib.Path(self.gallery.library).rglob("*") if one.is_file() and sha256[4:] in one.name]
        path.chmod(0o644)
        content = path.read_bytes()
        path.write_bytes(content[:-2] + bytes([content[-2] ^ 1, content[-1]]))
        self.browser.sign_in(self.gallery, path=f"/#/photos?photo={asset['localIdentifier'].split('/')[0]}")
        self.browser.one("dialog.viewer")
        status = wait(lambda: [one.text for one in self.browser.all("dialog.viewer [role=status], dialog.viewer [role=alert]")
                               if one.is_displayed() and one.text.strip()], "the viewer says what is wrong")
        self.assertFalse(self.browser.js("return [...document.querySelectorAll('dialog.viewer img')].some((one) => one.naturalWidth > 0)"),
                         status)

    def test_a_tab_that_was_left_behind_goes_on_exactly_and_a_server_that_is_gone_is_said(self):
        self.browser.sign_in(self.gallery)
        self.browser.wait_text("6 photos", ".count")
        self.gallery.stop()
        self.browser.wait_text("cannot be reached", ".banner")
        # Many commits while no feed is open.
        newest = [one["localIdentifier"] for one in self.gallery.assets("--sort", "creationDate:desc")]
        self.gallery.add_photos(9, first=50)
        self.gallery.command("apply", input="".join(
            json.dumps({"changes": [{"op": "asset.edit", "assets": [one], "isFavorite": number % 2 == 0}]}) + "\n"
            for number, one in enumerate(newest * 5)))
        self.gallery.command("apply", input=json.dumps({"changes": [{"op": "asset.trash", "assets": newest[:2]}]}) + "\n")
        self.gallery.start()
        self.browser.wait_text("13 photos", ".count")
        order = [one["localIdentifier"] for one in self.gallery.assets("--sort", "creationDate:desc")]
        wait(lambda: [one.get_attribute("data-id") for one in sorted(
            (one for one in self.browser.all(".tile[data-id]") if one.is_displayed()),
            key=lambda one: int(one.get_attribute("data-index")))] == order, "the tiles are those of `ls`")
        wait(lambda: not any(one.is_displayed() for one in self.browser.all(".banner")), "the banner is gone")


if __name__ == "__main__":
    unittest.main()
