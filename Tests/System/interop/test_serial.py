"""`bletool serial` and `serve --serial`: octets through UART services, with pipes, TCP and a terminal program at the ends."""
import contextlib, hashlib, os, random, shutil, signal, socket, struct, subprocess, threading, time

from pytest import mark, param, skip

from jelling.child import PATIENCE, Failure, wait_until
from jelling.daemon import NOBODY, PYTHON3, needs_root
from jelling.screen import Program

BUMBLE = ('bumble',)
PORT = 'Port'


def content(count, seed):
    return random.Random(seed).randbytes(count)


class Far:
    """`serve --serial` on the second controller, and the program behind it: it takes everything, and sends what it is given."""

    def __init__(self, lab, *arguments, sends=b''):
        self.tool = lab.start('serve', '--serial', '--name', PORT, '--listen', '0', *arguments, via=lab.peer_endpoint, options=(
            '--state', lab.path('far')))
        self.path = self.tool.wait_event('serialReady')[0]['path']
        host, port = self.path.removeprefix('tcp:').rsplit(':', 1)
        self.socket = socket.create_connection((host, int(port)))
        self.taken = bytearray()
        self.sends = sends
        threading.Thread(target=self.take, daemon=True).start()
        threading.Thread(target=self.give, daemon=True).start()

    def take(self):
        while data := self.socket.recv(65536):
            self.taken += data

    def give(self):
        self.socket.sendall(self.sends)


def near(lab, *arguments, peer=PORT, **how):
    return lab.running('serial', peer, *arguments, **how)


def both_ways(lab, amount):
    """The figures of both sides after this amount has crossed each way."""
    up, down = content(amount, 1), content(amount, 2)
    far = Far(lab, sends=down)
    errors = open(lab.path('near.err'), 'wb+')
    with near(lab, '--linger', '3', stderr=errors) as tool:
        def write():
            tool.stdin.write(up)
            tool.stdin.close()
        writer = threading.Thread(target=write, daemon=True)
        writer.start()
        came = tool.stdout.read()
        assert tool.wait() == 0
    wait_until(lambda: len(far.taken) >= amount, lambda: f'{len(far.taken)} of {amount} octets arrived')
    assert hashlib.sha256(far.taken).digest() == hashlib.sha256(up).digest(), f'{len(far.taken)} of {amount} octets, or others, arrived'
    assert hashlib.sha256(came).digest() == hashlib.sha256(down).digest(), f'{len(came)} of {amount} octets, or others, came'
    errors.seek(0)
    told = errors.read().decode()
    assert f'{amount} B sent in ' in told and f'{amount} B received in ' in told and 'not confirmed' not in told, told
    print(told)
    return told


@mark.lab(('simulator', 'bumble'), peer=False)
def test_serial_both_ways(lab):
    """Two sides carry 200 kB both ways at once, each octet once and in order, and tell how fast"""
    both_ways(lab, 200_000)


@mark.lab(('bumble-acl251',), peer=False)
def test_serial_ten_megabytes(lab):
    """The same with 10 MB both ways, over controllers with three buffers"""
    both_ways(lab, 10_000_000)


@mark.lab(('simulator',), peer=False)
def test_serial_waits_for_a_slow_reader(lab):
    """A reader that stops for a while on either side holds the other back, and no octet is lost"""
    amount = 1_500_000
    up, down = content(amount, 3), content(amount, 4)
    server = lab.start('serve', '--serial', '--name', 'Slow', '--listen', '0', via=lab.peer_endpoint, options=('--state', lab.path('slow')))
    host, port = server.wait_event('serialReady')[0]['path'].removeprefix('tcp:').rsplit(':', 1)
    there = socket.create_connection((host, int(port)))
    threading.Thread(target=there.sendall, args=(down,), daemon=True).start()
    with near(lab, '--linger', '5', peer='Slow', stderr=subprocess.PIPE) as tool:
        threading.Thread(target=lambda: (tool.stdin.write(up), tool.stdin.close()), daemon=True).start()
        # More than pipes, sockets and packets hold.
        time.sleep(4)
        taken = bytearray()

        def take():
            while len(taken) < amount and (data := there.recv(65536)):
                taken.extend(data)
        reader = threading.Thread(target=take, daemon=True)
        reader.start()
        came = tool.stdout.read()
        told = tool.stderr.read().decode()
        assert tool.wait() == 0, told
    reader.join(PATIENCE)
    assert taken == up, f'{len(taken)} of {amount} octets, or others, arrived; {told}'
    assert came == down, f'{len(came)} of {amount} octets, or others, came; {told}'


@mark.lab(('simulator',), peer=False)
def test_serial_tells_a_lost_link(lab):
    """A link that is lost in the middle is told and made again; nothing comes twice, and what is missing was told as not confirmed"""
    relay = lab.relay()
    far = Far(lab)
    tool = lab.start('serial', PORT, '--linger', '3', via=relay.endpoint, stdin=subprocess.PIPE)
    tool.wait_event('serialOpened')
    numbers = [struct.pack('>I', n) for n in range(100_000)]

    def write():
        for at in range(0, len(numbers), 1000):
            tool.process.stdin.write(b''.join(numbers[at:at + 1000]))
        tool.process.stdin.close()
    threading.Thread(target=write, daemon=True).start()
    for time_lost in range(2):
        before = len(far.taken)
        wait_until(lambda: len(far.taken) > before + 40_000, 'octets arrive')
        # The radio loses the link: its controller ends it, which neither host has asked for.
        handle = [p[5] | p[6] << 8 for p in relay.packets('to host') if p[0] == 4 and p[1] == 0x3E and p[3] in (1, 0x0A) and p[4] == 0][-1]
        relay.open[-1].sendall(struct.pack('<BHBHB', 1, 0x0406, 3, handle, 0x13))
        tool.wait_event('serialLost', count=time_lost + 1)
        tool.wait_event('serialOpened', count=time_lost + 2)
    done = lab.finish(tool, 10 * PATIENCE)
    assert done.status == 0, done.describe()
    assert done.events('serial')[0]['links'] == 3
    told = sum(e['unconfirmed'] for e in done.events('serialLost'))
    assert told == done.events('serial')[0]['unconfirmed']
    # A value may end within a number: what follows a gap is found by its successor.
    wait_until(lambda: far.taken.endswith(numbers[-1]), 'the last number')
    stream = b''.join(numbers)
    at = missing = place = 0
    while place < len(far.taken):
        rest = bytes(far.taken[place:place + 64])
        found = stream.find(rest, at)
        assert found >= at, f'octets at {place} come twice, or are others'
        missing += found - at
        size = 64
        while place + size < len(far.taken) and stream[found + size:found + size + 1] == far.taken[place + size:place + size + 1]:
            size += 1
        size = min(size, len(far.taken) - place)
        at, place = found + size, place + size
    assert missing + len(stream) - at <= told, f'{missing} octets are missing, {told} were told'


@mark.lab(('simulator',), peer=False)
def test_serial_through_picocom(lab):
    """picocom opens the pseudo-terminal as a port: keys reach the device, and its answer the screen; its end is the tool's end"""
    if not shutil.which('picocom'):
        skip('picocom is missing: Tools/install peers')
    far = Far(lab)
    link = lab.path('port')
    tool = lab.start('serial', PORT, '--pty', link)
    tool.wait_event('serialOpened')
    assert os.readlink(link).startswith('/dev/pts/')
    with Program(['picocom', '--noinit', '--nolock', link]) as terminal:
        assert terminal.shows('Terminal ready'), terminal.screen.text
        terminal.press('status\r')
        wait_until(lambda: far.taken == b'status\r', lambda: f'the device got {bytes(far.taken)}')
        far.socket.sendall(b'all is well\r\n')
        assert terminal.shows('all is well'), terminal.screen.text
        # Ends picocom.
        terminal.press('\x01\x18')
        assert terminal.end() == 0
    done = lab.finish(tool)
    assert done.status == 0, done.describe()
    assert not os.path.lexists(link), 'the link is still there'
    assert [(e['sent'], e['received']) for e in done.events('serial')] == [(7, 13)]


@mark.lab(BUMBLE, peer=False)
@mark.parametrize('uart, options', [param('nordic', [], id='nordic'), param('hm10', ['--uart', 'hm10'], id='hm10'),
                                    param('hm10', ['--uart-service', 'FFE0', '--write-to', 'FFE1', '--chunk', '20'], id='by_uuid')])
def test_serial_to_bumble(lab, uart, options):
    """Bumble's UART sends back what it gets: with write requests among commands, and with commands alone"""
    lab.bumble('peer_uart', lab.peer_endpoint, '--uart', uart)
    octets = content(20_000, 5)
    with near(lab, '--linger', '5', *options, peer='BumbleUART', stderr=subprocess.PIPE) as tool:
        threading.Thread(target=lambda: (tool.stdin.write(octets), tool.stdin.close()), daemon=True).start()
        came = tool.stdout.read()
        told = tool.stderr.read().decode()
        assert tool.wait() == 0, told
    assert came == octets, f'{len(came)} of {len(octets)} octets, or others: {told}'
    assert ('what is sent is not confirmed' in told) == (uart == 'hm10'), told


@mark.lab(('simulator',), peer=False)
def test_serial_keeps_other_files(lab):
    """A file, a foreign link and a port in use stay as they are; a link that a killed tool left is replaced"""
    path = lab.path('port')
    with open(path, 'w') as file:
        file.write('mine')
    for make in (lambda: None, lambda: (os.unlink(path), os.symlink('/dev/null', path))):
        make()
        done = lab.run('serve', '--serial', '--pty', path, status=2)
        assert 'exists already' in done.events('error')[0]['message']
    assert os.readlink(path) == '/dev/null'
    os.unlink(path)
    tool = lab.start('serve', '--serial', '--name', PORT, '--pty', path)
    tool.wait_event('serialReady')
    lab.run('serve', '--serial', '--pty', path, via=lab.peer_endpoint, status=2)
    tool.end(signal.SIGKILL)
    assert os.path.islink(path)
    tool = lab.start('serve', '--serial', '--name', PORT, '--pty', path)
    tool.wait_event('serialReady')
    lab.stop(tool)
    assert not os.path.lexists(path)


@mark.lab(('simulator',), peer=False)
def test_serial_serves_one_program(lab):
    """A second program at the TCP port is turned away; when the first goes, the tool ends"""
    far = Far(lab)
    host, port = far.path.removeprefix('tcp:').rsplit(':', 1)
    with socket.create_connection((host, int(port))) as second:
        second.settimeout(PATIENCE)
        assert second.recv(1) == b''
    far.tool.wait_stderr('turned away')
    far.socket.shutdown(socket.SHUT_RDWR)
    assert lab.finish(far.tool).status == 0


@mark.lab(('simulator',), peer=False)
@needs_root
def test_serial_other_user(lab):
    """Another user cannot open the port, nor the socket, nor have a link replaced or followed that he has put in a shared folder"""
    other = ['setpriv', f'--reuid={NOBODY}', f'--regid={NOBODY}', '--clear-groups', PYTHON3, '-c']

    def tried(program, *words):
        return subprocess.run([*other, 'import os, socket, sys\n' + program, *words], capture_output=True, text=True, cwd='/')
    os.chmod(lab.dir, 0o755)
    folder = lab.path('shared')
    os.mkdir(folder)
    os.chmod(folder, 0o1777)
    path = os.path.join(folder, 'port')
    # A link to nothing, as a tool leaves it that was killed, but of another user; and one to a file that is not there.
    for target in '/dev/pts/9999', lab.path('wanted'):
        assert tried('os.symlink(*sys.argv[1:])', target, path).returncode == 0
        error = lab.run('serve', '--serial', '--pty', path, status=2).events('error')[0]['message']
        assert 'exists already' in error and os.readlink(path) == target and not os.path.lexists(lab.path('wanted')), error
        os.unlink(path)
    tool = lab.start('serve', '--serial', '--name', PORT, '--pty', path)
    tool.wait_event('serialReady')
    assert 'PermissionError' in tried('open(sys.argv[1], "rb+", 0)', path).stderr
    assert 'PermissionError' in tried('os.unlink(sys.argv[1])', path).stderr
    lab.stop(tool)
    assert not os.path.lexists(path)
    door = lab.path('door')
    tool = lab.start('serve', '--serial', '--name', PORT, '--listen', f'unix:{door}')
    tool.wait_event('serialReady')
    assert 'PermissionError' in tried('socket.socket(socket.AF_UNIX).connect(sys.argv[1])', door).stderr
    with socket.socket(socket.AF_UNIX) as own:
        own.connect(door)
    assert lab.finish(tool).status == 0


@mark.lab(('simulator',), peer=False)
def test_serial_many_are_turned_away(lab):
    """A flood of programs at the port is turned away in few lines, and the one that is served goes on"""
    far = Far(lab)
    host, port = far.path.removeprefix('tcp:').rsplit(':', 1)
    for _ in range(500):
        with socket.create_connection((host, int(port))) as other:
            other.settimeout(PATIENCE)
            with contextlib.suppress(ConnectionError):
                assert other.recv(1) == b''
    with near(lab, '--linger', '2', stderr=subprocess.PIPE) as tool:
        tool.stdin.write(b'still here')
        tool.stdin.close()
        assert tool.wait() == 0, tool.stderr.read()
    wait_until(lambda: far.taken == b'still here', lambda: bytes(far.taken))
    assert 0 < far.tool.stderr().count('turned away') < 100
