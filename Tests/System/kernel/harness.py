"""Runs `bletool` and the guest's own tools."""
import ctypes, functools, json, os, pathlib, re, signal, socket, struct, subprocess, time

from jelling import child
from jelling.child import Child, Running

TOOL = '/tmp/bletool'
OUR_ADDRESS, OUR_NAME = '00:AA:01:01:00:01', 'Jelling'
AF_BLUETOOTH, BTPROTO_HCI, HCI_CHANNEL_USER = 31, 1, 1


class Run:
    def __init__(self, status, out, err):
        self.status, self.out, self.err, self.lines, self.strays = status, out, err, [], []
        for line in out.splitlines():
            try:
                self.lines.append(json.loads(line))
            except ValueError:
                self.strays.append(line)

    def events(self, name):
        return [l for l in self.lines if l.get('event') == name]

    def words(self):
        """Everything that it said, wherever: an operator reads stderr, a program the error event."""
        return self.err + ' ' + ' '.join(str(l.get('message', '')) for l in self.lines)

    def __str__(self):
        return f'status {self.status}; stdout {self.out[-300:]!r}; stderr {self.err[-300:]!r}'


def tool(*arguments, transport=None, status=0, user=None, timeout=300):
    command = [TOOL, *(['-t', transport] if transport else []), '--json', *arguments]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=timeout, user=user, extra_groups=[] if user else None,
                          env={**os.environ, 'XDG_STATE_HOME': '/tmp/state' if user is None else '/tmp/state-nobody'})
    run = Run(done.returncode, done.stdout.decode(), done.stderr.decode())
    assert not run.strays, f'stdout is not one JSON object a line: {run}'
    assert status is None or run.status == status, f'{" ".join(arguments)}: want status {status}: {run}'
    return run


def running(*arguments, transport='user:1', **how):
    """The tool at work."""
    return Running([TOOL, '-t', transport, '--json', *arguments], env={**os.environ, 'XDG_STATE_HOME': '/tmp/state'}, **how)


def shell(command, check_status=True):
    done = subprocess.run(command, shell=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          timeout=300)
    assert not check_status or done.returncode == 0, f'{command}: {done.stdout.decode()[-200:]}'
    return done.stdout.decode()


ANSWERED = re.compile(r'complete|added|removed|failed', re.IGNORECASE)


def btmgmt(*arguments, seconds=60):
    """What `btmgmt` says about hci0. It ends with its input, whether the kernel has answered or not: that stays open until it
    has, or until the program ends by itself."""
    said = '/tmp/btmgmt'
    with open(said, 'wb') as output:
        process = subprocess.Popen(['btmgmt', '--index', '0', *arguments], stdin=subprocess.PIPE, stdout=output, stderr=output)
    end = time.monotonic() + seconds
    while process.poll() is None and time.monotonic() < end and not ANSWERED.search(open(said).read()):
        time.sleep(0.1)
    process.stdin.close()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    return open(said).read()


def is_up(index):
    return 'UP' in shell(f'hciconfig hci{index}').split()


def wait_until(condition, what, seconds=180):
    return child.wait_until(condition, what, seconds, 0.1)


def bring_up_adapters():
    """Each adapter was up once and is down. On a busy machine the answer to the first HCI Reset can come after the kernel has given
    the controller up (-110)."""
    wait_until(lambda: all(os.path.exists(f'/sys/class/bluetooth/hci{i}') for i in (0, 1)), 'two adapters', 90)
    for index in (0, 1):
        wait_until(lambda: 'UP' in shell(f'hciconfig hci{index} up; hciconfig hci{index}', False).split(), f'hci{index} up', 90)
        shell(f'hciconfig hci{index} down')
        wait_until(lambda: is_free(index), f'hci{index} free', 90)


def is_free(index):
    """Whether the kernel has set an adapter up, and let go of it: on a busy machine that can be long after it is down."""
    try:
        os.close(claim_user_channel(index))
        return True
    except AssertionError:
        return False


def claim_user_channel(index):
    """A socket that holds the adapter's user channel, as another program would."""
    libc = ctypes.CDLL(None, use_errno=True)
    descriptor = libc.socket(AF_BLUETOOTH, socket.SOCK_RAW | socket.SOCK_CLOEXEC, BTPROTO_HCI)
    address = struct.pack('<HHH', AF_BLUETOOTH, index, HCI_CHANNEL_USER)
    assert descriptor >= 0, 'no socket'
    if libc.bind(descriptor, address, len(address)) != 0:
        os.close(descriptor)
        raise AssertionError('the user channel cannot be claimed')
    return descriptor


@functools.cache
def has_sets():
    """Whether our controller has several advertising sets. It is asked once, before any test; the kernel may still use it."""
    answers = []

    def is_answered():
        run = tool('info', transport='user:1', status=None)
        answers.extend(run.lines if run.status == 0 else [])
        return answers
    wait_until(is_answered, 'what hci1 can', 90)
    return 'Extended Advertising' in answers[0]['features']


def says(run, *wanted):
    for one_of in wanted:
        options = one_of if isinstance(one_of, tuple) else (one_of,)
        assert any(re.search(o, run.words(), re.IGNORECASE) for o in options), f'no word of {" or ".join(options)}: {run}'


PROFILE = {'services': [
    {'uuid': '180D', 'characteristics': [
        {'uuid': '2A37', 'properties': ['notify'], 'value': '0048', 'notifyEvery': 0.5},
        {'uuid': '2A38', 'properties': ['read'], 'permissions': ['readable'], 'value': '0102'}]},
    {'uuid': '6B7A0001-9D1C-4F5E-8A2B-3C4D5E6F7081', 'characteristics': [
        {'uuid': '6B7A0003-9D1C-4F5E-8A2B-3C4D5E6F7081', 'properties': ['read', 'write'],
         'permissions': ['readable', 'writeable'], 'value': 'aa55'},
        {'uuid': '6B7A0006-9D1C-4F5E-8A2B-3C4D5E6F7081', 'properties': ['read'],
         'permissions': ['readEncryptionRequired'], 'value': '5ec2e7'},
        {'uuid': '6B7A0004-9D1C-4F5E-8A2B-3C4D5E6F7081', 'properties': ['indicate'], 'value': '1d1c', 'notifyEvery': 0.5}]}]}


class Served(Child):
    """`bletool serve` at work on hci1."""

    def __init__(self, *options, capture=None, person=None, profile=PROFILE):
        pathlib.Path('/tmp/profile.json').write_text(json.dumps(profile))
        super().__init__('serve', [TOOL, '-t', 'user:1', '--json', *(['-w', capture] if capture else []), 'serve', '--profile',
                                   '/tmp/profile.json', '--name', OUR_NAME, '--advertise', '180D', *options],
                         '/tmp/serve.err', {**os.environ, 'XDG_STATE_HOME': '/tmp/state'}, person)
        try:
            self.wait_event('advertising')
        except AssertionError:
            self.process.kill()
            raise

    def wait_event(self, name, timeout=180, count=1):
        """All that have come."""
        super().wait_event(name, timeout, count)
        return self.events(name)

    def stop(self):
        """^C: a success, and the adapter is given back."""
        self.end(signal.SIGINT, 180)
        assert self.process.returncode == 0, f'status {self.process.returncode}'
        assert not is_up(1), 'the adapter was left up'

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end(signal.SIGKILL)
