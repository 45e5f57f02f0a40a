"""Chromium, driven by its DevTools protocol: what a page asks for, what it shows, and keys."""
import base64, contextlib, itertools, json, os, shutil, subprocess, tempfile, time, urllib.request

from websockets.sync.client import connect

from jelling.child import Failure, wait_until

PATIENCE = 180


def program():
    return next((b for b in ('chromium', 'chromium-browser', 'google-chrome') if shutil.which(b)), None)


class Browser:
    """One page. `requests` has the addresses of all that it asked for, `errors` what went wrong in it."""

    def __init__(self):
        if not program():
            raise Failure('missing: Chromium; Tools/install page')
        self.folder = tempfile.mkdtemp(prefix='jelling-browser-')
        self.process = subprocess.Popen(
            [program(), '--headless', '--no-sandbox', '--disable-gpu', '--hide-scrollbars', '--remote-debugging-port=0',
             f'--user-data-dir={self.folder}', 'about:blank'], stderr=subprocess.PIPE, text=True)
        self.numbers, self.requests, self.errors, self.open_things = itertools.count(1), [], [], contextlib.ExitStack()
        line = next((l for l in self.process.stderr if 'DevTools listening' in l), None)
        if not line:
            raise Failure('Chromium does not start')
        port = line.split(':')[-1].split('/')[0]
        pages = json.load(urllib.request.urlopen(f'http://127.0.0.1:{port}/json', timeout=PATIENCE))
        page = next(p for p in pages if p['type'] == 'page')['webSocketDebuggerUrl']
        self.socket = self.open_things.enter_context(connect(page, max_size=None, proxy=None, ping_interval=None))
        for domain in ('Network', 'Runtime', 'Page'):
            self.call(domain + '.enable')

    def call(self, method, **parameters):
        number = next(self.numbers)
        self.socket.send(json.dumps({'id': number, 'method': method, 'params': parameters}))
        while True:
            message = json.loads(self.socket.recv(PATIENCE))
            if message.get('id') == number:
                assert 'error' not in message, f'{method}: {message}'
                return message['result']
            if message.get('method') == 'Network.requestWillBeSent':
                self.requests.append(message['params']['request']['url'])
            if message.get('method') == 'Runtime.exceptionThrown':
                self.errors.append(message['params']['exceptionDetails']['exception'].get('description', '?'))

    def looks(self, width, height, dark=False):
        self.call('Emulation.setDeviceMetricsOverride', width=width, height=height, deviceScaleFactor=1, mobile=width < 500)
        self.call('Emulation.setEmulatedMedia', features=[{'name': 'prefers-color-scheme', 'value': 'dark' if dark else 'light'}])

    def open(self, address):
        self.call('Page.navigate', url=address)

    def evaluate(self, expression, fails=True):
        try:
            found = self.call('Runtime.evaluate', expression=expression, awaitPromise=True, returnByValue=True)
        except AssertionError as error:
            # A page that gives way to the next one meanwhile has no value.
            if fails or 'Inspected target navigated' not in str(error):
                raise
            return None
        assert not fails or 'exceptionDetails' not in found, found
        return found['result'].get('value') if 'exceptionDetails' not in found else None

    def wait(self, expression, what):
        """Until it is true; what is not there yet is not."""
        return wait_until(lambda: self.evaluate(expression, fails=False), lambda: f'{what}; errors: {self.errors}', PATIENCE, 0.2)

    def key(self, key, text=None):
        codes = {'Enter': 13, 'Escape': 27, 'ArrowUp': 38, 'ArrowDown': 40, 'End': 35, 'Home': 36, 'Tab': 9, 'PageDown': 34}
        code = codes.get(key, ord(key[0].upper()))
        for kind in ('keyDown', 'keyUp'):
            more = {'text': text or (key if len(key) == 1 else '\r' if key == 'Enter' else '')} if kind == 'keyDown' else {}
            self.call('Input.dispatchKeyEvent', type=kind, key=key, code=key, windowsVirtualKeyCode=code,
                      nativeVirtualKeyCode=code, **{k: v for k, v in more.items() if v})

    def picture(self, path):
        time.sleep(0.5)
        with open(path, 'wb') as file:
            file.write(base64.b64decode(self.call('Page.captureScreenshot')['data']))

    def close(self):
        self.open_things.close()
        self.process.kill()
        self.process.wait()
        # Its other processes may still write into it.
        for _ in range(20):
            shutil.rmtree(self.folder, ignore_errors=True)
            if not os.path.exists(self.folder):
                break
            time.sleep(0.1)
