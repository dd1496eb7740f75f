"""Selecting photos as people do: by marks, ranges, dragging, keys and fingers, also a hundred thousand at once; and what is
done with a selection is done with exactly these.

PHOTOLEDGER_PAGE_SELECTION=100000 says how many photos the large library has; some thousands without it.
"""

import os
import unittest

from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

from gallery import Browser, Gallery, PageTest, wait
from scale import page, reach_the_last, settled
from test_scale import BLOCK, Invented

SIZE = int(os.environ.get("PHOTOLEDGER_PAGE_SELECTION", "3000"))


class SelectionTests(PageTest):
    photos = 24

    def setUp(self):
        self.browser.sign_in(self.gallery, path="/healthz")
        self.browser.driver.get(self.gallery.address + "/#/photos")
        self.ids = [one["localIdentifier"] for one in self.gallery.assets("--sort", "creationDate:desc")]
        self.browser.wait_text("24 photos", ".count")
        self.browser.one(".tile[data-id]")
        settled(self.browser)

    def tile(self, index):
        return self.browser.one(f'.tile[data-id="{self.ids[index]}"]')

    def selected(self):
        """The places of what is selected, as the page holds them."""
        return page(self.browser, "return [...grid.selection]")

    def at_mark(self, index, chain):
        box = self.tile(index).rect
        return chain.move_to_element_with_offset(self.tile(index), int(14 - box["width"] / 2), int(14 - box["height"] / 2))

    def test_a_mark_and_shift_select_a_range_and_shift_again_makes_it_another(self):
        self.at_mark(2, ActionChains(self.browser.driver)).click().perform()
        wait(lambda: self.selected() == [2], "one")
        ActionChains(self.browser.driver).key_down(Keys.SHIFT).click(self.tile(7)).key_up(Keys.SHIFT).perform()
        wait(lambda: self.selected() == list(range(2, 8)), "up to the other")
        ActionChains(self.browser.driver).key_down(Keys.SHIFT).click(self.tile(4)).key_up(Keys.SHIFT).perform()
        wait(lambda: self.selected() == [2, 3, 4], "narrower")
        # Beside it, one by one; a press takes one out again.
        self.tile(9).click()
        self.tile(3).click()
        wait(lambda: self.selected() == [2, 4, 9], "single ones")
        self.browser.wait_text("3 selected", ".selection-bar")
        marked = {one.get_attribute("data-id") for one in self.browser.all(".tile[aria-selected=true]")}
        self.assertEqual(marked, {self.ids[index] for index in (2, 4, 9)})
        ActionChains(self.browser.driver).send_keys(Keys.ESCAPE).perform()
        wait(lambda: self.selected() == [], "none")

    def test_dragging_from_a_mark_selects_what_lies_between_and_back_again(self):
        chain = self.at_mark(1, ActionChains(self.browser.driver)).click_and_hold()
        chain.move_to_element(self.tile(8)).perform()
        wait(lambda: self.selected() == list(range(1, 9)), "up to the pointer")
        ActionChains(self.browser.driver).move_to_element(self.tile(5)).release().perform()
        wait(lambda: self.selected() == list(range(1, 6)), "back again")
        # Dragged from a selected one, it takes out.
        self.at_mark(3, ActionChains(self.browser.driver)).click_and_hold().move_to_element(self.tile(4)).release().perform()
        wait(lambda: self.selected() == [1, 2, 5], "taken out")

    def test_the_keyboard_selects_ranges_and_everything(self):
        grid = self.browser.one(".grid-scroll")
        grid.send_keys(Keys.HOME)
        grid.send_keys(" ")
        grid.send_keys(Keys.SHIFT + Keys.ARROW_RIGHT * 3)
        wait(lambda: self.selected() == [0, 1, 2, 3], "a range")
        grid.send_keys(Keys.CONTROL + "a")
        wait(lambda: self.selected() == list(range(24)), "everything")
        self.browser.wait_text("24 selected", ".selection-bar")

    def phone(self, width, height):
        phone = Browser(width=width, height=height, scale=2, phone=True)
        self.addCleanup(phone.close)
        phone.sign_in(self.gallery)
        phone.one(".tile[data-id]")
        settled(phone)
        return phone

    def test_a_finger_that_rests_selects_and_the_next_presses_select_too(self):
        phone = self.phone(360, 740)

        def touch(kind, *points):
            phone.driver.execute_cdp_cmd("Input.dispatchTouchEvent", {
                "type": kind, "touchPoints": [{"x": x, "y": y} for x, y in points]})

        def middle(index):
            return phone.js("""const box = document.querySelector(`.tile[data-index="${arguments[0]}"]`).getBoundingClientRect();
                return [box.x + box.width / 2, box.y + box.height / 2]""", index)

        chosen = lambda: page(phone, "return [...grid.selection]")
        touch("touchStart", middle(0))
        wait(lambda: chosen() == [0], "the finger selects")
        touch("touchEnd")
        # The bar has come, and the photos moved.
        touch("touchStart", middle(1))
        touch("touchEnd")
        wait(lambda: chosen() == [0, 1], "the next press selects too")
        self.assertEqual(phone.all("dialog.viewer"), [])

    def test_the_bar_leaves_room_for_photos_on_a_phone_that_lies_on_its_side(self):
        phone = self.phone(568, 320)
        page(phone, "grid.selection.set(0, 1, true)")
        phone.wait_text("1 selected", ".selection-bar")
        height = "return document.querySelector(arguments[0]).getBoundingClientRect().height"
        self.assertLess(phone.js(height, ".selection-bar"), 72)
        self.assertGreater(phone.js(height, ".grid-scroll"), 80)

    def test_a_selection_stays_with_its_photos_while_others_come_and_go(self):
        for index in (3, 6, 10):
            self.at_mark(index, ActionChains(self.browser.driver)).click().perform()
        wait(lambda: self.selected() == [3, 6, 10], "three")
        gone = [self.ids[0], self.ids[4], self.ids[6]]
        self.gallery.commit({"op": "asset.trash", "assets": gone})
        wait(lambda: self.selected() == [2, 7], "the two that are there")
        self.browser.click('[data-action="favorite"]')
        wait(lambda: {one["localIdentifier"] for one in self.gallery.assets() if one["isFavorite"]} == {self.ids[3], self.ids[10]},
             "exactly these are favourites")
        self.gallery.commit({"op": "asset.restore", "assets": gone},
                            {"op": "asset.edit", "assets": self.ids, "isFavorite": False})
        self.browser.wait_text("24 photos", ".count")


    def test_a_press_acts_on_its_photo_though_others_leave_before_the_release(self):
        def mouse(kind, point):
            self.browser.driver.execute_cdp_cmd("Input.dispatchMouseEvent", {
                "type": kind, "x": point[0], "y": point[1], "button": "left", "buttons": 1, "clickCount": 1})

        def middle(index):
            box = self.browser.js("const { x, y, width, height } = arguments[0].getBoundingClientRect(); return [x, y, width, height]",
                                  self.tile(index))
            return box[0] + box[2] / 2, box[1] + box[3] / 2
        point = middle(5)
        mouse("mousePressed", point)
        token = self.gallery.commit({"op": "asset.trash", "assets": self.ids[:3]})["token"]
        wait(lambda: page(self.browser, "return list.token") == token, "the commit arrived")
        mouse("mouseReleased", point)
        viewer = self.browser.one("dialog.viewer[data-id]")
        self.assertEqual(viewer.get_attribute("data-id"), self.ids[5])
        ActionChains(self.browser.driver).send_keys(Keys.ESCAPE).perform()
        wait(lambda: not self.browser.all("dialog.viewer"), "the viewer is closed")
        # A press whose photo is gone does nothing.
        point = middle(6)
        mouse("mousePressed", point)
        token = self.gallery.commit({"op": "asset.trash", "assets": [self.ids[6]]})["token"]
        wait(lambda: page(self.browser, "return list.token") == token, "the commit arrived")
        mouse("mouseReleased", point)
        self.assertEqual(page(self.browser, "await frame(); return document.querySelectorAll('dialog.viewer').length"), 0)
        self.gallery.commit({"op": "asset.restore", "assets": [*self.ids[:3], self.ids[6]]})
        self.browser.wait_text("24 photos", ".count")

    def test_favourites_that_are_not_loaded_count_when_a_selection_is_made_favourite(self):
        self.gallery.commit({"op": "asset.edit", "assets": self.ids[:12], "isFavorite": True})
        self.browser.one(".grid-scroll").send_keys(Keys.CONTROL + "a")
        # As if the second half had never been scrolled to.
        page(self.browser, "for (let at = 12; at < 24; at += 1) list.blocks.madeCell(at).item = null; list.load = async () => {}; return null")
        self.browser.click('[data-action="favorite"]')
        wait(lambda: all(one["isFavorite"] for one in self.gallery.assets()), "all are favourites")
        self.gallery.commit({"op": "asset.edit", "assets": self.ids, "isFavorite": False})


    def test_what_was_done_is_said_by_elements_that_were_there_before(self):
        # A screen reader says what changes in an element that it knows, and not what comes with its element.
        regions = """return [...document.querySelectorAll('[role=status], [role=log], [aria-live=polite]')]
            .filter((one) => one.checkVisibility()).map((one) => one.innerText.trim()).filter((text) => text !== '')"""
        known = "window.known = [...document.querySelectorAll('[role=status], [role=log], [aria-live=polite]')].filter((one) => one.checkVisibility())"
        said = lambda: self.browser.js("return known.filter((one) => one.isConnected && one.checkVisibility()).map((one) => one.innerText)")
        self.browser.js(known)
        grid = self.browser.one(".grid-scroll")
        grid.send_keys(Keys.HOME)
        grid.send_keys(" ")
        wait(lambda: "1 selected" in said(), lambda: f"the selection is said; {said()}")
        grid.send_keys(Keys.SHIFT + Keys.ARROW_RIGHT)
        wait(lambda: "2 selected" in said(), lambda: f"the selection is said; {said()}")
        self.browser.click('[data-action="trash"]')
        wait(lambda: any("2 photos moved to the trash" in one and "Undo" in one for one in said()), lambda: f"the notice is said; {said()}")
        self.assertFalse(any("selected" in one for one in self.browser.js(regions)))
        self.browser.click(".notice-action")
        self.browser.wait_text("24 photos", ".count")

    def test_the_months_are_groups_of_the_listbox_that_hold_their_photos(self):
        tree = self.browser.driver.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
        nodes = {one["nodeId"]: one for one in tree}
        name = lambda one: one.get("name", {}).get("value", "")
        role = lambda one: one.get("role", {}).get("value")
        months = {}
        for node in tree:
            above = node
            while role(above) not in ("group", "listbox") and above.get("parentId"):
                above = nodes[above["parentId"]]
            if role(node) == "option" and name(node).startswith("Photo, "):
                months.setdefault((role(above), name(above)), []).append(name(node))
        [headings] = [self.browser.js("return [...document.querySelectorAll('.grid-heading')].map((one) => one.textContent)")]
        self.assertEqual(sorted(months), sorted(("group", one) for one in headings))
        for (_, month), photos in months.items():
            word = month.split(" ")[0][:3]
            self.assertEqual([one for one in photos if f" {word} " not in one], [], month)
        drawn = self.browser.js("return document.querySelectorAll('.tile[data-id]:not([hidden])').length")
        self.assertEqual(sum(len(one) for one in months.values()), drawn)
        self.assertGreater(len(months), 1)

    def test_a_drag_shows_where_it_goes_also_after_the_list_began_anew(self):
        self.assertTrue(page(self.browser, "await list.begin(); return grid.layer.contains(grid.dragging.line)"))


class LargeSelectionTests(unittest.TestCase):
    def test_a_range_over_everything_is_a_selection_of_everything_and_gets_what_is_done(self):
        gallery = Gallery(0, ["--on-request"])
        self.addCleanup(gallery.close)
        invented = Invented(gallery)
        self.addCleanup(invented.close)
        for first in range(0, SIZE, BLOCK):
            invented.add([1_000_000_000 + 60 * number for number in range(first, min(first + BLOCK, SIZE))])
        # The photos are invented, so none has a picture.
        browser = Browser(expected_errors=("/renditions/",))
        self.addCleanup(browser.close)
        browser.sign_in(gallery)
        browser.one(".tile[data-id]", 120)
        settled(browser)
        box = browser.one('.tile[data-index="0"]').rect
        ActionChains(browser.driver).move_to_element_with_offset(
            browser.one('.tile[data-index="0"]'), int(14 - box["width"] / 2), int(14 - box["height"] / 2)).click().perform()
        wait(lambda: page(browser, "return grid.selection.count") == 1, "the first")
        reach_the_last(browser)
        last = browser.one(f'.tile[data-index="{SIZE - 1}"]')
        ActionChains(browser.driver).key_down(Keys.SHIFT).click(last).key_up(Keys.SHIFT).perform()
        wait(lambda: page(browser, "return grid.selection.count") == SIZE, "all of them")
        self.assertEqual(page(browser, "return grid.selection.ranges.length"), 1, "a range is two numbers, however long")
        browser.click('[data-action="favorite"]')
        favourites = lambda: gallery.ask("POST", "/v1/fetches", {"where": "isFavorite == YES"}).json["count"]
        wait(lambda: favourites() == SIZE, lambda: f"{SIZE} favourites; {favourites()}", 600)
        browser.click(".notice-action")
        wait(lambda: favourites() == 0, "none after Undo", 600)

        # All photos of an album but the first are dragged before it, also those that were never loaded.
        ids = [one["localIdentifier"] for one in gallery.assets("--sort", "creationDate:desc")]
        album = gallery.commit({"op": "album.create", "title": "All"})["created"][0]
        for first in range(0, SIZE, 50_000):
            gallery.commit({"op": "album.add", "album": album, "assets": ids[first:first + 50_000]})
        browser.js("location.hash = arguments[0]", "#/albums/" + album.split("/")[0])
        browser.wait_text("All", "h1")
        browser.one(f'.tile[data-id="{ids[0]}"]')
        settled(browser)
        browser.one(".grid-scroll").send_keys(Keys.CONTROL + "a")
        target = browser.one('.tile[data-index="0"]')
        ActionChains(browser.driver).key_down(Keys.CONTROL).click(target).key_up(Keys.CONTROL).perform()
        wait(lambda: page(browser, "return grid.selection.count") == SIZE - 1, "all but the first")
        (ActionChains(browser.driver).click_and_hold(browser.one('.tile[data-index="2"]'))
         .move_to_element_with_offset(target, int(-target.rect["width"] / 2) + 6, 0).release().perform())
        wanted = [*ids[1:], ids[0]]
        wait(lambda: page(browser, "return list.item(0)?.id") == ids[1], "the grid follows", 600)
        members = [one["localIdentifier"] for one in gallery.assets("--album", album)]
        self.assertTrue(members == wanted, f"{members[:3]} … {members[-3:]}, not {wanted[:3]} … {wanted[-3:]}")


if __name__ == "__main__":
    unittest.main()
