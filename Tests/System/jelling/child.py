"""Processes that print one JSON object a line, terminals for them, and waiting."""
import contextlib, fcntl, itertools, json, os, pathlib, pty, select, signal, socket, subprocess, termios, threading, time

# Seconds for what takes one on an idle machine: a time limit ends what hangs, and no case fails because
# others load the machine.
PATIENCE = 60


class Failure(AssertionError):
    pass


def wait_until(condition, what, timeout=PATIENCE, pause=0.02):
    """The value of the condition, once it is true. `what` may be a function that says it at the end."""
    end = time.monotonic() + timeout
    while not (value := condition()):
        if time.monotonic() > end:
            raise Failure(f'{what() if callable(what) else what}: not within {timeout} s')
        time.sleep(pause)
    return value


# Each process that runs tests has a range of its own.
PORTS = itertools.count(os.getpid() * 211)


def free_port():
    """Below those that the kernel gives to clients: no one takes it before, or between two uses."""
    while True:
        port = 15000 + next(PORTS) % 15000
        with socket.socket() as s:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                s.bind(('127.0.0.1', port))
                return port
            except OSError:
                pass


class Child:
    """A process that prints one JSON object per line; its lines are kept and can be waited for."""

    def __init__(self, name, arguments, log, environment=None, terminal=None, stdin=subprocess.DEVNULL, start=subprocess.Popen, **how):
        self.name, self.log = name, log
        self.lines, self.strays, self.changed = [], [], threading.Condition()
        self.started = time.monotonic()
        self.is_ended = False
        self.errors = open(log, 'wb')
        self.process = start(
            arguments, stdin=terminal.device if terminal else stdin, stdout=subprocess.PIPE,
            stderr=terminal.device if terminal else self.errors, env=environment,
            preexec_fn=terminal.take if terminal else None, **how)
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            text = line.decode('utf-8', 'replace').rstrip('\n')
            try:
                value = json.loads(text.removeprefix('READY '))
                if not isinstance(value, dict):
                    raise ValueError
            except ValueError:
                value = None
            with self.changed:
                self.lines.append(value) if value is not None else self.strays.append(text)
                self.changed.notify_all()
        with self.changed:
            self.changed.notify_all()

    def wait_for(self, wanted, what, timeout=PATIENCE, count=1):
        """The first `count` lines for which `wanted` is true."""
        end = time.monotonic() + timeout
        with self.changed:
            while True:
                found = [l for l in self.lines if wanted(l)]
                if len(found) >= count:
                    return found[:count]
                left = end - time.monotonic()
                if left <= 0 or (self.process.poll() is not None and not self.reader.is_alive()):
                    raise Failure(f'{self.name}: {len(found)} of {count} × {what} in {timeout} s; '
                                  f'last lines {self.lines[-3:]}; stderr: {self.stderr()[-400:]}')
                self.changed.wait(min(left, 0.2))

    def events(self, name):
        return [line for line in list(self.lines) if name in (line.get('event'), line.get('ev'))]

    def wait_event(self, name, timeout=PATIENCE, count=1):
        """The first `count` lines about this event, of our programs (`event`) or of those in Tools/peers (`ev`)."""
        return self.wait_for(lambda line: name in (line.get('event'), line.get('ev')), name, timeout, count)

    def wait_stderr(self, text, timeout=PATIENCE):
        """Until it has said this on standard error."""
        is_over = lambda: self.process.poll() is not None and not self.reader.is_alive()
        wait_until(lambda: text in self.stderr() or is_over(), lambda: f'{self.name}: {text!r}: {self.stderr()[-600:]}', timeout)
        if text not in self.stderr():
            raise Failure(f'{self.name} ended with {self.process.poll()} without {text!r}: {self.stderr()[-600:]}')

    def may_end(self, seconds):
        """Gives it this time to end by itself."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(seconds)

    def stderr(self):
        return pathlib.Path(self.log).read_text(encoding='utf-8', errors='replace').strip()

    def end(self, how=signal.SIGTERM, timeout=PATIENCE):
        # First: while one thread waits for a process, poll() reports to every other thread that it still runs.
        self.is_ended = True
        if self.process.poll() is None:
            self.process.send_signal(how)
            try:
                self.process.wait(timeout)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.reader.join(PATIENCE)
        self.errors.close()
        return self.process.returncode

    def ends_well(self):
        """Ends it, with status 0."""
        self.end()
        assert self.process.returncode == 0, f'{self.name}: status {self.process.returncode}: {self.stderr()[-600:]}'


class Running(subprocess.Popen):
    """A program that outlives neither its `with` nor this time; what it prints can be read."""

    def __init__(self, command, limit=10 * PATIENCE, **how):
        super().__init__(command, **{'stdin': subprocess.DEVNULL, 'stdout': subprocess.PIPE, 'stderr': subprocess.DEVNULL, 'text': True,
                                     **how})
        self.limit = threading.Timer(limit, self.kill)
        self.limit.daemon = True
        self.limit.start()

    def __exit__(self, *what):
        self.limit.cancel()
        self.kill()
        super().__exit__(*what)


class Terminal:
    """A terminal with a user, for standard input and standard error of one process."""

    def __init__(self):
        self.person, self.device = pty.openpty()
        self.shown = ''

    def take(self):
        """In the new process: makes this its terminal."""
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    def wait_for(self, text, timeout=PATIENCE):
        end = time.monotonic() + timeout
        while text not in self.shown:
            left = end - time.monotonic()
            if left <= 0:
                raise Failure(f'{text!r} was not shown in {timeout} s, but {self.shown!r}')
            if select.select([self.person], [], [], min(left, 0.2))[0]:
                self.shown += os.read(self.person, 4096).decode('utf-8', 'replace')

    def type(self, line):
        os.write(self.person, line.encode() + b'\n')

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        os.close(self.person)
        os.close(self.device)


class Result:
    """The result of a finished run of the tool: exit status, JSON lines, stderr, seconds."""

    def __init__(self, child, status):
        self.status, self.lines, self.stderr = status, list(child.lines), child.stderr()
        self.seconds = time.monotonic() - child.started
        self.strays = list(child.strays)
        self.arguments = child.name

    def events(self, name):
        return [l for l in self.lines if l.get('event') == name]

    def describe(self):
        return (f'`{self.arguments}` ended with {self.status} after {self.seconds:.1f} s; '
                f'stdout {str((self.lines[-4:], self.strays[-2:]))[:500]}; stderr {self.stderr[-400:]}')
