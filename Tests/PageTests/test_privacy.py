"""Who may see what: the prompt, the privacy page, people and keys, signing in, what a limited visitor's page knows."""

import datetime
import re
import unittest
import urllib.parse

from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import Select

from gallery import Browser, PageTest, wait

HOSTILE = '"><img src=x onerror="window.hit=1"><script>window.hit=1</script>'


def short(identifier):
    return identifier.split("/")[0]


class PrivacyTest(PageTest):
    photos = 8

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.ids = [asset["localIdentifier"] for asset in cls.gallery.assets()]

    def show(self, address, browser=None, key=None):
        """Opens an address of the page anew."""
        browser = browser or self.browser
        browser.sign_in(self.gallery, key, path="/healthz")
        browser.driver.get(f"{self.gallery.address}/{address}")

    def ask(self, method, path, body=None, key="owner"):
        answer = self.gallery.ask(method, path, body, key)
        self.assertLess(answer.status, 300, answer.body)
        return answer.json if answer.body else None

    def client(self, name):
        return next(one for one in self.ask("GET", "/v1/clients")["clients"] if one["name"] == name)

    def app(self, name, asks="readWrite", *, usage="It shows photos on the wall."):
        """An app that registers itself, as its key and its client."""
        made = self.ask("POST", "/v1/clients", {"name": name, "usage": usage, "asks": asks}, key=None)
        return made["secret"], made["client"]

    def limited(self, name, ids):
        """A client that sees a selection, as its key."""
        secret = self.gallery.key(name)
        self.gallery.commit({"op": "client.authorize", "client": name, "status": "limited"},
                            {"op": "client.grant", "client": name, "assets": ids})
        return secret

    def press(self, text, within="main", browser=None):
        """Presses the button with a text."""
        browser = browser or self.browser

        def found():
            return next((one for one in browser.all(f"{within} button, {within} a.button, {within} summary")
                         if one.is_displayed() and one.is_enabled() and one.text.strip().startswith(text)), None)
        wait(found, f"a button '{text}'").click()

    def choose(self, *ids):
        """Chooses photos in the dialog that shows the library."""
        for identifier in ids:
            self.browser.click(f'.chooser .tile[data-id="{identifier}"]')
        self.browser.wait_text(f"{len(ids)} selected", ".chooser")
        self.press("Allow these photos", ".chooser")
        wait(lambda: not self.browser.all("dialog"), "the dialog is closed")

    def shown(self, browser):
        """The photos on the screen of a browser."""
        return set(browser.js("return [...document.querySelectorAll('.tile[data-id]')].map((one) => one.dataset.id)"))


class PromptTests(PrivacyTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.other = Browser()

    @classmethod
    def tearDownClass(cls):
        cls.other.close()
        super().tearDownClass()

    def tearDown(self):
        self.other.check()
        super().tearDown()

    def test_a_prompt_arrives_at_the_timeline_and_selected_photos_appear_at_the_app_and_leave_it(self):
        self.show("")
        self.browser.one(".tile")
        secret, client = self.app("com.example.frame" + HOSTILE, usage="For the wall " + HOSTILE)
        self.show("", self.other, secret)
        self.other.wait_text("Waiting for the owner")
        self.browser.wait_text("would like to see your photos", ".request")
        self.press("Answer", ".request")
        self.browser.wait_text("For the wall " + HOSTILE, "dialog .usage")
        self.browser.wait_text(client, "dialog")
        self.browser.click('[data-choice="limit"]')
        self.choose(*self.ids[1:3])
        self.browser.notice("2 photos shared")
        wait(lambda: self.shown(self.other) == set(self.ids[1:3]), "the app shows what was selected")
        self.other.wait_text("a selection of the photos", ".visitor")
        wait(lambda: not self.browser.all(".request"), "the banner is gone")
        self.assertEqual(self.client(client)["authorizationStatus"]["readWrite"], "limited")
        log = self.ask("GET", "/v1/log?reverse=true&limit=5")["records"]
        self.assertEqual({one["cause"] for one in log[:2]}, {"permission prompt"})
        # Undo takes the answer back, and the app's page says that it sees nothing.
        self.browser.click(".notice-action")
        wait(lambda: self.client(client)["authorizationStatus"]["readWrite"] == "notDetermined", "it is undecided")
        wait(lambda: not self.shown(self.other), "the app sees nothing")
        self.assertIsNone(self.browser.js("return window.hit"))
        self.assertIsNone(self.other.js("return window.hit"))

    def test_a_request_is_denied_and_another_allowed(self):
        self.show("#/history")
        self.browser.one("main h1")
        secret, client = self.app("com.example.denied")
        self.show("", self.other, secret)
        self.browser.click('.request[data-client^="com.example.denied"] button')
        self.browser.click('[data-choice="deny"]')
        self.other.wait_text("Access denied")
        self.assertEqual(self.client(client)["authorizationStatus"]["readWrite"], "denied")
        secret, client = self.app("com.example.allowed")
        self.show("", self.other, secret)
        self.browser.click('.request[data-client^="com.example.allowed"] button')
        self.browser.click('[data-choice="allow"]')
        wait(lambda: self.shown(self.other) == set(self.ids), "the app has full access")
        self.assertFalse(self.other.all(".visitor-banner"))

    def test_photos_selected_for_an_app_that_follows_an_album_end_that_and_the_prompt_says_which_it_keeps(self):
        _, client = self.app("com.example.follower")
        self.gallery.commit({"op": "album.create", "title": "Followed", "as": "$a"},
                            {"op": "album.add", "album": "$a", "assets": [self.ids[2]]},
                            {"op": "client.follow", "client": client, "album": "$a"})
        self.assertIsNotNone(self.client(client)["followedAlbum"])
        self.show("")
        self.browser.click('.request[data-client^="com.example.follower"] button')
        self.browser.wait_text("any already in its selection", 'dialog [data-choice="limit"]')
        self.browser.click('[data-choice="limit"]')
        self.choose(self.ids[1])
        self.browser.notice("1 photo shared")
        self.assertEqual(self.client(client)["authorizationStatus"]["readWrite"], "limited")
        self.assertEqual(self.client(client)["selectionCount"], 2)
        self.assertIsNone(self.client(client)["followedAlbum"])

    def test_a_limited_visitor_asks_for_more_and_sees_what_the_owner_adds(self):
        secret = self.limited("friends", [self.ids[0]])
        self.show("", self.other, secret)
        wait(lambda: self.shown(self.other) == {self.ids[0]}, "the selection")
        self.show("")
        self.press("Request more photos", ".visitor", self.other)
        self.other.wait_text("has not answered yet", ".visitor")
        self.browser.click('.request[data-client="friends"] button')
        self.browser.click('[data-choice="more"]')
        self.choose(self.ids[5])
        self.browser.notice("1 photo shared with “friends”")
        self.other.notice("You can now see 1 more photo")
        wait(lambda: self.shown(self.other) == {self.ids[0], self.ids[5]}, "what was added is there")
        self.other.wait_text("Request more photos", ".visitor")
        self.browser.click(".notice-action")
        wait(lambda: self.shown(self.other) == {self.ids[0]}, "Undo took it away again")

    def test_a_person_without_access_says_why_and_asks_and_an_empty_selection_is_explained(self):
        secret = self.gallery.key("cousin")
        self.show("", self.other, secret)
        self.other.wait_text("No access yet")
        self.press("Request access", "main", self.other)
        self.other.one("dialog textarea").send_keys("Holiday pictures, please " + HOSTILE)
        self.press("Request access", "dialog", self.other)
        self.other.wait_text("Waiting for the owner")
        self.show("")
        self.browser.click('.request[data-client="cousin"] button')
        self.browser.wait_text("Holiday pictures, please", "dialog .usage")
        self.browser.click("dialog .icon-button")
        self.show("#/privacy")
        Select(self.browser.one('[data-client="cousin"] select')).select_by_value("limited")
        self.browser.click('[data-client="cousin"] [data-act="apply"]')
        self.other.wait_text("No photos selected for you yet")
        wait(lambda: not self.browser.all('.request[data-client="cousin"]'), "the request is answered")

    def test_a_link_to_a_view_of_the_owner_says_so_and_leads_to_the_photos(self):
        secret = self.limited("neighbour", self.ids[:1])
        for view in ("people", "privacy", "health", "hidden", "duplicates"):
            # What the server refuses would be an error in the console, too.
            self.show(f"#/{view}", self.other, secret)
            self.other.wait_text("Only the owner of the library can open this view.", "main .owners-only")
            self.assertEqual(self.other.all(f'nav [data-route="{view}"]'), [])
        self.press("Go to photos", "main", self.other)
        wait(lambda: self.shown(self.other) == {self.ids[0]}, "the photos that the key shows")

    def test_selections_are_widened_narrowed_and_withdrawn_on_the_privacy_page(self):
        secret = self.limited("television", self.ids[:2])
        self.show("", self.other, secret)
        wait(lambda: self.shown(self.other) == set(self.ids[:2]), "the selection")
        self.show("#/privacy")
        card = '[data-client="television"]'
        self.browser.wait_text("Can see 2 photos.", card)
        self.browser.click(f"{card} summary")
        self.browser.click(f'{card} [data-act="widen"]')
        self.choose(self.ids[4])
        self.browser.notice("1 photo shared with “television”")
        wait(lambda: self.shown(self.other) == {*self.ids[:2], self.ids[4]}, "one more photo")
        self.browser.click(".notice .icon-button")
        # The card is drawn anew after the answer, and what was chosen in the one before would be lost.
        self.browser.wait_text("Can see 3 photos.", card)
        self.browser.click(f'{card} input[value="{self.ids[0]}"]')
        self.browser.click(f'{card} [data-act="narrow"]')
        self.browser.notice("1 photo no longer shared with “television”")
        wait(lambda: self.shown(self.other) == {self.ids[1], self.ids[4]}, "one photo less")
        self.browser.wait_text("1 selected photo from", f"{card} .intervals")
        self.browser.wait_text("1 selected photo since", f"{card} .intervals")
        self.assertEqual(self.client("television")["selectionCount"], 2)
        self.browser.click(".notice .icon-button")
        # Pictures of photos that are withdrawn while they are loaded, and what a signed out page asked a moment ago.
        self.addCleanup(setattr, self.other, "expected_errors", ())
        self.other.expected_errors = ("/renditions/", "401 (")
        self.browser.click(f'{card} [data-act="withdraw"]')
        self.press("Withdraw all access", "dialog")
        wait(lambda: self.other.js("return location.pathname") == "/sign-in", "the app is signed out")
        self.assertEqual(self.client("television")["accessKind"], "none")
        self.assertEqual(self.gallery.ask("GET", "/v1/session", key=secret).status, 401)


class PeopleTests(PrivacyTest):
    #: Wrong passwords, and a server of before it reported its health.
    expected_errors = ("the server responded with a status of 401", "the server responded with a status of 429",
                       ("/password", "the server responded with a status of 403"),
                       "/v1/health ")

    def field(self, label):
        path = f"//dialog//label[starts-with(normalize-space(.), '{label}')]/*[self::input or self::textarea]"
        return wait(lambda: self.browser.driver.find_elements(By.XPATH, path), f"the field '{label}'")[0]

    def test_a_person_is_added_signs_in_and_out_and_loses_access_with_the_password(self):
        # Signing out ends the key, so the browser has one of its own.
        self.show("#/people", key=self.gallery.key("owner", ["read", "originals", "add", "change", "owner"]))
        self.press("Add a person")
        self.field("Name").send_keys("anna")
        self.field("Acts as").clear()
        self.field("Acts as").send_keys("family")
        self.field("Password").send_keys("correct horse")
        self.press("Add", "dialog")
        self.browser.one('[data-person="anna"]')
        self.gallery.commit({"op": "client.register", "client": "family"},
                            {"op": "client.authorize", "client": "family", "status": "authorized"})
        self.browser.click(".sign-out")
        name = self.browser.one("input[name=name]")
        name.send_keys("anna")
        self.browser.one("input[name=password]").send_keys("wrong horse")
        self.press("Sign in", ".sign-in")
        self.browser.wait_text("The name or the password is wrong.", ".problem")
        self.assertEqual(self.browser.driver.get_cookie("photoledger-key"), None)
        self.browser.one("input[name=password]").clear()
        self.browser.one("input[name=password]").send_keys("correct horse")
        self.press("Sign in", ".sign-in")
        self.browser.wait_text("8 photos", ".count")
        self.browser.wait_text("anna", ".account")
        self.assertFalse(self.browser.all('.nav a[data-route="privacy"]'), "what is the owner's is not there")
        self.browser.click(".sign-out")
        self.browser.one(".sign-in")
        # A link that was sent leads through the sign-in to what it names.
        self.browser.driver.get(f"{self.gallery.address}/#/albums")
        self.browser.one("input[name=name]").send_keys("anna")
        self.browser.one("input[name=password]").send_keys("correct horse")
        self.press("Sign in", ".sign-in")
        self.browser.wait_text("Albums", "main h1")
        self.browser.click(".sign-out")
        self.browser.one(".sign-in")
        # The owner sets another password, and removes the person.
        self.show("#/people")
        self.browser.click('[data-person="anna"] button')
        self.field("Password").send_keys("battery staple")
        self.press("Set password", "dialog")
        self.browser.wait_text("Password of “anna” changed", ".notices")
        sign_in = {"name": "anna", "password": "correct horse"}
        self.assertEqual(self.gallery.ask("POST", "/v1/sessions", sign_in, key=None).status, 401)
        sign_in["password"] = "battery staple"
        self.assertEqual(self.gallery.ask("POST", "/v1/sessions", sign_in, key=None).status, 201)
        self.browser.click('[data-person="anna"] button:last-child')
        self.press("Remove", "dialog")
        wait(lambda: not self.browser.all('[data-person="anna"]'), "the person is gone")
        self.assertEqual(self.ask("GET", "/v1/people")["people"], [])

    def test_the_next_person_is_not_led_to_where_the_last_one_signed_out(self):
        # The answer to signing out never arrives, so what the feed says of the end of the session comes before it.
        made = self.browser.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": """
            const real = window.fetch;
            window.fetch = async (input, options) => {
              const answer = await real(input, options);
              return options?.method === 'DELETE' ? new Promise(() => {}) : answer;
            };"""})
        self.addCleanup(self.browser.driver.execute_cdp_cmd, "Page.removeScriptToEvaluateOnNewDocument", made)
        self.show("#/people", key=self.gallery.key("owner", ["read", "originals", "add", "change", "owner"]))
        self.browser.click(".sign-out")
        self.browser.one("input[name=name]")
        self.assertEqual(self.browser.js("return location.pathname + location.hash"), "/sign-in")

    def test_an_owner_makes_a_one_time_link_and_a_used_one_is_explained(self):
        self.show("#/people")
        self.press("One-time link")
        link = wait(lambda: self.browser.one(".secret").get_attribute("value"), "the link")
        self.assertTrue(link.startswith(f"{self.gallery.address}/sign-in?link="))
        self.press("Done", "dialog")
        self.browser.driver.get(f"{self.gallery.address}/healthz")
        self.browser.driver.delete_all_cookies()
        self.browser.driver.get(link)
        wait(lambda: self.browser.js("return location.pathname") == "/", "the link signed in")
        self.browser.driver.get(link)
        wait(lambda: self.browser.js("return location.pathname") == "/", "the session goes on")
        self.browser.driver.get(f"{self.gallery.address}/healthz")
        self.browser.driver.delete_all_cookies()
        self.browser.driver.get(link)
        self.browser.wait_text("This link was already used", ".problem")

    def test_a_person_changes_the_own_password(self):
        self.ask("POST", "/v1/people", {"name": "cora", "client": "guests", "password": "correct horse"})
        self.addCleanup(self.ask, "DELETE", "/v1/people/cora")
        self.browser.driver.get(f"{self.gallery.address}/healthz")
        self.browser.driver.delete_all_cookies()
        self.browser.driver.get(f"{self.gallery.address}/sign-in")
        self.browser.one("input[name=name]").send_keys("cora")
        self.browser.one("input[name=password]").send_keys("correct horse")
        self.press("Sign in", ".sign-in")
        self.browser.click(".own-password")
        self.field("Current password").send_keys("wrong horse")
        self.field("New password").send_keys("battery staple")
        self.press("Set password", "dialog")
        self.browser.wait_text("The current password is wrong.", "dialog")
        self.field("Current password").clear()
        self.field("Current password").send_keys("correct horse")
        self.press("Set password", "dialog")
        self.browser.one("input[name=name]")
        sign_in = {"name": "cora", "password": "battery staple"}
        self.assertEqual(self.gallery.ask("POST", "/v1/sessions", sign_in, key=None).status, 201)

    def test_a_sign_in_in_another_tab_is_followed_by_each_page(self):
        self.ask("POST", "/v1/people", {"name": "bea", "client": "guests", "password": "correct horse"})
        self.show("")
        self.browser.wait_text("owner", ".account")
        driver = self.browser.driver
        first = driver.current_window_handle
        driver.switch_to.new_window("tab")
        self.addCleanup(driver.switch_to.window, first)
        self.addCleanup(driver.close)
        driver.get(f"{self.gallery.address}/sign-in")
        self.browser.one("input[name=name]").send_keys("bea")
        self.browser.one("input[name=password]").send_keys("correct horse")
        self.press("Sign in", ".sign-in")
        self.browser.wait_text("bea", ".account")
        second = driver.current_window_handle
        self.addCleanup(self.ask, "DELETE", "/v1/people/bea")
        driver.switch_to.window(first)
        self.addCleanup(driver.switch_to.window, second)
        self.browser.wait_text("bea", ".account")

    def test_too_many_attempts_are_said_with_the_time_to_wait(self):
        self.browser.driver.get(f"{self.gallery.address}/healthz")
        self.browser.driver.delete_all_cookies()
        self.browser.driver.get(f"{self.gallery.address}/sign-in")
        for attempt in range(30):
            sign_in = {"name": "nobody", "password": "12345678"}
            if self.gallery.ask("POST", "/v1/sessions", sign_in, key=None).status == 429:
                break
        self.browser.one("input[name=name]").send_keys("nobody")
        self.browser.one("input[name=password]").send_keys("12345678")
        self.press("Sign in", ".sign-in")
        self.browser.wait_text("Too many attempts. Try again in", ".problem")

    def test_a_key_is_made_shown_once_and_withdrawn(self):
        self.show("#/people")
        self.press("Create key")
        self.field("Acts as").send_keys("script" + HOSTILE)
        self.field("Label").send_keys("nightly " + HOSTILE)
        for scope in ["originals", "add", "change"]:
            self.browser.click(f'dialog input[value="{scope}"]')
        self.press("Create", "dialog")
        secret = wait(lambda: self.browser.one(".secret").get_attribute("value"), "the secret")
        self.assertEqual(self.ask("GET", "/v1/session", key=secret)["scopes"], ["read"])
        self.press("Done", "dialog")
        self.browser.wait_text("nightly " + HOSTILE)
        self.assertNotIn(secret, self.browser.js("return document.documentElement.outerHTML"))
        name = next(key["name"] for key in self.ask("GET", "/v1/keys")["keys"] if key["label"].startswith("nightly"))
        self.browser.click(f'[data-key="{name}"] button')
        self.press("Withdraw", "dialog")
        wait(lambda: not self.browser.all(f'[data-key="{name}"]'), "the key is gone")
        self.assertEqual(self.gallery.ask("GET", "/v1/session", key=secret).status, 401)
        self.assertIsNone(self.browser.js("return window.hit"))

    def test_a_share_link_is_made_of_a_selection_and_ended(self):
        self.show("")
        self.select(self.ids[2])
        self.browser.click('[data-action="share"]')
        self.field("Title").send_keys("Trip " + HOSTILE)
        self.field("Password").send_keys("open sesame")
        self.press("Create link", "dialog")
        link = wait(lambda: self.browser.one(".secret").get_attribute("value"), "the link")
        self.assertTrue(link.startswith(self.gallery.address + "/share#"))
        self.press("Done", "dialog")
        opened = {"secret": link.split("#")[1], "password": "open sesame"}
        key = self.ask("POST", "/v1/shares:open", opened, key=None)["secret"]
        self.assertEqual(self.ask("POST", "/v1/fetches", {}, key=key)["count"], 1)
        self.show("#/people")
        self.browser.wait_text("Trip " + HOSTILE, '[data-part="shares"]')
        self.press("End", '[data-part="shares"]')
        self.press("End", "dialog")
        wait(lambda: not self.browser.all("[data-share]"), "the link is gone")
        self.assertEqual(self.gallery.ask("POST", "/v1/shares:open", opened, key=None).status, 401)
        self.assertIsNone(self.browser.js("return window.hit"))

    def select(self, identifier):
        """Selects a photo of the timeline by its mark."""
        self.browser.one(f'.tile[data-id="{identifier}"]')
        self.browser.js("""
            const tile = document.querySelector(`.tile[data-id="${arguments[0]}"]`);
            const { left, top } = tile.getBoundingClientRect();
            for (const kind of ['pointerdown', 'pointerup']) {
              tile.dispatchEvent(new PointerEvent(kind, { bubbles: true, clientX: left + 12, clientY: top + 12,
                pointerId: 1, pointerType: 'mouse', button: 0 }));
            }""", identifier)

    def test_health_says_what_is_known_and_reads_the_log_when_asked(self):
        self.show("#/health")
        self.browser.wait_text("readable", '[data-figure="store"]')
        self.assertRegex(self.browser.text('[data-figure="commits"]'), r"^\d+$")
        self.browser.wait_text("photoledger backup", ".unknowns")
        if self.gallery.ask("GET", "/v1/health").status == 200:
            self.browser.wait_text("not recorded", '[data-figure="backup"]')
            self.assertRegex(self.browser.text('[data-figure="disk"]'), r"\d.*B of \d.*B")
        self.assertFalse(self.browser.all('[data-figure="root"]'))
        self.browser.click('[data-act="checkpoint"]')
        root = self.browser.text('[data-figure="root"]')
        self.assertEqual(root, self.ask("GET", "/v1/checkpoint")["root"])

    def test_an_app_is_registered_by_hand_and_its_status_has_an_undo(self):
        self.show("#/privacy")
        self.press("Register an app")
        self.field("Name").send_keys("com.example.hand")
        self.field("Purpose").send_keys("A test")
        self.press("Register", "dialog")
        secret = wait(lambda: self.browser.one(".secret").get_attribute("value"), "the secret")
        self.press("Done", "dialog")
        client = self.ask("GET", "/v1/session", key=secret)["client"]
        card = f'[data-client="{client}"]'
        Select(self.browser.one(f"{card} select")).select_by_value("authorized")
        self.browser.click(f'{card} [data-act="apply"]')
        self.browser.notice("Access of “")
        wait(lambda: self.client(client)["accessKind"] == "full", "it has full access")
        self.browser.wait_text("Can see and change everything.", card)
        self.browser.click(".notice-action")
        wait(lambda: self.client(client)["accessKind"] == "none", "the decision is undone")


class LimitedTests(PrivacyTest):
    """What the page of a limited visitor knows: read from every answer that its browser received."""

    #: The visitor goes to the owner's views by hand.
    expected_errors = ("the server responded with a status of 403",)

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.browser.close()
        cls.browser = Browser(network=True, expected_errors=cls.expected_errors)

    def test_the_page_knows_no_identifier_count_name_or_date_outside_its_view(self):
        seen, others = self.ids[2:4], [*self.ids[:2], *self.ids[4:]]
        secret = self.limited("guest", seen)
        album = self.gallery.commit({"op": "album.create", "title": "Unseen-Album", "as": "$a"},
                                    {"op": "album.add", "album": "$a", "assets": self.ids[:6]})["created"][0]
        trash = {"op": "asset.trash", "assets": [self.ids[7]]}
        self.ask("POST", "/v1/blocks", {"cause": "Unseen-Cause", "changes": [trash]})
        own = self.gallery.commit({"op": "album.create", "title": "Mine", "as": "$m"},
                                  {"op": "album.add", "album": "$m", "assets": [short(seen[0])]},
                                  key=secret)["created"][0]
        foreign = [self.gallery.ask("GET", "/v1/assets/" + short(one)).json for one in others]
        unseen = [*(short(one) for one in others), short(album), "Unseen-Album", "Unseen-Cause"]
        days = [datetime.datetime.fromisoformat(one["creationDate"]) for one in foreign]
        unseen += [word for day in days for word in (f"{day:%Y-%m-%dT%H}", f"{day.day} Nov 2023,")]
        unseen += [resource["sha256"] for one in foreign for resource in one["resources"]]
        unseen += [resource["originalFilename"] for one in foreign for resource in one["resources"]]
        self.show("", key=secret)
        heard = []
        for route in ["#/photos", "#/albums", f"#/albums/{short(own)}", "#/search", "#/trash", "#/history", "#/moment",
                      "#/privacy", "#/people", "#/health", f"#/history?object={urllib.parse.quote(others[0])}",
                      "#/photos"]:
            self.browser.js("location.hash = arguments[0]", route)
            wait(lambda: not self.browser.all("main .loading"), f"{route} is loaded")
            heard += self.browser.responses()
            page = self.browser.js("return document.documentElement.outerHTML")
            for secret_of_others in unseen:
                self.assertNotIn(secret_of_others, page, route)
        # While the page is open, others change what it does not see.
        self.gallery.commit({"op": "asset.edit", "assets": [self.ids[0]], "isFavorite": True})
        self.gallery.commit({"op": "asset.edit", "assets": [seen[0]], "isFavorite": True})
        self.browser.one(f'.tile[data-id="{seen[0]}"] .badges')
        heard += self.browser.responses()
        texts = [(url, text) for url, text in heard if "/v1/" in url and text]
        self.assertGreater(len(texts), 10, "the answers were read")
        for url, text in texts:
            for secret_of_others in unseen:
                self.assertNotIn(secret_of_others, text, url)
            for count in re.findall(r'"(?:count|total|estimatedAssetCount)":(\d+)', text):
                self.assertLessEqual(int(count), 2, f"{url}: {text[:300]}")
        self.browser.wait_text("2 photos", ".count")
        self.assertEqual(self.shown(self.browser), set(seen))


if __name__ == "__main__":
    unittest.main()
