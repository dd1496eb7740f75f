"""Uploading: files, a folder, a drop, a duplicate, cuts, a closed tab; the camera."""

import json
import pathlib
import signal
import subprocess
import unittest

from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.select import Select

from gallery import SERVER_GONE, PageTest, wait

HOSTILE = "<img src=x onerror=\"document.title='XSS'\">.jpg"


def picture(folder, name, number):
    """An invented JPEG of its own content."""
    path = pathlib.Path(folder) / name
    path.parent.mkdir(parents=True, exist_ok=True)
    raw = path.parent / f"raw-{number}.ppm"
    raw.write_bytes(b"P6 60 40 255\n" + bytes([number * 53 % 256, number * 97 % 256, number * 31 % 256]) * 2400)
    made = path.parent / f"made-{number}.jpg"
    subprocess.run(["vips", "copy", str(raw), str(made)], check=True, capture_output=True)
    made.rename(path)
    raw.unlink()
    return path


def film(folder, name, megabytes, colour):
    """A film whose bytes are mostly a box that players pass over, so it can be as large as wanted."""
    path = pathlib.Path(folder) / name
    subprocess.run(["ffmpeg", "-loglevel", "error", "-f", "lavfi", "-i", f"color=0x{colour:06x}:s=64x48:d=1:r=5", "-c:v", "libx264",
                    "-pix_fmt", "yuv420p", str(path)], check=True)
    size = megabytes << 20
    with path.open("ab") as file:
        file.write(size.to_bytes(4, "big") + b"free")
        block = bytes(range(256)) * 4096
        for _ in range(megabytes):
            file.write(block)
        file.truncate(file.tell() - 8)
    return path


class UploadTests(PageTest):
    photos = 2
    expected_errors = (*SERVER_GONE, "401 (", "422 (", "never had a user gesture")

    def setUp(self):
        self.folder = self.gallery.folder / self._testMethodName
        self.folder.mkdir()
        self.open()

    def tearDown(self):
        # Nothing is left for the next test.
        self.browser.js("""const done = indexedDB.open('photoledger-uploads');
            done.onsuccess = () => done.result.transaction('files', 'readwrite').objectStore('files').clear();""")
        super().tearDown()

    def open(self):
        # Another address first: the same one with another fragment does not load the page again.
        self.browser.driver.get("about:blank")
        self.browser.sign_in(self.gallery, path="/#/upload")
        self.browser.one(".drop-zone")

    def choose(self, *paths, selector=".choose-files"):
        self.browser.driver.find_element(By.CSS_SELECTOR, selector).send_keys("\n".join(map(str, paths)))

    def count_parts(self, limit=100):
        """Notes where each part begins that the page sends; after the limit none is sent."""
        self.browser.js("""window.sent = []; const { setRequestHeader, send } = XMLHttpRequest.prototype;
            XMLHttpRequest.prototype.setRequestHeader = function (name, value) {
              if (name === 'Upload-Offset') sent.push(Number(value));
              return setRequestHeader.call(this, name, value);
            };
            XMLHttpRequest.prototype.send = function (part) {
              if (sent.length <= window.partLimit) return send.call(this, part);
            };
            window.partLimit = arguments[0];""", limit)

    def states(self):
        # In one script, since rows are drawn anew while files are sent.
        return dict(self.browser.js(
            "return [...document.querySelectorAll('.upload-row')].map(({ dataset }) => [dataset.name, dataset.state])"))

    def wait_states(self, expected):
        wait(lambda: self.states() == expected, lambda: f"{expected}, but {self.states()}")

    def names(self):
        details = [json.loads(self.gallery.command("show", one["localIdentifier"], "--json")) for one in self.gallery.assets()]
        return sorted(resource["originalFilename"] for one in details for resource in one["resources"])

    def test_files_arrive_with_an_outcome_each_and_go_into_an_album(self):
        before = len(self.gallery.assets())
        self.gallery.commit({"op": "album.create", "title": "Sea"})
        self.open()
        wait(lambda: "Sea" in self.browser.text(".album-choice"), "the album is offered")
        Select(self.browser.one(".album-choice")).select_by_visible_text("Sea")
        there = next((self.gallery.folder / "photos-0").iterdir())
        nothing = self.folder / "notes.txt"
        nothing.write_text("no photo")
        self.choose(picture(self.folder, "one.jpg", 1), picture(self.folder, HOSTILE, 2), there, nothing)
        self.wait_states({"one.jpg": "taken", HOSTILE: "taken", there.name: "there", "notes.txt": "refused"})
        self.browser.notice("3 photos added to “Sea”")
        self.assertEqual(len(self.gallery.assets()), before + 2)
        names = self.names()
        self.assertIn("one.jpg", names)
        self.assertIn(HOSTILE, names)
        self.assertNotEqual(self.browser.driver.title, "XSS")
        self.browser.wait_text("Finished with problems · 2 added · 1 already in the library · 1 not accepted",
                               ".upload-sum")
        self.assertEqual(len(self.gallery.assets("--album", self.gallery.ask("GET", "/v1/collections").json["collections"][0]
                                                 ["localIdentifier"])), 3)
        self.browser.screenshot("upload")
        self.browser.click(".notices .notice-action")
        self.browser.wait_text("Undone", ".notices")

    def test_what_was_refused_can_be_tried_again_or_dismissed(self):
        before = len(self.gallery.assets())
        # A file that was taken before and whose asset is gone is refused; the answer is given in the server's place.
        made = self.browser.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": """
            const real = window.fetch; window.isRefusing = true;
            window.fetch = (url, init) => isRefusing && init?.method === 'POST' && String(url).endsWith('/v1/uploads')
              ? Promise.resolve(new Response(JSON.stringify({ type: 'urn:photoledger:problem:invalid-resource',
                  status: 422, detail: 'It was taken before.' }), { status: 422 })) : real(url, init);"""})
        self.open()
        self.choose(picture(self.folder, "before.jpg", 81))
        self.wait_states({"before.jpg": "refused"})
        self.browser.js("window.isRefusing = false")
        row = '.upload-row[data-name="before.jpg"]'
        self.browser.wait_text("Not accepted: It was taken before.", row)
        self.browser.click(f'{row} [aria-label="Try before.jpg again"]')
        self.wait_states({"before.jpg": "taken"})
        self.browser.driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", made)
        self.assertEqual(len(self.gallery.assets()), before + 1)
        nothing = self.folder / "nothing.txt"
        nothing.write_text("no photo either")
        self.choose(nothing)
        self.wait_states({"before.jpg": "taken", "nothing.txt": "refused"})
        self.browser.click('[aria-label="Remove nothing.txt from the list"]')
        self.wait_states({"before.jpg": "taken"})

    def test_a_page_that_stays_for_files_changes_nothing_after_another_person_signed_in(self):
        asset = self.gallery.assets()[0]["localIdentifier"].split("/")[0]
        is_favorite = lambda: self.gallery.ask("GET", f"/v1/assets/{asset}").json["isFavorite"]
        person = {"name": "dora", "client": "guests", "password": "correct horse"}
        self.assertEqual(self.gallery.ask("POST", "/v1/people", person).status, 201)
        self.addCleanup(self.gallery.ask, "DELETE", "/v1/people/dora")
        # The page still reads, with the cookie of a person without the right to.
        self.addCleanup(setattr, self.browser, "expected_errors", self.expected_errors)
        self.browser.expected_errors = (*self.expected_errors, "403 (", "404 (")
        self.browser.driver.get("about:blank")
        self.browser.sign_in(self.gallery, self.gallery.owner_session(), "/#/upload")
        self.browser.one(".drop-zone")
        # Nothing is sent, so that the page has to stay.
        self.browser.js("XMLHttpRequest.prototype.send = function () {}")
        self.choose(picture(self.folder, "held.jpg", 93))
        self.browser.one(".upload-row[data-state=sending]")
        self.browser.js("window.giveUp = document.querySelector('.upload-row .icon-button')")
        self.browser.js("location.hash = `#/photos?photo=${arguments[0]}`", asset)
        self.browser.click(".viewer-favorite")
        self.browser.notice("1 photo added to favourites")
        # Later notices may take the place of this one.
        self.browser.js("window.takeBack = document.querySelector('.notice-action')")
        self.assertTrue(is_favorite())
        driver = self.browser.driver
        first = driver.current_window_handle
        driver.switch_to.new_window("tab")
        driver.get(f"{self.gallery.address}/sign-in")
        self.browser.one("input[name=name]").send_keys("dora")
        self.browser.one("input[name=password]").send_keys("correct horse", Keys.ENTER)
        self.browser.wait_text("dora", ".account")
        driver.close()
        driver.switch_to.window(first)
        self.browser.wait_text("another account", ".ending")
        self.browser.js("takeBack.click()")
        self.browser.wait_text("another account", ".notices")
        self.assertTrue(is_favorite(), "nothing was undone")
        # Without the file the page is the other person's.
        self.browser.js("giveUp.click()")
        self.browser.wait_text("dora", ".account")

    def test_what_is_in_the_trash_is_said_and_put_into_no_album(self):
        made = picture(self.folder, "thrown.jpg", 71)
        self.choose(made)
        self.wait_states({"thrown.jpg": "taken"})
        [asset] = [one["localIdentifier"] for one in self.gallery.assets() if "thrown.jpg" in self.gallery.command(
            "show", one["localIdentifier"], "--json")]
        self.gallery.commit({"op": "asset.trash", "assets": [asset]})
        album = self.gallery.commit({"op": "album.create", "title": "Shore"})["created"][0]
        self.open()
        wait(lambda: "Shore" in self.browser.text(".album-choice"), "the album is offered")
        Select(self.browser.one(".album-choice")).select_by_visible_text("Shore")
        self.choose(made, picture(self.folder, "kept.jpg", 72))
        self.wait_states({"thrown.jpg": "there", "kept.jpg": "taken"})
        self.browser.notice("1 photo added to “Shore”")
        self.assertEqual(self.browser.text('.upload-row[data-name="thrown.jpg"] .upload-state'), "In the trash")
        self.browser.wait_text("All done · 1 added · 1 in the trash", ".upload-sum")
        self.assertEqual(len(self.gallery.assets("--album", album)), 1)
        # Restored, it goes into the album that was chosen for it.
        self.browser.click('.upload-row[data-name="thrown.jpg"] .restore')
        wait(lambda: len(self.gallery.assets("--album", album)) == 2, "both are in the album")
        self.browser.wait_text("Already in the library", '.upload-row[data-name="thrown.jpg"]')

    def test_a_folder_is_taken_without_what_systems_leave_in_it(self):
        before = len(self.gallery.assets())
        picture(self.folder / "trip", "a.jpg", 11)
        picture(self.folder / "trip/deep", "b.jpg", 12)
        (self.folder / "trip/.DS_Store").write_bytes(b"x")
        self.choose(self.folder / "trip", selector=".choose-folder")
        self.wait_states({"a.jpg": "taken", "b.jpg": "taken"})
        self.assertEqual(len(self.gallery.assets()), before + 2)

    def test_a_drop_on_another_view_leads_to_the_upload(self):
        before = len(self.gallery.assets())
        bytes_ = list(picture(self.folder, "x.jpg", 21).read_bytes())
        self.browser.driver.get(self.gallery.address + "/#/photos")
        self.browser.one(".tile")
        # A folder as browsers have it that give no handles.
        self.browser.js("""
            const file = new File([new Uint8Array(arguments[0])], 'dropped.jpg', { lastModified: 1 });
            const leaf = { isFile: true, name: 'dropped.jpg', file: (done) => done(file) };
            let given = false;
            const reader = { readEntries: (done) => { done(given ? [] : [leaf, { ...leaf, name: 'Thumbs.db' }]); given = true; } };
            const folder = { isFile: false, name: 'trip', createReader: () => reader };
            const item = { kind: 'file', getAsFile: () => null, webkitGetAsEntry: () => folder };
            const event = (name) => Object.defineProperty(new Event(name, { bubbles: true, cancelable: true }), 'dataTransfer',
                { value: { types: ['Files'], items: [item] } });
            document.body.dispatchEvent(event('dragenter'));
            window.hadVeil = document.querySelector('.drop-veil') !== null;
            document.body.dispatchEvent(event('drop'));""", bytes_)
        self.wait_states({"dropped.jpg": "taken"})
        self.assertTrue(self.browser.js("return window.hadVeil && !document.querySelector('.drop-veil')"))
        self.assertIn("/upload", self.browser.driver.current_url)
        self.assertEqual(len(self.gallery.assets()), before + 1)

    def test_a_cut_upload_goes_on_where_it_was(self):
        path = film(self.folder, "long.mp4", 40, 0x804020)
        self.count_parts()
        # Slow enough that the server ends in the middle of a part.
        self.browser.driver.execute_cdp_cmd("Network.enable", {})
        self.browser.driver.execute_cdp_cmd("Network.emulateNetworkConditions", {
            "offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": 4_000_000})
        before = len(self.gallery.assets())
        self.choose(path)
        wait(lambda: self.browser.js("return sent.some((offset) => offset > 0)"), "a part is there")
        self.gallery.stop(signal.SIGKILL)
        self.browser.wait_text("resumes automatically", ".upload-trouble")
        self.browser.driver.execute_cdp_cmd("Network.disable", {})
        self.gallery.start()
        self.wait_states({"long.mp4": "taken"})
        offsets = self.browser.js("return sent")
        self.assertEqual(offsets[0], 0)
        self.assertTrue(all(offset > 0 for offset in offsets[1:]), offsets)
        self.assertEqual(len(self.gallery.assets()), before + 1)

    def press(self, text):
        wait(lambda: next((one for one in self.browser.all(".upload-buttons button") if one.is_displayed() and one.text == text), None),
             f"the button '{text}'").click()

    def test_a_person_pauses_and_goes_on_where_it_was(self):
        path = film(self.folder, "paused.mp4", 40, 0x208040)
        self.count_parts()
        self.browser.driver.execute_cdp_cmd("Network.enable", {})
        self.browser.driver.execute_cdp_cmd("Network.emulateNetworkConditions", {
            "offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": 4_000_000})
        before = len(self.gallery.assets())
        self.choose(path)
        wait(lambda: self.browser.js("return sent.some((offset) => offset > 0)"), "a part is there")
        self.press("Pause")
        wait(lambda: any(one.text == "Resume" for one in self.browser.all(".upload-buttons button")), "the button to go on")
        parts = self.browser.js("return sent.length")
        # What is chosen meanwhile waits too.
        self.choose(picture(self.folder, "meanwhile.jpg", 61))
        self.browser.driver.execute_cdp_cmd("Network.disable", {})
        self.assertEqual(len(self.gallery.assets()), before)
        self.assertEqual(self.browser.js("return sent.length"), parts, "nothing is sent")
        self.press("Resume")
        self.wait_states({"paused.mp4": "taken", "meanwhile.jpg": "taken"})
        offsets = self.browser.js("return sent")
        self.assertTrue(any(offset > 0 for offset in offsets[parts:]), offsets)
        self.assertEqual(len(self.gallery.assets()), before + 2)

    def test_a_closed_tab_is_opened_again_and_goes_on(self):
        path = film(self.folder, "closed.mp4", 20, 0x205080)
        before = len(self.gallery.assets())
        self.count_parts(limit=1)
        self.choose(path)
        wait(lambda: len(self.browser.js("return sent")) == 2, "a part is there")
        self.open()
        self.browser.wait_text("1 file was not finished", ".upload-lost")
        self.count_parts()
        self.choose(path)
        self.wait_states({"closed.mp4": "taken"})
        self.assertEqual(self.browser.js("return sent"), [16 << 20])
        self.assertEqual(len(self.gallery.assets()), before + 1)
        self.open()
        self.assertEqual(self.browser.all(".upload-row"), [])

    def test_a_file_with_a_handle_goes_on_by_itself(self):
        bytes_ = list(picture(self.folder, "y.jpg", 31).read_bytes())
        before = len(self.gallery.assets())
        # The browser's own file system has handles that need no dialog.
        self.browser.driver.execute_async_script("""
            const [bytes, done] = arguments;
            (async () => {
              const root = await navigator.storage.getDirectory();
              const handle = await root.getFileHandle('kept.jpg', { create: true });
              const writable = await handle.createWritable();
              await writable.write(new Uint8Array(bytes));
              await writable.close();
              const item = { kind: 'file', getAsFile: () => null, getAsFileSystemHandle: async () => handle };
              // Nothing is sent in this tab.
              XMLHttpRequest.prototype.send = function () {};
              document.body.dispatchEvent(Object.defineProperty(new Event('drop', { bubbles: true, cancelable: true }), 'dataTransfer',
                { value: { types: ['Files'], items: [item] } }));
              done();
            })();""", bytes_)
        self.wait_states({"kept.jpg": "sending"})
        self.open()
        self.wait_states({"kept.jpg": "taken"})
        self.assertEqual(len(self.gallery.assets()), before + 1)

    def test_a_session_that_ends_pauses_the_upload_and_the_next_one_goes_on_with_it(self):
        session = self.gallery.owner_session()
        self.browser.driver.get("about:blank")
        self.browser.sign_in(self.gallery, key=session, path="/#/upload")
        self.browser.one(".drop-zone")
        self.count_parts()
        self.browser.driver.execute_cdp_cmd("Network.enable", {})
        self.browser.driver.execute_cdp_cmd("Network.emulateNetworkConditions", {
            "offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": 4_000_000})
        before = len(self.gallery.assets())
        self.choose(film(self.folder, "ended.mp4", 40, 0x802060))
        wait(lambda: self.browser.js("return sent.some((offset) => offset > 0)"), "a part is there")
        self.gallery.ask("DELETE", "/v1/session", key=session)
        self.browser.wait_text("You are signed out", ".ending")
        self.assertEqual(self.browser.one(".ending a").get_attribute("target"), "_blank")
        self.browser.wait_text("Paused", ".upload-trouble")
        self.browser.driver.execute_cdp_cmd("Network.disable", {})
        self.assertIn("/upload", self.browser.driver.current_url)
        # Another view says it, too, and is there afterwards.
        self.browser.js("location.hash = '#/albums'")
        self.browser.one(".failure")
        self.browser.driver.add_cookie({"name": "photoledger-key", "value": self.gallery.owner_session(), "path": "/"})
        self.browser.js("dispatchEvent(new Event('focus'))")
        self.browser.wait_text("Albums", "main h1")
        self.browser.js("location.hash = '#/upload'")
        self.wait_states({"ended.mp4": "taken"})
        self.assertEqual(len(self.gallery.assets()), before + 1)
        self.assertEqual([one for one in self.browser.all(".ending, .banner") if one.is_displayed()], [])
        # What follows the server follows it again.
        self.browser.js("location.hash = '#/photos'")
        self.browser.wait_text(f"{before + 1} photos", ".count")
        asks = {"name": "com.example.asks", "usage": "It shows photos on the wall.", "asks": "readWrite"}
        client = self.gallery.ask("POST", "/v1/clients", asks, key=None).json["client"]
        self.browser.one(f'.request[data-client="{client}"]')
        self.gallery.commit({"op": "client.authorize", "client": client, "status": "denied", "level": "readWrite"})
        wait(lambda: not self.browser.all(".request"), "nothing is asked")

    def test_a_full_disk_pauses_and_says_so(self):
        before = len(self.gallery.assets())
        # The disk of this machine is not full, so its answer is given in the server's place until the page goes on.
        made = self.browser.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": """
            const real = window.fetch; window.isFull = true;
            window.fetch = (url, init) => isFull && init?.method === 'POST' && String(url).endsWith('/v1/uploads')
              ? Promise.resolve(new Response(JSON.stringify({ type: 'urn:photoledger:problem:not-enough-space', status: 507,
                  detail: 'The disk has no room.' }), { status: 507 })) : real(url, init);"""})
        self.open()
        self.choose(picture(self.folder, "full.jpg", 41))
        self.browser.wait_text("Paused: The disk has no room.", ".upload-trouble")
        self.browser.js("window.isFull = false")
        self.browser.click(".upload-trouble .button.main")
        self.wait_states({"full.jpg": "taken"})
        self.browser.driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", made)
        self.assertEqual(len(self.gallery.assets()), before + 1)


class CameraTests(PageTest):
    photos = 3
    expected_errors = ("401 (", "403 (", "never had a user gesture")

    def visit(self, secret=None):
        self.browser.driver.get(self.gallery.address + "/healthz")
        self.browser.driver.delete_all_cookies()
        self.browser.driver.get(self.gallery.address + "/camera" + (f"#{secret}" if secret else ""))

    def link(self):
        """The key of a camera link, made as the owner makes it."""
        self.browser.sign_in(self.gallery, path="/#/upload")
        self.browser.one(".drop-zone")
        self.browser.click(".upload .view-actions button")
        link = self.browser.one(".dialog input").get_attribute("value")
        return link.split("#")[1]

    def new(self, before):
        return [one for one in self.gallery.assets() if one["localIdentifier"] not in before]

    def test_a_photo_is_looked_at_and_kept_and_nothing_of_the_library_is_shown(self):
        before = [one["localIdentifier"] for one in self.gallery.assets()]
        secret = self.link()
        # The key adds and does nothing else.
        self.assertEqual(self.gallery.ask("POST", "/v1/fetches", {}, key=secret).status, 403)
        self.visit(secret)
        wait(lambda: self.browser.js("return document.querySelector('.camera-live')?.videoWidth > 0"), "the camera is seen")
        self.browser.screenshot("camera")
        self.browser.click(".shutter")
        self.browser.one(".camera-view img")
        self.assertEqual(self.new(before), [])
        self.browser.click(".keep")
        self.browser.one(".upload-row[data-state=taken]")
        found = self.new(before)
        self.assertEqual([one["mediaType"] for one in found], ["image"])
        self.assertIsNotNone(found[0]["creationDate"])
        page = self.browser.js("return document.documentElement.outerHTML")
        for identifier in before:
            self.assertNotIn(identifier.split("/")[0], page)
        # What is discarded is not sent.
        self.browser.click(".shutter")
        self.browser.one(".camera-view img")
        self.browser.click(".camera-controls .button")
        self.browser.one(".shutter")
        self.assertEqual(len(self.new(before)), 1)

    def test_a_film_is_recorded(self):
        before = [one["localIdentifier"] for one in self.gallery.assets()]
        self.visit(self.link())
        wait(lambda: self.browser.js("return document.querySelector('.camera-live')?.videoWidth > 0"), "the camera is seen")
        self.browser.click(".record")
        wait(lambda: self.browser.text(".camera-time") not in ("", "0:00"), "a second is recorded")
        self.browser.click(".recording")
        self.browser.one(".camera-view video[controls]")
        self.browser.click(".keep")
        self.browser.one(".upload-row[data-state=taken]")
        self.assertEqual([one["mediaType"] for one in self.new(before)], ["video"])

    def test_after_a_film_without_data_the_camera_is_there_again(self):
        self.visit(self.link())
        wait(lambda: self.browser.js("return document.querySelector('.camera-live')?.videoWidth > 0"),
             "the camera is seen")
        self.browser.js("window.MediaRecorder = class extends MediaRecorder { set ondataavailable(action) {} };")
        self.browser.click(".record")
        self.browser.click(".recording")
        self.browser.one(".notices .notice")
        self.browser.one(".shutter:not(.recording)")

    def test_one_film_is_recorded_though_its_button_is_pressed_twice(self):
        before = [one["localIdentifier"] for one in self.gallery.assets()]
        self.visit(self.link())
        wait(lambda: self.browser.js("return document.querySelector('.camera-live')?.videoWidth > 0"),
             "the camera is seen")
        self.browser.js("""
            window.made = 0;
            window.MediaRecorder = class extends MediaRecorder {
              constructor(...parts) {
                super(...parts);
                made += 1;
              }
            };
            const record = document.querySelector('.record');
            record.focus();
            for (let time = 0; time < 2; time += 1) record.dispatchEvent(new MouseEvent('click'));
            window.wereOff = [...document.querySelectorAll('.camera-controls button')].every((one) => one.disabled);""")
        wait(lambda: self.browser.text(".camera-time") not in ("", "0:00"), "a second is recorded")
        self.assertEqual(self.browser.js("return [made, wereOff]"), [1, True])
        self.assertTrue(self.browser.js("return document.activeElement.matches('.recording')"))
        self.browser.click(".recording")
        self.browser.one(".camera-view video[controls]")
        self.assertFalse(self.browser.js("return document.querySelector('.camera-time').checkVisibility()"))
        self.browser.click(".keep")
        self.browser.one(".upload-row[data-state=taken]")
        self.assertEqual([one["mediaType"] for one in self.new(before)], ["video"])

    def test_one_picture_is_taken_though_the_shutter_is_pressed_twice(self):
        self.visit(self.link())
        wait(lambda: self.browser.js("return document.querySelector('.camera-live')?.videoWidth > 0"),
             "the camera is seen")
        self.browser.js("""
            window.made = 0;
            const make = URL.createObjectURL;
            URL.createObjectURL = (file) => {
              made += 1;
              return make.call(URL, file);
            };
            const shutter = document.querySelector('.shutter');
            for (let time = 0; time < 2; time += 1) shutter.dispatchEvent(new MouseEvent('click'));
            window.wereOff = [...document.querySelectorAll('.camera-controls button')].every((one) => one.disabled);""")
        self.browser.one(".camera-view img")
        held = "return !dispatchEvent(new Event('beforeunload', { cancelable: true }))"
        self.assertEqual(self.browser.js(f"return [made, wereOff, (() => {{ {held} }})()]"), [1, True, True])
        self.browser.click(".camera-controls .button")
        self.browser.one(".shutter")
        self.assertFalse(self.browser.js(held))

    def test_a_camera_that_is_allowed_after_the_tab_was_left_is_switched_off_until_it_is_shown(self):
        made = self.browser.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": """
            if (navigator.mediaDevices) {
              const real = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
              [window.asked, window.streams] = [0, []];
              navigator.mediaDevices.getUserMedia = async (options) => {
                asked += 1;
                await new Promise((allow) => { window.allow = allow; });
                streams.push(await real(options));
                return streams.at(-1);
              };
            }"""})
        self.addCleanup(self.browser.driver.execute_cdp_cmd, "Page.removeScriptToEvaluateOnNewDocument", made)
        self.browser.sign_in(self.gallery, path="/camera")
        wait(lambda: self.browser.js("return window.asked === 1"), "the permission is asked for")
        self.browser.js("""Object.defineProperty(document, 'hidden', { value: true, configurable: true });
            document.dispatchEvent(new Event('visibilitychange'));
            allow();""")
        wait(lambda: self.browser.js("return streams.length === 1 && streams[0].getTracks().every((one) => one.readyState === 'ended')"),
             "the camera is off")
        self.assertEqual(self.browser.all(".camera-live"), [])
        self.browser.js("delete document.hidden; document.dispatchEvent(new Event('visibilitychange'))")
        wait(lambda: self.browser.js("return asked === 2"), "the camera is asked for again")
        self.browser.js("allow()")
        wait(lambda: self.browser.js("return document.querySelector('.camera-live')?.videoWidth > 0"), "the camera is seen")

    def test_what_is_missing_is_said(self):
        self.visit()
        self.browser.wait_text("This page cannot add photos", "h1")
        self.visit(self.gallery.key("someone", ["read"]))
        self.browser.wait_text("has not allowed adding photos", ".saying")
        for name, sentence in [("NotAllowedError", "does not have access to the camera"), ("NotFoundError", "No camera found"),
                               ("NotReadableError", "Another program")]:
            made = self.browser.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": f"""
                navigator.mediaDevices.getUserMedia = async () => {{ throw new DOMException('no', '{name}'); }};"""})
            self.browser.sign_in(self.gallery, path="/camera")
            self.browser.wait_text(sentence, ".camera-failure")
            self.browser.driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", made)


if __name__ == "__main__":
    unittest.main()
