"""The viewer: one photo over the page, its neighbours, what is known of it, and what can be changed about it."""

import base64
import json
import subprocess
import unittest

from selenium.webdriver import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from gallery import SERVER_GONE, Browser, PageTest, wait

HOSTILE = '"><img src=x onerror="window.hit=1"><script>window.hit=1</script>‮'


def short(identifier):
    return identifier.split("/")[0]


def jpeg(gallery, width, height, colour=(90, 120, 200)):
    """An invented picture of one colour."""
    path = gallery.folder / f"made-{width}x{height}-{colour[0]}.ppm"
    path.write_bytes(b"P6 %d %d 255\n" % (width, height) + bytes(colour) * (width * height))
    subprocess.run(["vips", "copy", str(path), str(path.with_suffix(".jpg"))], check=True, capture_output=True)
    return path.with_suffix(".jpg").read_bytes()


def film(gallery, name):
    """An invented film of two seconds."""
    path = gallery.folder / name
    subprocess.run(["ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc=s=160x120:d=2", "-pix_fmt", "yuv420p",
                    "-movflags", "+faststart", str(path)], check=True)
    return path.read_bytes()


def file_of(kind, data, name):
    return {"type": kind, "data": base64.b64encode(data).decode(), "originalFilename": name}


class ViewerTest(PageTest):
    """What the tests of the viewer do and look at."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.browser.sign_in(cls.gallery, path="/healthz")

    def setUp(self):
        self.show("/")

    def tearDown(self):
        self.browser.js("localStorage.clear()")
        super().tearDown()

    def show(self, path):
        """Loads an address anew, also where only what follows # differs."""
        self.browser.driver.get(self.gallery.address + "/healthz")
        self.browser.driver.get(self.gallery.address + path)

    def newest(self):
        """The photos as the timeline shows them."""
        return self.gallery.assets("--sort", "creationDate:desc")

    def asset(self, identifier):
        return json.loads(self.gallery.command("show", short(identifier), "--json"))

    def press(self, *keys):
        """Presses keys where the keyboard is."""
        actions = ActionChains(self.browser.driver, duration=0)
        for key in keys:
            actions.send_keys(key)
        actions.perform()

    def shown(self):
        """The identifier of the photo that the viewer shows."""
        return self.browser.js("return document.querySelector('dialog.viewer')?.dataset.id ?? null")

    def wait_shown(self, identifier):
        wait(lambda: self.shown() == identifier, lambda: f"{identifier} is shown, not {self.shown()}")

    def position(self, text):
        wait(lambda: self.browser.text(".viewer-position") == text, f"the position is {text}")

    def open_at(self, index):
        self.browser.click(f'.tile[data-index="{index}"][data-id]')
        self.browser.one("dialog.viewer[data-id]")
        return self.shown()

    def panel(self):
        """Opens the information panel and waits for what the server knows."""
        if not self.browser.js("return document.querySelector('.viewer-panel').checkVisibility()"):
            self.browser.click(".viewer-info")
        return self.browser.one(".viewer-panel .viewer-facts")

    def closed(self):
        wait(lambda: not self.browser.all("dialog.viewer"), "the viewer is closed")

    def notice(self, text):
        self.wait_text(text, ".notices")

    def undo(self):
        self.browser.all(".notice-action")[-1].click()

    def read(self, selector):
        """The text of all elements of a selector, read at one moment."""
        return self.browser.js("return [...document.querySelectorAll(arguments[0])].map((one) => one.innerText).join(' ')", selector)

    def wait_text(self, text, selector):
        wait(lambda: text in self.read(selector), lambda: f"'{text}' in {selector}, which is '{self.read(selector)[:300]}'")

    def section(self, name):
        return f'.viewer-panel [data-section="{name}"]'

    def has(self, identifier, name, value):
        wait(lambda: self.asset(identifier)[name] == value, lambda: f"{name} is {value}, not {self.asset(identifier)[name]}")


class ViewerTests(ViewerTest):
    expected_errors = ("404 (Not Found)",)

    def test_a_click_opens_buttons_go_on_and_the_grid_has_the_focus_again(self):
        photos = [one["localIdentifier"] for one in self.newest()]
        self.assertEqual(self.open_at(0), photos[0])
        self.position("1 of 12")
        self.browser.one(".viewer-layer.large.there")
        self.assertFalse(self.browser.one(".viewer-previous").is_enabled())
        self.browser.click(".viewer-next")
        self.wait_shown(photos[1])
        self.browser.click(".viewer-next")
        self.wait_shown(photos[2])
        self.browser.click(".viewer-previous")
        self.wait_shown(photos[1])
        self.browser.screenshot("viewer-light")
        self.browser.click(".viewer-close")
        self.closed()
        self.browser.one(f'.grid-scroll:focus .tile.cursor[data-id="{photos[1]}"]')

    def test_the_keyboard_alone_opens_passes_and_closes(self):
        photos = [one["localIdentifier"] for one in self.newest()]
        self.browser.one(f'.tile[data-id="{photos[0]}"]')
        for _ in range(40):
            if self.browser.js("return document.activeElement.matches('.grid-scroll')"):
                break
            self.press(Keys.TAB)
        self.press(Keys.ARROW_RIGHT, Keys.ENTER)
        self.wait_shown(photos[1])
        self.press(Keys.ARROW_RIGHT)
        self.wait_shown(photos[2])
        self.press(Keys.END)
        self.wait_shown(photos[11])
        self.press(Keys.PAGE_UP)
        self.wait_shown(photos[10])
        self.press(Keys.HOME, Keys.ARROW_LEFT)
        self.wait_shown(photos[0])
        # The focus stays in the viewer: what lies below cannot be reached.
        for _ in range(12):
            self.press(Keys.TAB)
            self.assertTrue(self.browser.js(
                "return document.activeElement === document.body || !!document.activeElement.closest('dialog.viewer')"))
        self.press("i")
        self.browser.one(".viewer-panel .viewer-facts")
        self.press("i")
        wait(lambda: not self.browser.one(".viewer-stage").find_element(By.XPATH, "../aside").is_displayed(), "no panel")
        self.press(Keys.ESCAPE)
        self.closed()
        self.browser.one(f'.grid-scroll:focus .tile.cursor[data-id="{photos[0]}"]')

    def test_notices_are_there_after_a_viewer_opened_over_another(self):
        photos = [one["localIdentifier"] for one in self.newest()]
        self.open_at(0)
        # Two more are asked for in one task, over the one that is there.
        self.browser.js("""
            const grid = document.querySelector('.grid-scroll');
            for (const key of ['Enter', 'ArrowRight', 'Enter'])
              grid.dispatchEvent(new KeyboardEvent('keydown', { key }));""")
        self.wait_shown(photos[1])
        self.assertEqual(len(self.browser.all("dialog.viewer")), 1)
        self.press(Keys.ESCAPE)
        self.closed()
        self.assertTrue(self.browser.js(
            "const it = document.querySelector('.notices'); return it !== null && it.closest('dialog') === null"))
        self.open_at(1)
        self.press(Keys.DELETE)
        self.notice("1 photo moved to the trash")
        self.undo()
        self.notice("Undone")
        self.has(photos[1], "trashedDate", None)

    def test_the_address_names_the_photo(self):
        photos = [one["localIdentifier"] for one in self.newest()]
        self.open_at(2)
        self.browser.click(".viewer-next")
        self.wait_shown(photos[3])
        wait(lambda: f"photo={short(photos[3])}" in self.browser.driver.current_url, "the address names the photo")
        self.browser.driver.refresh()
        self.wait_shown(photos[3])
        self.position("4 of 12")
        self.browser.driver.back()
        self.closed()
        self.assertNotIn("photo=", self.browser.driver.current_url)
        self.browser.driver.forward()
        self.wait_shown(photos[3])
        self.press(Keys.ESCAPE)
        self.closed()
        wait(lambda: "photo=" not in self.browser.driver.current_url, "the address is the view's")
        # A link that somebody sent; the one before it is not an entry of the viewer.
        self.show(f"/#/photos?kind=images&photo={short(photos[5])}")
        self.wait_shown(photos[5])
        self.press(Keys.ESCAPE)
        self.closed()
        wait(lambda: self.browser.driver.current_url.endswith("#/photos?kind=images"), "the kind is still in the address")
        self.wait_text("12 photos", ".count")
        # One that is not in the list is shown alone; one that is nowhere is said to be.
        self.show(f"/#/photos?kind=videos&photo={short(photos[5])}")
        self.wait_shown(photos[5])
        self.assertFalse([one for one in self.browser.all(".viewer-next") if one.is_displayed()])
        self.press(Keys.ESCAPE)
        self.closed()

    def test_back_closes_the_viewer_that_is_about_to_name_its_photo(self):
        photos = [one["localIdentifier"] for one in self.newest()]
        self.open_at(2)
        wait(lambda: f"photo={short(photos[2])}" in self.browser.driver.current_url, "the address names the photo")
        # What the viewer does 200 ms later is done at the worst moment of all: the address has changed, and the browser
        # has not yet said so.
        self.browser.js("""
            window.later = [];
            const { setTimeout } = window;
            window.setTimeout = (act, time, ...rest) => time === 200 ? window.later.push(act) : setTimeout(act, time, ...rest);
            document.querySelector('.viewer-next').click();""")
        self.wait_shown(photos[3])
        self.browser.js("""
            let isReported = false;
            addEventListener('hashchange', () => { isReported = true; }, { once: true, capture: true });
            const { port1, port2 } = new MessageChannel();
            port1.onmessage = () => {
                if (isReported) return;
                if (location.hash.includes('photo=')) {
                    port2.postMessage(null);
                    return;
                }
                window.wasBetween = true;
                for (const act of window.later) act();
            };
            port2.postMessage(null);
            history.back();""")
        self.closed()
        self.assertNotIn("photo=", self.browser.driver.current_url)
        self.assertTrue(self.browser.js("return window.wasBetween"))

    def test_a_link_to_a_photo_that_is_gone_says_so(self):
        self.show("/#/photos?photo=00000000-0000-0000-0000-000000000000")
        self.notice("does not exist")
        self.assertNotIn("photo=", self.browser.driver.current_url)

    # What follows changes.

    def test_the_shown_photo_stays_while_others_come_and_go(self):
        photos = [one["localIdentifier"] for one in self.newest()]
        self.open_at(4)
        self.position("5 of 12")
        self.gallery.commit({"op": "asset.trash", "assets": [short(photos[0]), short(photos[2])]})
        self.position("3 of 10")
        self.assertEqual(self.shown(), photos[4])
        self.gallery.commit({"op": "asset.restore", "assets": [short(photos[0]), short(photos[2])]})
        self.position("5 of 12")
        self.assertEqual(self.shown(), photos[4])
        # Moved: the photo goes to another place, and the viewer with it.
        self.gallery.commit({"op": "asset.edit", "assets": [short(photos[4])], "creationDate": "2025-01-01T00:00:00Z"})
        self.position("1 of 12")
        self.assertEqual(self.shown(), photos[4])
        self.gallery.commit({"op": "asset.edit", "assets": [short(photos[4])], "creationDate": self.date(photos[4], 4)})
        self.position("5 of 12")
        # The neighbour that is removed is not the next one any more.
        self.gallery.commit({"op": "asset.trash", "assets": [short(photos[5])]})
        self.position("5 of 11")
        self.press(Keys.ARROW_RIGHT)
        self.wait_shown(photos[6])
        self.gallery.commit({"op": "asset.restore", "assets": [short(photos[5])]})
        self.position("7 of 12")
        # Trashed elsewhere: the neighbour is shown, and the viewer says why.
        self.gallery.commit({"op": "asset.trash", "assets": [short(photos[6])]})
        self.wait_shown(photos[7])
        self.wait_text("no longer in this list", ".viewer-message")
        self.gallery.commit({"op": "asset.restore", "assets": [short(photos[6])]})
        # The last one of a list has only a neighbour before it.
        self.press(Keys.END)
        self.wait_shown(photos[11])
        self.gallery.commit({"op": "asset.trash", "assets": [short(photos[11])]})
        self.wait_shown(photos[10])
        self.gallery.commit({"op": "asset.restore", "assets": [short(photos[11])]})
        self.position("11 of 12")
        # Nothing left: the viewer closes.
        self.gallery.commit({"op": "asset.trash", "assets": [short(one) for one in photos]})
        self.closed()
        self.notice("There are no more photos in this list")
        self.gallery.commit({"op": "asset.restore", "assets": [short(one) for one in photos]})
        self.wait_text("12 photos", ".count")

    def date(self, _identifier, index):
        """The date that the gallery's photo at an index of the timeline began with."""
        import time
        return time.strftime("%Y-%m-%dT%H:%M:%S+00:00", time.gmtime(1_700_000_000 + (11 - index) * 86_400))

    def test_delete_and_undo_without_leaving_the_viewer(self):
        photos = [one["localIdentifier"] for one in self.newest()]
        self.open_at(3)
        self.press(Keys.DELETE)
        self.notice("1 photo moved to the trash")
        self.wait_shown(photos[4])
        self.assertEqual(self.browser.js("return document.querySelector('.viewer-message').hidden"), True)
        self.assertIsNotNone(self.asset(photos[3])["trashedDate"])
        self.undo()
        self.notice("Undone")
        self.has(photos[3], "trashedDate", None)
        self.position("5 of 12")
        # The button is gone with its notice, and the keyboard is where it was.
        self.press(Keys.ARROW_RIGHT)
        self.wait_shown(photos[5])

    def test_arrow_keys_go_on_after_a_button_that_each_photo_hides_for_a_moment(self):
        photos = [one["localIdentifier"] for one in self.newest()]
        self.open_at(0)
        self.browser.one(".viewer-download")
        self.browser.js("document.querySelector('.viewer-download').focus()")
        self.press(Keys.ARROW_RIGHT)
        self.wait_shown(photos[1])
        # The button was hidden until the server had named the file, and a browser takes the focus from what is hidden.
        self.browser.one(".viewer-download")
        self.press(Keys.ARROW_RIGHT)
        self.wait_shown(photos[2])

    # What can be changed.

    def test_each_field_is_one_commit_that_can_be_undone(self):
        identifier = self.open_at(1)
        commits = self.commits()
        self.press("f")
        self.notice("1 photo added to favourites")
        self.has(identifier, "isFavorite", True)
        self.browser.one('.viewer-favorite[aria-pressed="true"]')
        self.panel()
        self.press("4")
        self.notice("Rated with 4 stars")
        self.has(identifier, "rating", 4)
        wait(lambda: len(self.browser.all('.viewer-star[aria-pressed="true"]')) == 4, "four stars")
        self.browser.all(".viewer-star")[3].click()
        self.notice("Rated with 0 stars")
        self.has(identifier, "rating", 0)

        caption = self.browser.one(self.section("caption") + " textarea")
        caption.send_keys("The bay\nin the morning")
        self.press(Keys.ESCAPE)
        self.assertEqual(caption.get_property("value"), "", "Escape gives the text up and stays")
        caption.send_keys("The bay\nin the morning")
        self.browser.click(self.section("caption") + " .button")
        self.notice("Caption saved")
        self.has(identifier, "caption", "The bay\nin the morning")

        keyword = self.browser.one(self.section("keywords") + " input")
        keyword.send_keys("sea", Keys.ENTER)
        self.wait_text("sea", ".viewer-chips")
        self.browser.one(self.section("keywords") + " input").send_keys("storm", Keys.ENTER)
        self.wait_text("storm", ".viewer-chips")
        self.browser.click('.viewer-chip [aria-label="Remove the keyword sea"]')
        self.has(identifier, "keywords", ["storm"])

        self.browser.click(self.section("place") + ' [aria-label="Edit place"]')
        for field, value in zip(self.browser.all(self.section("place") + " input"), ["54.43", "11.19", "3"]):
            field.send_keys(value)
        self.press(Keys.ENTER)
        self.has(identifier, "location", {"latitude": 54.43, "longitude": 11.19, "altitude": 3})
        self.wait_text("54.43000° N, 11.19000° E, 3 m", self.section("place"))
        self.browser.click(self.section("place") + ' [aria-label="Edit place"]')
        self.one_named("Remove place").click()
        self.has(identifier, "location", None)
        self.notice("Place removed")
        self.undo()
        self.has(identifier, "location", {"latitude": 54.43, "longitude": 11.19, "altitude": 3})
        self.wait_text("54.43000° N", self.section("place"))

        self.browser.click(self.section("date") + ' [aria-label="Edit date"]')
        day, time = self.browser.all(self.section("date") + " input")
        self.browser.js("arguments[0].value = '2020-02-29'; arguments[1].value = '18:30:05'", day, time)
        self.browser.one(self.section("date") + ' select option[value="7200"]').click()
        self.one_named("Save").click()
        self.has(identifier, "creationDate", "2020-02-29T18:30:05+02:00")
        self.assertEqual(self.asset(identifier)["localCreationDate"], "2020-02-29T18:30:05")
        self.wait_text("Saturday, 29 February 2020 at 18:30:05", self.section("date"))
        self.wait_text("UTC+02:00", self.section("date"))
        self.position("12 of 12")
        self.assertEqual(self.shown(), identifier)
        self.notice("Date changed")
        # Favourite, rating twice, caption, three keywords, three places, one undo is among them, and the date.
        self.assertEqual(self.commits() - commits, 11)
        self.undo()
        self.position("2 of 12")

    def commits(self):
        return len(self.gallery.command("history", "--json").splitlines())

    def one_named(self, text):
        return wait(lambda: next((one for one in self.browser.all(".viewer-panel button") if one.is_displayed() and one.text == text),
                                 None), f"a button {text}")

    def test_what_is_committed_elsewhere_arrives_and_takes_no_text_away(self):
        identifier = self.open_at(5)
        self.panel()
        keyword = self.browser.one(self.section("keywords") + " input")
        keyword.send_keys("half a wo")
        self.gallery.commit({"op": "asset.edit", "assets": [short(identifier)], "addedKeywords": ["near"]})
        self.wait_text("near", ".viewer-chips")
        self.press("rd")
        self.assertEqual(keyword.get_property("value"), "half a word")
        self.press(Keys.ESCAPE)
        self.browser.one(self.section("caption") + " textarea").send_keys("half a sent")
        self.gallery.commit({"op": "asset.edit", "assets": [short(identifier)], "caption": "another", "addedKeywords": ["far"]},
                            {"op": "album.create", "title": "Elsewhere", "as": "$a"},
                            {"op": "album.add", "album": "$a", "assets": [short(identifier)]})
        self.wait_text("far", ".viewer-chips")
        self.wait_text("Elsewhere", self.section("albums"))
        field = self.browser.one(self.section("caption") + " textarea")
        self.assertEqual(field.get_property("value"), "half a sent")
        self.press("ence")
        # Going on to another photo saves what was written for the first one.
        self.browser.click(".viewer-next")
        self.has(identifier, "caption", "half a sentence")

    def test_hiding_and_history_taken_back_after_its_plan(self):
        identifier = self.open_at(7)
        self.gallery.commit({"op": "asset.edit", "assets": [short(identifier)], "caption": "first", "rating": 2})
        self.gallery.commit({"op": "asset.edit", "assets": [short(identifier)], "caption": "second"})
        self.panel()
        self.browser.click(self.section("history") + " summary")
        self.wait_text("Caption: first → second", ".history-entry")
        self.wait_text("Added to the library", ".history-entry")
        self.browser.click(".history-entry button")
        self.wait_text("Caption restored (second → first)", "dialog.dialog .undo-plan")
        self.has(identifier, "caption", "second")
        self.browser.click("dialog.dialog .button.main:not(:disabled)")
        self.notice("Undone")
        self.has(identifier, "caption", "first")
        self.undo()
        self.has(identifier, "caption", "second")
        # An older entry conflicts with what was changed since; the plan says so, and what can be done.
        wait(lambda: len(self.browser.all(".history-entry")) == 5, "the undos are in the history")
        self.browser.js("""[...document.querySelectorAll('.history-entry')]
            .find((one) => one.innerText.includes('Rating: 0 → 2')).querySelector('button').click()""")
        self.wait_text("It has been changed since. Prevents the undo.", "dialog.dialog .undo-plan")
        next(one for one in self.browser.all("dialog.dialog .choice") if one.text.startswith("Skip conflicts")).click()
        self.wait_text("It has been changed since. Will be skipped.", "dialog.dialog .undo-plan")
        self.browser.click("dialog.dialog .button.main:not(:disabled)")
        self.has(identifier, "rating", 0)
        self.has(identifier, "caption", "second")
        self.browser.click(self.section("access") + " summary")
        self.wait_text("Only the owner", self.section("access"))
        self.gallery.command("client", "authorize", "com.example.frame")
        self.wait_text("com.example.frame", self.section("access"))
        following = self.newest()[8]["localIdentifier"]
        next(one for one in self.browser.all(".viewer-panel button") if one.text == "Hide").click()
        self.wait_shown(following)
        self.assertTrue(self.asset(identifier)["isHidden"])
        # The list may follow before the answer comes, with which the notice does.
        self.notice("1 photo hidden")
        self.undo()
        self.has(identifier, "isHidden", False)

    def test_going_back_dismisses_the_viewer_with_a_dialog_over_it(self):
        self.open_at(2)
        self.panel()
        self.browser.click(self.section("history") + " summary")
        self.browser.click(".history-entry button")
        self.browser.one("dialog.dialog .undo-plan")
        self.browser.driver.back()
        wait(lambda: not self.browser.all("dialog"), "the dialog is gone with what it is about")

    def test_who_can_see_a_photo_says_since_when_and_from_when_to_when(self):
        photos = [one["localIdentifier"] for one in self.newest()]
        self.gallery.commit({"op": "client.register", "client": "com.example.few"},
                            {"op": "client.authorize", "client": "com.example.few", "status": "limited"},
                            {"op": "client.register", "client": "com.example.all"})
        self.gallery.commit({"op": "client.grant", "client": "com.example.few", "assets": [short(photos[9])]})
        self.gallery.commit({"op": "client.authorize", "client": "com.example.all", "status": "authorized"})
        self.addCleanup(self.gallery.commit, {"op": "client.authorize", "client": "com.example.all", "status": "denied"})
        self.open_at(9)
        self.panel()
        section = self.section("access")
        self.browser.click(section + " summary")
        said = lambda date: self.browser.js("""return new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short' })
            .format(new Date(arguments[0]))""", date)
        history = lambda: [one for one in self.gallery.ask("GET", f"/v1/objects/{short(photos[9])}/history").json["records"]
                           if one["property"] == "selections"]
        [full] = [one for one in self.gallery.ask("GET", "/v1/clients/com.example.all/access").json["records"] if not one["to"]]
        self.wait_text(f"has access to all photos, since {said(full['from']['date'])}", section)
        self.wait_text(f"as a selected photo, since {said(history()[0]['date'])}", section)
        self.gallery.commit({"op": "client.withdraw", "client": "com.example.few", "assets": [short(photos[9])]})
        begun, ended = wait(lambda: len(history()) == 2 and history(), "the selection is over")
        # Neither changes anything of the list; the panel follows the log.
        self.wait_text(f"had access to it as a selected photo, from {said(begun['date'])} to {said(ended['date'])}", section)
        self.assertNotIn("has access to it as", self.read(section))
        self.gallery.commit({"op": "client.grant", "client": "com.example.few", "assets": [short(photos[9])]})
        self.wait_text(f"as a selected photo, since {said(wait(lambda: len(history()) == 3 and history(), 'granted again')[2]['date'])}", section)
        self.gallery.commit({"op": "client.authorize", "client": "com.example.few", "status": "denied"})
        wait(lambda: "has access to it as a selected photo, since" not in self.read(section), "denied")
        # The next photo of the same viewer is followed too, with its albums.
        self.press(Keys.ARROW_RIGHT)
        self.wait_shown(photos[10])
        self.wait_text("Not in any album", self.section("albums"))
        album = self.gallery.commit({"op": "album.create", "title": "Evening"})["created"][0]
        self.gallery.commit({"op": "album.add", "album": album, "assets": [short(photos[10])]})
        self.wait_text("Evening", self.section("albums"))
        self.gallery.commit({"op": "client.authorize", "client": "com.example.all", "status": "denied"})
        wait(lambda: "com.example.all" not in self.read(section), "denied too")
        self.gallery.commit({"op": "album.delete", "albums": [album]})

    def test_who_changed_a_photo_and_when_is_shown_to_those_with_full_access_only(self):
        photos = [one["localIdentifier"] for one in self.newest()]
        asset = short(photos[11])
        for name, status in (("family", "authorized"), ("guest", "limited")):
            self.gallery.commit({"op": "client.register", "client": name},
                                {"op": "client.authorize", "client": name, "status": status})
        self.gallery.commit({"op": "client.grant", "client": "guest", "assets": [asset]})
        key = self.gallery.key("family")
        self.gallery.commit({"op": "asset.edit", "assets": [asset], "caption": HOSTILE})
        self.assertEqual(self.gallery.ask("POST", "/v1/blocks", {
            "changes": [{"op": "asset.edit", "assets": [asset], "rating": 4}], "cause": HOSTILE}, key).status, 200)
        self.gallery.commit({"op": "asset.edit", "assets": [short(photos[10])], "rating": 2})
        self.addCleanup(self.browser.sign_in, self.gallery, None, "/healthz")
        link = self.section("details") + ' a[href^="#/history"]'
        self.browser.sign_in(self.gallery, self.gallery.key("guest"), "/healthz")
        self.show(f"/#/photos?photo={asset}")
        self.wait_shown(photos[11])
        self.panel()
        self.assertEqual(self.browser.all(link + ', [data-section="history"]'), [])
        self.browser.sign_in(self.gallery, key, "/healthz")
        self.show(f"/#/photos?photo={asset}")
        self.wait_shown(photos[11])
        self.panel()
        self.assertEqual(self.browser.text(link), "Show in history")
        self.browser.js("arguments[0].focus()", self.browser.one(link))
        self.press(Keys.ENTER)
        self.closed()
        name = self.asset(asset)["resources"][0]["originalFilename"]
        newest, before, *_ = wait(lambda: [one.text for one in self.browser.all(".commit")], "the history of the photo")
        for text, said in ((newest, ("by family", f"Edited: “{name}” (Rating).", "onerror")),
                           (before, ("by owner", f"Edited: “{name}” (Caption)."))):
            for part in said:
                self.assertIn(part, text)
        self.assertEqual(self.browser.all("main img, main script"), [])
        self.assertIsNone(self.browser.js("return window.hit ?? null"))

    def test_the_neighbours_pictures_are_loaded_before_anybody_goes_to_them(self):
        asked = lambda: {one for one in range(12) if self.browser.js("""
            return performance.getEntriesByType('resource').some(({ name }) => name.includes(arguments[0]) && name.includes('large'));
            """, short(photos[one]))}
        photos = [one["localIdentifier"] for one in self.newest()]
        self.open_at(4)
        wait(lambda: asked() == {3, 4, 5}, lambda: f"the photo and its neighbours; {asked()}")
        self.press(Keys.ARROW_RIGHT)
        self.wait_shown(photos[5])
        wait(lambda: asked() == {3, 4, 5, 6}, lambda: f"the next one; {asked()}")

    def test_what_a_file_says_of_itself_is_only_text(self):
        folder = self.gallery.folder / "hostile"
        folder.mkdir()
        path = folder / "<b onclick=x>.jpg"
        path.write_bytes(next((self.gallery.folder / "photos-0").glob("*.jpg")).read_bytes() + b"hostile")
        fields = ["ImageDescription", "Artist", "Copyright", "Make", "Model", "Software", "UserComment", "LensModel", "LensMake",
                  "IPTC:Caption-Abstract", "IPTC:Keywords", "XMP-dc:Title", "XMP-dc:Description", "XMP-dc:Subject", "XMP:Label"]
        subprocess.run(["exiftool", "-q", "-overwrite_original", "-DateTimeOriginal=2031:01:01 12:00:00", "-OffsetTimeOriginal=+00:00",
                        *(f"-{field}={HOSTILE}" for field in fields), str(path)], check=True)
        self.gallery.command("import", str(folder))
        asset = next(one for one in self.newest() if str(one["creationDate"]).startswith("2031"))["localIdentifier"]
        self.addCleanup(self.gallery.commit, {"op": "asset.trash", "assets": [short(asset)]})
        self.browser.one(f'.tile[data-index="0"][data-id="{asset}"]')
        self.open_at(0)
        self.panel()
        self.wait_text("<b onclick=x>.jpg", self.section("files"))
        self.browser.one(self.section("details"))
        self.assertEqual(self.browser.all(".viewer-panel img, .viewer-panel script, .viewer-panel b[onclick]"), [])
        self.assertIsNone(self.browser.js("return window.hit ?? null"))

    def test_names_captions_keywords_and_titles_are_only_text(self):
        made = self.gallery.commit(
            {"op": "asset.create", "mediaType": "image", "pixelWidth": 30, "pixelHeight": 20, "creationDate": "2026-01-01T00:00:00Z",
             "caption": HOSTILE, "keywords": [HOSTILE, "x" * 150], "resources": [file_of("photo", jpeg(self.gallery, 30, 20), HOSTILE)],
             "as": "$a"}, {"op": "album.create", "title": HOSTILE, "as": "$b"}, {"op": "album.add", "album": "$b", "assets": ["$a"]})
        identifier = made["created"][0]
        self.addCleanup(self.gallery.commit, {"op": "asset.trash", "assets": [short(identifier)]})
        self.browser.one(f'.tile[data-index="0"][data-id="{identifier}"]')
        self.open_at(0)
        self.panel()
        self.wait_text("onerror", self.section("albums"))
        self.browser.click(self.section("history") + " summary")
        self.wait_text("onerror", ".history-entry")
        entry = [one for one in self.browser.all(".history-entry") if "Added to the album" in one.text]
        self.browser.js("arguments[0].scrollIntoView()", entry[0] if entry else self.browser.all(".history-entry")[0])
        self.browser.all(".history-entry button")[0].click()
        self.browser.one("dialog.dialog .undo-plan")
        self.press(Keys.ESCAPE)
        for part in ("caption", "keywords", "files", "albums"):
            self.assertIn("onerror", self.browser.js(
                "const s = document.querySelector(arguments[0]); return s.textContent + (s.querySelector('textarea')?.value ?? '')",
                self.section(part)))
        self.browser.click('.viewer-chip [aria-label^="Remove the keyword"]')
        self.notice("onerror")
        self.assertEqual(self.browser.all(".viewer-panel img, .viewer-panel script, .notices img, .undo-plan img"), [])
        self.assertIsNone(self.browser.js("return window.hit ?? null"))
        self.assertLessEqual(self.browser.js("const p = document.querySelector('.viewer-panel-body'); return p.scrollWidth - p.clientWidth"), 0)
        self.press(Keys.ESCAPE)
        self.closed()


class MediaTests(ViewerTest):
    """Assets of every kind, made by commits; one a day, so that their order is known."""

    photos = 0
    expected_errors = ("422 (Unprocessable", *SERVER_GONE)

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        gallery = cls.gallery
        small = [jpeg(gallery, 60, 40, (40 * number, 90, 160)) for number in range(6)]
        moving = film(gallery, "a.mp4")
        broken = b"\xff\xd8\xff\xe0" + b"no picture" * 9
        create = {"op": "asset.create", "mediaType": "image", "pixelWidth": 60, "pixelHeight": 40}
        made = gallery.commit(
            {**create, "creationDate": "2024-01-09T12:00:00+02:00", "pixelWidth": 2400, "pixelHeight": 1600,
             "resources": [file_of("photo", jpeg(gallery, 2400, 1600, (20, 130, 90)), "large.jpg")]},
            {**create, "creationDate": "2024-01-08T12:00:00+02:00", "mediaType": "video", "playbackStyle": "video", "duration": 2,
             "pixelWidth": 160, "pixelHeight": 120, "resources": [file_of("video", moving, "film.mp4")]},
            {**create, "creationDate": "2024-01-07T12:00:00+02:00", "mediaSubtypes": ["photoLive"], "playbackStyle": "livePhoto",
             "resources": [file_of("photo", small[0], "live.jpg"), file_of("pairedVideo", moving, "live.mov")]},
            *[{**create, "creationDate": f"2024-01-06T12:00:0{number}+02:00", "burstIdentifier": "it's one",
               "resources": [file_of("photo", small[1 + number], f"burst{number}.jpg")]} for number in range(3)],
            {**create, "creationDate": "2024-01-05T12:00:00+02:00", "resources": [file_of("photo", broken, "broken.jpg")]},
            {**create, "creationDate": "2024-01-04T12:00:00Z", "localCreationDate": "2024-01-04T12:00:00",
             "resources": [file_of("photo", small[4], "zoneless.jpg")]},
            {**create, "resources": [file_of("photo", small[5], "undated.jpg")]})["created"]
        cls.large, cls.film, cls.live, *cls.burst, cls.broken, cls.zoneless, cls.undated = made

    def scale(self):
        return self.browser.js("return new DOMMatrix(getComputedStyle(document.querySelector('.viewer-frame')).transform).a")

    def open_asset(self, identifier):
        self.show(f"/#/photos?photo={short(identifier)}")
        self.wait_shown(identifier)

    def test_zoom_by_keys_button_wheel_and_press_and_the_original_at_full_size(self):
        self.open_asset(self.large)
        self.browser.one(".viewer-layer.large.there")
        self.assertEqual(self.scale(), 1)
        self.assertEqual(self.browser.all(".viewer-layer.original"), [])
        self.press("+")
        wait(lambda: self.scale() == 1.5, "enlarged by a key")
        left = self.browser.js("return document.querySelector('.viewer-frame').getBoundingClientRect().left")
        self.press(Keys.ARROW_RIGHT)
        wait(lambda: self.browser.js("return document.querySelector('.viewer-frame').getBoundingClientRect().left") < left,
             "panned by a key")
        self.assertEqual(self.shown(), self.large)
        self.press("-")
        wait(lambda: self.scale() == 1, "as it was")
        picture = self.browser.one(".viewer-picture")
        ActionChains(self.browser.driver).double_click(picture).perform()
        wait(lambda: self.scale() > 1.5, "enlarged by pressing twice")
        self.browser.one(".viewer-layer.original.there")
        self.assertEqual(self.browser.js("return document.querySelector('.viewer-layer.original').naturalWidth"), 2400)
        before = self.browser.js("return document.querySelector('.viewer-frame').getBoundingClientRect().left")
        ActionChains(self.browser.driver, duration=20).move_to_element(picture).click_and_hold().move_by_offset(80, 30).release().perform()
        after = self.browser.js("return document.querySelector('.viewer-frame').getBoundingClientRect().left")
        self.assertAlmostEqual(after - before, 80, delta=2)
        ActionChains(self.browser.driver).double_click(picture).perform()
        wait(lambda: self.scale() == 1, "fitted by pressing twice")
        self.browser.driver.execute_cdp_cmd("Input.dispatchMouseEvent", {
            "type": "mouseWheel", "x": 640, "y": 400, "deltaX": 0, "deltaY": -200})
        wait(lambda: self.scale() > 1.2, "enlarged by the wheel")
        self.browser.click(".viewer-whole")
        wait(lambda: self.scale() == 1, "fitted by the button")

    def test_a_film_plays(self):
        self.open_asset(self.film)
        self.browser.one("video[controls]")
        wait(lambda: self.browser.js("return document.querySelector('video').readyState >= 1"), "the film's length is known")
        self.assertIn("/r3/play", self.browser.js("return document.querySelector('video').currentSrc"))
        # The keys of the film are its own.
        self.browser.js("document.querySelector('video').focus()")
        self.press(" ")
        wait(lambda: self.browser.js("return document.querySelector('video').currentTime > 0"), "it plays")
        self.press(Keys.ARROW_RIGHT)
        self.assertEqual(self.shown(), self.film)
        self.browser.click(".viewer-next")
        self.wait_shown(self.live)
        self.assertEqual(self.browser.all("video"), [])

    def test_a_live_photo_plays_while_it_is_pressed(self):
        self.open_asset(self.live)
        button = self.browser.one(".viewer-play")
        for begin, end in [
                (lambda chain: chain.move_to_element(button).click_and_hold(), lambda chain: chain.release()),
                (lambda chain: chain.move_to_element(self.browser.one(".viewer-picture")).click_and_hold(), lambda chain: chain.release()),
                (lambda chain: chain.key_down("l"), lambda chain: chain.key_up("l"))]:
            begin(ActionChains(self.browser.driver, duration=0)).perform()
            wait(lambda: self.browser.js("return (document.querySelector('.viewer-live')?.currentTime ?? 0) > 0.35"), "it plays")
            self.assertEqual(button.get_attribute("aria-pressed"), "true")
            end(ActionChains(self.browser.driver, duration=0)).perform()
            wait(lambda: not self.browser.all(".viewer-live"), "it stops when it is let go")
        # A tap plays it to its end.
        button.click()
        self.browser.one(".viewer-live")
        wait(lambda: not self.browser.all(".viewer-live"), "it ends")

    def test_another_picture_stands_for_its_burst(self):
        self.show("/")
        self.browser.wait_text("7 photos", ".count")
        self.open_asset(self.burst[0])
        button = self.browser.one(".viewer-burst-button")
        self.assertEqual(button.get_attribute("aria-label"), "Burst of 3 pictures")
        button.click()
        wait(lambda: len(self.browser.all(".viewer-burst-picture")) == 3, "the pictures of the burst")
        choose = self.browser.one(".viewer-burst .button.main")
        self.assertFalse(choose.is_enabled())
        self.browser.all(".viewer-burst-picture")[2].click()
        wait(lambda: len(self.browser.all('.viewer-burst-picture[aria-pressed="true"]')) == 1, "one is looked at")
        self.browser.screenshot("viewer-burst")
        self.browser.click(".viewer-burst .button.main")
        self.notice("The key photo of the burst was changed")
        self.wait_shown(self.burst[2])
        self.assertTrue(self.browser.js("return document.querySelector('.viewer-message').hidden"))
        self.assertTrue(self.asset(self.burst[2])["representsBurst"])
        self.undo()
        wait(lambda: self.asset(self.burst[0])["representsBurst"], "the first one again")

    def test_what_is_done_while_a_picture_of_a_burst_is_looked_at_is_done_to_that_picture(self):
        self.open_asset(self.burst[0])
        self.panel()
        self.browser.click(".viewer-burst-button")
        self.browser.all(".viewer-burst-picture")[2].click()
        self.wait_text("burst2.jpg", self.section("files"))
        self.assertIn(short(self.burst[2]), self.browser.one(".viewer-download").get_attribute("href"))
        self.press("f")
        self.has(self.burst[2], "isFavorite", True)
        self.browser.one('.viewer-favorite[aria-pressed="true"]')
        self.press("f")
        self.has(self.burst[2], "isFavorite", False)
        self.press("3")
        self.has(self.burst[2], "rating", 3)
        self.press(Keys.DELETE)
        wait(lambda: self.asset(self.burst[2])["trashedDate"], "the third picture is in the trash")
        # The viewer is back at the one that stands for the burst, to which nothing happened.
        self.wait_text("burst0.jpg", self.section("files"))
        self.wait_shown(self.burst[0])
        self.assertEqual(len(self.browser.all(".viewer-burst-picture")), 2)
        first = self.asset(self.burst[0])
        self.assertEqual((first["trashedDate"], first["isFavorite"], first["rating"]), (None, False, 0))
        self.assertTrue(self.browser.js("return document.querySelector('.viewer-message').hidden"))
        self.undo()
        self.has(self.burst[2], "trashedDate", None)
        self.gallery.commit({"op": "asset.edit", "assets": [short(self.burst[2])], "rating": 0})

    def test_a_stack_has_a_badge_and_is_shown_turned_over_and_taken_apart(self):
        self.show("/")
        self.browser.wait_text("7 photos", ".count")
        self.assertEqual(self.browser.all(f'.tile[data-id="{self.zoneless}"] .badges'), [])
        self.gallery.commit({"op": "asset.stack", "top": short(self.zoneless), "assets": [short(self.undated)]})
        self.browser.wait_text("6 photos", ".count")
        self.browser.one(f'.tile[data-id="{self.zoneless}"] .badges svg')
        label = self.browser.one(f'.tile[data-id="{self.zoneless}"]').get_attribute("aria-label")
        self.assertTrue(label.endswith(", stack"), label)
        self.browser.click(f'.tile[data-id="{self.zoneless}"]')
        self.wait_shown(self.zoneless)
        button = self.browser.one(".viewer-burst-button:not([hidden])")
        self.assertEqual(button.get_attribute("aria-label"), "Stack of 2 photos")
        button.click()
        wait(lambda: len(self.browser.all(".viewer-burst-picture")) == 2, "the photos of the stack")
        self.browser.screenshot("viewer-stack")
        self.browser.click('.viewer-burst-picture[aria-pressed="false"]')
        self.browser.click(".viewer-burst .button.main:not([disabled])")
        self.notice("The top photo of the stack was changed")
        self.wait_shown(self.undated)
        self.assertEqual(self.asset(self.zoneless)["stack"], self.undated)
        self.browser.click(".viewer-burst-button:not([hidden])")
        self.browser.click('.viewer-burst [data-burst="apart"]')
        self.notice("The photos were unstacked")
        wait(lambda: self.asset(self.zoneless)["stack"] is None, "no stack")
        wait(lambda: not self.browser.all(".viewer-burst-button:not([hidden])"), "no stack is offered")
        self.press(Keys.ESCAPE)
        self.closed()
        self.browser.wait_text("7 photos", ".count")
        wait(lambda: not self.browser.all(f'.tile[data-id="{self.undated}"] .badges'), "no badge")

    def test_a_picture_that_cannot_be_made_says_why_and_offers_its_file(self):
        self.open_asset(self.broken)
        self.wait_text("This picture cannot be shown", ".viewer-status")
        self.wait_text("has no picture to show", ".viewer-status")
        link = self.browser.one(".viewer-status a")
        self.assertEqual(link.get_attribute("download"), "broken.jpg")
        self.assertIn("?download=1", link.get_attribute("href"))
        self.press(Keys.ARROW_LEFT)
        self.wait_shown(self.burst[0])
        self.browser.one(".viewer-layer.large.there")

    def test_a_key_that_may_only_read_changes_nothing(self):
        self.gallery.command("client", "authorize", "com.example.reader")
        self.gallery.commit({"op": "album.create", "title": "Read", "as": "$a"},
                            {"op": "album.add", "album": "$a", "assets": [short(self.large)]})
        self.browser.driver.get(self.gallery.address + "/healthz")
        self.browser.driver.delete_all_cookies()
        self.browser.sign_in(self.gallery, self.gallery.key("com.example.reader", ["read"]), f"/#/photos?photo={short(self.large)}")
        self.addCleanup(self.browser.sign_in, self.gallery, None, "/healthz")
        self.wait_shown(self.large)
        self.panel()
        self.wait_text("Read", self.section("albums"))
        self.wait_text("none", self.section("caption"))
        shown = [one.get_attribute("aria-label") or one.text for one in self.browser.all("dialog.viewer :is(button, a)") if one.is_displayed()]
        for word in ("Favourite", "Move to trash", "Download", "Hide", "Edit date", "Add", "1 star"):
            self.assertNotIn(word, shown)
        self.assertEqual([one for one in shown if one.startswith("Undo")], [])
        self.press("5", "f", Keys.DELETE)
        self.press("+", "+", "+")
        wait(lambda: self.scale() > 3, "enlarged")
        self.assertEqual(self.browser.all(".viewer-layer.original"), [])
        asset = self.asset(self.large)
        self.assertEqual((asset["rating"], asset["isFavorite"], asset["trashedDate"]), (0, False, None))

    def test_the_dates_of_a_selection_are_shifted_by_one_commit(self):
        self.browser.one(f'.tile[data-index="0"][data-id="{self.large}"]')
        before = {one["localIdentifier"]: one["creationDate"] for one in self.newest()}
        self.browser.one(".grid-scroll").send_keys(Keys.CONTROL, "a")
        self.browser.click('[data-action="dates"]')
        self.browser.one("dialog.dialog .dates-preview")
        days, hours, _ = self.browser.all("dialog.dialog input")
        days.clear()
        days.send_keys("1")
        hours.clear()
        hours.send_keys("2")
        self.wait_text("9 Jan 2024, 12:00:00 UTC+02:00", ".dates-before")
        self.wait_text("10 Jan 2024, 14:00:00 UTC+02:00", ".dates-after")
        self.wait_text("1 photo without a date", "dialog.dialog")
        self.browser.one('dialog.dialog select[name="zone"] option[value="-18000"]').click()
        self.wait_text("10 Jan 2024, 14:00:00 UTC-05:00", ".dates-after")
        self.browser.one('dialog.dialog select[name="keeps"] option[value="moment"]').click()
        self.wait_text("10 Jan 2024, 07:00:00 UTC-05:00", ".dates-after")
        self.browser.screenshot("viewer-dates")
        self.browser.click("dialog.dialog .button.main")
        self.notice("The dates of 6 photos were changed")
        after = {one["localIdentifier"]: one["creationDate"] for one in self.newest()}
        self.assertEqual(after[self.large], "2024-01-10T07:00:00-05:00")
        self.assertEqual(after[self.zoneless], "2024-01-05T09:00:00-05:00")
        self.assertIsNone(after[self.undated])
        self.undo()
        wait(lambda: {one["localIdentifier"]: one["creationDate"] for one in self.newest()} == before, "all dates are as before")

    def test_a_phone_swipes_pinches_and_has_the_information_below(self):
        phone = Browser(width=360, height=740, scale=2, dark=True, phone=True)
        self.addCleanup(phone.close)
        phone.sign_in(self.gallery, path=f"/#/photos?photo={short(self.live)}")
        shown = lambda: phone.js("return document.querySelector('dialog.viewer')?.dataset.id ?? null")
        wait(lambda: shown() == self.live, "the photo of the address")

        def touch(*steps):
            for kind, points in steps:
                phone.driver.execute_cdp_cmd("Input.dispatchTouchEvent", {
                    "type": kind, "touchPoints": [{"x": x, "y": y, "id": number} for number, (x, y) in enumerate(points)]})

        def swipe(start, end):
            touch(("touchStart", [(start, 400)]), ("touchMove", [((start + end) / 2, 402)]), ("touchMove", [(end, 404)]), ("touchEnd", []))

        swipe(300, 80)
        wait(lambda: shown() == self.burst[0], "the next photo")
        swipe(80, 300)
        wait(lambda: shown() == self.live, "the photo before")
        swipe(200, 170)
        self.assertEqual(shown(), self.live)
        scale = lambda: phone.js("return new DOMMatrix(getComputedStyle(document.querySelector('.viewer-frame')).transform).a")
        touch(("touchStart", [(160, 400)]), ("touchStart", [(160, 400), (200, 400)]), ("touchMove", [(120, 400), (240, 400)]),
              ("touchMove", [(100, 400), (260, 400)]), ("touchEnd", []))
        wait(lambda: scale() > 2, "enlarged by two fingers")
        swipe(300, 80)
        self.assertEqual(shown(), self.live, "an enlarged picture is moved")
        for _ in range(2):
            touch(("touchStart", [(180, 400)]), ("touchEnd", []))
        wait(lambda: scale() == 1, "fitted by pressing twice")
        phone.click(".viewer-info")
        phone.one(".viewer-panel .viewer-facts")
        phone.screenshot("viewer-phone-dark")
        boxes = phone.js("""return ['.viewer-stage', '.viewer-panel'].map((one) => {
            const box = document.querySelector(one).getBoundingClientRect(); return [box.top, box.bottom, box.width] })""")
        self.assertLessEqual(boxes[0][1], boxes[1][0] + 1)
        self.assertEqual([box[2] for box in boxes], [360, 360])
        small = phone.js("""return [...document.querySelectorAll('dialog.viewer :is(button, a, input, summary)')]
            .filter((one) => one.checkVisibility()).map((one) => [one.className, one.getBoundingClientRect()])
            .filter(([, box]) => box.width < 44 || box.height < 44 || box.right > 360.5).map(([name, box]) => [name, box.width, box.height, box.right])""")
        self.assertEqual(small, [])

    def test_the_server_goes_and_comes_back(self):
        self.open_asset(self.large)
        self.browser.one(".viewer-layer.large.there")
        self.gallery.stop()
        self.browser.one("dialog.viewer .banner")
        self.press("f")
        self.notice("The server was not reached")
        self.gallery.start()
        wait(lambda: not [one for one in self.browser.all("dialog.viewer .banner") if one.is_displayed()], "the banner goes")
        self.gallery.commit({"op": "asset.edit", "assets": [short(self.large)], "isFavorite": True})
        self.browser.one('.viewer-favorite[aria-pressed="true"]')
        self.gallery.commit({"op": "asset.edit", "assets": [short(self.large)], "isFavorite": False})

    def test_a_link_that_is_followed_while_the_server_is_away_opens_when_it_is_there_again(self):
        self.browser.one(".tile[data-id]")
        self.gallery.stop()
        self.browser.one(".banner")
        address = f"#/photos?photo={short(self.large)}"
        self.browser.js("location.hash = arguments[0]", address)
        self.notice("The server was not reached")
        self.assertEqual(self.browser.js("return location.hash"), address)
        self.gallery.start()
        self.wait_shown(self.large)


if __name__ == "__main__":
    unittest.main()
