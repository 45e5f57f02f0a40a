"""A program in a terminal of its own: what it draws, as a screen of characters, and keys for it."""
import fcntl, os, pty, re, select, signal, struct, subprocess, termios, time, unicodedata

SEQUENCE = re.compile(r'\x1b(?:\[([?0-9;]*)([@-~])|[()].|[=>78cDEHM])')


def width(character):
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in 'WF' else 1


class Screen:
    """The part of a terminal that the tool uses: cursor, erasing, a second screen, and how characters look."""

    def __init__(self, columns, rows):
        self.columns, self.rows = columns, rows
        self.first = None
        self.clear()
        self.style, self.pending, self.unknown, self.modes = '', '', [], set()

    def resize(self, columns, rows):
        """Another size; what was shown is gone."""
        self.columns, self.rows = columns, rows
        self.clear()
        if self.first:
            self.first = (self.cells, 0, 0)
            self.clear()

    def clear(self):
        self.cells = [[(' ', '')] * self.columns for _ in range(self.rows)]
        self.x = self.y = 0

    def feed(self, text):
        text = self.pending + text
        self.pending = ''
        at = 0
        while at < len(text):
            character = text[at]
            if character == '\x1b':
                found = SEQUENCE.match(text, at)
                if not found:
                    self.pending = text[at:]
                    return
                self.act(found)
                at = found.end()
                continue
            at += 1
            if character == '\r':
                self.x = 0
            elif character == '\n':
                self.line_feed()
            elif character == '\b':
                self.x = max(0, self.x - 1)
            elif character >= ' ':
                if self.x + width(character) > self.columns:
                    self.x = 0
                    self.line_feed()
                if width(character):
                    self.cells[self.y][self.x] = (character, self.style)
                    if width(character) == 2 and self.x + 1 < self.columns:
                        self.cells[self.y][self.x + 1] = ('', self.style)
                self.x += width(character)

    def line_feed(self):
        if self.y == self.rows - 1:
            self.cells = self.cells[1:] + [[(' ', '')] * self.columns]
        else:
            self.y += 1

    def act(self, found):
        arguments, final = found[1] or '', found[2]
        numbers = [int(n) for n in arguments.lstrip('?').split(';') if n.isdigit()]
        if final == 'H':
            self.y, self.x = (numbers + [1, 1])[0] - 1 if numbers else 0, (numbers[1] - 1 if len(numbers) > 1 else 0)
        elif final == 'K':
            self.cells[self.y][self.x:] = [(' ', '')] * (self.columns - self.x)
        elif final == 'J':
            if numbers == [2]:
                self.cells = [[(' ', '')] * self.columns for _ in range(self.rows)]
            else:
                self.cells[self.y][self.x:] = [(' ', '')] * (self.columns - self.x)
                for y in range(self.y + 1, self.rows):
                    self.cells[y] = [(' ', '')] * self.columns
        elif final == 'm':
            self.style = '' if numbers in ([], [0]) else (self.style + ';' + arguments).strip(';')
        elif final == 'D':
            self.x = max(0, self.x - (numbers or [1])[0])
        elif final in 'hl' and arguments.startswith('?'):
            (self.modes.add if final == 'h' else self.modes.discard)(numbers[0])
            if numbers[0] == 1049:
                if final == 'h':
                    self.first = (self.cells, self.x, self.y)
                    self.clear()
                elif self.first:
                    (self.cells, self.x, self.y), self.first = self.first, None
        else:
            self.unknown.append(found[0])

    @property
    def lines(self):
        return [''.join(c for c, _ in row).rstrip() for row in self.cells]

    @property
    def text(self):
        return '\n'.join(self.lines)


def take_terminal():
    """Run in the child: the terminal is its own, and so are ^C and its end, which a shell or nohup may have had ignored."""
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


class Program:
    """A command at a terminal."""

    def __init__(self, command, columns=100, rows=24, **environment):
        self.screen = Screen(columns, rows)
        self.raw = ''
        self.terminal, device = pty.openpty()
        self.resize(columns, rows)
        self.before = termios.tcgetattr(device)
        names = {'TERM': 'xterm-256color', 'LANG': 'C.UTF-8', 'LC_ALL': 'C.UTF-8', **environment}
        settings = {k: v for k, v in {**os.environ, **names}.items() if v is not None and (k != 'NO_COLOR' or k in names)}
        self.process = subprocess.Popen(command, stdin=device, stdout=device, stderr=device, env=settings,
                                        start_new_session=True, preexec_fn=take_terminal)
        self.device = device

    def resize(self, columns, rows):
        self.screen.resize(columns, rows)
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack('HHHH', rows, columns, 0, 0))

    def read(self, seconds):
        """Takes what is drawn within the time; whether anything was."""
        if not select.select([self.terminal], [], [], seconds)[0]:
            return False
        try:
            text = os.read(self.terminal, 65536).decode(errors='replace')
        except OSError:
            return False
        self.raw += text
        self.screen.feed(text)
        return bool(text)

    def until(self, holds, seconds=60):
        """Waits for the screen to be as wanted; whether it came to be."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if holds(self.screen):
                return True
            if not self.read(0.2) and self.process.poll() is not None and not self.read(0):
                return holds(self.screen)
        return False

    def shows(self, pattern, seconds=60):
        return self.until(lambda screen: re.search(pattern, screen.text), seconds)

    def press(self, keys):
        os.write(self.terminal, keys.encode())

    def end(self, seconds=60):
        """The exit status; `None` when it had to be killed."""
        end = time.monotonic() + seconds
        while self.process.poll() is None and time.monotonic() < end:
            self.read(0.1)
        while self.read(0.1):
            pass
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
            return None
        return self.process.returncode

    def is_given_back(self):
        """Whether the terminal is in the mode in which it was."""
        return termios.tcgetattr(self.device) == self.before and 1049 not in self.screen.modes

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        os.close(self.terminal)
        os.close(self.device)
