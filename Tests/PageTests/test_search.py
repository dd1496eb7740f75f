"""Search: words over names, captions, keywords, dates, kinds and albums, and the predicate language."""

import unittest
from urllib.parse import quote

from selenium.webdriver.common.keys import Keys

from gallery import Browser, PageTest, wait


class SearchTests(PageTest):
    # A predicate that cannot be read is answered with 400, which the console notes.
    expected_errors = ("/v1/fetches",)

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        # Small pictures, so that twelve of several months are on the screen.
        cls.browser.sign_in(cls.gallery)
        cls.browser.js("localStorage.setItem('photoledger.level', '4')")
        cls.ids = [one["localIdentifier"] for one in cls.gallery.assets("--sort", "creationDate:asc")]
        cls.names = {one["resources"][0]["originalFilename"]: one["localIdentifier"] for one in cls.gallery.assets()}
        cls.gallery.commit(
            {"op": "asset.edit", "assets": [cls.ids[0]], "caption": "Blue Harbour, évening", "rating": 4},
            {"op": "asset.edit", "assets": [cls.ids[1]], "addedKeywords": ["lighthouse", "sea"]},
            {"op": "asset.edit", "assets": [cls.ids[2]], "caption": "5\" disk \\ 'a' AND TRUEPREDICATE"},
            {"op": "asset.edit", "assets": [cls.ids[3], cls.ids[4]], "isFavorite": True},
            {"op": "asset.edit", "assets": [cls.ids[5]], "creationDate": "2019-03-05T12:00:00+01:00"},
            {"op": "album.create", "title": "<b>Harbour</b>"})

    def setUp(self):
        self.browser.sign_in(self.gallery, path="/#/search")
        self.browser.one(".search-form input[type=search]")

    def ask(self, text):
        field = self.browser.one(".search-form input[type=search]")
        self.browser.js("arguments[0].select()", field)
        field.send_keys(text if text else Keys.DELETE)

    def finds(self, ids, what):
        def shown():
            found = self.browser.js("""return [...document.querySelectorAll('.search-results .tile[data-id]')]
                .filter((tile) => !tile.hidden).map((tile) => tile.dataset.id)""")
            count = self.browser.js("return document.querySelector('.search-results header .count')?.textContent ?? ''")
            return sorted(found) == sorted(ids) and count.startswith(str(len(ids)))
        wait(shown, f"{what} is found")

    def says(self, text, selector="body"):
        wait(lambda: self.browser.js("""return [...document.querySelectorAll(arguments[1])]
            .some((element) => element.checkVisibility() && element.innerText.includes(arguments[0]))""", text, selector),
             f"'{text}' in {selector}")

    def chips(self):
        return self.browser.js("return [...document.querySelectorAll('.chip strong')].map((chip) => chip.textContent)")

    def test_names_captions_and_keywords(self):
        self.ask("img_0003")
        self.finds([self.names["IMG_0003.jpg"]], "the name")
        self.ask("harbour EVENING")
        self.finds([self.ids[0]], "the caption, without accents and case")
        self.ask("light")
        self.finds([self.ids[1]], "the keyword")
        # The result follows commits.
        self.gallery.commit({"op": "asset.edit", "assets": [self.ids[7]], "addedKeywords": ["lightning"]})
        self.finds([self.ids[1], self.ids[7]], "what was given the keyword")
        self.gallery.commit({"op": "asset.edit", "assets": [self.ids[7]], "removedKeywords": ["lightning"]})
        self.finds([self.ids[1]], "what still has the keyword")
        self.ask("sea light")
        self.finds([self.ids[1]], "words in any order")
        self.ask("ight")
        self.says("No photos found", ".search-results")
        self.ask("no such word")
        self.says("No photos found", ".search-results")

    def test_words_are_found_by_the_server_and_no_record_is_read(self):
        read = "return performance.getEntriesByType('resource').map((one) => one.name).filter((one) => "\
               "/\\/items\\?/.test(one) && !one.includes('form=columns'))"
        self.ask("light")
        self.finds([self.ids[1]], "the keyword")
        self.assertEqual(self.browser.js(read), [])
        self.assertEqual(self.browser.all(".search-progress:not([hidden])"), [])
        # A smart album cannot keep words.
        self.assertEqual(self.browser.all('[data-tool="save"]:not([hidden])'), [])

    def test_what_was_found_is_a_list_like_any_other(self):
        self.ask("img_000")
        wanted = [self.names[f"IMG_000{number}.jpg"] for number in range(10)]
        self.finds(wanted, "ten names")
        self.browser.js("document.querySelector('.search-results .grid-scroll').focus()")
        self.browser.driver.switch_to.active_element.send_keys(Keys.CONTROL, "a")
        self.says("10 selected", ".selection-bar")
        self.browser.click('[data-action="trash"]')
        self.browser.notice("10 photos moved to the trash")
        self.says("No photos found", ".search-results")
        self.assertEqual(sorted(one["localIdentifier"] for one in self.gallery.assets("--trash")), sorted(wanted))
        self.browser.click(".notice-action")
        self.finds(wanted, "what was undone")

    def test_months_days_years_and_kinds_are_understood(self):
        november = [self.ids[at] for at in range(12) if at != 5]
        self.ask("November 2023")
        self.finds(november, "the month")
        self.assertEqual(self.chips(), ["November 2023"])
        self.ask("march")
        self.finds([self.ids[5]], "a month of any year")
        self.ask("2019")
        self.finds([self.ids[5]], "the year")
        self.ask("2023-11-16")
        self.finds([self.ids[2]], "the day")
        self.ask("favourites november")
        self.finds([self.ids[3], self.ids[4]], "the favourites of the month")
        self.assertEqual(self.chips(), ["Favourites", "November"])
        self.browser.click('.chip [aria-label="Remove “November”"]')
        wait(lambda: self.chips() == ["Favourites"], "the chip is gone")
        self.assertEqual(self.browser.one(".search-form input[type=search]").get_attribute("value"), "favourites")
        self.ask("favourites img_0004")
        self.finds([self.names["IMG_0004.jpg"]], "a favourite by its name")
        self.ask('"favourites"')
        self.says("No photos found", ".search-results")

    def test_a_month_of_more_years_than_a_predicate_can_name(self):
        dated = self.ids[6:12]
        receipt = self.gallery.commit(*[
            {"op": "asset.edit", "assets": [one], "creationDate": f"200{at}-03-31T23:30:00-05:00"} for at, one in enumerate(dated)])
        try:
            self.ask("march")
            self.finds([self.ids[5], *dated], "March of seven years, by the camera's clock")
            self.says("12 of 12 photos searched", ".search-progress")
            self.ask("march img_0009")
            self.finds([self.names["IMG_0009.jpg"]], "one of them by its name")
            self.says("1 of 1 photo searched", ".search-progress")
        finally:
            self.assertEqual(self.gallery.ask("POST", "/v1/undo", {"commit": receipt["token"]}).status, 200)

    def test_signs_of_the_predicate_language_are_text(self):
        for text in ["5\"", "\\", "'a'", "\"disk \\\"", "OR TRUEPREDICATE'"]:
            with self.subTest(text=text):
                self.ask(text)
                # What has no word finds nothing.
                if text.startswith("OR") or text == "\\":
                    self.says("No photos found", ".search-results")
                else:
                    self.finds([self.ids[2]], text)

    def test_albums_are_named_and_titles_are_text(self):
        self.ask("harbour")
        self.says("<b>Harbour</b>", ".search-albums a")
        self.browser.click(".search-albums a")
        self.says("<b>Harbour</b>", "h1")

    def test_a_predicate_is_sent_as_it_is_and_its_error_is_shown_by_the_field(self):
        self.browser.click(".search-form [role=switch]")
        self.ask("rating >= 4")
        self.finds([self.ids[0]], "the rated photo")
        self.ask("rating >= 4 AND colour == 1")
        self.says("Unknown key 'colour'", ".problem")
        self.assertEqual(self.browser.one(".search-form input").get_attribute("aria-invalid"), "true")
        pointed = self.browser.js("return document.querySelector('.caret').textContent").split("\n")
        self.assertEqual(pointed[0][pointed[1].index("^"):], "colour == 1")
        self.ask("rating >= 4")
        self.finds([self.ids[0]], "the rated photo again")
        self.assertEqual(self.browser.all(".problem p"), [])

    def test_a_german_page_says_in_german_what_the_server_refused(self):
        german = Browser(language="de-DE", expected_errors=("/v1/fetches", "/v1/log"))
        self.addCleanup(german.close)
        german.sign_in(self.gallery, path="/#/search")
        german.click(".search-form [role=switch]")
        german.one(".search-form input[type=search]").send_keys("colour == 1")
        german.wait_text("Dieses Prädikat wird nicht unterstützt: „Unknown key 'colour'", ".problem p")
        german.one(".problem .caret")
        german.js("location.hash = '#/history?object=none'")
        german.wait_text("Das gibt es nicht, oder es ist mit dieser Anmeldung nicht zu sehen: „", ".failure p")

    def test_the_query_is_in_the_address_and_each_key_is_no_request(self):
        self.browser.js("""window.sent = 0;
            new PerformanceObserver((list) => { for (const one of list.getEntries()) if (one.name.includes('/v1/fetches')) window.sent += 1; })
              .observe({ type: 'resource' });""")
        self.ask("favourites 2023")
        self.finds([self.ids[3], self.ids[4]], "the favourites")
        self.assertEqual(self.browser.js("return location.hash"), "#/search?q=favourites+2023")
        self.assertLess(self.browser.js("return window.sent"), 12)
        self.browser.driver.refresh()
        self.finds([self.ids[3], self.ids[4]], "the favourites, after loading anew")
        self.assertEqual(self.chips(), ["Favourites", "2023"])
        self.browser.js("location.hash = arguments[0]", "#/search?q=" + quote("light"))
        self.finds([self.ids[1]], "what another address asks")


if __name__ == "__main__":
    unittest.main()
