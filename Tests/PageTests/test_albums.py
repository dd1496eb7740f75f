"""Albums, folders, smart albums, the trash and hidden photos: created, changed, ordered and undone as people do it."""

import types
import unittest

from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from gallery import SERVER_GONE, PageTest, wait


class CollectionTest(PageTest):
    """Steps that the tests of this file share; each test begins signed in, at the top level, with albums of its own."""

    def setUp(self):
        self.clear()
        self.browser.sign_in(self.gallery, path="/#/albums")

    def clear(self):
        """Brings the library back to its photos: shown, in no album, not in the trash."""
        changes = []
        for one in self.collections():
            field = {"album": "albums", "smartAlbum": "smartAlbums", "folder": "folders"}[one["kind"]]
            changes.append({"op": f"{one['kind']}.delete", field: [one["localIdentifier"]]})
        trashed = [one["localIdentifier"] for one in self.gallery.assets("--trash", "--hidden")]
        if trashed:
            changes.append({"op": "asset.restore", "assets": trashed})
        ids = [one["localIdentifier"] for one in self.gallery.assets("--hidden")] + trashed
        changes.append({"op": "asset.edit", "assets": ids, "isHidden": False, "isFavorite": False})
        self.gallery.commit(*changes)

    def collections(self, folder=None):
        query = f"?folder={folder.split('/')[0]}" if folder else ""
        return self.gallery.ask("GET", "/v1/collections" + query).json.get("collections", [])

    def titles(self, folder=None):
        return [one["localizedTitle"] for one in self.collections(folder)]

    def make_album(self, title, assets=()):
        """An album of the library, made by another client than the page."""
        receipt = self.gallery.commit({"op": "album.create", "title": title, "as": "$a"},
                                      {"op": "album.add", "album": "$a", "assets": list(assets)})
        return receipt["created"][0]

    def members(self, album):
        return [one["localIdentifier"] for one in self.gallery.assets("--album", album)]

    def newest(self):
        return [one["localIdentifier"] for one in self.gallery.assets("--sort", "creationDate:desc")]

    def go(self, address):
        self.browser.js("location.hash = arguments[0]", address)

    def shown(self):
        """The identifiers of the tiles on the screen, in their order."""
        return self.browser.js("""return [...document.querySelectorAll('.tile[data-id]')].filter((tile) => !tile.hidden)
            .sort((one, other) => one.dataset.index - other.dataset.index).map((tile) => tile.dataset.id)""")

    def cards(self):
        return self.browser.js("""return [...document.querySelectorAll('.collections > div > .cards .card-title')]
            .map((title) => title.textContent)""")

    def says(self, text, selector="body"):
        """Waits for a text, also while the elements around it are made anew."""
        wait(lambda: self.browser.js("""return [...document.querySelectorAll(arguments[1])]
            .some((element) => element.checkVisibility() && element.innerText.includes(arguments[0]))""", text, selector),
             f"'{text}' in {selector}")

    def card(self, title):
        return wait(lambda: self.browser.js("""return [...document.querySelectorAll('.cards .card')]
            .find((card) => !card.hidden && card.querySelector('.card-title').textContent === arguments[0])""", title), f"the card '{title}'")

    def choose(self, title, choice):
        """Chooses from the menu of a card."""
        self.card(title).find_element(By.CSS_SELECTOR, ".card-menu").click()
        self.browser.click(f'dialog [data-choice="{choice}"]')

    def fill(self, selector, text):
        field = self.browser.one(selector)
        field.clear()
        field.send_keys(text)
        return field

    def undo(self, said):
        """Undoes what a notice says."""
        def button():
            for notice in self.browser.all(".notice"):
                if said in notice.text:
                    return notice.find_element(By.CSS_SELECTOR, ".notice-action")
            return None
        wait(button, f"the notice '{said}'").click()

    def select(self, *ids):
        """Selects tiles by their marks."""
        for one in ids:
            # In one turn of the page, in which no tile moves.
            wait(lambda: self.browser.js("""
                const tile = document.querySelector(`.tile[data-id="${arguments[0]}"]`);
                if (!tile) return false;
                const { left, top } = tile.getBoundingClientRect();
                for (const kind of ['pointerdown', 'pointerup']) {
                  tile.dispatchEvent(new PointerEvent(kind, { bubbles: true, clientX: left + 14, clientY: top + 14,
                    pointerId: 1, pointerType: 'mouse', button: 0 }));
                }
                return true;""", one), f"the mark of {one} is pressed")
            selected = "return document.querySelector(`.tile[data-id=\"${arguments[0]}\"]`)?.ariaSelected === 'true'"
            wait(lambda: self.browser.js(selected, one), f"{one} is selected")


class AlbumTests(CollectionTest):
    def test_an_album_is_created_renamed_deleted_and_each_is_taken_back(self):
        self.says("No albums yet")
        self.browser.click('[data-new="album"]')
        self.fill("dialog input", "Sea").send_keys(Keys.ENTER)
        wait(lambda: self.cards() == ["Sea"], "the card is there")
        self.assertEqual(self.titles(), ["Sea"])
        self.undo("Created")
        wait(lambda: self.titles() == [] and self.cards() == [], "the album is gone")

        self.make_album("Coast")
        wait(lambda: self.cards() == ["Coast"], "what another client made is shown")
        self.choose("Coast", "rename")
        self.fill("dialog input", "The coast").send_keys(Keys.ENTER)
        self.card("The coast")
        self.assertEqual(self.titles(), ["The coast"])
        self.undo("Renamed")
        self.card("Coast")

        self.choose("Coast", "delete")
        self.browser.click("dialog .grave")
        wait(lambda: self.titles() == [] and self.cards() == [], "the album is deleted")
        self.undo("Deleted")
        self.card("Coast")
        self.assertEqual(self.titles(), ["Coast"])

    def test_folders_hold_albums_by_menu_and_by_drag(self):
        album = self.make_album("Rome", self.newest()[:2])
        self.browser.click('[data-new="folder"]')
        self.fill("dialog input", "Italy").send_keys(Keys.ENTER)
        self.card("Italy")
        folder = next(one for one in self.collections() if one["kind"] == "folder")["localIdentifier"]
        self.choose("Rome", "into")
        wait(lambda: next((one for one in self.browser.all("dialog .choices button") if one.text == "Italy"), None),
             "the folder is offered").click()
        wait(lambda: self.cards() == ["Italy"], "the album left the top level")
        self.assertEqual(self.titles(folder), ["Rome"])
        self.undo("Moved")
        wait(lambda: sorted(self.cards()) == ["Italy", "Rome"], "it is back")

        ActionChains(self.browser.driver).drag_and_drop(self.card("Rome"), self.card("Italy")).perform()
        wait(lambda: self.titles(folder) == ["Rome"], "it was dropped into the folder")
        wait(lambda: self.cards() == ["Italy"], "the card left")
        self.card("Italy").find_element(By.CSS_SELECTOR, ".card-link").click()
        wait(lambda: self.browser.text("h1") == "Italy" and self.cards() == ["Rome"], "the folder shows the album")
        self.browser.click('[data-new="album"]')
        self.fill("dialog input", "Naples").send_keys(Keys.ENTER)
        wait(lambda: self.titles(folder) == ["Rome", "Naples"], "a new album is made where one is")
        self.card("Rome").find_element(By.CSS_SELECTOR, ".card-link").click()
        self.says("2 photos", ".count")
        self.assertEqual(self.browser.text(".back"), "Italy")

        self.go("#/albums")
        self.choose("Italy", "delete")
        self.browser.click("dialog .grave")
        wait(lambda: self.titles() == [], "the folder went with what was in it")
        self.undo("Deleted")
        wait(lambda: self.titles(folder) == ["Rome", "Naples"], "all of it is back")
        self.assertEqual(len(self.members(album)), 2)

    def test_the_order_of_albums_changes_by_drag_by_keys_and_by_menu(self):
        for title in ["One", "Two", "Three"]:
            self.make_album(title)
        wait(lambda: self.cards() == ["One", "Two", "Three"], "three cards")
        target = self.card("One")
        (ActionChains(self.browser.driver).click_and_hold(self.card("Three"))
         .move_to_element_with_offset(target, int(-target.rect["width"] / 2) + 10, 0).release().perform())
        wait(lambda: self.titles() == ["Three", "One", "Two"], "dropped before the first")
        wait(lambda: self.cards() == ["Three", "One", "Two"], "the cards follow")
        link = self.card("Three").find_element(By.CSS_SELECTOR, ".card-link")
        self.browser.js("arguments[0].focus()", link)
        ActionChains(self.browser.driver).key_down(Keys.ALT).send_keys(Keys.ARROW_RIGHT).key_up(Keys.ALT).perform()
        wait(lambda: self.titles() == ["One", "Three", "Two"], "one place on by keys")
        wait(lambda: self.cards() == ["One", "Three", "Two"], "the cards follow")
        self.assertEqual(self.browser.js("return document.activeElement.textContent.includes('Three')"), True)
        self.choose("One", "last")
        wait(lambda: self.titles() == ["Three", "Two", "One"], "to the end by the menu")

    def test_two_tabs_follow_albums_by_the_feed_and_ask_for_no_list_when_photos_are_added(self):
        album = self.make_album("Trip", self.newest()[:2])
        self.card("Trip")
        driver = self.browser.driver
        tabs = [driver.current_window_handle]
        driver.switch_to.new_window("tab")
        tabs.append(driver.current_window_handle)
        self.addCleanup(driver.switch_to.window, tabs[0])
        self.addCleanup(driver.close)
        self.addCleanup(driver.switch_to.window, tabs[1])
        driver.get(self.gallery.address + "/#/albums")
        self.card("Trip")
        asked = "return performance.getEntriesByType('resource').filter((one) => one.name.includes('/v1/collections')).length"
        before = []
        for tab in tabs:
            driver.switch_to.window(tab)
            before.append(self.browser.js(asked))
        self.gallery.commit({"op": "album.add", "album": album, "assets": self.newest()[2:5]})
        for tab, count in zip(tabs, before):
            driver.switch_to.window(tab)
            wait(lambda: "5 photos" in self.card("Trip").text, "the count of now")
            self.assertEqual(self.browser.js(asked), count, "the message itself said the count")
        # What changes the order of the top level, or goes into a folder, arrives too.
        self.gallery.commit({"op": "folder.create", "title": "Box", "as": "$f"}, {"op": "album.create", "title": "Late", "as": "$l"},
                            {"op": "folder.add", "folder": "$f", "collections": [album]})
        for tab in tabs:
            driver.switch_to.window(tab)
            wait(lambda: self.cards() == ["Box", "Late"], "the list of now")
            wait(lambda: "1 " in self.card("Box").text, "what the folder holds")
        self.gallery.commit({"op": "folder.moveAt", "folder": None, "indexes": [0], "to": 1})
        for tab in tabs:
            driver.switch_to.window(tab)
            wait(lambda: self.cards() == ["Late", "Box"], "the other order")

    def test_a_smart_album_shows_what_its_predicate_finds_and_says_what_is_wrong_with_it(self):
        favorite = self.newest()[3]
        self.gallery.commit({"op": "asset.edit", "assets": [favorite], "isFavorite": True})
        self.browser.click('[data-new="smartAlbum"]')
        self.fill(".smart-album input[type=text]", "Best")
        self.fill(".smart-album textarea", "colour == 1")
        self.browser.click(".smart-album button[type=submit]")
        self.says("Unknown key 'colour'", ".smart-album .problem")
        self.assertEqual(self.browser.one(".smart-album textarea").get_attribute("aria-invalid"), "true")
        self.assertEqual(self.titles(), [])
        self.fill(".smart-album textarea", "isFavorite == YES")
        self.browser.click(".smart-album button[type=submit]")
        self.card("Best").find_element(By.CSS_SELECTOR, ".card-link").click()
        wait(lambda: self.shown() == [favorite], "the favourite is in it")
        self.says("isFavorite == TRUE", ".predicate")
        self.browser.click('[data-tool="menu"]')
        self.browser.click('dialog [data-choice="rename"]')
        self.fill("dialog input", "The best").send_keys(Keys.ENTER)
        wait(lambda: self.browser.text("h1") == "The best" and self.titles() == ["The best"], "renamed")
        self.browser.click('[data-tool="menu"]')
        self.browser.click('dialog [data-choice="delete"]')
        self.browser.click("dialog .grave")
        wait(lambda: self.titles() == [] and self.cards() == [], "deleted, and back at the albums")
        self.undo("Deleted")
        wait(lambda: self.titles() == ["The best"], "it is back")

    def test_a_smart_album_whose_folder_is_gone_says_so_in_its_dialog(self):
        folder = self.gallery.commit({"op": "folder.create", "title": "Italy", "as": "$f"})["created"][0]
        self.card("Italy").find_element(By.CSS_SELECTOR, ".card-link").click()
        wait(lambda: self.browser.text("h1") == "Italy", "the folder is shown")
        self.browser.click('[data-new="smartAlbum"]')
        self.fill(".smart-album input[type=text]", "Best")
        self.gallery.commit({"op": "folder.delete", "folders": [folder]})
        self.browser.click(".smart-album button[type=submit]")
        wait(lambda: self.browser.one(".smart-album .problem").text, "the dialog says why")
        self.assertIsNone(self.browser.one(".smart-album textarea").get_attribute("aria-invalid"))
        self.assertEqual(self.browser.all(".notice"), [])
        self.assertEqual(self.titles(), [])

    expected_errors = ("/v1/fetches", "/v1/sessions", ("/v1/blocks", "409"), ("/v1/blocks", "404"))

    def test_media_types_have_counts_and_those_without_photos_are_not_shown(self):
        self.gallery.commit({"op": "asset.edit", "assets": self.newest()[:3], "isFavorite": True})
        card = self.card("Favourites")
        wait(lambda: "3 photos" in card.text, "the count of favourites")
        # A cover is the picture itself, also where it was made after the page was opened.
        wait(lambda: self.browser.js("return arguments[0].querySelector('.cover img')?.naturalWidth > 0", card), "the cover")
        self.assertFalse(self.browser.one(".media-types").find_element(By.CSS_SELECTOR, '[data-smart="smartAlbumVideos"]').is_displayed())
        card.find_element(By.CSS_SELECTOR, ".card-link").click()
        wait(lambda: self.shown() == self.newest()[:3], "the favourites, newest first")

    def test_a_selection_goes_into_an_album_that_is_there_and_into_a_new_one(self):
        album = self.make_album("Trip")
        newest = self.newest()
        self.go("#/photos")
        self.select(newest[0], newest[2])
        self.browser.click('[data-action="album"]')
        self.browser.one("dialog input").send_keys("tri")
        wait(lambda: [one.text for one in self.browser.all("dialog [role=option]")] == ["Trip", "New album “tri”"], "the list is narrowed")
        ActionChains(self.browser.driver).send_keys(Keys.ARROW_DOWN).send_keys(Keys.ARROW_UP).send_keys(Keys.ENTER).perform()
        wait(lambda: self.members(album) == [newest[0], newest[2]], "both are in the album")
        self.undo("added to “Trip”")
        wait(lambda: self.members(album) == [], "neither is")

        self.select(newest[1])
        self.browser.click('[data-action="album"]')
        self.browser.one("dialog input").send_keys("Walk", Keys.ENTER)
        wait(lambda: self.titles() == ["Trip", "Walk"], "a new album")
        walk = self.collections()[1]["localIdentifier"]
        self.assertEqual(self.members(walk), [newest[1]])
        self.go("#/albums/" + walk.split("/")[0])
        self.says("1 photo", ".count")
        self.select(newest[1])
        self.browser.click('[data-action="removeFromAlbum"]')
        wait(lambda: self.members(walk) == [], "it left the album")
        self.assertIn(newest[1], self.newest())
        self.says("Go to the timeline", ".empty")

    def test_photos_of_an_album_are_ordered_by_drag_and_by_keys_as_the_library_then_has_them(self):
        ids = self.newest()[:6]
        album = self.make_album("Order", ids)
        self.go("#/albums/" + album.split("/")[0])
        wait(lambda: self.shown() == ids, "the album's own order")
        # The fifth and the second, selected, are dragged before the first.
        self.select(ids[1], ids[4])
        first = self.browser.one(f'.tile[data-id="{ids[0]}"]')
        (ActionChains(self.browser.driver).click_and_hold(self.browser.one(f'.tile[data-id="{ids[4]}"]'))
         .move_to_element_with_offset(first, int(-first.rect["width"] / 2) + 6, 0).release().perform())
        wanted = [ids[1], ids[4], ids[0], ids[2], ids[3], ids[5]]
        wait(lambda: self.members(album) == wanted, "the library has the new order")
        wait(lambda: self.shown() == wanted, "the grid follows")
        ActionChains(self.browser.driver).send_keys(Keys.ESCAPE).perform()

        self.browser.js("document.querySelector('.grid-scroll').focus()")
        ActionChains(self.browser.driver).send_keys(Keys.HOME).perform()
        for place in (1, 2):
            ActionChains(self.browser.driver).key_down(Keys.ALT).send_keys(Keys.ARROW_RIGHT).key_up(Keys.ALT).perform()
            wait(lambda: self.shown().index(ids[1]) == place, f"the first is at place {place}")
        wanted = [ids[4], ids[0], ids[1], ids[2], ids[3], ids[5]]
        self.assertEqual(self.members(album), wanted)
        ActionChains(self.browser.driver).key_down(Keys.ALT).send_keys(Keys.ARROW_LEFT).key_up(Keys.ALT).perform()
        wanted = [ids[4], ids[1], ids[0], ids[2], ids[3], ids[5]]
        wait(lambda: self.shown() == wanted and self.members(album) == wanted, "and one place back")
        self.assertEqual(self.browser.js("return location.hash"), "#/albums/" + album.split("/")[0])

    def test_a_drag_moves_its_photo_though_others_come_before_it_is_dropped(self):
        ids = self.newest()
        album = self.make_album("Order", ids[:6])
        self.go("#/albums/" + album.split("/")[0])
        wait(lambda: self.shown() == ids[:6], "the album's own order")
        first = self.browser.one(f'.tile[data-id="{ids[1]}"]')
        (ActionChains(self.browser.driver).click_and_hold(self.browser.one(f'.tile[data-id="{ids[4]}"]'))
         .move_to_element_with_offset(first, int(-first.rect["width"] / 2) + 6, 0).perform())
        wait(lambda: self.browser.all(".grid.dragging"), "the drag")
        self.gallery.commit({"op": "album.insert", "album": album, "assets": [ids[7], ids[8]], "index": 0})
        wait(lambda: self.shown() == [ids[7], ids[8], *ids[:6]], "two came before it")
        ActionChains(self.browser.driver).release().perform()
        wanted = [ids[7], ids[8], ids[0], ids[4], ids[1], ids[2], ids[3], ids[5]]
        wait(lambda: self.members(album) == wanted, lambda: f"{[ids.index(one) for one in self.members(album)]}")
        # What is dragged leaves the album: nothing is moved.
        self.browser.one(f'.tile[data-id="{ids[4]}"]')
        wait(lambda: self.shown() == wanted, "the grid follows")
        (ActionChains(self.browser.driver).click_and_hold(self.browser.one(f'.tile[data-id="{ids[5]}"]'))
         .move_to_element(self.browser.one(f'.tile[data-id="{ids[7]}"]')).perform())
        self.gallery.commit({"op": "album.remove", "album": album, "assets": [ids[5]]})
        wait(lambda: self.shown() == wanted[:-1], "it left")
        self.assertEqual(self.browser.all(".grid.dragging"), [])
        ActionChains(self.browser.driver).release().perform()
        self.assertEqual(self.members(album), wanted[:-1])

    def hold_blocks(self):
        """Holds each block that the page sends from now on, until `let_go`, so that a commit can come exactly before it."""
        self.browser.driver.execute_async_script("""
            const done = arguments[0];
            import(document.querySelector('script[type=module]').src).then(({ app: { client } }) => {
              const { send } = client;
              window.held = [];
              client.send = (url, options) => options.method !== 'POST' || url.pathname !== '/v1/blocks' ? send(url, options)
                : new Promise((resolve) => window.held.push(() => resolve(send(url, options))));
            }).then(done);""")

    def meanwhile(self, *changes):
        """Commits changes between the page's look at the order and its own commit."""
        wait(lambda: self.browser.js("return window.held.length === 1"), "the page's own commit")
        self.gallery.commit(*changes)
        self.browser.js("window.held.shift()()")

    def drag_before(self, moved, target):
        tile = self.browser.one(f'.tile[data-id="{target}"]')
        (ActionChains(self.browser.driver).click_and_hold(self.browser.one(f'.tile[data-id="{moved}"]'))
         .move_to_element_with_offset(tile, int(-tile.rect["width"] / 2) + 6, 0).release().perform())

    def test_a_move_is_counted_anew_where_commits_come_between_the_look_and_its_own(self):
        ids = self.newest()
        album = self.make_album("Order", ids[:6])
        self.go("#/albums/" + album.split("/")[0])
        wait(lambda: self.shown() == ids[:6], "the album's own order")
        self.hold_blocks()
        self.drag_before(ids[4], ids[1])
        self.meanwhile({"op": "album.insert", "album": album, "assets": [ids[7], ids[8]], "index": 0})
        self.meanwhile({"op": "album.remove", "album": album, "assets": [ids[0]]})
        self.meanwhile({"op": "asset.edit", "assets": [ids[9]], "isFavorite": True})
        wanted = [ids[7], ids[8], ids[4], ids[1], ids[2], ids[3], ids[5]]
        wait(lambda: self.members(album) == wanted, lambda: f"{[ids.index(one) for one in self.members(album)]}")
        wait(lambda: self.shown() == wanted, "the grid follows")
        self.undo("Moved 1 photo")
        wait(lambda: self.members(album) == [ids[7], ids[8], *ids[1:6]], "the move alone is undone")

    def test_a_move_whose_place_is_gone_moves_nothing_and_says_so(self):
        ids = self.newest()
        album = self.make_album("Order", ids[:6])
        self.go("#/albums/" + album.split("/")[0])
        wait(lambda: self.shown() == ids[:6], "the album's own order")
        self.hold_blocks()
        self.drag_before(ids[4], ids[1])
        self.meanwhile({"op": "album.remove", "album": album, "assets": [ids[1]]})
        self.says("The order was changed in the meantime", ".notice.error")
        left = [ids[0], *ids[2:6]]
        self.assertEqual(self.members(album), left)
        # Others are always faster: it is tried four times, and each time nothing is moved.
        wait(lambda: self.shown() == left, "the grid follows")
        self.browser.js("document.querySelectorAll('.notice').forEach((notice) => notice.remove())")
        self.drag_before(ids[5], ids[2])
        for place in range(6, 10):
            self.meanwhile({"op": "album.insert", "album": album, "assets": [ids[place]], "index": 0})
        self.says("The order was changed in the meantime", ".notice.error")
        self.assertEqual(self.browser.js("return window.held.length"), 0)
        self.assertEqual(self.members(album), [*reversed(ids[6:10]), *left])

    def test_a_move_of_an_album_is_counted_anew_too(self):
        for title in ["One", "Two", "Three"]:
            self.make_album(title)
        wait(lambda: self.cards() == ["One", "Two", "Three"], "three cards")
        self.hold_blocks()
        target = self.card("One")
        (ActionChains(self.browser.driver).click_and_hold(self.card("Three"))
         .move_to_element_with_offset(target, int(-target.rect["width"] / 2) + 10, 0).release().perform())
        self.meanwhile({"op": "folder.moveAt", "folder": None, "indexes": [1], "to": 0})
        self.meanwhile({"op": "album.create", "title": "Four"})
        wait(lambda: self.titles() == ["Two", "Three", "One", "Four"], lambda: str(self.titles()))

    def test_a_photo_of_the_album_becomes_its_cover_and_each_choice_is_taken_back(self):
        ids = self.newest()[:3]
        album = self.make_album("Walk", ids)
        chosen = lambda: self.collections()[0]["cover"]
        shown = lambda: self.card("Walk").find_element(By.CSS_SELECTOR, ".cover").get_attribute("data-photo")
        wait(lambda: shown() == ids[0], "the first stands for it")
        self.go("#/albums/" + album.split("/")[0])
        wait(lambda: self.shown() == ids, "the album")
        self.select(ids[1], ids[2])
        self.browser.click('[data-action="cover"]')
        self.says("Select only one photo", ".notice")
        self.assertIsNone(chosen())
        self.browser.click(".selection-bar .icon-button")
        self.select(ids[2])
        self.browser.click('[data-action="cover"]')
        wait(lambda: chosen() == ids[2], "the third is its cover")
        self.undo("Album cover changed")
        wait(lambda: chosen() is None, "none is")
        self.select(ids[1])
        self.browser.click('[data-action="cover"]')
        wait(lambda: chosen() == ids[1], "the second is")
        self.go("#/albums")
        wait(lambda: shown() == ids[1], "the card shows it")
        wait(lambda: "3 photos" in self.card("Walk").text, "and the count of the album")
        # Chosen elsewhere, it arrives; what leaves the album is its cover no more.
        self.gallery.commit({"op": "album.cover", "album": album, "asset": ids[2]})
        wait(lambda: shown() == ids[2], "the other")
        self.gallery.commit({"op": "album.remove", "album": album, "assets": [ids[2]]})
        wait(lambda: shown() == ids[0] and chosen() is None, "the first again")
        self.gallery.commit({"op": "album.cover", "album": album, "asset": ids[1]})
        wait(lambda: shown() == ids[1], "the second again")
        self.choose("Walk", "uncover")
        wait(lambda: shown() == ids[0] and chosen() is None, "undone by the menu")
        self.go("#/history")
        self.says("Reset the cover of “Walk”", ".sentences")
        self.says("Set the cover of “Walk”", ".sentences")

    def test_going_back_dismisses_a_dialog(self):
        self.go("#/photos")
        self.says("photos", ".count")
        self.go("#/albums")
        self.browser.click('.view-head [data-new="album"]')
        self.browser.one("dialog.dialog")
        self.browser.driver.back()
        self.says("photos", ".count")
        wait(lambda: not self.browser.all("dialog"), "the dialog is gone with its view")

    def test_who_added_what(self):
        ids = self.newest()
        album = self.make_album("Ours", ids[:1])
        self.gallery.run("client", "authorize", "cousin", "--library", str(self.gallery.library))
        self.gallery.run("album", "add", album, ids[1], "--as", "cousin", "--library", str(self.gallery.library))
        self.gallery.commit({"op": "album.remove", "album": album, "assets": [ids[0]]})
        self.choose("Ours", "blame")
        wait(lambda: len(self.browser.all(".blame tbody tr")) == 1, "the one that is there")
        self.assertIn("cousin", self.browser.text(".blame tbody"))
        self.browser.click("dialog .check input")
        wait(lambda: len(self.browser.all(".blame tbody tr")) == 2, "also the one that was taken out")
        self.says("removed", ".blame .former")

    def test_titles_are_text_whatever_they_hold(self):
        hostile = '<img src=x onerror="window.pwned=1"><script>window.pwned=1</script>'
        album = self.make_album(hostile, self.newest()[:1])
        self.make_album("\u202eevil " + "very long " * 60)
        self.make_album("")
        self.card(hostile)
        self.card("Untitled")
        self.choose(hostile, "delete")
        self.says("<img src=x", "dialog h2")
        self.browser.one("dialog .dialog-actions button").click()
        self.go("#/albums/" + album.split("/")[0])
        wait(lambda: self.browser.text("h1") == hostile, "the title as it is")
        self.go("#/photos")
        self.says("12 photos", ".count")
        self.select(self.newest()[0])
        self.browser.click('[data-action="album"]')
        self.says("<img src=x", "dialog [role=option]")
        ActionChains(self.browser.driver).send_keys(Keys.ESCAPE).perform()
        self.assertIsNone(self.browser.js("return window.pwned ?? null"))
        self.assertLessEqual(self.browser.js("return document.documentElement.scrollWidth"), 1280)

    def test_an_album_that_is_deleted_elsewhere_says_so(self):
        album = self.make_album("Gone", self.newest()[:1])
        self.go("#/albums/" + album.split("/")[0])
        self.says("1 photo", ".count")
        deleted = self.gallery.commit({"op": "album.delete", "albums": [album]})
        self.says("no longer exists", ".empty")
        self.assertEqual(self.gallery.ask("POST", "/v1/undo", {"commit": deleted["token"]}).status, 200)
        self.says("1 photo", ".count")
        wait(lambda: self.shown() == self.members(album), "its photo is shown again")

    def test_a_folder_that_is_deleted_and_restored_elsewhere_shows_its_albums_again(self):
        made = self.gallery.commit({"op": "folder.create", "title": "Italy", "as": "$f"},
                                   {"op": "album.create", "title": "Rome", "as": "$a"},
                                   {"op": "folder.add", "folder": "$f", "collections": ["$a"]})
        self.go("#/albums/" + made["created"][0].split("/")[0])
        wait(lambda: self.cards() == ["Rome"], "the folder shows the album")
        deleted = self.gallery.commit({"op": "folder.delete", "folders": [made["created"][0]]})
        self.says("no longer exists", ".empty")
        self.assertEqual(self.gallery.ask("POST", "/v1/undo", {"commit": deleted["token"]}).status, 200)
        wait(lambda: self.cards() == ["Rome"], "the album is shown again")
        self.assertNotIn("no longer exists", self.browser.text("main"))

    # Back

    def standing(self):
        """The first photo below the upper edge of the grid, and how far from it; None while there is none."""
        return self.browser.js("""const scroll = document.querySelector('.grid-scroll');
            const edge = scroll?.getBoundingClientRect().top;
            return [...scroll?.querySelectorAll('.tile[data-id]') ?? []].filter((tile) => !tile.hidden)
              .map((tile) => ({ id: tile.dataset.id, box: tile.getBoundingClientRect() }))
              .map(({ id, box }) => [id, Math.round(box.top - edge), Math.round(box.left)])
              .filter(([, top]) => top >= 0)
              .sort((one, other) => one[1] - other[1] || one[2] - other[2])[0] ?? null""")

    def test_back_returns_to_the_same_photos_of_the_timeline_and_of_an_album(self):
        album = self.make_album("Sea", self.newest())
        # Large pictures, so that twelve are more than a screen.
        self.browser.js("localStorage.setItem('photoledger.level', '0')")
        self.addCleanup(self.browser.js, "localStorage.removeItem('photoledger.level')")
        for address in ["#/photos", "#/albums/" + album.split("/")[0]]:
            self.go(address)
            top = wait(self.standing, f"the photos of {address}")
            # The grid hears of the scrolling before the next frame but one.
            self.browser.js("""document.querySelector('.grid-scroll').scrollTop = 700;
                return new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(() => drawn(true))))""")
            place = self.standing()
            self.assertNotEqual(place[0], top[0])
            self.go("#/trash")
            self.says("Trash", "h1")
            self.browser.js("history.back()")

            def is_back():
                now = self.standing()
                return now and now[0] == place[0] and abs(now[1] - place[1]) <= 1
            wait(is_back, lambda: f"{place} of {address} on the screen, but {self.standing()}")
            self.go("#/trash")
            self.says("Trash", "h1")
            self.go(address)
            wait(lambda: self.standing() == top, lambda: f"{top} of {address}, as a link leads to it")

    def test_back_returns_to_the_same_row_of_albums_and_of_kinds_of_media(self):
        self.gallery.commit(*[{"op": "album.create", "title": f"Album {number}", "as": f"$a{number}"}
                              for number in range(30)])
        wait(lambda: len(self.cards()) == 30, "thirty cards")
        self.browser.one('[data-smart="smartAlbumRecentlyAdded"]')
        for element in ['.cards .card:nth-child(20)', '[data-smart="smartAlbumRecentlyAdded"]']:
            place = self.browser.js("""const card = document.querySelector(arguments[0]);
                card.scrollIntoView();
                card.querySelector('.card-link').click();
                return document.querySelector('main').scrollTop""", element)
            self.assertGreater(place, 100)
            self.browser.one(".with-grid")
            self.browser.js("history.back()")
            wait(lambda: len(self.cards()) == 30 and self.browser.js(
                "return document.querySelector('main').scrollTop") == place, lambda: f"{element} on the screen")
        self.go("#/trash")
        self.says("Trash", "h1")
        self.go("#/albums")
        wait(lambda: len(self.cards()) == 30, "the cards again")
        top = self.browser.js("return document.querySelector('main').scrollTop")
        self.assertEqual(top, 0, "a link leads to the top")

    # Trash

    def test_restoring_gives_back_the_album_and_the_place_in_it(self):
        ids = self.newest()[:4]
        album = self.make_album("Kept", ids)
        self.gallery.commit({"op": "asset.trash", "assets": [ids[1], ids[2]]})
        self.assertEqual(self.members(album), [ids[0], ids[3]])
        self.go("#/trash")
        wait(lambda: sorted(self.shown()) == sorted([ids[1], ids[2]]), "the trash shows both")
        self.select(ids[1])
        self.browser.click('[data-action="restore"]')
        wait(lambda: self.members(album) == [ids[0], ids[1], ids[3]], "its place in the album")
        wait(lambda: self.shown() == [ids[2]], "it left the trash")

    # Hidden photos

    def test_hidden_photos_are_shown_after_a_password_and_are_locked_again(self):
        ids = self.newest()
        self.gallery.commit({"op": "asset.edit", "assets": [ids[0]], "isHidden": True})
        people = self.gallery.ask("GET", "/v1/people").json["people"]
        if not people:
            made = self.gallery.ask("POST", "/v1/people", {"name": "ada", "client": "owner", "password": "correct horse"})
            self.assertEqual(made.status, 201, made.body)
        keys = len(self.gallery.ask("GET", "/v1/keys").json["keys"])
        self.go("#/hidden")
        self.says("Sign in again to see hidden photos", ".lock")
        self.assertEqual(self.shown(), [])
        self.browser.one(".lock input[type=password]").send_keys("wrong", Keys.ENTER)
        self.says("password is wrong", ".lock .problem")
        self.browser.one(".lock input[type=password]").send_keys("correct horse", Keys.ENTER)
        wait(lambda: self.shown() == [ids[0]], "the hidden photo")
        self.assertEqual(len(self.gallery.ask("GET", "/v1/keys").json["keys"]), keys, "the key of the proof is given back")

        # Time passes without input.
        self.browser.js("const real = Date.now; Date.now = () => real() + 301_000;")
        self.says("Sign in again to see hidden photos", ".lock")
        self.assertEqual(self.shown(), [])
        self.browser.one(".lock input[type=password]").send_keys("correct horse", Keys.ENTER)
        wait(lambda: self.shown() == [ids[0]], "the hidden photo again")
        # The tab is away for a minute.
        self.browser.js("""Object.defineProperty(document, 'hidden', { value: true, configurable: true });
            document.dispatchEvent(new Event('visibilitychange'));
            const real = Date.now; Date.now = () => real() + 61_000;""")
        self.says("Sign in again to see hidden photos", ".lock")
        self.browser.js("delete document.hidden; document.dispatchEvent(new Event('visibilitychange'))")
        self.browser.one(".lock input[type=password]").send_keys("correct horse", Keys.ENTER)
        self.select(ids[0])
        self.browser.click('[data-action="unhide"]')
        wait(lambda: not any(one["isHidden"] for one in self.gallery.assets("--hidden")), "shown again")
        self.says("No hidden photos", ".empty")
        # The session is still that of before.
        self.go("#/photos")
        self.says("12 photos", ".count")

    def test_the_place_of_hidden_photos_that_was_chosen_last_is_shown_though_another_answers_later(self):
        ids = self.newest()
        self.gallery.commit({"op": "asset.edit", "assets": [ids[0]], "isHidden": True})
        if not self.gallery.ask("GET", "/v1/people").json["people"]:
            self.gallery.ask("POST", "/v1/people", {"name": "ada", "client": "owner", "password": "correct horse"})
        made = self.browser.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": """
            const real = window.fetch;
            window.held = [];
            window.fetch = async (input, options) => {
              const answer = await real(input, options);
              if (/"trash":true/.test(String(options?.body ?? ''))) await new Promise((go) => held.push(go));
              return answer;
            };"""})
        self.addCleanup(self.browser.driver.execute_cdp_cmd, "Page.removeScriptToEvaluateOnNewDocument", made)
        self.browser.driver.get("about:blank")
        self.browser.sign_in(self.gallery, path="/#/hidden")
        self.browser.one(".lock input[type=password]").send_keys("correct horse", Keys.ENTER)
        wait(lambda: self.shown() == [ids[0]], "the hidden photo")
        self.browser.js("""const place = document.querySelector('.hidden-view select');
            for (const value of ['trash', 'library']) { place.value = value; place.dispatchEvent(new Event('change')); }""")
        wait(lambda: self.browser.js("return held.length === 1"), "the trash is asked for")
        wait(lambda: self.shown() == [ids[0]], "the library")
        self.browser.js("for (const go of held) go()")
        # A message of the feed comes after the answer that was held.
        self.gallery.commit({"op": "asset.edit", "assets": [ids[0]], "isFavorite": True})
        self.browser.one(f'.tile[data-id="{ids[0]}"] .badges')
        self.assertEqual((self.shown(), self.browser.js("return document.querySelector('.hidden-view select').value")),
                         ([ids[0]], "library"))

    def test_hidden_photos_in_the_trash_are_not_in_the_trash_of_everybody(self):
        ids = self.newest()
        self.gallery.commit({"op": "asset.edit", "assets": [ids[0]], "isHidden": True}, {"op": "asset.trash", "assets": ids[:2]})
        self.go("#/trash")
        wait(lambda: self.shown() == [ids[1]], "only the one that is not hidden")


class LastTests(CollectionTest):
    photos = 4
    expected_errors = SERVER_GONE

    def test_the_list_of_albums_goes_on_after_the_server_was_away(self):
        self.make_album("Before")
        self.card("Before")
        self.gallery.stop()
        self.says("cannot be reached", ".banner")
        self.gallery.command("album", "create", "Meanwhile")
        self.gallery.start()
        self.card("Meanwhile")
        wait(lambda: not self.browser.one(".stage").find_element(By.CSS_SELECTOR, ".banner").is_displayed(), "the banner is gone")

    def test_emptying_the_trash_asks_first_and_spares_what_is_not_in_it(self):
        ids = self.newest()
        self.gallery.commit({"op": "asset.trash", "assets": ids[:3]})
        self.go("#/trash")
        self.says("3 photos", ".count")
        self.browser.click('[data-tool="empty"]')
        self.says("cannot be undone", "dialog")
        self.browser.one("dialog .dialog-actions button:not(.grave)").click()
        wait(lambda: not self.browser.all("dialog"), "the question is gone")
        self.assertEqual(len(self.gallery.assets("--trash")), 3)
        # One is deleted by the bar, the others with the trash.
        self.select(ids[0])
        self.browser.click('[data-action="purge"]')
        self.browser.click("dialog .grave")
        wait(lambda: len(self.gallery.assets("--trash")) == 2, "one is gone")
        self.says("2 photos", ".count")
        self.browser.click('[data-tool="empty"]')
        self.browser.click("dialog .grave")
        wait(lambda: self.gallery.assets("--trash") == [], "the trash is empty")
        self.says("The trash is empty", ".empty")
        self.assertEqual(self.newest(), [ids[3]])


class LinkTests(CollectionTest):
    photos = 2
    expected_errors = ("/v1/sessions",)

    def setUp(self):
        """Opens no page: the test starts the server anew first."""

    def test_an_owner_without_a_password_shows_hidden_photos_by_a_new_link(self):
        one = self.newest()[0]
        self.gallery.commit({"op": "asset.edit", "assets": [one], "isHidden": True})
        self.gallery.stop()
        # The link of this start is left for the page; the key of before goes on being good.
        owner = self.gallery.owner
        self.gallery.ask = lambda *_, **__: types.SimpleNamespace(json={"secret": owner})
        self.gallery.start()
        del self.gallery.ask
        self.browser.sign_in(self.gallery, path="/#/hidden")
        self.says("no person who acts as the owner has a password", ".lock")
        self.fill(".lock input", "no such link")
        self.browser.click(".lock button")
        wait(lambda: self.browser.js("return document.querySelector('.lock .problem')?.textContent"), "the server's sentence")
        self.assertEqual(self.shown(), [])
        self.fill(".lock input", self.gallery.link)
        self.browser.click(".lock button")
        wait(lambda: self.shown() == [one], "the hidden photo")
        self.browser.click('[data-tool="lock"]')
        self.says("no person who acts as the owner has a password", ".lock")
        self.assertEqual(self.shown(), [])


if __name__ == "__main__":
    unittest.main()
