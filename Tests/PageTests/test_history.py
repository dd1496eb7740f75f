"""The history, undo with its plan, and looking back: what a person sees, and what the library then holds."""

import json
import unittest

from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

from gallery import SERVER_GONE, Browser, PageTest, wait

HOSTILE = '"><img src=x onerror="window.hit=1"><script>window.hit=1</script>'


class HistoryTest(PageTest):
    photos = 6

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.ids = [asset["localIdentifier"] for asset in cls.gallery.assets()]

    def setUp(self):
        gone = [asset["localIdentifier"] for asset in self.gallery.assets("--trash")]
        self.commit({"op": "asset.restore", "assets": gone},
                    {"op": "asset.edit", "assets": self.ids, "isHidden": False, "rating": 0})

    def texts(self, selector):
        """The texts of all elements of a selector, read at once, since the page may replace them meanwhile."""
        script = "return [...document.querySelectorAll(arguments[0])].map((one) => one.innerText)"
        return self.browser.js(script, selector)

    def commit(self, *changes, cause=None):
        body = {"changes": list(changes), **({"cause": cause} if cause else {})}
        answer = self.gallery.ask("POST", "/v1/blocks", body)
        self.assertEqual(answer.status, 200, answer.body)
        return answer.json

    def show(self, address):
        """Opens an address of the page anew."""
        self.browser.sign_in(self.gallery, path="/healthz")
        self.browser.driver.get(f"{self.gallery.address}/{address}")
        self.browser.one("main h1")

    def asset(self, identifier):
        return self.gallery.ask("GET", "/v1/assets/" + identifier.split("/")[0]).json

    def press(self, text, within="main"):
        """Presses the button with a text."""
        def found():
            return next((one for one in self.browser.all(f"{within} button, {within} a.button")
                         if one.is_displayed() and one.is_enabled() and one.text.strip() == text), None)
        wait(found, f"a button '{text}'").click()

    def choose(self, text):
        """Chooses the radio button with a label that begins with a text."""
        def found():
            return next((one for one in self.browser.all("dialog label.choice") if one.text.startswith(text)), None)
        wait(found, f"the choice '{text}'").click()


class HistoryTests(HistoryTest):
    def test_every_event_is_told_in_the_language_of_the_page_with_names_as_they_are(self):
        title = "Meer edited: 'x'"
        created = self.commit(
            {"op": "album.create", "title": title, "as": "$a"}, {"op": "folder.create", "title": "Reisen"},
            {"op": "album.add", "album": "$a", "assets": self.ids[:2]})["created"]
        album = next(one for one in created if one.endswith("/L0/040"))
        self.commit({"op": "album.remove", "album": album, "assets": self.ids[:1]})
        self.commit({"op": "album.rename", "album": album, "title": "See"})
        self.commit({"op": "album.delete", "albums": [album]})
        self.commit({"op": "asset.edit", "assets": self.ids[:1], "rating": 3, "caption": "A caption", "isFavorite": True})
        self.commit({"op": "asset.trash", "assets": self.ids[:4]})
        self.commit({"op": "asset.restore", "assets": self.ids[:4]})
        self.commit({"op": "client.register", "client": "rahmen"},
                    {"op": "client.authorize", "client": "rahmen", "status": "limited"},
                    {"op": "client.grant", "client": "rahmen", "assets": self.ids[:1]})
        german = Browser(language="de-DE")
        self.addCleanup(german.close)
        german.sign_in(self.gallery, path="/#/history")
        german.one(".commit")
        names = {one["localIdentifier"]: one["resources"][0]["originalFilename"] for one in
                 (self.asset(identifier) for identifier in self.ids[:2])}
        first, second = (f"„{names[one]}“" for one in self.ids[:2])
        wanted = [
            f"Angelegt: Album „{title}“.", "Angelegt: Ordner „Reisen“.", f"In „See“ gelegt: {first} und {second}.",
            f"Aus „See“ entfernt: {first}.", f"„{title}“ umbenannt in „See“.", "Gelöscht: „See“.", f"Bearbeitet: {first} (",
            "Favorit", "Bewertung", "Bildunterschrift", "In den Papierkorb gelegt: 4 Fotos.", "Aus dem Papierkorb geholt: 4 Fotos.",
            "„rahmen“ darf sehen und ändern: ausgewählte Fotos (vorher: nicht entschieden).",
            f"Für „rahmen“ freigegeben: {first}."]

        def said():
            for one in german.all(".commit details:not([open]) summary"):
                one.click()
            return "\n".join(german.js("return [...document.querySelectorAll('.sentences li')].map((one) => one.textContent)"))
        wait(lambda: all(one in said() for one in wanted), lambda: [one for one in wanted if one not in said()])
        self.assertEqual(german.js("return document.querySelectorAll('.sentences [lang], .sentences[lang]').length"), 0)
        english = [one for one in ("was created", "Added to", "Moved to", "may read", "Granted") if one in said()]
        self.assertEqual(english, [], "nothing is written in another language")
        # The slider of earlier states uses the same words.
        german.driver.get(f"{self.gallery.address}/#/moment")
        german.wait_text("Für „rahmen“ freigegeben", ".moment-sentence")

    def test_commits_are_listed_newest_first_with_who_why_and_what_and_arrive_live(self):
        self.commit({"op": "asset.edit", "assets": self.ids[:2], "isFavorite": True}, cause=HOSTILE)
        self.show("#/history")
        first = self.browser.one(".commit")
        self.assertIn("2 photos edited", first.text)
        self.assertIn("owner", first.text)
        self.assertIn(HOSTILE, first.text, "the cause is text")
        self.assertIn("“IMG_0000.jpg”", first.text)
        self.assertTrue(self.browser.all(".history-day h2"))
        # An album changes no photo: the log's own feed has it.
        made = self.commit({"op": "album.create", "title": "Sea"})
        self.browser.one(f'.history-day:first-child .commit:first-child[data-token="{made["token"]}"]')
        self.commit({"op": "asset.edit", "assets": self.ids[:1], "isFavorite": False})
        wait(lambda: self.texts(".commit-what")[0] == "1 photo edited", "the next commit is on top")
        tokens = self.browser.js("return [...document.querySelectorAll('.commit')].map((one) => one.dataset.token)")
        self.assertEqual(len(tokens), len(set(tokens)), "no commit is there twice")
        self.assertIsNone(self.browser.js("return window.hit"))

    def asked(self):
        """How often the page has asked for the log."""
        script = "return performance.getEntriesByType('resource').filter((one) => one.name.includes('/v1/log')).length"
        return self.browser.js(script)

    def test_a_commit_of_another_client_is_shown_without_a_question(self):
        self.gallery.commit({"op": "client.register", "client": "other"},
                            {"op": "client.authorize", "client": "other", "status": "authorized"})
        other = self.gallery.key("other")
        self.show("#/history")
        def cost():
            """How many questions about the log the page has asked until it showed one more commit."""
            asked = self.asked()
            made = self.gallery.commit({"op": "album.create", "title": "Sand"}, key=other)
            self.browser.one(f'.history-day:first-child .commit:first-child[data-token="{made["token"]}"]')
            self.assertIn("other", self.browser.text(f'[data-token="{made["token"]}"] .commit-who'))
            return self.asked() - asked
        # What was committed while the page opened is asked for; then each commit comes by itself.
        wait(lambda: cost() == 0, "the log is followed")
        self.assertEqual([cost() for _ in range(3)], [0, 0, 0])
        # A history that is narrowed asks, since the filter is the server's to apply.
        self.show("#/history?client=other")
        self.gallery.commit({"op": "album.create", "title": "Mine"})
        made = self.gallery.commit({"op": "album.create", "title": "Theirs"}, key=other)
        self.browser.one(f'.commit:first-child[data-token="{made["token"]}"]')
        self.assertNotIn("Mine", self.browser.text(".history"))

    def test_undo_shows_its_plan_and_conflicts_first_and_can_be_undone(self):
        photo = self.ids[2]
        made = self.commit({"op": "asset.edit", "assets": [photo], "isFavorite": True, "rating": 3})
        self.commit({"op": "asset.edit", "assets": [photo], "rating": 4})
        self.show("#/history")
        self.browser.click(f'[data-token="{made["token"]}"] [data-undo]')
        self.browser.wait_text("1 conflict", "dialog")
        self.browser.wait_text("IMG_0002.jpg", "dialog .plan-conflicts")
        conflicts = self.browser.text("dialog .plan-conflicts")
        self.assertIn("Rating restored. It has been changed since. Prevents the undo.", conflicts)
        self.assertFalse(self.browser.one("dialog .dialog-actions .main").is_enabled(), "conflicts are in the way")
        self.choose("Skip conflicts")
        self.browser.wait_text("Will be skipped.", "dialog .plan-conflicts")
        self.assertTrue(self.asset(photo)["isFavorite"], "a plan changes nothing")
        self.press("Undo", "dialog")
        wait(lambda: not self.browser.all("dialog"), "the dialog is closed")
        self.browser.notice("Undone")
        now = self.asset(photo)
        self.assertEqual((now["isFavorite"], now["rating"]), (False, 4))
        wait(lambda: self.texts(".commit:first-child .badge")[:1] == ["Undo"], "the undo is a commit")
        self.browser.click(".notice-action")
        wait(lambda: self.asset(photo)["isFavorite"], "the undo is undone")

    def test_everything_with_a_cause_is_undone_at_once(self):
        self.commit({"op": "asset.edit", "assets": [self.ids[0]], "isHidden": True}, cause="a wild script")
        self.commit({"op": "asset.trash", "assets": [self.ids[1]]}, cause="a wild script")
        self.show("#/history")
        self.browser.driver.find_element(By.LINK_TEXT, "a wild script").click()
        wait(lambda: len(self.browser.all(".commit")) == 2, "only the commits with the cause")
        self.browser.click('[data-undo="all"]')
        self.browser.wait_text("2 changes", "dialog")
        self.press("Undo", "dialog")
        wait(lambda: not self.browser.all("dialog"), "the dialog is closed")
        self.assertFalse(self.asset(self.ids[0])["isHidden"])
        self.assertIsNone(self.asset(self.ids[1])["trashedDate"])

    def test_everything_of_some_days_is_undone_at_once(self):
        self.commit({"op": "asset.edit", "assets": [self.ids[4]], "isFavorite": True})
        self.show("#/history?from=2001-01-01&to=2001-12-31")
        self.browser.click('[data-undo="all"]')
        self.browser.wait_text("No commits match.", "dialog")
        self.browser.click("dialog .dialog-head button")
        today = self.browser.js("return new Intl.DateTimeFormat('sv').format(new Date())")
        # Midnight may have passed since the library was made.
        [made] = self.gallery.ask("GET", "/v1/log?limit=1&kind=library.created").json["records"]
        first = self.browser.js("return new Intl.DateTimeFormat('sv').format(new Date(arguments[0]))", made["date"])
        self.show(f"#/history?from={first}&to={today}&client=owner")
        self.browser.click('[data-undo="all"]')
        # Everything since the library was made: the photos would go, and the rest with them.
        self.browser.wait_text("6 × removed from the library", "dialog")
        self.assertIn("owner", self.texts(".commit-who")[0])
        self.browser.click("dialog .dialog-head button")
        self.assertEqual(len(self.gallery.assets()), 6, "a plan changes nothing")

    def test_filters_narrow_by_kind_object_and_day_and_stand_in_the_address(self):
        album = self.commit({"op": "album.create", "title": "Narrow"})["created"][0]
        self.commit({"op": "album.rename", "album": album, "title": "Wide"})
        self.show("#/history")
        self.browser.click(".filter-box summary")
        Select(self.browser.one("select[name=kind]")).select_by_value("library.created")
        self.press("Apply")
        wait(lambda: self.texts(".commit-what") == ["Library created"], "one kind")
        self.assertIn("kind=library.created", self.browser.js("return location.hash"))
        self.press("Clear")
        wait(lambda: len(self.browser.all(".commit")) > 2, "all of it again")
        self.show(f"#/history?object={album}")
        wait(lambda: len(self.browser.all(".commit")) == 2, "the commits of the album")
        self.show("#/history?from=2001-01-01&to=2001-12-31")
        self.browser.wait_text("No changes.")

    def test_a_long_history_comes_page_by_page_and_a_large_commit_does_not_fill_it(self):
        many = ({"op": "album.create", "title": f"Album {number}"} for number in range(450))
        self.commit(*many, cause="many at once")
        blocks = [json.dumps({"changes": [{"op": "asset.edit", "assets": [self.ids[3]], "rating": number % 5 + 1}]})
                  for number in range(150)]
        self.gallery.command("apply", input="\n".join(blocks))
        total = len({json.loads(line)["token"] for line in self.gallery.command("log", "--json").splitlines()})
        self.show("#/history")
        self.browser.one(".commit")
        self.assertLess(len(self.browser.all(".commit")), total)

        def at_end():
            self.browser.js("document.querySelector('.history-foot').scrollIntoView()")
            return self.texts(".history-foot") == ["No earlier changes."]
        wait(at_end, "the end of the history")
        commits = self.texts(".commit")
        self.assertEqual(len(commits), total)
        large = next(text for text in commits if "many at once" in text)
        self.assertRegex(large, r"^3\d\d albums and folders created\n")
        self.assertRegex(large, r"and 1\d\d more events")
        self.assertIn("Library created", commits[-1])


class AwayTests(HistoryTest):
    expected_errors = SERVER_GONE

    def test_the_history_goes_on_where_it_was_after_the_server_was_away(self):
        self.show("#/history")
        self.browser.one(".commit")
        self.gallery.stop()
        self.browser.wait_text("cannot be reached", ".banner")
        self.gallery.command("album", "create", "Meanwhile")
        self.gallery.start()
        self.browser.wait_text("Meanwhile", ".commit:first-child .sentences")
        tokens = self.browser.js("return [...document.querySelectorAll('.commit')].map((one) => one.dataset.token)")
        self.assertEqual(len(tokens), len(set(tokens)), "no commit is there twice")


class MomentTests(HistoryTest):
    def test_the_slider_reaches_what_is_committed_while_it_is_open(self):
        self.show("#/moment")
        later = self.browser.one("[aria-label='One commit later'], .moment-bar .icon-button:last-of-type")
        self.assertFalse(later.is_enabled())
        last = lambda: int(self.browser.one(".moment-slider").get_attribute("max"))
        before = last()
        token = self.commit({"op": "asset.edit", "assets": self.ids[:1], "rating": 4})["token"]
        wait(lambda: later.is_enabled() and last() > before, "the commit is reached")
        later.click()
        wait(lambda: token in self.browser.js("return decodeURIComponent(location.hash)"), "it is shown")

    def test_a_photo_that_was_trashed_since_is_seen_then_and_restored(self):
        before = self.commit({"op": "asset.edit", "assets": [self.ids[0]], "isFavorite": True})
        self.commit({"op": "asset.trash", "assets": self.ids[1:3]})
        self.show("#/history")
        self.browser.click(f'[data-token="{before["token"]}"] a[href*="moment"]')
        self.browser.wait_text("6 photos", ".moment .count")
        tile = f'.moment .tile[data-id="{self.ids[1]}"]'
        self.browser.one(tile)
        self.browser.wait_text("Edited: “IMG_0000.jpg” (Favourite).", ".moment-label")
        # To now with the keyboard, and the address follows.
        slider = self.browser.one(".moment-slider")
        slider.send_keys(Keys.END)
        self.browser.wait_text("4 photos", ".moment .count")
        self.assertFalse(self.browser.all(tile))
        self.assertNotIn(before["token"], self.browser.js("return location.hash"))
        self.browser.click('[aria-label="Earlier commit"]')
        self.browser.wait_text("6 photos", ".moment .count")
        self.assertIn(before["token"], self.browser.js("return location.hash"))
        self.press("Changes since")
        self.browser.wait_text("2 photos no longer here")
        self.browser.click(f'[data-kind="left"] input[value="{self.ids[1]}"]')
        self.press("Restore")
        self.browser.wait_text("1 photo no longer here")
        self.assertIsNone(self.asset(self.ids[1])["trashedDate"])
        self.assertIsNotNone(self.asset(self.ids[2])["trashedDate"])

    def test_albums_and_edits_are_taken_back_with_their_plan(self):
        album = self.commit({"op": "album.create", "title": "Shore", "as": "$a"},
                            {"op": "album.add", "album": "$a", "assets": self.ids[:3]})
        then = album["token"]
        self.commit({"op": "album.remove", "album": album["created"][0], "assets": self.ids[:2]})
        self.commit({"op": "asset.edit", "assets": [self.ids[4]], "rating": 5})
        self.commit({"op": "asset.edit", "assets": [self.ids[5]], "isHidden": True})
        self.show(f"#/moment?at={then}")
        self.press("Changes since")
        self.browser.one('[data-kind="albums"]')
        self.assertIn("Shore", self.browser.text('[data-kind="albums"]'))
        self.browser.click(f'[data-album="{album["created"][0]}"] button')
        self.browser.wait_text("put back in its place", "dialog")
        self.press("Undo", "dialog")
        wait(lambda: not self.browser.all('[data-kind="albums"]'), "the album is as it was")
        self.assertEqual(len(self.gallery.assets("--album", album["created"][0])), 3)
        # What was hidden since comes back as well, by an undo of the photo.
        self.browser.click('[data-kind="left"] button[aria-label^="Undo"]')
        self.press("Undo", "dialog")
        wait(lambda: not self.browser.all('[data-kind="left"]'), "the hidden photo is there again")
        self.assertFalse(self.asset(self.ids[5])["isHidden"])
        self.browser.click(f'[data-kind="changed"] input[value="{self.ids[4]}"]')
        self.press("Undo…", '[data-kind="changed"]')
        self.press("Undo", "dialog")
        wait(lambda: self.asset(self.ids[4])["rating"] == 0, "the rating of before")
        box = f'[data-kind="changed"] input[value="{self.ids[4]}"]'
        wait(lambda: not self.browser.all(box), "nothing is left to undo")
        self.browser.wait_text("as it was then", '[data-kind="changed"]')

    def test_a_slider_that_is_moved_asks_little_and_ends_where_it_rests(self):
        for number in range(30):
            self.commit({"op": "asset.edit", "assets": [self.ids[0]], "rating": number % 5 + 1})
        first = self.gallery.ask("GET", "/v1/log?limit=1&kind=library.created").json["records"][0]
        self.show("#/moment")
        self.browser.one(".moment .tile")
        self.browser.js("""
            performance.clearResourceTimings();
            const slider = document.querySelector('.moment-slider');
            for (let value = Number(slider.max); value >= 1; value -= 1) {
              slider.value = value;
              slider.dispatchEvent(new Event('input', { bubbles: true }));
            }""")
        self.browser.wait_text("0 photos", ".moment .count")
        self.assertIn(first["token"], self.browser.js("return location.hash"))
        self.browser.wait_text("There were no photos at this point.")
        asked = self.browser.js("return performance.getEntriesByType('resource').map((one) => one.name)")
        asked = [address for address in asked if "at=" in address]
        self.assertLessEqual(len(asked), 3, asked)
        # A day, as people say it: the end of time is now.
        self.browser.js("""const date = document.querySelector('.moment input[type=datetime-local]');
            date.value = '2099-01-01T00:00'; date.dispatchEvent(new Event('change', { bubbles: true }));""")
        self.browser.wait_text("6 photos", ".moment .count")


if __name__ == "__main__":
    unittest.main()
