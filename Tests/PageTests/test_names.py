"""What people are called and what they call things: clients are named as people know them, and a name that changes the
direction of writing changes its own and nothing beside it.
"""

import base64
import unittest

from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

from gallery import PageTest, wait

#: A right-to-left override, as in a file that pretends to be a picture, and the end of an isolation before it.
TURN = "\u2069\u202e"

#: Texts and labels in which a hostile name is not alone and not isolated.
LEAKS = r"""
    const [names] = arguments;
    const bare = (text) => text.replace(/\u2068[^\u2069\u2068]*\u2069/g, '');
    const known = new Set(names.flatMap((name) => [name, '“' + name + '”']));
    const isAlone = (text) => !bare(text).includes('\u202e') || names.includes(text.trim());
    const found = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      if (!bare(node.data).includes('\u202e')) continue;
      let box = node.parentElement;
      if (/^(SCRIPT|STYLE|TEXTAREA)$/.test(box.tagName)) continue;
      const isIsolating = (one) => {
        const { unicodeBidi, display } = getComputedStyle(one);
        return /isolate|plaintext/.test(unicodeBidi) || !/^(inline|contents)$/.test(display);
      };
      while (!isIsolating(box)) box = box.parentElement;
      if (!names.includes(node.data.trim()) || box.textContent.trim() !== node.data.trim()) found.push(box.outerHTML.slice(0, 300));
    }
    for (const one of document.querySelectorAll('[aria-label], [title], [placeholder], [alt], [aria-valuetext]')) {
      for (const name of ['aria-label', 'title', 'placeholder', 'alt', 'aria-valuetext']) {
        const text = one.getAttribute(name) ?? '';
        if (!isAlone(text)) found.push(`${name}: ${text}`);
      }
    }
    if (!isAlone(document.title)) found.push(`title: ${document.title}`);
    return found;
"""


class DirectionTests(PageTest):
    photos = 2

    def test_a_name_that_turns_the_direction_turns_nothing_beside_it(self):
        names = {part: f"{part} {TURN}gpj.exe" for part in
                 ["file.jpg", "caption", "keyword", "album", "folder", "app", "link", "person", "label", "usage", "cause"]}
        picture = next(self.gallery.folder.glob("photos-0/*.jpg")).read_bytes()
        photo, other = [self.gallery.commit({"op": "asset.create", "mediaType": "image", "pixelWidth": 120, "pixelHeight": 80,
            "creationDate": f"2024-05-0{day}T10:00:00Z", "resources": [{"type": "photo", "originalFilename": names["file.jpg"],
            "data": base64.b64encode(picture + bytes([day])).decode()}]})["created"][0] for day in (1, 2)]
        answer = self.gallery.ask("POST", "/v1/blocks", {"cause": names["cause"], "changes": [
            {"op": "album.create", "title": names["album"], "as": "$a"}, {"op": "album.add", "album": "$a", "assets": [photo]},
            {"op": "folder.create", "title": names["folder"], "as": "$f"}, {"op": "folder.add", "folder": "$f", "collections": ["$a"]},
            {"op": "album.create", "title": names["album"], "as": "$b"},
            {"op": "asset.edit", "assets": [photo], "caption": names["caption"],
             "addedKeywords": [names["keyword"], "plain"]},
            {"op": "asset.trash", "assets": [other]}]})
        self.assertEqual(answer.status, 200, answer.body)
        created = answer.json["created"]
        album, folder, second = [one.split("/")[0] for one in created]
        self.gallery.commit({"op": "asset.edit", "assets": [photo], "removedKeywords": ["plain"], "caption": "plain"})
        self.gallery.commit({"op": "album.rename", "album": second, "title": names["folder"]})
        self.gallery.commit({"op": "asset.edit", "assets": [photo], "caption": names["caption"]})
        app = self.gallery.ask("POST", "/v1/clients", {"name": names["app"], "usage": names["usage"], "asks": "readWrite"}, key=None).json
        self.gallery.commit({"op": "client.authorize", "client": app["client"], "status": "limited"},
                            {"op": "client.grant", "client": app["client"], "assets": [photo]})
        share = self.gallery.ask("POST", "/v1/shares", {"title": names["link"], "assets": [photo]}).json
        self.gallery.ask("POST", "/v1/shares:open", {"secret": share["secret"]}, key=None)
        self.gallery.ask("POST", "/v1/people", {"name": names["person"], "client": "family"})
        self.gallery.ask("POST", "/v1/keys", {"client": app["client"], "label": names["label"], "scopes": ["read"]})
        known = [*names.values(), app["client"], app["client"].rsplit("#", 1)[0]]
        browser = self.browser
        browser.sign_in(self.gallery, path="/healthz")
        seen = []

        def look(what):
            wait(lambda: not browser.js("return document.querySelector('.loading')?.checkVisibility()"), f"{what} is complete")
            wait(lambda: TURN[1] in browser.js("return document.body.textContent + [...document.querySelectorAll('[aria-label]')]"
                                               ".map((one) => one.getAttribute('aria-label'))"), f"a hostile name in {what}")
            seen.extend(f"{what}: {one}" for one in browser.js(LEAKS, known))

        def go(address):
            browser.driver.get("about:blank")
            browser.driver.get(self.gallery.address + address)

        def leave():
            ActionChains(browser.driver).send_keys(Keys.ESCAPE).perform()
            wait(lambda: not browser.all("dialog[open]:modal"), "the dialog is closed")

        go(f"/#/photos?photo={photo.split('/')[0]}")
        browser.one("dialog.viewer")
        if not browser.all(".viewer-facts"):
            ActionChains(browser.driver).send_keys("i").perform()
        browser.one(".viewer-facts")
        wait(lambda: names["app"] in browser.js("return document.querySelector('dialog.viewer').textContent.replace(/[\u2066-\u2068]/g, '')")
             or browser.all(".history-entry"), "the history of the photo")
        look("the viewer")
        for address, sign in [("/#/albums", ".card"), (f"/#/albums/{folder}", ".card"), (f"/#/albums/{album}", ".tile[data-id]"),
                              ("/#/history", ".commit"), ("/#/moment", ".moment-sentence, main input[type=range]"),
                              ("/#/people", ".entry"), (f"/share#{share['secret']}", ".tile[data-id]"), ("/#/privacy", ".client")]:
            go(address)
            browser.one(sign)
            if address != "/#/moment":
                look(address)
        for details in browser.all(".client details summary"):
            details.click()
        wait(lambda: len(browser.all(".client-details > *")) > 2, "the details of clients")
        look("clients' details")
        # Menus and dialogs.
        go("/#/albums")
        for choice, sign in [(None, "dialog .choices"), ("share", "dialog form"), ("rename", "dialog input"), ("delete", "dialog .grave"),
                             ("into", "dialog .choices [dir=auto]"), ("blame", "dialog .blame tbody, dialog table")]:
            browser.one(".card")
            browser.js("""[...document.querySelectorAll('.cards .card')].find((card) => card.dataset.kind === arguments[0])
                .querySelector('.card-menu').click()""", "folder" if choice == "blame" else "album")
            if choice:
                browser.click(f'dialog [data-choice="{choice}"]')
            browser.one(sign)
            look(f"the dialog {choice}")
            leave()
        # What was done, in a notice; the plan of an undo.
        browser.js("[...document.querySelectorAll('.cards .card')].find((card) => card.dataset.kind === 'album').querySelector('.card-menu').click()")
        browser.click('dialog [data-choice="delete"]')
        browser.click("dialog .grave")
        browser.one(".notice")
        look("the notice")
        go("/#/history")
        for button in range(5):
            browser.one(".commit")
            browser.all('[data-undo="commit"]')[button].click()
            wait(lambda: browser.all(".undo-plan h3, .undo-plan p"), "the plan")
            wait(lambda: not browser.all(".undo-plan[aria-busy]"), "the whole plan")
            seen.extend(f"an undo plan: {one}" for one in browser.js(LEAKS, known))
            leave()
        self.assertEqual(seen, [])


class ClientNameTests(PageTest):
    photos = 3

    def test_share_links_and_apps_are_called_as_people_know_them(self):
        ids = [one["localIdentifier"] for one in self.gallery.assets()]
        share = self.gallery.ask("POST", "/v1/shares", {"title": "For the club", "assets": ids[:1]}).json
        self.gallery.ask("POST", "/v1/shares:open", {"secret": share["secret"]}, key=None)
        app = self.gallery.ask("POST", "/v1/clients", {"name": "frames", "usage": "It hangs.", "asks": "readWrite"}, key=None).json
        self.assertRegex(app["client"], "^frames#.")
        self.gallery.commit({"op": "client.authorize", "client": app["client"], "status": "limited"},
                            {"op": "client.grant", "client": app["client"], "assets": ids[:1]})
        browser = self.browser
        link = "Share link: For the club"
        text = lambda selector="body": browser.js("return [...document.querySelectorAll(arguments[0])].map((one) => one.innerText).join(' ')", selector)

        def holds(selector, *parts):
            wait(lambda: all(part in text(selector) for part in parts), lambda: f"{[part for part in parts if part not in text(selector)]} in {text(selector)}")
            for raw in ("share#", "frames#"):
                self.assertNotIn(raw, text(selector))

        browser.sign_in(self.gallery, path="/#/history")
        holds("main", link, "frames", "share link opened", "Shared with “frames”")
        browser.js("""[...document.querySelectorAll('.commit')].find((one) => one.innerText.includes('Shared with “frames”'))
            .querySelector('[data-undo]').click()""")
        browser.one(".undo-plan .plan-each")
        holds("dialog", "frames")
        ActionChains(browser.driver).send_keys(Keys.ESCAPE).perform()
        # The whole name, which alone proves the author, is shown to a pointer over it.
        self.assertTrue(browser.all(f'.commit a[title^="{app["client"]}"]'))
        browser.driver.get("about:blank")
        browser.driver.get(f"{self.gallery.address}/#/photos?photo={ids[0].split('/')[0]}")
        browser.one("dialog.viewer")
        if not browser.all(".viewer-facts"):
            ActionChains(browser.driver).send_keys("i").perform()
        wait(lambda: "frames" in browser.js("return document.querySelector('dialog.viewer').textContent"), "who can see it")
        browser.js("for (const one of document.querySelectorAll('dialog.viewer details')) one.open = true")
        holds("dialog.viewer", link, "Shared with “frames”", f"Shared with “{link}”")
        browser.driver.get("about:blank")
        browser.driver.get(f"{self.gallery.address}/#/people")
        holds("main", "For the club")


if __name__ == "__main__":
    unittest.main()
