"""Measures the gallery's page in headless Chromium, through the browser's own protocol, and prints the figures as JSON.

usage: measure.py ADDRESS KEY

ADDRESS is where `photoledger serve` answers, KEY a key of its owner. 200 pictures are added to the library, dated after
all others, so that the first screen has something to show. Needs Debian's chromium, chromium-driver, python3-selenium.
"""

import base64
import json
import pathlib
import struct
import sys
import time
import urllib.error
import urllib.request
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "Tests/PageTests"))
from gallery import Browser, wait  # noqa: E402
from scale import heap, moved, page, reach_the_last, scrub, settled, wheel  # noqa: E402

ADDRESS, KEY = sys.argv[1], sys.argv[2]


def ask(method, path, body=None):
    headers = {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json"}
    data = json.dumps(body).encode() if body is not None else None
    with urllib.request.urlopen(urllib.request.Request(ADDRESS + path, data, headers, method=method), timeout=600) as answer:
        return json.loads(answer.read() or b"null")


def picture(number):
    """A PNG of 480 by 360 pixels in one colour and a darker frame."""
    colour = bytes([(37 * number) % 200 + 50, (91 * number) % 200 + 50, (151 * number) % 200 + 50])
    frame = bytes(part // 2 for part in colour)
    rows = b"".join(b"\0" + (frame if row < 20 or row > 340 else colour) * 480 for row in range(360))

    def chunk(name, content):
        return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))
    head = struct.pack(">IIBBBBB", 480, 360, 8, 2, 0, 0, 0)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def add(count, first, year):
    """Adds pictures that are dated a second apart."""
    changes = []
    for number in range(first, first + count):
        date = f"{year}-01-01T{number // 3600 % 24:02}:{number // 60 % 60:02}:{number % 60:02}Z"
        changes.append({"op": "asset.create", "mediaType": "image", "pixelWidth": 480, "pixelHeight": 360, "creationDate": date,
                        "resources": [{"type": "photo", "data": base64.b64encode(picture(number)).decode(),
                                       "originalFilename": f"{number}.png"}]})
    return ask("POST", "/v1/blocks", {"changes": changes})


def render(fetch):
    """Waits until the pictures of the first screen can be had."""
    window = ask("GET", f"/v1/fetches/{fetch['fetch']}/items?token={fetch['token']}&start=0&count=200&form=columns")
    columns = window["columns"]
    for asset, sha256 in zip(columns["localIdentifier"], columns["sha256"]):
        path = f"/v1/assets/{asset.replace('/', '%2F')}/renditions/{sha256}/r3/small"

        def has():
            try:
                request = urllib.request.Request(ADDRESS + path, headers={"Authorization": f"Bearer {KEY}"})
                with urllib.request.urlopen(request, timeout=60) as answer:
                    return answer.status == 200
            except urllib.error.HTTPError as error:
                if error.code in (429, 503):
                    return False
                raise
        wait(has, f"the picture of {asset} is there", 120)


#: Notes in the page when the first pictures are there, and every task of 50 ms or more.
WATCH = """
    window.longest = 0;
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) window.longest = Math.max(window.longest, entry.duration);
    }).observe({ entryTypes: ['longtask'] });
    window.firstTiles = null;
    const look = () => {
      const tiles = document.querySelectorAll('.tile img.there').length;
      if (tiles >= 9) window.firstTiles = performance.now(); else requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
"""


def opened(scale):
    # The page that sets the cookie runs no scripts, so it refuses the one that watches; pictures may not be there yet.
    browser = Browser(1280, 800, scale, expected_errors=["/healthz", "/renditions/"])
    browser.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": WATCH})
    browser.driver.get(ADDRESS + "/healthz")
    browser.driver.add_cookie({"name": "photoledger-key", "value": KEY, "path": "/"})
    browser.driver.get(ADDRESS + "/")
    wait(lambda: browser.js("return window.firstTiles"), "the first tiles are there", 120)
    return browser


figures = {}
fetch = ask("POST", "/v1/fetches", {"sort": ["creationDate:desc"]})
add(200, 0, 2100)
fetch = ask("POST", "/v1/fetches", {"sort": ["creationDate:desc"]})
render(fetch)

loads = []
for _ in range(5):
    browser = opened(1)
    loads.append(browser.js("return window.firstTiles"))
    browser.close()
figures["firstTiles"] = loads

for scale in (2, 1):
    browser = opened(scale)
    settled(browser)
    reach_the_last(browser)
    if scale == 2:
        browser.close()

# Scrubbing and the wheel, from the settled page; then what the page holds.
browser.js("window.longest = 0")
figures["nodes"] = max(scrub(browser), wheel(browser))
figures["longestTask"] = browser.js("return window.longest")
figures["heap"] = heap(browser)

# A commit at index 0 while the page is at the top: from sending it until its tile is drawn.
page(browser, "grid.scroller.setTop(0); grid.scrolled(); await frame(); return null")
shown = []
for round in range(9):
    browser.js("""
        window.seenAt = null;
        const [former] = arguments;
        const look = () => {
          const first = document.querySelector('.tile[data-index="0"]');
          if (first?.dataset.id && first.dataset.id !== former) window.seenAt = performance.timeOrigin + performance.now();
          else requestAnimationFrame(look);
        };
        requestAnimationFrame(look);
    """, browser.js("return document.querySelector('.tile[data-index=\"0\"]').dataset.id"))
    body = {"changes": [{"op": "asset.create", "mediaType": "image", "pixelWidth": 480, "pixelHeight": 360,
                         "creationDate": f"2101-01-01T00:00:{round:02}Z",
                         "resources": [{"type": "photo", "data": base64.b64encode(picture(round)).decode()}]}]}
    start = time.time() * 1000
    ask("POST", "/v1/blocks", body)
    committed = time.time() * 1000
    wait(lambda: browser.js("return window.seenAt"), "the commit is shown")
    shown.append(max(0.01, browser.js("return window.seenAt") - start))
    figures.setdefault("committed", []).append(committed - start)
figures["shown"] = shown

# What a person looks at in the middle, while others add above it.
numbers = iter(range(1000, 2000, 40))
figures["moved"] = moved(browser, lambda count: add(count, next(numbers), 2102))
figures["count"] = page(browser, "return list.count")
figures["errors"] = browser.errors()
browser.close()
print(json.dumps(figures))
