"""Bumble's own programs as they are installed, each on a terminal of its own with a person who reads and types."""
import codecs, fcntl, json, os, pathlib, re, struct, subprocess, termios, threading, time

from jelling.child import PATIENCE, Child, Failure, Terminal
from jelling.programs import PYTHON

COLORS = re.compile(r'\x1b\[[0-9;?]*[A-Za-z]|\r')
# The beginning of one at the end.
HALF = re.compile(r'\x1b(\[[0-9;?]*)?\Z')
# What a program is as a device, where it reads that from a file.
ADDRESS, NAME = 'F1:F2:F3:F4:F5:F6', 'Bumble'


class App(Child):
    """`bumble-NAME` on this controller; its arguments may hold {transport} and {config}."""

    def __init__(self, lab, name, *arguments, transport=None):
        transport = transport or lab.peer_endpoint
        transport = transport.replace('tcp:', 'tcp-client:', 1).replace('unix:', 'unix-client:', 1)
        lab.number += 1
        config = lab.path(f'device{lab.number}.json')
        pathlib.Path(config).write_text(json.dumps({'name': NAME, 'address': ADDRESS, 'advertising_interval': 100}))
        arguments = [a.format(transport=transport, config=config) for a in arguments]
        self.name, self.shown, self.changed = f'bumble-{name} {" ".join(arguments)}', '', threading.Condition()
        terminal = Terminal()
        device, self.person = terminal.device, terminal.person
        # Is closed at the end.
        self.errors = os.fdopen(self.person, 'rb', buffering=0)
        fcntl.ioctl(device, termios.TIOCSWINSZ, struct.pack('HHHH', 60, 400, 0, 0))
        settings = termios.tcgetattr(device)
        settings[3] &= ~termios.ECHO
        termios.tcsetattr(device, termios.TCSANOW, settings)
        self.process = subprocess.Popen(
            [PYTHON, '-u', '-m', f'bumble.apps.{name.replace("-", "_")}', *arguments], stdin=device, stdout=device, stderr=device,
            preexec_fn=terminal.take, env={**os.environ, 'HOME': lab.dir, 'BUMBLE_LOGLEVEL': 'WARNING', 'TERM': 'xterm'})
        os.close(device)
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()
        lab.children.append(self)

    def read(self):
        decoder, half = codecs.getincrementaldecoder('utf-8')('replace'), ''
        while True:
            try:
                data = os.read(self.person, 65536)
            except OSError:   # the last one that had the terminal has gone
                data = b''
            text = half + decoder.decode(data, not data)
            half = found[0] if data and (found := HALF.search(text)) else ''
            with self.changed:
                self.shown += COLORS.sub('', text.removesuffix(half))
                self.changed.notify_all()
            if not data:
                return

    def wait_for(self, pattern, timeout=2 * PATIENCE, after=0):
        """The first match in what it has shown, after so many characters."""
        end, pattern = time.monotonic() + timeout, re.compile(pattern)
        with self.changed:
            while not (found := pattern.search(self.shown, after)):
                if time.monotonic() > end or not self.reader.is_alive():
                    raise Failure(f'{self.name}: no {pattern.pattern!r} in {self.shown[after:][-1500:]!r}')
                self.changed.wait(0.2)
        return found

    def type(self, line):
        os.write(self.person, line.encode() + b'\n')

    def finished(self, timeout=2 * PATIENCE):
        """Waits until it ends by itself; all that it has shown."""
        try:
            status = self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            raise Failure(f'{self.name} still runs; {self.shown[-1500:]!r}') from None
        self.reader.join(PATIENCE)
        if status:
            raise Failure(f'{self.name} ended with {status}: {self.shown[-1500:]!r}')
        return self.shown
