"""What has to hold of the page however long its library is: the last photo is reached, the document and the heap stay
small, and what a person looks at stays where it is. The test of the scale and the benchmark of the page share it.
"""

from gallery import wait

#: The End key, as WebDriver spells it.
END = "\ue010"

SCRIPT = """
    const done = arguments[arguments.length - 1];
    (async () => {
      const { app } = await import(document.querySelector('script[type=module]').src);
      const grid = app.view.grid;
      const list = grid.list;
      const frame = () => new Promise((resolve) => requestAnimationFrame(() => resolve()));
      %s
    })().then((value) => done({ value }), (error) => done({ failure: String(error?.stack ?? error) }));
"""


def page(browser, script):
    """Runs a function body in the page, which knows its grid and its list."""
    browser.driver.set_script_timeout(300)
    answer = browser.driver.execute_async_script(SCRIPT % script)
    if "failure" in answer:
        raise RuntimeError(answer["failure"])
    return answer["value"]


def settled(browser, limit=300):
    """Waits until the page knows the shape of every photo, and all that is near is loaded."""
    wait(lambda: page(browser, "return list.blocks.list.every((block) => block.shapes && !block.isVague) && list.requests.size === 0"),
         "all shapes are there", limit)


def reach_the_last(browser):
    """Presses End and waits until the last photo is whole on the screen, with its own identifier."""
    browser.one(".grid-scroll").send_keys(END)
    wait(lambda: page(browser, """
        const tile = grid.layer.querySelector(`.tile[data-index="${list.count - 1}"][data-id]:not([hidden])`);
        if (!tile) return false;
        const box = tile.getBoundingClientRect();
        return box.bottom <= innerHeight + 1 && box.top >= 0 && list.item(list.count - 1).id === tile.dataset.id;
    """), "the last photo is on the screen")


def scrub(browser, steps=200):
    """Jumps through the whole list, a jump a frame; the most elements that the grid had."""
    return page(browser, """
        let nodes = 0;
        for (let step = 0; step < %d; step += 1) {
          grid.scroller.setTop(grid.list.blocks.height * ((step * 37) %% 200) / 200);
          grid.scrolled();
          await frame();
          nodes = Math.max(nodes, grid.element.querySelectorAll('*').length);
        }
        return nodes;
    """ % steps)


def wheel(browser, turns=60):
    """Turns the wheel down, and up now and then; the most elements that the grid had in a frame."""
    page(browser, """
        window.mostNodes = 0;
        const look = () => {
          window.mostNodes = Math.max(window.mostNodes, grid.element.querySelectorAll('*').length);
          requestAnimationFrame(look);
        };
        look();
        return null;
    """)
    for turn in range(turns):
        browser.driver.execute_cdp_cmd("Input.dispatchMouseEvent", {
            "type": "mouseWheel", "x": 700, "y": 400, "deltaX": 0, "deltaY": 900 if turn % 20 < 15 else -1500})
    return page(browser, "await frame(); return window.mostNodes")


def heap(browser):
    """The bytes of the heap after a collection, typed arrays with it."""
    browser.driver.execute_cdp_cmd("HeapProfiler.collectGarbage", {})
    usage = browser.driver.execute_cdp_cmd("Runtime.getHeapUsage", {})
    return usage["usedSize"] + usage.get("backingStorageSize", 0)


LOOK = """
    const tile = [...grid.layer.querySelectorAll('.tile:not([hidden])')].find((one) => {
      const box = one.getBoundingClientRect();
      return one.dataset.id && box.top > 200 && box.bottom < 700;
    });
    return tile && [tile.dataset.id, tile.getBoundingClientRect().top];
"""


def moved(browser, change, rounds=5, count=40):
    """How many pixels a tile in the middle moves while others change above it, in whole 64ths, the browser's unit of layout.

    `change` changes so many photos that stand before it, in one commit, and gives the commit's answer.
    """
    page(browser, "grid.scroller.setTop(list.blocks.height / 2); grid.scrolled(); await frame(); return null")
    settled(browser)
    name, place = wait(lambda: page(browser, LOOK), "a tile in the middle")
    most = 0
    for _ in range(rounds):
        token = change(count)["token"]
        wait(lambda: page(browser, "return list.token") == token, "the page has what was changed")
        top = browser.js("return document.querySelector(`.tile[data-id='${arguments[0]}']`).getBoundingClientRect().top", name)
        most = max(most, abs(top - place))
    return int(most * 64) / 64
