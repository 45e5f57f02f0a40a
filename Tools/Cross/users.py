"""Names, scripts, readers and files that would harm ble-gw and ble-beacon, over a controller that behaves."""
import fcntl, json, os, random, signal, socket, struct, subprocess, tempfile, termios, threading, time

import hostile

PATIENCE = 300
HIDDEN = 'A\u009b2J\u0085{}\u2028\u202eB\u200b\U000e0041'


def end_of(process, seconds=PATIENCE):
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        return 'none: it did not end'


class Bench:
    """A controller on loopback, and programs on it."""

    def __init__(self, folder, case=lambda line, numbers: hostile.obedient(line)):
        self.folder = folder
        self.listener = socket.create_server(('127.0.0.1', 0))
        self.endpoint = f'tcp:127.0.0.1:{self.listener.getsockname()[1]}'
        threading.Thread(target=hostile.serve, args=(self.listener, case, random.Random(1)), daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.close()

    def start(self, name, *options, **how):
        return subprocess.Popen([os.path.join(self.folder, name), '-t', self.endpoint, *options],
                                **{'stdin': subprocess.PIPE, 'stdout': subprocess.PIPE, 'stderr': subprocess.PIPE, **how})

    def gateway(self, commands, *options):
        """Status, standard output, standard error"""
        process = self.start('ble-gw', *options)
        out, err = process.communicate(commands, timeout=PATIENCE)
        return process.returncode, out, err


def name_that_a_terminal_obeys(folder):
    """a device's name that a terminal would obey is escaped in JSON"""
    name = HIDDEN.encode()
    said = hostile.report(1, bytes([len(name) + 1, 9]) + name)

    def speak(line, _):
        def after(line):
            line.say(said)
        hostile.obedient(line, after=after)

    with Bench(folder, speak) as bench:
        status, out, _ = bench.gateway(b'scan 60 count=1\nquit\n')
    found = [json.loads(l) for l in out.decode().splitlines() if '"discovered"' in l]
    good = status == 0 and found and found[0].get('name') == HIDDEN and out.isascii()
    return good, f'status {status}, {out!r}'


def long_script(folder):
    """two megabytes of commands are all read, and none is cut"""
    script = b'# nothing\n' * 200_000 + b'wait 0\n' + b'#' * 200_000 + b'\nnonsense\n'
    for feed in ('pipe', 'file'):
        with Bench(folder) as bench, tempfile.TemporaryFile() as file:
            if feed == 'pipe':
                status, out, err = bench.gateway(script)
            else:
                file.write(script)
                file.seek(0)
                process = bench.start('ble-gw', stdin=file)
                out, err = process.communicate(timeout=PATIENCE)
                status = process.returncode
        errors = [json.loads(l) for l in out.decode().splitlines() if '"error"' in l]
        lines = [e.get('line') for e in errors]
        # One for the line that is too long, one for the word that is no command.
        if status != 1 or lines != [200_002, 200_003] or 'too long' not in errors[0]['message']:
            return False, f'{feed}: status {status}, {out[-300:]!r} {err[-300:]!r}'
    return True, ''


def reader_that_stops(folder):
    """SIGTERM ends a program whose output nobody reads"""
    with Bench(folder) as bench:
        process = bench.start('ble-gw')

        def feed():
            try:
                process.stdin.write(b'nonsense\n' * 50_000)
                process.stdin.close()
            except OSError:
                pass
        threading.Thread(target=feed, daemon=True).start()
        end, before = time.monotonic() + PATIENCE, -1
        while time.monotonic() < end:
            now = struct.unpack('i', fcntl.ioctl(process.stdout, termios.FIONREAD, bytes(4)))[0]
            if now == before and now > 32_768:
                break
            before = now
            time.sleep(0.5)
        process.send_signal(signal.SIGTERM)
        status = end_of(process, 60)
        process.stdout.close()
    return status == 1, f'status {status}, {before} octets'


def output_that_does_not_wait(folder):
    """a full output that does not block is waited for"""
    with Bench(folder) as bench:
        ours, theirs = os.pipe()
        fcntl.fcntl(theirs, fcntl.F_SETFL, fcntl.fcntl(theirs, fcntl.F_GETFL) | os.O_NONBLOCK)
        process = bench.start('ble-gw', stdout=theirs)
        os.close(theirs)

        def feed():
            process.stdin.write(b'nonsense\n' * 5_000)
            process.stdin.close()
        threading.Thread(target=feed, daemon=True).start()
        with os.fdopen(ours, 'rb') as reader:
            time.sleep(1)
            lines = reader.read().decode().splitlines()
        status = end_of(process)
    return status == 1 and len(lines) == 5_000 and all(map(json.loads, lines)), f'status {status}, {len(lines)} lines'


def closed_output(folder):
    """with standard output closed, nothing else goes to the controller"""
    heard = []

    def listen(line, _):
        while True:
            packet = line.hear()
            heard.append(packet)
            for said in hostile.answers(packet):
                line.say(said)

    with Bench(folder, listen) as bench:
        process = subprocess.Popen(['sh', '-c', f'exec {os.path.join(folder, "ble-gw")} -t {bench.endpoint} >&-'],
                                   stdin=subprocess.PIPE, stderr=subprocess.PIPE)
        process.communicate(b'scan 1\nquit\n', timeout=PATIENCE)
    return process.returncode == 0 and heard and all(p[0] in (1, 2) for p in heard), f'status {process.returncode}, {heard[:3]}'


def profile_that_is_long(folder):
    """a chain of services is read at once, and one of thousands is refused"""
    def chain(count):
        return {'services': [{'uuid': f'{i + 0x1000:04X}', 'includes': [f'{i + 0x1001:04X}'] if i + 1 < count else []}
                             for i in range(count)]}
    with Bench(folder) as bench, tempfile.TemporaryDirectory() as scratch:
        file = os.path.join(scratch, 'profile.json')
        for count, wanted in ((250, 0), (4_000, 2)):
            with open(file, 'w') as f:
                json.dump(chain(count), f)
            process = bench.start('ble-beacon', file)
            if not wanted:
                first = process.stdout.readline()
                process.send_signal(signal.SIGTERM)
            out, err = process.communicate(timeout=PATIENCE)
            if process.returncode != wanted or (wanted == 2 and b'at most 255' not in err) or (not wanted and b'"event"' not in first):
                return False, f'{count} services: status {process.returncode}, {err[-300:]!r}'
    return True, ''


def profile_that_a_terminal_obeys(folder):
    """a key of a profile that a terminal would obey is not printed as it is"""
    with Bench(folder) as bench, tempfile.TemporaryDirectory() as scratch:
        file = os.path.join(scratch, 'profile.json')
        with open(file, 'w') as f:
            json.dump({'services': [{'uuid': '180F', 'a\u001b]0;owned\u0007\u009b2J': 1}]}, f)
        process = bench.start('ble-beacon', file)
        _, err = process.communicate(timeout=PATIENCE)
    shown = err.replace('‘'.encode(), b'').replace('’'.encode(), b'')
    return process.returncode == 2 and shown.strip().isascii() and shown.strip().decode().isprintable(), f'{err!r}'


def hidden_passkey(folder):
    """the passkey of the command line is overwritten"""
    with Bench(folder) as bench:
        process = bench.start('ble-beacon', '--passkey', '271828')
        process.stdout.readline()
        with open(f'/proc/{process.pid}/cmdline', 'rb') as f:
            line = f.read()
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=PATIENCE)
    return process.returncode == 0 and b'271828' not in line and b'--passkey' in line, f'status {process.returncode}, {line!r}'


CASES = [name_that_a_terminal_obeys, long_script, reader_that_stops, output_that_does_not_wait, closed_output,
         profile_that_is_long, profile_that_a_terminal_obeys, hidden_passkey]


def all_cases(folder):
    """(what, whether it is good, why not) of each case."""
    for case in CASES:
        try:
            is_good, why = case(folder)
        except (OSError, ValueError, subprocess.TimeoutExpired) as error:
            is_good, why = False, f'{type(error).__name__}: {error}'
        yield case.__doc__, bool(is_good), why
