"""Names, scripts, readers and files that would harm ble-gw and ble-beacon, over a controller that behaves."""
import datetime, fcntl, json, os, random, shutil, signal, socket, struct, subprocess, tempfile, termios, threading, time

import attempts, hostile

PATIENCE = 300
PEER = 'F2:F1:F0:00:00:02/random'
HIDDEN = 'A\u009b2J\u0085{}\u2028\u202eB\u200b\U000e0041'


def end_of(process, seconds=PATIENCE):
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        return 'none: it did not end'


def line_of(process, seconds=PATIENCE):
    """A line of its output; a program that says none in that time is killed."""
    limit = threading.Timer(seconds, process.kill)
    limit.start()
    try:
        return process.stdout.readline()
    finally:
        limit.cancel()


class Bench:
    """A controller on loopback, and programs on it, which end with it at the latest."""

    def __init__(self, folder, case=lambda line, numbers: hostile.obedient(line)):
        self.folder, self.started = folder, []
        self.listener = socket.create_server(('127.0.0.1', 0))
        self.endpoint = f'tcp:127.0.0.1:{self.listener.getsockname()[1]}'
        threading.Thread(target=hostile.serve, args=(self.listener, case, random.Random(1)), daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.close()
        for process in self.started:
            if process.poll() is None:
                process.kill()
                process.wait()

    def start(self, name, *options, **how):
        return self.launch([os.path.join(self.folder, name), '-t', self.endpoint, *options], **how)

    def launch(self, command, **how):
        pipes = dict.fromkeys(('stdin', 'stdout', 'stderr'), subprocess.PIPE)
        process = subprocess.Popen(command, **{**pipes, **how})
        self.started.append(process)
        return process

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


def time_of_a_line(folder):
    """lines tell the time, as RFC 3339 writes it"""
    before = datetime.datetime.now(datetime.timezone.utc)
    with Bench(folder) as bench:
        status, out, _ = bench.gateway(b'nonsense\nquit\n')
    told = datetime.datetime.strptime(json.loads(out.splitlines()[0])['time'], '%Y-%m-%dT%H:%M:%S.%fZ')
    told = told.replace(tzinfo=datetime.timezone.utc)
    return before <= told <= datetime.datetime.now(datetime.timezone.utc), f'status {status}, before {before}, {out!r}'


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


def wait_that_ends_by_time(folder):
    """what stands behind a wait that ends by time is carried out, with standard input open and closed"""
    for command, wanted in (('wait 0', ['usage']), ('wait 0 count=1', ['timeout', 'usage'])):
        for is_closed in (True, False):
            with Bench(folder) as bench:
                process = bench.start('ble-gw')
                process.stdin.write(f'{command}\nnonsense\nquit\n'.encode())
                process.stdin.flush()
                # Nothing else may wake it.
                status = None if is_closed else end_of(process)
                out, _ = process.communicate(timeout=PATIENCE)
            codes = [json.loads(line).get('code') for line in out.decode().splitlines()]
            if process.returncode != 1 or status not in (None, 1) or codes != wanted:
                return False, f'{command}: status {status}, {process.returncode}, {out!r}'
    return True, ''


def commands_that_say_nothing(folder):
    """values that cannot be, and words that no command takes, are refused"""
    wrong = ['scan rssi=abc', 'scan rssi=50', 'scan rssi=0', 'scan rssi=-128', 'scan rssi=--70', 'scan count=x', 'scan count=0',
             'wait count=0', 'wait 1 count=x', 'read 2A19 2A38', 'write 2A39 01 comand', 'write 2A39 01 02 command',
             'discover all', 'subscribe 2A37 now', 'pair 1 2', 'rssi now', 'bonds all', 'disconnect now',
             'scan ' + 40 * 'passive ']
    lines = ['discover', 'connect C1:00:00:00:00:01/random timeout=60', *wrong, 'disconnect', 'discover', 'quit']
    with Bench(folder) as bench:
        status, out, _ = bench.gateway('\n'.join(lines).encode())
    found = [json.loads(line) for line in out.decode().splitlines()]
    codes = {e.get('line'): e['code'] for e in found if e['event'] == 'error'}
    wanted = {1: 'usage', **{n: 'usage' for n in range(3, 3 + len(wrong))}, 4 + len(wrong): 'linkLost'}
    missing = [lines[n - 1] for n in wanted if codes.get(n) != wanted[n]]
    return status == 1 and codes == wanted, f'status {status}, {missing}, {out[-600:]!r}'


def mtu_exchange_that_fails(folder):
    """a link that is lost while the MTU is exchanged is no connection, and its MTU is no earlier link's"""
    links = []

    def speak(line, _):
        while True:
            packet = line.hear()
            if packet[0] != 2 or packet[9] != 0x02:
                for said in hostile.answers(packet):
                    line.say(said)
                continue
            links.append(packet)
            acknowledged, *answered = hostile.answers(packet)
            line.say(acknowledged)
            if len(links) == 1:
                line.say(*answered)
            elif len(links) == 2:
                # Request Not Supported
                line.say(b'\x02\x40\x20\x09\x00\x05\x00\x04\x00\x01\x02\x00\x00\x06')
            elif len(links) == 3:
                line.say(hostile.event(0x05, b'\0\x40\0\x08'))
            elif len(links) == 5:
                line.say(*answered)

    connect = b'connect C1:00:00:00:00:01/random timeout='
    # The third link is lost. The fourth gets no answer: after 5 s the engine reports it nevertheless, and ble-gw gives up later.
    # The connect behind it must not find it.
    commands = 2 * (connect + b'60\ndisconnect\n') + connect + b'60\n' + connect + b'10\n' + connect + b'60\ndisconnect\nquit\n'
    with Bench(folder, speak) as bench:
        status, out, _ = bench.gateway(commands)
    found = [json.loads(line) for line in out.decode().splitlines()]
    said = [e.get('mtu') or e.get('code') or e.get('reason') for e in found]
    closed = 'closed by this side'
    wanted = [517, closed, 23, closed, 'connectionFailed', 'deviceNotReached', 517, closed]
    return status == 1 and said == wanted, f'status {status}, {out!r}'


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
        process = bench.launch(['sh', '-c', f'exec {os.path.join(folder, "ble-gw")} -t {bench.endpoint} >&-'], stdout=None)
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
                first = line_of(process)
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
        line_of(process)
        with open(f'/proc/{process.pid}/cmdline', 'rb') as f:
            line = f.read()
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=PATIENCE)
    return process.returncode == 0 and b'271828' not in line and b'--passkey' in line, f'status {process.returncode}, {line!r}'


def passkey_of_a_file(folder):
    """a passkey comes from the first line of a file or of standard input; what is none is refused without a word of it"""
    with Bench(folder) as bench, tempfile.TemporaryDirectory() as scratch:
        path = os.path.join(scratch, 'passkey')
        for text, wanted in ((b'271828\r\nmore\n', 0), (b'27182\n', 2), (b'', 2)):
            with open(path, 'wb') as f:
                f.write(text)
            for name in (path, '-'):
                with open(path, 'rb') as given:
                    process = bench.start('ble-beacon', '--passkey-file', name, stdin=given)
                    if wanted == 0:
                        line_of(process)
                        process.send_signal(signal.SIGTERM)
                    _, err = process.communicate(timeout=PATIENCE)
                if process.returncode != wanted or b'27182' in err or (wanted and b'six digits' not in err):
                    return False, f'{text!r} of {name}: status {process.returncode}, {err!r}'
    return True, ''


def state_file(scratch, bond):
    """A file with a bond in a folder of its own."""
    path = os.path.join(scratch, 'state', 'bonds')
    os.mkdir(os.path.dirname(path))
    write_state(path, bond)
    return path


def blob_of(bond):
    """A bond of Secure Connections as BondBlob.swift writes it."""
    address, kind = bond['identity'].split('/')
    whole = (b'JB\1' + struct.pack('<H', 1 | 16 | 32) + bytes.fromhex(address.replace(':', ''))[::-1] + bytes([kind == 'random', 16])
             + (bytes.fromhex(bond['key'])[::-1] + bytes(10)) * 2 + bytes(8))
    check = 0x811C9DC5
    for octet in whole:
        check = (check ^ octet) * 0x01000193 & 0xFFFFFFFF
    return whole + struct.pack('<I', check)


def write_state(path, bond):
    """A file with a bond, as ble-gw writes it."""
    blob = blob_of(bond)
    with open(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), 'wb') as f:
        f.write(b'JELLING1' + b'\x22' * 16 + bytes.fromhex('C90000000009') + len(blob).to_bytes(4, 'little') + blob)


BOND = {'identity': 'C1:00:00:00:00:01/random', 'key': '11' * 16}


def bonds_that_cannot_be_written(folder):
    """a bond that is removed from memory, but not from its file, is an error"""
    with Bench(folder) as bench, tempfile.TemporaryDirectory() as scratch:
        path = state_file(scratch, BOND)
        process = bench.start('ble-gw', '--state', path)
        process.stdin.write(b'bonds\n')
        process.stdin.flush()
        first = json.loads(line_of(process))
        shutil.rmtree(os.path.dirname(path))
        out, err = process.communicate(b'unpair C1:00:00:00:00:01/random\n', timeout=PATIENCE)
    lines = [json.loads(line) for line in out.decode().splitlines()]
    good = (first.get('event'), process.returncode) == ('bond', 1) and [l.get('code') for l in lines] == ['stateUnusable']
    return good, f'status {process.returncode}, {first}, {lines}, {err[-300:]!r}'


def bonds_of_a_pairing_that_cannot_be_written(folder):
    """a pairing whose bond cannot be written is an error"""
    with attempts.opened() as lab, Bench(folder) as bench, tempfile.TemporaryDirectory() as scratch:
        path = os.path.join(scratch, 'state', 'bonds')
        os.mkdir(os.path.dirname(path))
        process = bench.launch([os.path.join(folder, 'ble-gw'), '-t', lab.endpoint, '--state', path])
        process.stdin.write(f'connect {PEER} timeout={PATIENCE}\n'.encode())
        process.stdin.flush()
        first = json.loads(line_of(process))
        shutil.rmtree(os.path.dirname(path))
        out, err = process.communicate(b'pair\n', timeout=PATIENCE)
    codes = [line.get('code') for line in map(json.loads, out.decode().splitlines()) if line.get('event') == 'error']
    good = (first.get('event'), process.returncode, codes) == ('connected', 1, ['stateUnusable'])
    return good, f'status {process.returncode}, {first}, {out[-600:]!r}, {err[-300:]!r}'


def as_another_user(body):
    """Runs this as a user who is not this one."""
    child = os.fork()
    if child == 0:
        try:
            os.umask(0)
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)
            body()
            os._exit(0)
        finally:
            os._exit(1)
    if os.waitpid(child, 0)[1]:
        raise RuntimeError('the other user could not do it')


def planted_state(folder):
    """what another user has put in place of a state file or of a profile is refused, and nobody waits for a pipe"""
    if os.geteuid():
        return False, 'this needs root, because it acts as two users'
    refused = []
    with Bench(folder) as bench, tempfile.TemporaryDirectory() as scratch:
        os.chmod(scratch, 0o1777)
        bonds, mine = os.path.join(scratch, 'bonds'), os.path.join(scratch, 'mine')
        write_state(mine, BOND)

        def copy():
            with open(bonds, 'xb') as f:
                f.write(b'JELLING1' + b'\x22' * 22)

        def link():
            os.symlink(mine, bonds)

        def pipe():
            os.mkfifo(bonds, 0o666)

        for plant in (copy, link, pipe):
            as_another_user(plant)
            for command in (['ble-gw', '--state', bonds], ['ble-beacon', '--state', bonds]):
                process = bench.start(*command)
                out, err = process.communicate(b'quit\n', timeout=PATIENCE)
                refused.append((plant.__name__, command[0], process.returncode, b'bonds' in out + err))
            os.remove(bonds)
        # A second name of a file of ours, which only we or an older kernel's other users can make.
        os.link(mine, bonds)
        for command in (['ble-gw', '--state', bonds], ['ble-beacon', '--state', bonds]):
            process = bench.start(*command)
            out, err = process.communicate(b'quit\n', timeout=PATIENCE)
            refused.append(('second name', command[0], process.returncode, b'hard links' in out + err))
        os.remove(bonds)
        as_another_user(pipe)
        process = bench.start('ble-beacon', bonds)
        out, err = process.communicate(timeout=PATIENCE)
        refused.append(('profile', 'ble-beacon', process.returncode, b'is no file' in out + err))
    return all(status not in (0, None) and named for _, _, status, named in refused), f'{refused}, {out!r} {err!r}'


def connectable(kind, name, number=1):
    data = bytes([2, 1, 6, len(name) + 1, 9]) + name
    address = number.to_bytes(5, 'little') + b'\xC1'
    return hostile.event(0x3E, bytes([2, 1, 0, kind]) + address + bytes([len(data)]) + data + b'\xC5')


def crowd(reports, heard):
    """A controller that hears these devices whenever it scans; what it is told is kept."""
    def speak(line, _):
        while True:
            packet = line.hear()
            heard.append(packet)
            for said in hostile.answers(packet):
                line.say(said)
            if packet[1:3] == b'\x0c\x20' and packet[4]:
                for said in reports:
                    line.say(said)
    return speak


def called(heard):
    """(type, address) of each device that the controller was to call, by itself or by its list."""
    by_itself = [(p[9], p[10:16]) for p in heard if p[:3] == b'\x01\x0d\x20' and p[8] == 0]
    return by_itself + [(p[4], p[5:11]) for p in heard if p[:3] == b'\x01\x11\x20']


def stranger_with_the_digits(folder):
    """a stranger with the digits of a bonded device's address is not taken for it"""
    heard = []
    with Bench(folder, crowd([connectable(0, b'Stranger')], heard)) as bench, tempfile.TemporaryDirectory() as scratch:
        _, out, err = bench.gateway(b'connect C1:00:00:00:00:01 timeout=10\nquit\n', '--state', state_file(scratch, BOND))
    codes = [json.loads(line).get('code') for line in out.decode().splitlines()]
    # The link is made, but not answered: that is no connection.
    good = {kind for kind, _ in called(heard)} == {1} and codes[:1] == ['deviceNotReached']
    return good, f'{called(heard)}, {out!r} {err[-300:]!r}'


def scan_of_a_slow_controller(folder):
    """the time of a scan begins when the controller is ready"""
    heard = []

    def speak(line, _):
        while True:
            packet = line.hear()
            heard.append(packet)
            if len(heard) == 1:
                time.sleep(1.5)
            for said in hostile.answers(packet):
                line.say(said)

    with Bench(folder, speak) as bench:
        status, out, err = bench.gateway(b'scan 1\nquit\n')
    events = [json.loads(line).get('event') for line in out.decode().splitlines()]
    has_scanned = any(packet[1:3] == b'\x0c\x20' and packet[4] for packet in heard)
    return status == 0 and events == ['scanned'] and has_scanned, f'status {status}, {heard[-6:]}, {out!r} {err[-300:]!r}'


def two_of_one_name(folder):
    """two devices with the name that is to be connected are an error, and neither is called"""
    heard = []
    with Bench(folder, crowd([connectable(1, b'Twin', number) for number in (1, 2)], heard)) as bench:
        status, out, _ = bench.gateway(b'connect Twin timeout=60\nquit\n')
    codes = [json.loads(line).get('code') for line in out.decode().splitlines()]
    return (status, codes, called(heard)) == (1, ['ambiguousName'], []), f'status {status}, {out!r}, {called(heard)}'


CASES = [bonds_that_cannot_be_written, stranger_with_the_digits, two_of_one_name, name_that_a_terminal_obeys, time_of_a_line,
         long_script, wait_that_ends_by_time, commands_that_say_nothing, mtu_exchange_that_fails, reader_that_stops,
         output_that_does_not_wait, closed_output, profile_that_is_long, profile_that_a_terminal_obeys, hidden_passkey, passkey_of_a_file,
         scan_of_a_slow_controller, planted_state]
