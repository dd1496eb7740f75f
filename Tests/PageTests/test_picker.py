"""The picker: an app asks, the owner of the library chooses, the app gets that and nothing else."""

import http.server
import json
import os
import pathlib
import re
import subprocess
import threading
import unittest
import urllib.parse

from selenium.webdriver.support.select import Select

from gallery import PAGE, ROOT, PageTest, wait
from test_upload import picture

HOSTILE = "<img src=x onerror=\"document.title='XSS'\">"
SAMPLE = pathlib.Path(__file__).with_name("sample-picker.html")


class App:
    """The server of the sample app, on an origin of its own: it has the key, and its page does not."""

    def __init__(self, gallery, secret, adds_origins=True):
        app = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def reply(self, status, body, type="application/json"):
                self.send_response(status)
                self.send_header("Content-Type", type)
                self.end_headers()
                self.wfile.write(body)

            def do_GET(self):
                path, _, query = self.path.partition("?")
                fields = dict(urllib.parse.parse_qsl(query))
                if path == "/":
                    self.reply(200, SAMPLE.read_bytes(), "text/html")
                elif path == "/state":
                    after = f"&after={urllib.parse.quote(fields['after'])}" if fields.get("after") else ""
                    answer = gallery.ask("GET", f"/v1/picking/{fields['session']}?wait=5{after}", key=secret)
                    self.reply(answer.status, answer.body)
                elif path == "/item":
                    answer = gallery.ask("GET", f"/v1/picked/{urllib.parse.quote(fields['item'], safe='')}", key=secret)
                    self.reply(answer.status, answer.body, "image/jpeg")
                else:
                    self.reply(404, b"")

            def do_POST(self):
                wishes = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                if not adds_origins:
                    wishes.pop("origins", None)
                answer = gallery.ask("POST", "/v1/picking", wishes, key=secret)
                if answer.status == 201:
                    app.session = answer.json["session"]
                    self.reply(201, json.dumps(
                        {"session": app.session, "picker": gallery.address + answer.json["pickerUri"]}).encode())
                else:
                    self.reply(answer.status, answer.json["detail"].encode(), "text/plain")

            def log_message(self, *_):
                pass

        self.session = None
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class PickerTests(PageTest):
    photos = 10
    expected_errors = ("favicon.ico", "frame-ancestors", "403 (", "404 (", "401 (", "ERR_BLOCKED_BY_RESPONSE")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        made = cls.gallery.ask("POST", "/v1/clients", {"name": HOSTILE, "usage": "It prints cards."}, key=None).json
        cls.secret, cls.client = made["secret"], made["client"]
        cls.newest = [one["localIdentifier"] for one in cls.gallery.assets("--sort", "creationDate:desc")]

    def begin(self, **options):
        answer = self.gallery.ask("POST", "/v1/picking", options, key=self.secret)
        self.assertEqual(answer.status, 201, answer.body)
        self.addCleanup(self.gallery.ask, "DELETE", f"/v1/picking/{answer.json['session']}", key=self.secret)
        return answer.json

    def present(self, session, fragment=""):
        self.browser.driver.get("about:blank")
        self.browser.sign_in(self.gallery, path=session["pickerUri"] + fragment)

    def state(self, session):
        return self.gallery.ask("GET", f"/v1/picking/{session['session']}", key=self.secret).json

    def presentation(self, session):
        return self.gallery.ask("GET", f"/v1/picking/{session['session']}/presentation").json

    def selection(self, session):
        return self.presentation(session)["selection"]

    def tile(self, index):
        return self.browser.one(f".tile[data-index='{index}'][data-id]")

    def numbers(self):
        return {int(tile.get_attribute("data-index")): tile.get_attribute("data-number")
                for tile in self.browser.all(".tile[data-number]")}

    def wait_numbers(self, expected):
        wait(lambda: self.numbers() == expected, lambda: f"numbers {expected}, but {self.numbers()}")

    def test_photos_are_picked_in_order_up_to_a_limit_and_moved_from_outside(self):
        session = self.begin(limit=3, ordered=True, namesAssets=True)
        self.present(session)
        self.browser.wait_text(f"Select photos for {HOSTILE}", "h1")
        self.browser.wait_text("sees nothing else of the library", ".pick-note")
        self.browser.click(".pick-note .button")
        self.assertNotEqual(self.browser.driver.title, "XSS")
        for index in (4, 0, 2):
            self.tile(index).click()
        self.wait_numbers({4: "1", 0: "2", 2: "3"})
        self.assertIn("number 2", self.tile(0).get_attribute("aria-label"))
        self.browser.wait_text("3 of 3 selected", ".pick-count[aria-live=polite]")
        self.tile(1).click()
        self.browser.wait_text("At most 3 photos", ".notices")
        wait(lambda: self.selection(session) == [self.newest[4], self.newest[0], self.newest[2]], "the server has the selection")
        self.browser.screenshot("picker")
        # The app moves the last to the front, and takes one out.
        path = f"/v1/picking/{session['session']}"
        self.gallery.ask("PATCH", path, {"move": {"asset": self.newest[2], "after": None}}, key=self.secret)
        self.wait_numbers({2: "1", 4: "2", 0: "3"})
        self.gallery.ask("PATCH", path, {"deselect": [self.newest[4]]}, key=self.secret)
        self.wait_numbers({2: "1", 0: "2"})
        # The person takes one out of the tray, and it is gone in the grid.
        self.browser.all(".pick-tray button")[0].click()
        self.wait_numbers({0: "1"})
        self.tile(3).click()
        self.wait_numbers({0: "1", 3: "2"})
        self.browser.click(".pick-head .button.main")
        self.browser.wait_text("received 2 photos", ".saying")
        state = self.state(session)
        self.assertEqual(state["state"], "finished")
        self.assertEqual([one["asset"] for one in state["items"]], [self.newest[0], self.newest[3]])
        # The note was for the first use.
        self.present(self.begin())
        self.tile(0)
        self.assertEqual(self.browser.all(".pick-note"), [])

    def test_one_photo_is_replaced_by_another_press_and_the_person_may_cancel(self):
        session = self.begin()
        self.present(session)
        self.tile(1).click()
        wait(lambda: self.selection(session) == [self.newest[1]], "the first is selected")
        self.tile(2).click()
        wait(lambda: self.selection(session) == [self.newest[2]], "the second is selected instead")
        self.browser.click(".pick-head .button:not(.main)")
        self.browser.wait_text("This request has ended", "h1")
        self.assertEqual((self.state(session)["state"], self.state(session)["items"]), ("cancelled", []))
        self.present({"pickerUri": "/?pick=nothing"})
        self.browser.wait_text("The request has expired", ".saying")

    def test_the_app_ends_its_request_while_the_person_looks(self):
        session = self.begin()
        self.present(session)
        self.tile(0)
        self.gallery.ask("DELETE", f"/v1/picking/{session['session']}", key=self.secret)
        self.browser.wait_text("This request has ended", "h1")

    def test_filters_search_and_albums_offer_what_the_session_allows(self):
        self.gallery.commit({"op": "asset.edit", "assets": self.newest[:3], "isFavorite": True},
                            {"op": "album.create", "title": "Coast", "as": "$a"}, {"op": "album.add", "album": "$a", "assets": self.newest[4:6]})
        for text in ("any()", "all(images,not(livePhotos))", "any(videos,screenshots,bursts)", "not(any(panoramas,spatialMedia))",
                     "playbackStyle(image)"):
            session = self.begin(filter=text, limit=0)
            self.present(session)
            total = self.gallery.ask("GET", f"/v1/picking/{session['session']}/candidates?count=0").json["total"]
            self.browser.one(".pick-grid .grid" if total else ".pick-grid .empty")
            wait(lambda: len(self.browser.all(".tile[data-id]")) == total, f"{total} candidates of {text}")
            self.gallery.ask("DELETE", f"/v1/picking/{session['session']}", key=self.secret)
        self.present(self.begin(limit=0))
        count = lambda: len(self.browser.all(".tile[data-id]"))
        wait(lambda: count() == 10, "all are offered")
        collections = Select(self.browser.one(".pick-tools select"))
        collections.select_by_visible_text("Favourites")
        wait(lambda: count() == 3, "favourites")
        collections.select_by_visible_text("Coast")
        wait(lambda: count() == 2, "an album")
        collections.select_by_visible_text("Recently added")
        wait(lambda: count() == 10, "recent ones")
        field = self.browser.one(".pick-tools input")
        for text, expected in [("2023", 10), ("nov 2023", 10), ("2023-11-15", 1), ("dec", 0), ("films", 0), ("favourites", 3),
                               ("coast", 2)]:
            field.clear()
            field.send_keys(text)
            wait(lambda: field.get_attribute("value") == text and count() == expected, lambda: f"{expected} for {text}, not {count()}")
        self.gallery.commit({"op": "asset.edit", "assets": [self.newest[7]], "caption": "Regatta at noon"})
        for text, expected in [("regat", 1), ("img_0001", 1), ("regatta 2023", 1), ("regatta dec", 0), ("nonsense", 0)]:
            field.clear()
            field.send_keys(text)
            wait(lambda: field.get_attribute("value") == text and count() == expected, lambda: f"{expected} for {text}, not {count()}")
        self.browser.wait_text("No photos", ".pick-grid .empty")

    def test_the_person_leaves_out_where_photos_were_taken(self):
        # A photo whose bytes say where it was taken, newer than the others.
        path = picture(self.gallery.folder / "placed", "placed.jpg", 33)
        subprocess.run(["exiftool", "-q", "-overwrite_original", "-DateTimeOriginal=2030:01:01 12:00:00", "-OffsetTimeOriginal=+00:00",
                        "-GPSLatitude=47.5", "-GPSLatitudeRef=N", "-GPSLongitude=8.5", "-GPSLongitudeRef=E", str(path)], check=True)
        self.gallery.command("import", str(path.parent))
        placed = self.gallery.assets("--sort", "creationDate:desc")[0]["localIdentifier"]
        self.assertNotIn(placed, self.newest)
        self.addCleanup(self.gallery.commit, {"op": "asset.trash", "assets": [placed]})

        def place_of_picked(leave_out):
            session = self.begin(limit=0, namesAssets=True)
            self.present(session)
            box = self.browser.one(".pick-option input")
            self.assertFalse(box.is_selected())
            if leave_out:
                box.click()
                wait(lambda: self.presentation(session)["withheld"] == ["location"], "the server knows")
            self.tile(0).click()
            wait(lambda: self.tile(0).get_attribute("aria-selected") == "true", "it is selected")
            self.browser.screenshot("picker-place")
            self.browser.click(".pick-head .button.main")
            self.browser.wait_text("received 1 photo", ".saying")
            [item] = self.state(session)["items"]
            answer = self.gallery.ask("GET", f"/v1/picked/{item['item']}", key=self.secret)
            self.assertEqual(answer.status, 200, answer.body)
            path = self.gallery.folder / "picked.jpg"
            path.write_bytes(answer.body)
            return subprocess.run(["exiftool", "-s3", "-GPSLatitude", str(path)], capture_output=True, text=True, check=True).stdout

        with_place = place_of_picked(False)
        self.assertEqual(place_of_picked(True), "")
        self.assertNotEqual(with_place, "")

    def test_nothing_is_given_before_the_server_knows_that_the_place_is_left_out(self):
        held = self.browser.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": """
            const send = window.fetch;
            window.taps = [];
            window.fetch = async (url, options) => {
              if (String(url).endsWith('/taps')) window.taps.push(options.body);
              if (options?.body?.includes('withhold')) await new Promise((done) => { window.letGo = done; });
              return send(url, options);
            };"""})
        self.addCleanup(self.browser.driver.execute_cdp_cmd, "Page.removeScriptToEvaluateOnNewDocument", held)
        session = self.begin(limit=0)
        self.present(session)
        self.tile(0).click()
        wait(lambda: len(self.selection(session)) == 1, "it is selected")
        self.browser.click(".pick-option input")
        wait(lambda: self.browser.js("return window.letGo !== undefined"), "the place is on its way")
        self.browser.click(".pick-head .button.main")
        # What overtakes is sent at once: a second of frames is long for that.
        self.browser.driver.execute_async_script("""
            const done = arguments[0];
            let left = 60;
            const frame = () => { if ((left -= 1) > 0) requestAnimationFrame(frame); else done(); };
            frame();""")
        self.assertEqual([tap for tap in self.browser.js("return window.taps") if "finish" in tap], [])
        self.assertTrue(self.browser.one(".pick-option input").is_selected(), "the box shows what was pressed")
        self.browser.js("window.letGo()")
        self.browser.wait_text("received 1 photo", ".saying")
        self.assertEqual([list(json.loads(tap)) for tap in self.browser.js("return window.taps")],
                         [["select"], ["withhold"], ["finish"]])

    def test_leaving_out_a_place_keeps_what_else_is_left_out(self):
        session = self.begin(limit=0)
        path = f"/v1/picking/{session['session']}/taps"
        self.gallery.ask("POST", path, {"withhold": ["captions"]})
        self.present(session)
        self.browser.click(".pick-option input")
        wait(lambda: self.presentation(session)["withheld"] == ["location", "captions"], "both are left out")
        # Another window of the person changes it, and this one shows it.
        self.gallery.ask("POST", path, {"withhold": []})
        wait(lambda: not self.browser.one(".pick-option input").is_selected(), "the box follows")

    def test_preselection_and_continuous_selection_reach_the_app_at_each_press(self):
        session = self.begin(limit=0, continuous=True, preselected=[self.newest[1]])
        self.present(session, "#style=inline")
        wait(lambda: self.tile(1).get_attribute("aria-selected") == "true", "the preselected one is selected")
        self.browser.one(".pick-tray img[src]")
        self.tile(3).click()
        wait(lambda: {one["asset"] for one in self.state(session)["items"]} == {self.newest[1], self.newest[3]}, "the app has it")
        self.assertEqual(self.browser.all(".pick-head"), [])
        self.assertFalse(any(button.is_displayed() for button in self.browser.all(".pick-line .button.main")))
        self.browser.screenshot("picker-inline")

    def test_capabilities_are_switched_off_one_by_one(self):
        session = self.begin(limit=0)
        parts = {"search": ".pick-tools input", "collectionNavigation": ".pick-tools select", "stagingArea": ".pick-tray li",
                 "selectionActions": ".pick-head .button"}
        for name in parts:
            self.present(session, f"#without={name}")
            self.tile(0).click()
            wait(lambda: self.tile(0).get_attribute("aria-selected") == "true", "it is selected")
            for other, selector in parts.items():
                is_there = any(element.is_displayed() for element in self.browser.all(selector))
                self.assertEqual(is_there, other != name, f"{other} without {name}")
            self.tile(0).click()
            wait(lambda: self.selection(session) == [], "it is taken out again")
        self.present(session, "#style=compact")
        self.tile(0)
        self.browser.screenshot("picker-compact")
        self.assertEqual(self.browser.all(".pick-head, .pick-tools, .pick-tray li, .pick-note"), [])

    def test_only_who_sees_everything_can_choose(self):
        session = self.begin()
        self.browser.driver.get("about:blank")
        self.browser.sign_in(self.gallery, key=self.secret, path=session["pickerUri"])
        self.browser.wait_text("You cannot select photos with this account", "h1")
        self.browser.driver.delete_all_cookies()
        self.browser.driver.refresh()
        self.browser.wait_text("Sign in to select photos", "h1")

    def test_a_sample_app_has_photos_picked_in_a_window(self):
        app = App(self.gallery, self.secret)
        self.addCleanup(app.close)
        driver = self.browser.driver
        self.browser.sign_in(self.gallery, path="/healthz")
        driver.get(app.address + "/")
        self.addCleanup(driver.get, "about:blank")
        first = driver.current_window_handle
        self.browser.click("#window")
        wait(lambda: len(driver.window_handles) == 2 and app.session, "the window is open")
        driver.switch_to.window(next(one for one in driver.window_handles if one != first))
        for index in (1, 0):
            self.tile(index).click()
        self.wait_numbers({1: "1", 0: "2"})
        self.browser.click(".pick-head .button.main")
        wait(lambda: len(driver.window_handles) == 1, "the window closed itself")
        driver.switch_to.window(first)
        self.browser.wait_text("finished: 2", "#state")
        wait(lambda: self.browser.js("return [...document.querySelectorAll('#items img')].filter((one) => one.naturalWidth).length") == 2,
             "the app shows what it was given")

    def test_the_examples_of_the_article_run(self):
        article = (ROOT / "Sources/PhotoLedger/PhotoLedger.docc/BrowserClient.md").read_text()
        code = "\n".join(re.findall(r"^```js\n(.*?)^```", article, re.S | re.M)).replace("./photoledger/", f"{PAGE}/")
        before = len(self.gallery.assets())
        done = subprocess.run(["node", "--input-type=module", "-e", code], capture_output=True, text=True, timeout=60,
                              env=dict(os.environ, ADDRESS=self.gallery.address, KEY=self.gallery.owner))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("[ [ 0, 1 ] ]", done.stdout)
        self.assertEqual(len(self.gallery.assets()), before - 1)
        self.gallery.commit({"op": "asset.restore", "assets": [self.newest[0]]})

    def approvals(self):
        return f"/v1/clients/{urllib.parse.quote(self.client, safe='')}/origins"

    def approve(self, origins):
        path = self.approvals()
        answer = self.gallery.ask("PATCH", path, {"approve": origins})
        self.assertEqual(answer.status, 200, answer.body)
        self.addCleanup(self.gallery.ask, "PATCH", path, {"withdraw": origins})

    def framed(self, adds_origins=True, is_approved=True):
        """Opens the sample app's frame."""
        app = App(self.gallery, self.secret, adds_origins)
        self.addCleanup(app.close)
        if is_approved:
            self.approve([app.address])
        self.browser.sign_in(self.gallery, path="/healthz")
        self.browser.driver.get(app.address + "/")
        # The page asks the app for its state; it is left before the app ends, and before an approval ends.
        self.addCleanup(self.browser.driver.get, "about:blank")
        self.addCleanup(self.browser.driver.switch_to.default_content)
        self.browser.click("#inline")
        return app

    def test_a_frame_of_an_origin_that_is_not_named_or_not_approved_is_refused(self):
        for choices in ({"adds_origins": False}, {"is_approved": False}):
            self.framed(**choices)
            self.browser.driver.switch_to.frame(self.browser.one("iframe"))
            wait(lambda: self.browser.js("return location.href").startswith("chrome-error:"), f"{choices}: the frame is refused")
            self.browser.driver.switch_to.default_content()

    def test_a_frame_of_a_named_origin_shows_the_picker(self):
        app = self.framed()
        self.browser.driver.switch_to.frame(self.browser.one("iframe"))
        self.tile(0).click()
        self.browser.driver.switch_to.default_content()
        self.browser.wait_text("open: 1", "#state")
        self.assertEqual(len(self.state({"session": app.session})["items"]), 1)

    def test_the_owner_approves_in_a_window_which_pages_may_show_the_picker(self):
        session = self.begin(origins=["https://a.example", "https://b.example"])
        self.assertEqual(session["approvedOrigins"], [])
        self.present(session)
        self.browser.wait_text("https://a.example, https://b.example", ".pick-frames")
        self.browser.click("[data-act=allow-frames]:not(:disabled)")
        wait(lambda: self.state(session)["approvedOrigins"] == session["origins"], "the app sees the approval")
        self.addCleanup(self.gallery.ask, "PATCH", self.approvals(), {"withdraw": session["origins"]})
        wait(lambda: self.browser.all(".pick-frames") == [], "the question is answered")


class OnRequestTests(PageTest):
    """A server that makes pictures only when they are asked for, so that they come while the picker is open."""

    photos = 4
    options = ("--on-request",)

    def test_a_picture_that_comes_takes_the_number_from_no_label(self):
        secret = self.gallery.ask("POST", "/v1/clients", {"name": "cards", "usage": "It prints cards."}, key=None).json["secret"]
        ids = [one["localIdentifier"] for one in self.gallery.assets()]
        options = {"ordered": True, "limit": 0, "preselected": ids, "namesAssets": True}
        answer = self.gallery.ask("POST", "/v1/picking", options, key=secret)
        self.assertEqual(answer.status, 201, answer.body)
        self.addCleanup(self.gallery.ask, "DELETE", f"/v1/picking/{answer.json['session']}", key=secret)
        self.browser.sign_in(self.gallery, path=answer.json["pickerUri"])
        labels = lambda: self.browser.js("""return Object.fromEntries([...document.querySelectorAll('.tile[data-id]')]
            .map((one) => [one.dataset.id, one.getAttribute('aria-label')]))""")
        expected = {one: f"number {place}" for place, one in enumerate(ids, 1)}
        wait(lambda: self.browser.js("return document.querySelectorAll('.tile img.there').length") == 4, "the pictures are there")
        # What the feed says of a commit comes after what it says of the pictures.
        self.gallery.commit({"op": "asset.edit", "assets": [ids[0]], "isFavorite": True})
        wait(lambda: "favourite" in labels()[ids[0]], "the feed was heard")
        self.assertEqual([one for one, number in expected.items() if number not in labels()[one]], [], labels())


if __name__ == "__main__":
    unittest.main()
