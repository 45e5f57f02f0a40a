"""`bled`, its apps and a kernel's adapters in the guest: what test_daemon.py and test_systemd.py test with."""
import errno, json, os, pathlib, re, select, signal, socket, subprocess, threading, time

from jelling.client import is_listening
from jelling.relay import split_packets

TOOL, BLED, RELAY = '/tmp/bletool', '/tmp/bled', '/tmp/heart-rate-relay'
# Seconds: ends what hangs. The guest runs without acceleration, beside whatever else the machine does.
LIMIT = 400
# The guest's disk, which outlives it.
DISK = '/tmp/disk'
SOCKET, APPS, STATE, LOG = '/tmp/bled.sock', f'{DISK}/apps', f'{DISK}/state', '/tmp/bled.log'
GROUPS = '/sys/fs/cgroup/apps'
# Of btvirt's controllers, in order.
ADDRESSES = ['00:AA:01:00:00:00', '00:AA:01:01:00:01', '00:AA:01:02:00:02']
BACKGROUND = ['bluetooth-central', 'bluetooth-peripheral']
PROFILE = {'services': [{'uuid': '180D', 'characteristics': [
    {'uuid': '2A37', 'properties': ['read', 'notify'], 'value': '0048', 'notifyEvery': 0.5}]}]}
NO_ADDRESS = '00:00:00:00:00:00'
# Whether it is the last time that adapters are plugged which do not come up.
PLUGS = [False, False, True]
# What has been started and not ended.
RUNNING = []


# Programs

def start(*command, log='/dev/null', **more):
    output = open(log, 'a')
    process = subprocess.Popen(list(command), stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                               env={**os.environ, 'XDG_STATE_HOME': '/tmp/state', **more})
    RUNNING.append(process)
    return process


def end(process, how=signal.SIGTERM):
    if process.poll() is None:
        process.send_signal(how)
    process.wait(LIMIT)
    RUNNING.remove(process)


def tool(*words):
    done = subprocess.run([TOOL, '-t', f'bled:{SOCKET}', *words], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=LIMIT)
    return done.returncode, done.stdout, done.stderr


def shell(command):
    return subprocess.run(command, shell=True, stdin=subprocess.DEVNULL, capture_output=True, text=True).stdout


def wait_until(condition, what, limit=LIMIT):
    began = asked = time.monotonic()
    while not condition():
        now = time.monotonic()
        assert now < began + limit, f'{what}: not within {limit:.0f} s; {adapters()}'
        # A condition that starts programs leaves the processor to what it waits for.
        time.sleep(max(0.1, now - asked))
        asked = time.monotonic()


# Adapters

def adapters():
    """Indexes by address."""
    found = {}
    for index, address in re.findall(r'^(hci\d+):.*\n\s+BD Address: (\S+)', shell('hciconfig'), re.M):
        found.setdefault(address, []).append(index)
    return found


def are_known():
    found = adapters()
    present = [name for name in os.listdir('/sys/class/bluetooth') if re.fullmatch(r'hci\d+', name)]
    return NO_ADDRESS not in found and sum(map(len, found.values())) == len(present)


def plug(count, *options, is_ready=None):
    """So many adapters more; `is_ready` says when another program has taken them. The kernel gives up on an adapter that does not
    answer within two seconds, as the machine is busy: those are plugged again."""
    # One that another program lets go of may have no address for a moment: it is no new one when it has.
    wait_until(are_known, 'the adapters that are there', 60)
    before = adapters().keys()
    new = lambda: adapters().keys() - before - {NO_ADDRESS}
    for is_last in PLUGS:
        process = start('btvirt', f'-l{count}', *options)
        limit = LIMIT if is_last else 60
        try:
            wait_until(lambda: len(new()) == count, f'{count} adapters', limit)
            if is_ready:
                wait_until(is_ready, 'the new adapters are taken', limit)
            else:
                for address in new():
                    settle(address, limit)
            return process
        except AssertionError:
            if is_last:
                raise
            end(process, signal.SIGKILL)


def settle(address, limit=LIMIT):
    """The kernel sets a new adapter up, and switches it off again; until then it is busy."""
    wait_until(lambda: subprocess.run([TOOL, '-t', f'user:{number(address)}', 'info'], stdin=subprocess.DEVNULL, capture_output=True,
                                      timeout=LIMIT).returncode == 0, f'{address} is set up', limit)


class Stick:
    """An adapter that keeps its address, whatever its index: a controller of btvirt's, whose answer to Read BD_ADDR is replaced.
    `is_awaited` says that another program takes it at once, so that it is never free."""

    def __init__(self, address, is_awaited=False):
        self.address, self.index = bytes.fromhex(address.replace(':', ''))[::-1], None
        # As in `plug`: the kernel gives up on one that answers late.
        for is_last in PLUGS:
            self.kernel = os.open('/dev/vhci', os.O_RDWR)
            os.write(self.kernel, bytes([0xFF, 0]))
            self.controller = socket.socket(socket.AF_UNIX)
            self.controller.connect('/tmp/bt-server-le')
            self.is_in = True
            self.carrier = threading.Thread(target=self.carry, daemon=True)
            self.carrier.start()
            limit = LIMIT if is_last else 60
            try:
                wait_until(lambda: address in adapters(), 'the stick', limit)
                self.index = number(address)
                if not is_awaited:
                    settle(address, limit)
                return
            except AssertionError:
                if is_last:
                    raise
                self.unplug()

    def carry(self):
        waiting = b''
        while self.is_in:
            ready, _, _ = select.select([self.kernel, self.controller], [], [], 0.2)
            if self.kernel in ready:
                packet = os.read(self.kernel, 4096)
                # Its own report of the index.
                if packet[0] != 0xFF:
                    self.controller.sendall(packet)
            if self.controller in ready:
                waiting += self.controller.recv(65536)
                packets, waiting = split_packets(waiting)
                for packet in packets:
                    # Command Complete of Read BD_ADDR.
                    if packet[:2] == b'\x04\x0e' and packet[4:6] == b'\x09\x10':
                        packet = packet[:7] + self.address + packet[13:]
                    self.give(packet)
        os.close(self.kernel)
        self.controller.close()

    def give(self, packet):
        try:
            os.write(self.kernel, packet)
        except OSError as error:
            # The kernel refuses the packets of an adapter that is down: those of a controller that has not heard of it yet.
            if error.errno != errno.ENXIO:
                raise

    def unplug(self):
        """Afterwards the kernel has it no more, and its index is free."""
        self.is_in = False
        self.carrier.join(LIMIT)
        wait_until(lambda: not os.path.exists(f'/sys/class/bluetooth/hci{self.index}'), 'the kernel has taken it away')


def unplug(process):
    end(process, signal.SIGKILL)


def number(address):
    index, = adapters()[address]
    return index.removeprefix('hci')


# bled

def said():
    try:
        return pathlib.Path(LOG).read_text(errors='replace')
    except FileNotFoundError:
        return ''


def events(name, app=None, process=None):
    lines = [line for line in said().splitlines() if line.startswith('{') and line.endswith('}')]
    return [line for line in map(json.loads, lines) if line['event'] == name and app in (None, line.get('app'))
            and process in (None, line.get('process'))]


def install(name, wish=None, **more):
    """An app that does what `wish` says (jelling/actor.py)."""
    manifest = {'BundleIdentifier': name, 'UIBackgroundModes': BACKGROUND, 'user': 'root', **more}
    if wish is not None:
        manifest |= {'command': ['/usr/bin/python3', '-m', 'jelling.actor', json.dumps(wish)],
                     'environment': {'PYTHONPATH': os.environ['PYTHONPATH']}}
    os.makedirs(APPS, exist_ok=True)
    pathlib.Path(f'{APPS}/{name}.json').write_text(json.dumps(manifest))
    os.chmod(f'{APPS}/{name}.json', 0o644)


def bled(*words, keeps_log=False):
    """Starts bled; apps of an earlier one still write into the log that was there then."""
    for path in [SOCKET] if keeps_log else [SOCKET, LOG]:
        if os.path.exists(path):
            os.unlink(path)
    os.makedirs(APPS, exist_ok=True)
    process = start(BLED, '--socket', SOCKET, '--state', STATE, '--apps', APPS, *words, log=LOG)
    wait_until(lambda: is_listening(SOCKET) or process.poll() is not None, 'bled listens')
    assert process.poll() is None, said()
    return process


def app(verb, name):
    status, _, words = tool('app', verb, name)
    assert status == 0, words


def shown(name):
    status, out, words = tool('--json', 'app', 'show', name)
    assert status == 0, words
    return json.loads(out)


def scans(path=SOCKET):
    """Whether the controller behind a socket takes commands."""
    done = subprocess.run([TOOL, '-t', f'bled:{path}', 'lescan', '--duration', '1'], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=LIMIT)
    return done.returncode == 0


def sensor(address, name='Sensor'):
    pathlib.Path('/tmp/sensor.json').write_text(json.dumps(PROFILE))
    return start(TOOL, '-t', f'user:{number(address)}', 'serve', '--profile', '/tmp/sensor.json', '--name', name, '--advertise',
                 '180D')


def is_frozen(name):
    return 'frozen 1' in pathlib.Path(f'{GROUPS}/app-{name}/cgroup.events').read_text()


def told():
    """The end of the log, without the values."""
    return '\n'.join([line for line in said().splitlines() if not re.search(r'"event": ?"(value|beat)"', line)][-25:])
