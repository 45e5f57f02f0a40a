"""`bled` under a real systemd in the guest (systemd.py starts it), with the units of Tools/systemd. The tests go on from each other's
state."""
import json, os, pathlib, re, signal, subprocess

from kernel import bled as guest_bled
from kernel.bled import BACKGROUND, LIMIT, app, events, said, sensor, shell, shown, tool, wait_until
from kernel.systemd import ADDRESSES, UNITS, write

APPS = '/var/lib/jelling/apps.d'
guest_bled.SOCKET, guest_bled.LOG = '/run/jelling/bled.sock', '/run/bled.log'
RELAY, UNIT = 'org.example.relay', 'org.example.unit'
LARGE, QUIET = 'org.example.large', 'org.example.quiet'


def control(*words):
    done = subprocess.run(['systemctl', *words], capture_output=True, text=True, timeout=LIMIT)
    return done.stdout.strip() if done.returncode == 0 else f'status {done.returncode}: {done.stdout}{done.stderr}'


def state(name):
    return control('show', '--value', '-p', name, 'bled.service')


def tell_of_units():
    """What systemd knows of bled, for a test that has failed."""
    return shell('systemctl status --no-pager --full bled.service bled.socket; journalctl --no-pager -u bled.service | tail -20')


def test_verdict():
    """systemd-analyze security finds that the unit is exposed little"""
    done = subprocess.run(['systemd-analyze', 'security', '--offline=true', '--threshold=30', f'{UNITS}/bled.service'],
                          capture_output=True, text=True, timeout=LIMIT)
    assert done.returncode == 0, done.stdout[-300:] + done.stderr


def test_socket_activation():
    """the first program that connects to systemd's socket starts bled, which is ready when it says so, as a plain user with two capabilities"""
    control('start', 'bled.socket')
    assert state('ActiveState') == 'inactive', state('ActiveState')
    status, _, words = tool('lescan', '--duration', '1')
    assert status == 0, words
    assert (state('ActiveState'), state('Type')) == ('active', 'notify')
    fields = dict(line.split(':\t', 1) for line in pathlib.Path(f'/proc/{state("MainPID")}/status').read_text().splitlines() if ':\t' in line)
    assert fields['Uid'].split() == ['200'] * 4 and fields['Seccomp'] == '2' and fields['NoNewPrivs'] == '1', fields
    # CAP_NET_ADMIN and CAP_NET_RAW.
    assert int(fields['CapEff'], 16) == 0x3000, fields['CapEff']


def install(name, **manifest):
    write(f'{APPS}/{name}.json', json.dumps({'BundleIdentifier': name, 'UIBackgroundModes': BACKGROUND, **manifest}))


def frozen(path):
    return 'frozen 1' in pathlib.Path(f'{path}/cgroup.events').read_text()


def group_of(name):
    return '/sys/fs/cgroup' + pathlib.Path(f'/proc/{shown(name)["process"]}/cgroup').read_text().split('::')[1].strip()


def test_reload():
    """SIGHUP reads a new manifest, and the app runs in a cgroup below bled's, is frozen there and thawed for each value of its sensor"""
    install(RELAY, user='jelling', command=['/usr/bin/heart-rate-relay'])
    assert control('reload', 'bled') == ''
    wait_until(lambda: tool('app', 'show', RELAY)[0] == 0, 'the manifest is read')
    sensor(ADDRESSES[1])
    app('launch', RELAY)
    wait_until(lambda: len(events('beat')) > 1, 'it has values')
    group = group_of(RELAY)
    assert '/bled.service/' in group, group
    app('background', RELAY)
    app('suspend', RELAY)
    wait_until(lambda: frozen(group), 'it is frozen')
    before = len(events('beat'))
    wait_until(lambda: len(events('beat')) > before + 1, 'values thaw it')


def test_watchdog():
    """a bled that hangs is ended by the watchdog and started again, and the app it had launched goes on with its values"""
    process = shown(RELAY)['process']
    hung = int(state('MainPID'))
    os.kill(hung, signal.SIGSTOP)
    wait_until(lambda: state('NRestarts') == '1', 'systemd starts it again')
    wait_until(lambda: state('ActiveState') == 'active' and state('MainPID') not in ('0', str(hung)), 'it is active again')
    before = len(events('beat'))
    wait_until(lambda: len(events('beat')) > before + 1, 'the app has values again')
    assert shown(RELAY)['process'] == process, 'the app was started again'
    app('quit', RELAY)


def actor(name, wish, **manifest):
    """An app that does what `wish` says (jelling/actor.py), as the user of bled."""
    install(name, wish, user='jelling', **manifest)
    assert control('reload', 'bled') == ''
    wait_until(lambda: tool('app', 'show', name)[0] == 0, 'the manifest is read')
    app('launch', name)
    wait_until(lambda: events('state', name), 'it has begun')


def test_limited():
    """an app that the unit's bled launches gets no more memory than its manifest says"""
    actor(LARGE, {'scan': ['180d'], 'allocate': 200}, memoryMegabytes=64)
    wait_until(lambda: events('refused', LARGE) or events('allocated', LARGE) or not shown(LARGE)['process'], 'it takes memory')
    assert not events('allocated', LARGE), 'it has no limit'
    with open(f'/proc/{shown(LARGE)["process"]}/limits') as file:
        limit = next(line for line in file if line.startswith('Max data size'))
    assert limit.split()[3] == str(64 << 20), limit
    app('quit', LARGE)


def test_memory_is_short():
    """the unit's bled hears from the kernel that memory is short, and ends the app that has been suspended for the longest time"""
    # No one advertises this: it is not woken.
    actor(QUIET, {'scan': ['feab'], 'restore': 'quiet'})
    app('background', QUIET)
    app('suspend', QUIET)
    wait_until(lambda: frozen(group_of(QUIET)), 'it is frozen')
    before = len(events('beat'))
    app('launch', RELAY)
    wait_until(lambda: len(events('beat')) > before, 'the other app has values')
    first, second = (shown(name)['process'] for name in (QUIET, RELAY))
    assert first and second, (first, second)
    app('background', RELAY)
    app('suspend', RELAY)
    wait_until(lambda: frozen(group_of(RELAY)), 'the other is frozen')
    write(f'{UNITS}/hog.service', '[Unit]\nDefaultDependencies=no\n[Service]\nMemoryHigh=16M\nExecStart=/usr/bin/python3 -c '
          '"import os, time; held = [os.urandom(1 << 20) for _ in range(48)]; time.sleep(100000)"\n')
    control('daemon-reload')
    assert control('start', 'hog') == ''
    short = lambda: [line for line in said().splitlines() if re.search('memory is short: .* is ended', line)]
    wait_until(short, 'an app makes room')
    control('kill', '--signal=KILL', 'hog')
    assert f'‘{QUIET}’' in short()[0], short()
    wait_until(lambda: not os.path.exists(f'/proc/{first}'), 'its process has ended')
    for name in QUIET, RELAY:
        app('quit', name)


def test_unit():
    """an app that is a unit is started by systemd, connects by itself, and is frozen with the unit's cgroup"""
    write(f'{UNITS}/bled.service.d/root.conf', '[Service]\nUser=root\nGroup=root\n')
    write(f'{UNITS}/relay.service', '[Service]\nExecStart=/usr/bin/heart-rate-relay\nStandardOutput=append:/run/bled.log\n'
          f'Environment=JELLING_SOCKET={guest_bled.SOCKET} JELLING_APP={UNIT}\n')
    install(UNIT, unit='relay.service')
    control('daemon-reload')
    assert control('restart', 'bled') == ''
    before = len(events('beat'))
    app('launch', UNIT)
    wait_until(lambda: shown(UNIT)['place'] == 'foreground', 'it runs')
    wait_until(lambda: len(events('beat')) > before + 1, 'it has values')
    app('background', UNIT)
    app('suspend', UNIT)
    wait_until(lambda: frozen('/sys/fs/cgroup/system.slice/relay.service'), 'the unit is frozen')
    assert control('stop', 'bled.service', 'bled.socket') == ''
