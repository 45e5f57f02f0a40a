"""`bled`, its apps and a kernel's adapters in the guest: what guest_daemon.py tests with."""
import json, os, re, signal, subprocess, time

HOST = os.path.dirname(os.path.abspath(__file__))
TOOL, BLED, RELAY = '/tmp/bletool', '/tmp/bled', '/tmp/heart-rate-relay'
# Seconds: ends what hangs. The guest runs without acceleration, beside whatever else the machine does.
LIMIT = 300
SOCKET, APPS, STATE, LOG = '/tmp/bled.sock', '/tmp/apps', '/tmp/bled-state', '/tmp/bled.log'
GROUPS = '/sys/fs/cgroup/apps'
# Of btvirt's controllers, in order.
ADDRESSES = ['00:AA:01:00:00:00', '00:AA:01:01:00:01', '00:AA:01:02:00:02']
BACKGROUND = ['bluetooth-central', 'bluetooth-peripheral']
PROFILE = {'services': [{'uuid': '180D', 'characteristics': [
    {'uuid': '2A37', 'properties': ['read', 'notify'], 'value': '0048', 'notifyEvery': 0.5}]}]}
# What has been started and not ended.
RUNNING = []
COUNTS = {'passed': 0, 'failed': 0}


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


def wait_until(condition, what):
    end = time.monotonic() + LIMIT
    while not condition():
        assert time.monotonic() < end, f'{what}: not within {LIMIT} s; {adapters()}'
        time.sleep(0.1)


# Adapters

def adapters():
    """Indexes by address."""
    found = {}
    for index, address in re.findall(r'^(hci\d+):.*\n\s+BD Address: (\S+)', shell('hciconfig'), re.M):
        found.setdefault(address, []).append(index)
    return found


def plug(count, *options):
    """So many adapters more."""
    before = adapters().keys()
    process = start('btvirt', f'-l{count}', *options)
    new = lambda: adapters().keys() - before - {'00:00:00:00:00:00'}
    wait_until(lambda: len(new()) == count, f'{count} adapters')
    # The kernel sets a new adapter up, and switches it off again.
    for address in new():
        settle(address)
    return process


def settle(address):
    index, = adapters()[address]
    wait_until(lambda: 'UP' in shell(f'hciconfig {index} up; hciconfig {index}').split(), f'{index} up')
    shell(f'hciconfig {index} down')


def unplug(process):
    end(process, signal.SIGKILL)


def number(address):
    index, = adapters()[address]
    return index.removeprefix('hci')


# bled

def said():
    try:
        with open(LOG, errors='replace') as log:
            return log.read()
    except FileNotFoundError:
        return ''


def events(name, app=None, process=None):
    lines = [line for line in said().splitlines() if line.startswith('{') and line.endswith('}')]
    return [line for line in map(json.loads, lines) if line['event'] == name and app in (None, line.get('app'))
            and process in (None, line.get('process'))]


def install(name, wish=None, **more):
    """An app that does what `wish` says (Tools/Daemon/actor.py)."""
    manifest = {'BundleIdentifier': name, 'UIBackgroundModes': BACKGROUND, 'user': 'root', **more}
    if wish is not None:
        manifest['command'] = ['/usr/bin/python3', f'{HOST}/actor.py', json.dumps(wish)]
    os.makedirs(APPS, exist_ok=True)
    with open(f'{APPS}/{name}.json', 'w') as file:
        json.dump(manifest, file)
    os.chmod(f'{APPS}/{name}.json', 0o644)


def bled(*words, keeps_log=False):
    """Starts bled; apps of an earlier one still write into the log that was there then."""
    for path in [SOCKET] if keeps_log else [SOCKET, LOG]:
        if os.path.exists(path):
            os.unlink(path)
    process = start(BLED, '--socket', SOCKET, '--state', STATE, '--apps', APPS, *words, log=LOG)
    wait_until(lambda: os.path.exists(SOCKET) or process.poll() is not None, 'bled listens')
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
    with open('/tmp/sensor.json', 'w') as file:
        json.dump(PROFILE, file)
    return start(TOOL, '-t', f'user:{number(address)}', 'serve', '--profile', '/tmp/sensor.json', '--name', name, '--advertise',
                 '180D')


def is_frozen(name):
    with open(f'{GROUPS}/app-{name}/cgroup.events') as file:
        return 'frozen 1' in file.read()


def told():
    """The end of the log, without the values."""
    return '\n'.join([line for line in said().splitlines() if not re.search(r'"event": ?"(value|beat)"', line)][-25:])


# Running

def run(test, *arguments):
    started, message, value = time.monotonic(), '', None
    try:
        value = test(*arguments)
        outcome, message = 'passed', value if isinstance(value, str) else ''
    except Exception as error:
        outcome, message = 'failed', f'{type(error).__name__}: {error}; {shell("hciconfig")}{told()}'
    COUNTS[outcome] += 1
    print(f'{outcome:7} {test.__doc__} [{test.__name__}, {time.monotonic() - started:.1f} s]', flush=True)
    for line in message.splitlines():
        print(f'          {line}', flush=True)
    # The tests go on from each other's state.
    if outcome == 'failed':
        raise SystemExit
    return value


def counted(suite):
    """Runs the tests of a function, and prints how many passed; the exit status."""
    os.environ['PATH'] = '/usr/sbin:/sbin:' + os.environ['PATH']
    try:
        suite()
    except SystemExit:
        pass
    print(f'{COUNTS["passed"]} passed, {COUNTS["failed"]} failed', flush=True)
    return 1 if COUNTS['failed'] else 0
