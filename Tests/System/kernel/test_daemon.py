"""`bled` on a kernel's adapters: they come and go and hang, apps are frozen, stopped and limited by the kernel, memory is short, and
the power fails. The tests go on from each other's state, in the order of jelling/guest.py."""
import json, os, pathlib, signal, subprocess, types

import pytest

from jelling.measures import state_of
from kernel.bled import (ADDRESSES, APPS, DISK, GROUPS, LIMIT, RELAY, SOCKET, STATE, Stick, adapters, app, bled, end,
                        events, install, is_frozen, number, plug, said, scans, sensor, shell, shown, start, tool, TOOL, unplug,
                        wait_until)

FOLLOWER, DOOR, EDDYSTONE, WISHER = 'org.example.follower', 'org.example.door', 'org.example.eddystone', 'org.example.wisher'
BY_RELAY, WRITER = 'org.example.relay', 'org.example.writer'
# What a test leaves to the next: bled, and its adapter.
NOW = types.SimpleNamespace()
# Of the boot before, on the disk.
BONDS = f'{DISK}/bonds.json'


@pytest.fixture(scope='session', autouse=True)
def folders():
    """Of the guest's disk, where it has one; it is made in the first boot, and has state in the second."""
    if os.environ.get('JELLING_GUEST') == 'daemon':
        mount = f'mount -t ext4 /dev/vda {DISK}'
        shell(f'mkdir -p {DISK} /sys/fs/cgroup; modprobe ext4; {mount} || {{ mkfs.ext4 -q /dev/vda; {mount}; }}')
        assert os.path.ismount(DISK), 'the guest has no disk'
        shell('mount -t cgroup2 none /sys/fs/cgroup; echo "+memory" >/sys/fs/cgroup/cgroup.subtree_control; '
              f'mkdir -p {GROUPS}; echo "+memory" >{GROUPS}/cgroup.subtree_control')
    if 'JELLING_GUEST' in os.environ:
        os.makedirs(STATE, exist_ok=True)


def test_all_adapters():
    """with `--adapter all`, adapters that appear later are taken, too"""
    first = plug(1)
    daemon = bled('--adapter', 'all')
    wait_until(scans, 'bled scans')
    assert not os.path.exists(SOCKET + '.2')
    second = plug(2, is_ready=lambda: all(os.path.exists(f'{SOCKET}.{place}') and scans(f'{SOCKET}.{place}') for place in (2, 3)))
    end(daemon)
    unplug(first)
    unplug(second)


def test_five_programs():
    """five programs in both roles on one adapter of the kernel: an app in Swift, two in Python, two of bletool; three share a link"""
    install(BY_RELAY, command=[RELAY])
    install(FOLLOWER, {'scan': ['180d'], 'connect': {}, 'subscribe': '2a37'})
    install(DOOR, {'publish': [['180f', ['2a19', 2, 1]]], 'advertise': 'Door', 'services': ['180f']})
    pathlib.Path('/tmp/lamp.json').write_text(json.dumps({'services': [{'uuid': 'FFF0', 'characteristics': [
        {'uuid': 'FFF1', 'properties': ['read'], 'permissions': ['readable'], 'value': '6c616d70'}]}]}))
    NOW.adapter = plug(3)
    NOW.daemon = bled('--adapter', f'user:{number(ADDRESSES[0])}', '--cgroup', GROUPS)
    sensor(ADDRESSES[1])
    lamp = start(TOOL, '-t', f'bled:{SOCKET}', '--json', 'serve', '--profile', '/tmp/lamp.json', '--name', 'Lamp', log='/tmp/lamp')
    for name in BY_RELAY, FOLLOWER, DOOR:
        app('launch', name)
    # By its address: it no longer advertises when an app has connected to it.
    reader = start(TOOL, '-t', f'bled:{SOCKET}', '--json', 'gatt', ADDRESSES[1], 'subscribe', '2A37', log='/tmp/reader')
    wait_until(lambda: len(events('beat')) > 2 and len(events('value', FOLLOWER)) > 2, 'both apps have values')
    wait_until(lambda: open('/tmp/reader').read().count('0048') > 2, 'bletool has values')
    wait_until(lambda: events('advertising', DOOR) and 'advertising' in open('/tmp/lamp').read(), 'both serve')
    # btvirt's controllers have one connection each (all have one handle), so that no central can connect besides.
    seen = start(TOOL, '-t', f'user:{number(ADDRESSES[2])}', '--json', 'lescan', log='/tmp/seen')
    wait_until(lambda: ADDRESSES[0] in open('/tmp/seen').read().upper(), 'another adapter hears it')
    end(seen, signal.SIGINT)
    adapter, = json.loads(tool('--json', 'status')[1])['adapters']
    holders = [set(link['holders']) for link in adapter['links'] if link['role'] == 'central']
    assert any({BY_RELAY, FOLLOWER} <= held and len(held) == 3 for held in holders), adapter['links']
    for process in reader, lamp:
        end(process, signal.SIGINT)


def test_frozen():
    """an app in a cgroup is frozen by the kernel and thawed for each value, also by a new bled after a kill of the first"""
    suspend(BY_RELAY)
    process = shown(BY_RELAY)['process']
    for _ in range(2):
        wait_until(lambda: is_frozen(BY_RELAY), 'it is frozen')
        assert f'/apps/app-{BY_RELAY}\n' in pathlib.Path(f'/proc/{process}/cgroup').read_text()
        before = len(events('beat'))
        wait_until(lambda: len(events('beat')) > before, 'a value thaws it')
    wait_until(lambda: is_frozen(BY_RELAY), 'it is frozen')
    end(NOW.daemon, signal.SIGKILL)
    NOW.daemon = bled('--adapter', f'user:{number(ADDRESSES[0])}', '--cgroup', GROUPS, keeps_log=True)
    wait_until(lambda: shown(BY_RELAY)['process'] == process, 'the new bled has it')
    wait_until(lambda: shown(BY_RELAY)['place'] == 'suspended' and is_frozen(BY_RELAY), 'it is frozen again')
    before = len(events('beat'))
    wait_until(lambda: len(events('beat')) > before, 'a value thaws it')
    wait_until(lambda: is_frozen(BY_RELAY), 'it is frozen')


def suspend(name):
    app('background', name)
    app('suspend', name)


def test_memory_is_short():
    """when the kernel reports that tasks wait for memory, the app that was suspended first makes room, and a value brings it back"""
    first = shown(BY_RELAY)['process']
    app('launch', FOLLOWER)
    wait_until(lambda: shown(FOLLOWER)['process'] and shown(FOLLOWER)['place'] == 'foreground', 'the other runs')
    group = '/sys/fs/cgroup/hog'
    os.makedirs(group, exist_ok=True)
    pathlib.Path(f'{group}/memory.high').write_text(str(16 << 20))
    hog = start('/usr/bin/python3', '-c', f'import os; open("{group}/cgroup.procs", "w").write("0")\n'
                'held = [os.urandom(1 << 20) for _ in range(48)]\nimport time; time.sleep(100000)')
    wait_until(lambda: f'memory is short: ‘{BY_RELAY}’ is ended' in said(), 'it makes room')
    with open('/proc/pressure/memory') as file:
        pressure = file.readline().strip()
    end(hog, signal.SIGKILL)
    assert f'‘{FOLLOWER}’ is ended' not in said(), 'an app was ended that is not suspended'
    # Its managers are preserved, and the sensor still sends.
    wait_until(lambda: shown(BY_RELAY)['process'] not in (None, first), 'a value launches it again')
    wait_until(lambda: [one for one in events('willRestore') if one.get('role') == 'central'], 'it is restored')
    restored = len(events('beat'))
    wait_until(lambda: len(events('beat')) > restored, 'it has values again')
    told = next(line for line in said().splitlines() if 'memory is short' in line)
    print(told, pressure)


def test_limited():
    """the memory of a manifest is the limit of the app's cgroup: the kernel ends an app that takes more"""
    install('org.example.large', {'scan': ['180d'], 'allocate': 200}, memoryMegabytes=64)
    os.kill(int(shell('pidof bled').split()[0]), signal.SIGHUP)
    wait_until(lambda: tool('app', 'show', 'org.example.large')[0] == 0, 'the manifest is read')
    app('launch', 'org.example.large')
    wait_until(lambda: events('state', 'org.example.large') and not shown('org.example.large')['process'], 'it is ended')
    assert not events('allocated', 'org.example.large') and not events('refused', 'org.example.large'), 'no limit of the cgroup'
    killed = [line for line in shell('dmesg').splitlines() if 'oom-kill:constraint=CONSTRAINT_MEMCG' in line]
    assert any('org.example.large' in line for line in killed), killed


def test_hangs():
    """an adapter that answers no command any more is told of, operators are served meanwhile, and it is used again when it answers"""
    if 'adapters' in os.environ['JELLING_GUEST']:
        NOW.adapter = plug(1)
        install(FOLLOWER, {'scan': ['180d']})
        NOW.daemon = bled('--adapter', f'user:{number(ADDRESSES[0])}')
        app('launch', FOLLOWER)
        wait_until(lambda: events('state', FOLLOWER), 'the app has begun')
    states, told = len(events('state', FOLLOWER)), len(failures())
    NOW.adapter.send_signal(signal.SIGSTOP)
    # A command is what it does not answer.
    subprocess.run([TOOL, '-t', f'bled:{SOCKET}', 'lescan', '--duration', '1'], stdin=subprocess.DEVNULL, capture_output=True,
                   timeout=LIMIT)
    wait_until(lambda: len(failures()) > told, 'bled notices')
    assert tool('app', 'list')[0] == 0, 'operators wait'
    assert not is_ready(), 'it is used'
    NOW.adapter.send_signal(signal.SIGCONT)
    wait_until(scans, 'bled scans again')
    # Resetting, unsupported while not even a reset helps, and poweredOn.
    wait_until(lambda: [line['state'] for line in events('state', FOLLOWER)][states:] in ([1, 5], [1, 2, 5]), 'poweredOn')
    if 'adapters' in os.environ['JELLING_GUEST']:
        app('quit', FOLLOWER)
        end(NOW.daemon)
        unplug(NOW.adapter)


def failures():
    return [line for line in said().splitlines() if 'the controller failed' in line or 'no controller' in line]


def is_ready():
    adapter, = json.loads(tool('--json', 'status')[1])['adapters']
    return adapter['ready']


def test_stopped_without_cgroup():
    """without a cgroup, a suspended app is in state T"""
    for name in BY_RELAY, FOLLOWER, DOOR:
        app('quit', name)
    status, _, words = tool('pair', ADDRESSES[1])
    assert status == 0, words
    end(NOW.daemon)
    install(EDDYSTONE, {'restore': 'myCentralManagerIdentifier', 'scan': ['feaa'], 'duplicates': True})
    install(WRITER, {'restore': 'writer', 'scan': ['feab'], 'rescan': True})
    bled('--adapter', ADDRESSES[0])
    app('launch', EDDYSTONE)
    wait_until(lambda: events('state', EDDYSTONE), 'it has begun')
    wait_until(lambda: scans_for(EDDYSTONE), 'it scans')
    suspend(EDDYSTONE)
    process = shown(EDDYSTONE)['process']
    wait_until(lambda: state_of(process) == 'T', 'it is stopped')


def test_writes_and_leaves():
    """an app changes what is preserved of it fifty times a second until the power fails"""
    pathlib.Path(BONDS).write_text(bonds())
    assert ADDRESSES[1] in bonds(), bonds()
    # From here on, only what is being written may be lost.
    os.sync()
    app('launch', WRITER)
    wait_until(lambda: [line for line in events('rescanned', WRITER) if line['count'] >= 200], 'it writes')


def bonds():
    status, lines, words = tool('--json', 'bonds')
    assert status == 0, words
    # Without the time at which bletool says it.
    return '\n'.join(json.dumps({key: value for key, value in json.loads(line).items() if key not in ('time', 'adapter')})
                     for line in lines.splitlines())


def scans_for(name):
    adapter, = json.loads(tool('--json', 'status')[1])['adapters']
    return (name, 'scan') in [(one['client'], one['work']) for one in adapter['wanted']]


def test_after_reboot():
    """after the power failure all is waited for again before an app runs; then the trace of SPR-35: launch key, willRestore, state, discovery"""
    adapter = plug(2)
    daemon = bled('--adapter', ADDRESSES[0])
    wait_until(lambda: scans_for(EDDYSTONE), 'it is waited for again')
    wait_until(lambda: scans_for(WRITER), 'what was being written is whole')
    assert not events('began') and not shown(EDDYSTONE)['process'], 'an app runs before anything happened'
    assert pathlib.Path(BONDS).read_text() == bonds(), bonds()
    assert 'damaged' not in said() and 'cannot be used' not in said(), 'state is lost'
    beacon = start(TOOL, '-t', f'user:{number(ADDRESSES[1])}', 'advertise', '--name', 'Beacon', '--service', 'FEAA')
    wait_until(lambda: events('discovered', EDDYSTONE), 'a discovery')
    lines = [line for line in said().splitlines() if line.startswith('{') and line.endswith('}')]
    trace = [line for line in map(json.loads, lines) if line.get('app') == EDDYSTONE and line['event'] != 'log'][:4]
    order = [line['event'] for line in trace]
    assert order == ['began', 'willRestore', 'state', 'discovered'], order
    began, restore, state, _ = trace
    assert began['launch'] == ['myCentralManagerIdentifier'], began
    assert restore['scan'] == ['feaa'] and restore['duplicates'] and state['state'] == 5, trace
    for name in EDDYSTONE, WRITER:
        app('quit', name)
    for process in daemon, beacon:
        end(process)
    unplug(adapter)


def test_another_index():
    """an adapter that comes back under another index is found by its address: a wish for a device that was never connected goes on there, and a connection is made again"""
    # It connects again at once when the link is lost, and so while there is no adapter.
    install(WISHER, {'scan': ['180d'], 'connect': {}, 'subscribe': '2a37', 'again': True})
    address = '00:AA:01:FF:00:FF'
    # Legacy, like the stick: btvirt tells a scanner without extended commands of an extended advertiser only when the advertiser
    # starts, or changes its interval after 30 s, and of a legacy one also when the scan starts.
    other = plug(1, '-s', '-L')
    neighbour, = adapters()
    stick = Stick(address)
    indexes = [number(address)]
    beacon(neighbour, True)
    daemon = bled('--adapter', f'user:{indexes[0]}')
    app('launch', WISHER)
    wait_until(lambda: events('discovered', WISHER), 'the app asks for a device to which nobody can connect now')
    process = shown(WISHER)['process']
    takers = []
    for states in 1, 2:
        values = 0
        stick.unplug()
        wait_until(lambda: not is_ready(), 'bled notices')
        wait_until(lambda: [line['state'] for line in events('state', WISHER)] == [5, 1] * states, 'resetting')
        # The device's controller may not have been told of the end of the link; the next program begins with a reset.
        if states > 1:
            values = len(events('value', WISHER))
            end(pulse, signal.SIGINT)
        else:
            assert not events('connected', WISHER), 'the device was connected'
            beacon(neighbour, False)
        # Another adapter takes its index, which the kernel may keep for a moment after the stick has gone.
        for _ in range(3):
            takers.append(plug(1))
            if indexes[-1] in (taken := [number(one) for one in adapters()]):
                break
        assert indexes[-1] in taken, adapters()
        assert not is_ready(), 'bled took an adapter with another address'
        stick = Stick(address, is_awaited=True)
        wait_until(is_ready, 'it is used again')
        indexes.append(number(address))
        assert indexes[-1] != indexes[-2] and f'the adapter {address} is hci{indexes[-1]} now' in said(), adapters()
        wait_until(lambda: [line['state'] for line in events('state', WISHER)] == [5, 1] * states + [5], 'poweredOn')
        pulse = sensor(neighbour)
        wait_until(lambda: len(events('value', WISHER)) > values + 2, 'the app hears the sensor')
    assert shown(WISHER)['process'] == process, 'the app was started again'
    app('quit', WISHER)
    for process in pulse, daemon:
        end(process)
    stick.unplug()
    for process in other, *takers:
        unplug(process)


def beacon(address, is_on):
    """The kernel advertises Heart Rate by an adapter, so that nobody can connect; or it ends, and the adapter is free."""
    name = f'hci{number(address)}'
    data = '07 02 01 06 03 03 0d 18' + 24 * ' 00'
    shell(f'hciconfig {name} up; hcitool -i {name} cmd 0x08 0x0008 {data}; hciconfig {name} leadv 3' if is_on
          else f'hciconfig {name} noleadv; hciconfig {name} down')


def test_all_of_none():
    """`--adapter all` without an adapter: bled listens and answers, and takes the first one that comes"""
    assert not adapters(), adapters()
    daemon = bled('--adapter', 'all')
    assert tool('status')[0] == 0 and not scans(), said()
    first = plug(1, is_ready=scans)
    assert not os.path.exists(SOCKET + '.2'), 'the adapter has two daemons'
    end(daemon)
    # It is the first one from now on.
    daemon = bled('--adapter', 'all')
    wait_until(scans, 'bled scans')
    end(daemon)
    unplug(first)
    assert os.path.exists(f'{STATE}/adapters.json') and not os.path.exists(f'{STATE}/adapters'), os.listdir(STATE)


def test_late():
    """bled starts before its adapter is there: an app whose manifest has the address of the adapter goes on when it comes"""
    address = '00:AA:01:FF:00:FE'
    install(BY_RELAY, command=[RELAY], adapter=address)
    other = plug(1, '-s')
    neighbour, = adapters()
    stick = Stick(address)
    before = number(address)
    pulse = sensor(neighbour)
    daemon = bled('--adapter', f'user:{before}')
    app('launch', BY_RELAY)
    wait_until(lambda: len(events('beat')) > 1, 'the app hears the sensor')
    process = shown(BY_RELAY)['process']
    end(daemon, signal.SIGKILL)
    os.kill(process, signal.SIGKILL)
    stick.unplug()
    wait_until(lambda: address not in adapters(), 'the kernel has taken it away')
    end(pulse, signal.SIGINT)
    daemon = bled('--adapter', f'user:{before}', keeps_log=True)
    wait_until(lambda: 'no controller' in said(), 'bled says so')
    beats = len(events('beat'))
    stick = Stick(address, is_awaited=True)
    assert number(address) == before, adapters()
    pulse = sensor(neighbour)
    wait_until(lambda: len(events('beat')) > beats + 1, 'the app goes on')
    assert events('willRestore'), said()
    app('quit', BY_RELAY)
    # bled names the adapters of manifests that it does not have.
    os.unlink(f'{APPS}/{BY_RELAY}.json')
    for one in pulse, daemon:
        end(one)
    stick.unplug()
    unplug(other)
