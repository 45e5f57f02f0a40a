"""The live page in Chromium: what it shows, asks for and does by keyboard, with a device's services; a thousand devices."""
import pathlib

import pytest

from jelling.browser import Browser

from gateway.test_api import BTHOME, serve


@pytest.fixture
def browser(request):
    browser = Browser()
    request.addfinalizer(browser.close)
    return browser


def rows(browser):
    return browser.evaluate('[...document.querySelectorAll(".row")].map(r => r.textContent)')


READY = 'document.body.dataset.ready === "yes" && document.querySelectorAll(".row").length > 0'
DARK = 'getComputedStyle(document.body).backgroundColor.match(/\\d+/g).slice(0, 3).reduce((a, b) => a + +b, 0) < 200'


def test_live_page(bench, browser):
    """devices with values, presence and signal, by keyboard; a token; services over a link; no request leaves the origin"""
    bench.write('token', 'secret')
    gateway = serve(bench, 'sim', http=f', tokenFile: "{bench.path("token")}"',
                    more=f'gatt: {{tokenFile: "{bench.path("token")}"}}\npresence: {{timeout: 60}}\n'
                         'devices: [{address: "C0:DE:00:00:00:01", location: lab}]\n')
    origin = f'http://127.0.0.1:{gateway.port}'
    browser.looks(1280, 800)
    browser.open(origin + '/live')
    browser.wait('document.getElementById("ask").open', 'it asks for the token')
    for key in 'secret':
        browser.key(key)
    browser.key('Enter')
    browser.wait(READY, 'rows')
    browser.wait('document.getElementById("state").textContent === "live"', 'the stream')
    browser.wait('[...document.querySelectorAll(".row")].some(r => /Jelling Heart/.test(r.textContent) && /lab · home/.test(r.textContent) && '
                 '/dBm/.test(r.textContent))', 'the device')
    browser.wait('/scanning/.test(parts.textContent) && /connected/.test(parts.textContent) && /8 of 8 free/.test(parts.textContent)', 'adapters, queue, links')
    # Colours are drawn: the signal.
    assert browser.evaluate('(c => c.getContext("2d").getImageData(0, 0, c.width, c.height).data.some(x => x))(document.querySelector(".row canvas"))')
    browser.key('/')
    for key in 'jelling heart':
        browser.key(key)
    browser.wait('document.querySelectorAll(".row").length === 1', 'the search')
    browser.evaluate('document.getElementById("list").focus()')
    browser.key('ArrowDown')
    assert browser.evaluate('document.querySelector("[aria-selected=true]").id === document.getElementById("list").getAttribute("aria-activedescendant")')
    browser.key('Enter')
    browser.wait('!details.hidden && /C0:DE:00:00:00:01 random/.test(details.textContent)', 'the details')
    # By keyboard alone: the next stops are the buttons of the details.
    for _ in range(8):
        browser.key('Tab')
        if browser.evaluate('/Connect and list/.test(document.activeElement.textContent)'):
            break
    browser.key('Enter')
    browser.wait('/Heart Rate Measurement 2A37 · notify/.test(details.textContent) || document.getElementById("ask").open', 'services, or a token')
    if browser.evaluate('document.getElementById("ask").open'):
        for key in 'secret':
            browser.key(key)
        browser.key('Enter')
    browser.wait('/Heart Rate Measurement 2A37 · notify/.test(details.textContent)', 'services')
    assert browser.evaluate('details.querySelectorAll("li").length') > 15
    browser.key('Escape')
    browser.wait('details.hidden && document.activeElement.id === "list"', 'it closes')
    assert browser.requests and all(r.startswith(origin + '/') or r.startswith('data:') for r in browser.requests), browser.requests
    assert {r.removeprefix(origin).split('?')[0] for r in browser.requests if not r.startswith('data:')} == {
        '/live', '/health', '/api/adapters', '/api/queue', '/api/devices', '/api/sessions', '/events', '/api/gatt'}
    # The gateway goes and comes back: the page goes on.
    file = gateway.process.args[gateway.process.args.index('--config') + 1]
    gateway.end()
    browser.wait('/trying again/.test(document.getElementById("state").textContent)', 'it says that the gateway is away')
    gateway = bench.start('--config', file)
    browser.wait('document.getElementById("state").textContent === "live"', 'the stream is back')
    # It says what changes of the settings wait for.
    bench.write('gateway.yaml', pathlib.Path(file).read_text(encoding='utf-8') + 'matter: {url: "ws://127.0.0.1:1/ble"}\n')
    browser.wait('/need a restart: matter/.test(parts.textContent)', 'the restart')
    assert browser.errors == []


def test_live_looks(bench, browser):
    """dark as the system, no wider than a phone, and what devices call themselves is text"""
    radio = bench.scripted_radio()
    gateway = serve(bench, radio, broker=False)
    hostile = '<img src=x onerror=alert(1)>'.encode()
    radio.say('A4:C1:38:00:00:01', bytes([len(hostile) + 1, 9]).hex() + hostile.hex())
    radio.say('A4:C1:38:00:00:02', BTHOME)
    for width, height, dark in ((1280, 800, False), (1280, 800, True), (390, 800, False), (390, 800, True), (320, 640, False)):
        browser.looks(width, height, dark)
        browser.open(f'http://127.0.0.1:{gateway.port}/live')
        browser.wait(READY.replace('> 0', '=== 2'), 'rows')
        assert browser.evaluate(DARK) == dark, (width, dark)
        assert browser.evaluate('document.documentElement.scrollWidth <= innerWidth'), f'wider than {width}'
        found = rows(browser)
        assert any(hostile.decode() in r for r in found) and any('temperature 25 °C' in r for r in found), found
        assert browser.evaluate('document.images.length') == 0
        browser.evaluate('document.querySelector(".row").click()')
        browser.wait('!details.hidden', 'details')
        assert browser.evaluate('details.getBoundingClientRect().right <= innerWidth + 1'), f'details wider than {width}'
    policy = browser.evaluate('fetch("/live").then(a => a.headers.get("content-security-policy"))')
    assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy
    assert browser.errors == []


def test_live_thousand(bench, browser):
    """a thousand devices: few rows exist, scrolling goes on, and no script takes long"""
    packets = [[f'A4:C1:38:{n >> 8:02X}:{n & 255:02X}:07', BTHOME + '0609' + f'N{n:04}'.encode().hex()] for n in range(1000)]
    gateway = serve(bench, bench.packets(*packets, rate=1500), broker=False)
    gateway.wait_metric('devices', 999)
    browser.looks(1280, 800)
    browser.open(f'http://127.0.0.1:{gateway.port}/live')
    browser.wait('/^1000 devices/.test(document.getElementById("count").textContent)', 'a thousand devices')
    browser.wait('document.getElementById("state").textContent === "live"', 'the stream')
    found = browser.evaluate('''(async () => {
        const list = document.getElementById("list"), long = [];
        new PerformanceObserver(l => long.push(...l.getEntries().map(e => Math.round(e.duration)))).observe({entryTypes: ["longtask"]});
        let frames = 0, most = 0;
        const seen = new Set();
        for (const end = performance.now() + 5000; performance.now() < end; frames++) {
            list.scrollTop += 60;
            await new Promise(requestAnimationFrame);
            most = Math.max(most, document.querySelectorAll(".row").length);
            for (const row of document.querySelectorAll(".row .name")) seen.add(row.textContent);
        }
        return {frames, most, long, seen: seen.size};
    })()''')
    print(found)
    assert found['most'] < 60 and found['seen'] > 60 and found['frames'] > 10, found
    browser.evaluate('document.getElementById("list").focus()')
    browser.key('End')
    browser.wait('(l => l.scrollTop + l.clientHeight >= l.scrollHeight - 2)(document.getElementById("list"))', 'the last device')
    assert browser.errors == [] and gateway.get('/health')[0] == 200
