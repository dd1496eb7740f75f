"""Every view in light and dark, on a desktop and on a phone: axe-core finds nothing, each control is reached by the
keyboard and has a name, nothing is wider than the screen, and a picture of it lies in .build/screenshots.

axe-core comes from PyPI (axe-core-python); without it that part says so and is left out.
"""

import pathlib
import sys
import unittest

from selenium.webdriver.common.keys import Keys

from gallery import ROOT, Browser, Gallery, wait
from test_duplicates import add_duplicates

sys.path.append(str(ROOT / ".build/python"))
try:
    import axe_core_python
    AXE = (pathlib.Path(axe_core_python.__file__).parent / "axe.min.js").read_text()
except ImportError:
    AXE = None

#: Name of the picture, address, what is there once the view is complete, what is clicked to come to it, and whose key it is
#: looked at with, the owner's without one.
VIEWS = [
    ("photos", "/#/photos", ".tile img.there"),
    ("viewer", "/#/photos?photo={asset}", "dialog.viewer"),
    ("search", "/#/search?q=2023", ".tile[data-id]"),
    ("albums", "/#/albums", ".card"),
    ("sharing", "/#/albums/{album}", "dialog .check, dialog .choice", ['[data-tool="menu"]', '[data-choice="share"]']),
    ("navigation", "/#/photos", ".nav.is-open .account, .nav .account", [".nav-more"]),
    ("album", "/#/albums/{album}", ".tile[data-id]"),
    ("trash", "/#/trash", ".tile[data-id]"),
    ("duplicates", "/#/duplicates", ".duplicate-group [data-act=merge]"),
    ("hidden", "/#/hidden", ".lock"),
    ("history", "/#/history", "main h2"),
    ("moment", "/#/moment", "main input[type=range]"),
    ("privacy", "/#/privacy", "main h2"),
    ("people", "/#/people", "main h2"),
    ("health", "/#/health", "main h2"),
    ("upload", "/#/upload", "main input, main button"),
    ("sign-in", "/sign-in", "input[type=password]"),
    ("share", "/share#{share}", ".tile[data-id]"),
    ("camera", "/camera#{camera}", "button"),
    ("picker", "/?pick={session}", ".tile[data-id]"),
    ("request", "/#/photos", "dialog [data-choice=allow]", ['.request[data-client="{asking}"] button']),
    ("undo", "/#/history", "dialog .undo-plan:not([aria-busy]) li", ['[data-token="{token}"] [data-undo]']),
    ("changes", "/#/moment?at={token}", ".moment-changes [data-kind=changed]", ['.moment button[aria-pressed="false"]']),
    ("share-viewer", "/share#{share}", "dialog.guest-viewer .guest-stage:not(:has(.guest-state)) img", [".tile[data-index='0'][data-id]"]),
    ("limited", "/#/photos", ".visitor-banner", [], "limited"),
    ("limited-empty", "/#/photos", ".visitor-empty", [], "empty"),
    ("denied", "/#/photos", ".visitor-barred", [], "denied"),
    ("undecided", "/#/photos", ".visitor-barred .button.main", [], "undecided"),
]

CHECK = """
    const done = arguments[arguments.length - 1];
    axe.run(document.querySelector('dialog[open]:modal') ?? document, { resultTypes: ['violations'] }).then((found) => done(found.violations.map((one) =>
      `${one.id}: ${one.help}: ` + one.nodes.slice(0, 3).map((node) => node.html.slice(0, 160)).join(' | '))),
      (error) => done([String(error)]));
"""

#: What can be worked with, is shown, and was not reached; the tiles of a grid are one control.
CONTROLS = """
    const root = document.querySelector('dialog[open]:modal') ?? document.body;
    return [...root.querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex="0"]')]
      .filter((one) => one.checkVisibility({ visibilityProperty: true }) && !one.disabled && one.tabIndex >= 0
        && !(one.type === 'radio' && !one.checked) && !window.reached.has(one)).map((one) => one.outerHTML.slice(0, 120));
"""


class ViewTests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.gallery = Gallery(12)
        cls.addClassCleanup(cls.gallery.close)
        add_duplicates(cls.gallery)
        cls.gallery.ask("POST", "/v1/duplicates", {})
        ids = [asset["localIdentifier"].split("/")[0] for asset in cls.gallery.assets()]
        created = cls.gallery.commit(
            {"op": "album.create", "title": "Shore", "as": "$a"}, {"op": "album.add", "album": "$a", "assets": ids[:6]},
            {"op": "asset.edit", "assets": ids[:2], "isFavorite": True}, {"op": "asset.trash", "assets": ids[10:12]},
            {"op": "asset.edit", "assets": ids[9:10], "isHidden": True})["created"]
        share = cls.gallery.ask("POST", "/v1/shares", {"title": "For the club", "assets": ids[:4], "originals": True}).json
        asking = cls.gallery.ask(
            "POST", "/v1/clients", {"name": "frames", "usage": "It hangs on the wall.", "asks": "readWrite"}, key=None).json
        token = cls.gallery.commit({"op": "asset.edit", "assets": ids[2:4], "rating": 3})["token"]
        cls.gallery.commit({"op": "asset.edit", "assets": ids[3:4], "caption": "Later"})
        cls.keys = {name: cls.gallery.key(name) for name in ("limited", "empty", "denied", "undecided")}
        cls.gallery.commit({"op": "client.authorize", "client": "limited", "status": "limited"},
                           {"op": "client.grant", "client": "limited", "assets": ids[:2]},
                           {"op": "client.authorize", "client": "empty", "status": "limited"},
                           {"op": "client.authorize", "client": "denied", "status": "denied"})
        app = cls.gallery.ask("POST", "/v1/clients", {"name": "letters", "usage": "It prints letters."}, key=None).json
        session = cls.gallery.ask("POST", "/v1/picking", {"limit": 3, "ordered": True}, key=app["secret"]).json
        cls.values = {"asset": ids[0], "album": created[0].split("/")[0], "share": share["secret"], "session": session["session"],
                      "camera": cls.gallery.key("camera", ["add"]), "asking": asking["client"], "token": token}

    def open(self, browser, name, address, sign, steps=(), key=None):
        browser.driver.get("about:blank")
        browser.sign_in(self.gallery, key and self.keys[key], path="/healthz")
        browser.driver.get(self.gallery.address + address.format(**self.values))
        for step in steps:
            # The button for what has no room on a phone is not there on a desktop.
            if step != ".nav-more" or browser.js("return innerWidth <= 720"):
                browser.click(step.format(**self.values))
        browser.one(sign)
        wait(lambda: not browser.js("return document.querySelector('.loading')?.checkVisibility()"), f"{name} is complete")
        return name

    def look(self, browser, mode):
        """Opens each view, checks it, and takes its picture."""
        wrong = []
        for view in VIEWS:
            name = self.open(browser, *view)
            wait(lambda: browser.js("return [...document.images].every((one) => one.complete)"), f"the pictures of {name}")
            browser.screenshot(f"{name}-{mode}")
            over = browser.js("return document.documentElement.scrollWidth - innerWidth")
            if over > 0:
                wrong.append(f"{name}: {over} px wider than the screen")
            aside = browser.js("const nav = document.querySelector('.nav'); return nav ? nav.scrollWidth - nav.clientWidth : 0")
            if aside > 0:
                wrong.append(f"{name}: the navigation scrolls sideways by {aside} px")
            if AXE:
                browser.driver.execute_script(AXE)
                wrong += [f"{name}: {one}" for one in browser.driver.execute_async_script(CHECK)]
        self.assertEqual(wrong, [])

    def test_in_light_on_a_desktop(self):
        browser = Browser()
        self.addCleanup(browser.close)
        self.look(browser, "light")

    def test_in_dark_on_a_phone(self):
        browser = Browser(width=360, height=780, scale=3, dark=True, phone=True)
        self.addCleanup(browser.close)
        self.look(browser, "dark-phone")

    def test_in_german_in_dark_on_a_desktop(self):
        browser = Browser(language="de-DE", dark=True)
        self.addCleanup(browser.close)
        self.look(browser, "german-dark")

    def test_a_long_word_in_a_notice_leaves_its_buttons_on_the_screen_of_a_phone(self):
        browser = Browser(width=375, height=667, scale=2, phone=True)
        self.addCleanup(browser.close)
        self.open(browser, "timeline", "/#/photos", ".tile[data-id]")
        # Measured at once: a notice goes by itself.
        edges = browser.driver.execute_async_script("""
            const done = arguments[0];
            import(document.querySelector('script[type=module]').src).then(({ app: { notices } }) => {
              notices.show('Donaudampfschifffahrtsgesellschaftskapitän renamed', { action: 'Rückgängig' });
              done([...document.querySelectorAll('.notice button')].map((one) => one.getBoundingClientRect())
                .map(({ left, right }) => [left, innerWidth - right]));
            });""")
        self.assertEqual(len(edges), 2)
        for edge in edges:
            self.assertGreaterEqual(min(edge), 0, edges)

    def test_every_control_is_reached_by_the_keyboard(self):
        browser = Browser()
        self.addCleanup(browser.close)
        for view in VIEWS:
            name = view[0]
            with self.subTest(view=name):
                self.open(browser, *view)
                browser.js("window.reached = new Set(); document.addEventListener('focusin', (event) => window.reached.add(event.target))")
                # Around once, from wherever the focus is, and what was not there yet.
                for _ in range(2 * len(browser.js(CONTROLS)) + 10):
                    browser.driver.switch_to.active_element.send_keys(Keys.TAB)
                    missed = browser.js(CONTROLS)
                    if not missed:
                        break
                self.assertEqual(missed, [], f"{name}: not reached by Tab")


if __name__ == "__main__":
    unittest.main()
