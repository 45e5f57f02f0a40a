"""Cases of the life of processes: whom an app runs as, what it inherits, how it is stopped, and who makes room when memory is short."""
import errno, fcntl, glob, os, pathlib, pty, re, select, shutil, signal, socket, subprocess, tempfile, time

import pytest

from jelling.apps import actor
from jelling.child import wait_until
from jelling.daemon import LIMIT, NOBODY, PYTHON3, RELAY, Client, Daemon, ended, needs_root, relay_manifest, state_of
from jelling.programs import BLED, EXAMPLES

# Prints what a launched program has inherited, as a JSON object, and stays.
INHERITED = r'''
import json, os, resource, signal
status = dict(line.rstrip("\n").split(":\t", 1) for line in open("/proc/self/status") if ":\t" in line)
open_files = sorted(int(name) for name in os.listdir("/proc/self/fd"))
told = {key: status[key] for key in ("Uid", "Gid", "Groups", "SigBlk", "SigIgn", "CapEff", "CapPrm", "CapAmb")}
listing = os.open("/", os.O_RDONLY)
told |= {"event": "inherited", "environment": dict(os.environ), "folder": os.getcwd(), "umask": os.umask(0),
         "files": [number for number in open_files if number != listing], "session": os.getsid(0) == os.getpid(),
         "group": open("/proc/self/cgroup").read()}
print(json.dumps(told), flush=True)
signal.pause()
'''


def control_groups():
    """A folder of cgroups (version 2) that this process may divide, or None."""
    with open('/proc/self/mountinfo') as mounts:
        for line in mounts:
            fields = line.split()
            if fields[fields.index('-') + 1] == 'cgroup2':
                folder = f'{fields[4]}/jelling-test-{os.getpid()}'
                try:
                    os.mkdir(folder)
                except OSError:
                    return None
                if not os.path.exists(folder + '/cgroup.freeze'):
                    os.rmdir(folder)
                    return None
                return folder


def remove(group):
    """A group with all its processes."""
    for folder in sorted(glob.glob(group + '/*/'), reverse=True) + [group]:
        if os.path.exists(folder):
            pathlib.Path(folder + '/cgroup.kill').write_text('1')
            wait_until(lambda: is_removed(folder), f'{folder} is empty', LIMIT)


def is_removed(folder):
    try:
        os.rmdir(folder)
    except OSError:
        return False
    return True


def is_frozen(folder):
    return 'frozen 1' in pathlib.Path(folder + '/cgroup.events').read_text()


def python(program, *words):
    return [PYTHON3, '-c', program, *words]


@needs_root
def test_another_user():
    """a launched app runs as its manifest's user: no descriptor, group, capability, signal mask or variable of bled's goes with it"""
    manifest = {'BundleIdentifier': 'org.example.other', 'user': 'nobody', 'command': python(INHERITED),
                'environment': {'COLOR': 'blue'}}
    os.environ['SECRET'] = 'of bled'
    held, theirs = socket.socketpair()
    os.set_inheritable(held.fileno(), True)
    try:
        with Daemon(apps=[manifest], inherited=[held.fileno()], groups=[4, 20]) as daemon:
            with open(f'/proc/{daemon.process.pid}/status') as status:
                assert re.search(r'^Groups:\s*4 20\s*$', status.read(), re.M), 'bled has no groups to leak'
            assert os.path.exists(f'/proc/{daemon.process.pid}/fd/{held.fileno()}'), 'bled has no descriptor to leak'
            daemon.operate(foreground='org.example.other')
            daemon.wait_told('inherited')
            told = daemon.told('inherited')[0]
            socket_path = daemon.path
            process = daemon.process_of('org.example.other')
            assert os.stat(f'/proc/{process}').st_uid == NOBODY
    finally:
        del os.environ['SECRET']
        held.close()
        theirs.close()
    assert told['Uid'].split() == [str(NOBODY)] * 4 and told['Gid'].split() == [str(NOBODY)] * 4, told
    assert set(told['Groups'].split()) <= {str(NOBODY)}, told['Groups']
    assert {int(told[name], 16) for name in ('SigBlk', 'CapEff', 'CapPrm', 'CapAmb')} == {0}, told
    # Python itself ignores SIGPIPE and SIGXFSZ.
    assert int(told['SigIgn'], 16) & ~(1 << signal.SIGPIPE - 1 | 1 << signal.SIGXFSZ - 1) == 0, told['SigIgn']
    assert told['files'] == [0, 1, 2], told['files']
    # The C locale of Python adds one of its own.
    assert set(told['environment']) - {'LC_CTYPE'} == {
        'PATH', 'HOME', 'USER', 'LOGNAME', 'COLOR', 'JELLING_SOCKET', 'JELLING_APP'}, told['environment']
    assert told['environment']['USER'] == 'nobody' and told['environment']['JELLING_SOCKET'] == socket_path
    assert told['session'] and told['umask'] == 0o022 and told['folder'] == '/', told


# Prints how it may use its standard output and error.
OUTPUTS = r'''
import fcntl, json, os, signal
modes = [fcntl.fcntl(number, fcntl.F_GETFL) & os.O_ACCMODE for number in (1, 2)]
print(json.dumps({"event": "outputs", "modes": modes, "terminals": [os.isatty(1), os.isatty(2)]}), flush=True)
signal.pause()
'''


class AtTerminal(Daemon):
    """A daemon that is started in a terminal."""

    def start(self):
        terminal, end = pty.openpty()
        self.terminal, self.shown = os.fdopen(terminal, 'rb', buffering=0), b''
        os.fchmod(end, 0o600)
        log, self.log = self.log, os.fdopen(end, 'w')
        log.close()
        super().start()

    def said(self):
        while select.select([self.terminal], [], [], 0)[0]:
            self.shown += self.terminal.read(65536)
        return self.shown.decode()

    def __exit__(self, *what):
        super().__exit__(*what)
        self.terminal.close()


@needs_root
def test_at_a_terminal():
    """an app of another user writes to the terminal in which bled was started, and cannot read what is typed there"""
    manifest = {'BundleIdentifier': 'org.example.outputs', 'user': 'nobody', 'command': python(OUTPUTS)}
    with AtTerminal(apps=[manifest]) as daemon:
        daemon.operate(foreground='org.example.outputs')
        daemon.wait_told('outputs')
        told = daemon.told('outputs')[0]
    assert told['modes'] == [os.O_WRONLY] * 2 and told['terminals'] == [True] * 2, told


@needs_root
def test_life_as_another_user():
    """an app for Core Bluetooth of user nobody works, is stopped and woken; no other program of that user may connect"""
    with tempfile.TemporaryDirectory() as folder, Daemon() as daemon:
        # The folder of the build may be closed to others.
        os.chmod(folder, 0o755)
        program = shutil.copy(os.path.join(EXAMPLES, 'heart-rate-relay'), folder)
        daemon.install(relay_manifest(user='nobody', command=[program]))
        daemon.operate(reload={})
        process = daemon.relays()
        assert os.stat(f'/proc/{process}').st_uid == NOBODY
        daemon.suspend(RELAY)
        daemon.wait_stopped(process)
        daemon.beats_more('a beat wakes it')
        # Neither a tool nor an operator nor an app that is not installed, nor one that says it is the installed one.
        for hello in {'session': 1}, {'session': 3}, {'session': 2, 'app': {'identifier': 'org.example.mine'}}, {
                'session': 2, 'app': {'identifier': RELAY}}:
            client = Client(daemon.path, user=NOBODY)
            client.send(hello={'version': 1, **hello})
            message = client.receive()
            # REASON_NOT_ALLOWED
            assert message and message.refusal.reason == 4, f'a program of another user got in: {message}'


def members_of(group):
    """The processes of a cgroup; none of one that bled has removed."""
    try:
        return set(map(int, pathlib.Path(group + '/cgroup.procs').read_text().split()))
    except OSError as error:
        # ENODEV: it was removed between the two.
        if error.errno not in (errno.ENOENT, errno.ENODEV):
            raise
        return set()


def test_frozen():
    """an app with a cgroup of its own is frozen with all its processes, thawed for each value, and found again by a new bled"""
    folder = control_groups()
    if folder is None:
        pytest.skip('no cgroup of version 2 can be changed here')
    helper = ['/bin/sh', '-c', f'sleep 1000 & exec {os.path.join(EXAMPLES, "heart-rate-relay")}']
    try:
        with Daemon(apps=[relay_manifest(command=helper)], words=['--cgroup', folder]) as daemon:
            daemon.relays()
            group = f'{folder}/app-{RELAY}'
            process = daemon.process_of(RELAY)
            members = members_of(group)
            assert process in members and len(members) == 2, members
            daemon.suspend(RELAY)
            for _ in range(3):
                daemon.wait_for('it is frozen', lambda: is_frozen(group))
                assert state_of(process) != 'T', 'SIGSTOP is for apps without a group'
                daemon.beats_more('a value thaws it')
            daemon.wait_for('it is frozen', lambda: is_frozen(group))
            daemon.kill()
            daemon.start()
            daemon.beats_more('it goes on with the new bled')
            assert daemon.process_of(RELAY) == process
            daemon.wait_for('it is frozen by the new bled', lambda: is_frozen(group))
            # It is ended while it is frozen, with its helper, and launched again into the same group.
            os.kill(process, signal.SIGKILL)
            daemon.wait_launched(RELAY, process)
            helper, = members - {process}
            daemon.wait_for('its helper has ended, too', lambda: state_of(helper) == 'Z')
            daemon.operate(quit=RELAY)
            daemon.wait_for('nothing is left', lambda: not members_of(group))
    finally:
        remove(folder)


def test_stops_with_apps():
    """bled is ended while apps run and are stopped: it ends well, and none of them stays stopped"""
    with Daemon(apps=[relay_manifest(), relay_manifest(BundleIdentifier='org.example.second')]) as daemon:
        names = RELAY, 'org.example.second'
        for name in names:
            daemon.operate(foreground=name)
        daemon.wait_for('both run', lambda: len(daemon.told('state')) >= 4)
        processes = [daemon.process_of(name) for name in names]
        daemon.suspend(RELAY)
        daemon.process.send_signal(signal.SIGTERM)
        assert daemon.process.wait(LIMIT) == 0, (daemon.process.returncode, daemon.said()[-2000:])
        daemon.wait_for('none is stopped', lambda: not {state_of(process) for process in processes} & {'T', 'Z'})
        for process in processes:
            os.killpg(process, signal.SIGKILL)


def test_slow_program():
    """a program whose file system does not answer holds up its own launch, and neither bled nor what bled has open"""
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, 'program')
        pathlib.Path(program).write_text('no program\n')
        os.chmod(program, 0o755)
        # Who starts the program waits for the lease: up to 45 s (fcntl(2), /proc/sys/fs/lease-break-time).
        held = os.open(program, os.O_RDWR)
        before = signal.signal(signal.SIGIO, signal.SIG_IGN)
        try:
            try:
                fcntl.fcntl(held, fcntl.F_SETLEASE, fcntl.F_WRLCK)
            except OSError as error:
                pytest.skip(f'no leases here: {error}')
            with Daemon(apps=[{'BundleIdentifier': 'slow', 'command': [program]}]) as daemon:
                client = daemon.connect()
                daemon.operate(foreground='slow')
                process = daemon.process_of('slow')
                # Others are served meanwhile.
                assert client.end(client.request(cancel={'operation': 99})) is not None
                daemon.wait_for('it has closed what was of bled', lambda: len(os.listdir(f'/proc/{process}/fd')) <= 5)
                assert os.readlink(f'/proc/{process}/exe') == os.path.realpath(BLED), 'it did not wait'
                daemon.operate(quit='slow')
                daemon.wait_for('it is ended', lambda: daemon.process_of('slow') == 0)
                # That it fails is noticed later.
                fcntl.fcntl(held, fcntl.F_SETLEASE, fcntl.F_UNLCK)
                fcntl.fcntl(held, fcntl.F_SETLEASE, fcntl.F_WRLCK)
                daemon.operate(foreground='slow')
                assert 'cannot be launched' not in daemon.said()
                fcntl.fcntl(held, fcntl.F_SETLEASE, fcntl.F_UNLCK)
                daemon.wait_said('‘slow’ cannot be launched')
        finally:
            signal.signal(signal.SIGIO, before)
            os.close(held)


def test_no_such_group():
    """bled refuses a cgroup that is none, in words, before it listens"""
    with tempfile.TemporaryDirectory() as folder:
        done = ended(BLED, '--adapter', 'sim', '--socket', folder + '/s', '--cgroup', folder)
    assert done.returncode != 0 and 'is not a cgroup of version 2' in done.stderr, done


# A stand-in for systemctl: starts the program of a unit as systemd does, in the unit's cgroup where there is one.
SYSTEMCTL = r'''#!/bin/sh
[ "$1 $2 $3" = "start --no-block --" ] || { echo "not understood: $*" >&2; exit 2; }
echo "$4" >>"@folder@/asked"
[ -e "@folder@/$4" ] || exit 5
(
    [ -z "@group@" ] || { mkdir -p "@group@/$4"; read pid rest </proc/self/stat; echo $pid >"@group@/$4/cgroup.procs"; }
    . "@folder@/$4" </dev/null
) &
echo $! >"@folder@/started"
'''


def test_unit():
    """an app that is a systemd unit is started by systemctl (a stand-in), frozen with its group, and started again for a value"""
    folder = control_groups()
    try:
        with tempfile.TemporaryDirectory() as files:
            manager = os.path.join(files, 'systemctl')
            pathlib.Path(manager).write_text(SYSTEMCTL.replace('@folder@', files).replace('@group@', folder or ''))
            os.chmod(manager, 0o755)
            manifest = relay_manifest(unit='relay.service')
            del manifest['command']
            with Daemon(apps=[manifest], words=['--systemctl', manager]) as daemon:
                with open(os.path.join(files, 'relay.service'), 'w') as file:
                    file.write(f'JELLING_SOCKET={daemon.path} JELLING_APP={RELAY} exec {EXAMPLES}/heart-rate-relay\n')
                if folder:
                    # Of a unit with this name in the user's own manager of services.
                    os.mkdir(f'{folder}/relay.service')
                    os.chown(f'{folder}/relay.service', NOBODY, NOBODY)
                    theirs = subprocess.Popen(
                        ['/bin/sh', '-c', f'echo $$ >{folder}/relay.service/cgroup.procs; exec {EXAMPLES}/heart-rate-relay'],
                        stdin=subprocess.DEVNULL, stdout=daemon.log,
                        env={**os.environ, 'JELLING_SOCKET': daemon.path, 'JELLING_APP': RELAY})
                    daemon.wait_told('beat')
                    assert daemon.process_of(RELAY) == 0
                    theirs.kill()
                    theirs.wait()
                    remove(f'{folder}/relay.service')
                os.rename(os.path.join(files, 'relay.service'), os.path.join(files, 'away'))
                daemon.operate(foreground=RELAY)
                daemon.wait_said('systemctl ended with status 5')
                os.rename(os.path.join(files, 'away'), os.path.join(files, 'relay.service'))
                os.unlink(os.path.join(files, 'asked'))
                before = len(daemon.told('beat'))
                daemon.operate(foreground=RELAY)
                if folder is None:
                    # What is not in the unit's group is not the app, whatever it says.
                    daemon.wait_told('beat')
                    assert daemon.process_of(RELAY) == 0
                    os.kill(int(pathlib.Path(os.path.join(files, 'started')).read_text()), signal.SIGKILL)
                    pytest.skip('with a group: no cgroup of version 2 can be changed here')
                daemon.wait_for('two beats', lambda: len(daemon.told('beat')) >= before + 2)
                process, group = daemon.process_of(RELAY), f'{folder}/relay.service'
                assert process
                daemon.suspend(RELAY)
                daemon.wait_for('it is frozen', lambda: is_frozen(group))
                daemon.beats_more('a value thaws it')
                os.kill(process, signal.SIGKILL)
                daemon.wait_launched(RELAY, process)
                daemon.wait_told('willRestore')
                assert pathlib.Path(os.path.join(files, 'asked')).read_text().split() == ['relay.service'] * 2
                assert 'asked systemd for' in daemon.said() and 'for sensor, relay' in daemon.said()
                daemon.operate(quit=RELAY)
                daemon.wait_for('it is gone', lambda: daemon.process_of(RELAY) == 0)
    finally:
        if folder:
            remove(folder)


def test_memory_pressure():
    """when memory is short, the app that was suspended first is ended; its preserved managers bring it back, the others' do not"""
    sleeper = 'org.example.sleeper'
    # `sleeper` has no managers with restore identifiers: it is the central of the samples, as an installed app.
    other = {'BundleIdentifier': sleeper, 'UIBackgroundModes': ['bluetooth-central'],
             'command': [os.path.join(EXAMPLES, 'heart-rate-central'), '100000']}
    with Daemon(apps=[relay_manifest(), other]) as daemon:
        daemon.press()
        daemon.wait_said('no app is suspended that could make room')
        for name in RELAY, sleeper:
            daemon.operate(foreground=name)
        daemon.wait_told('beat', 6)
        processes = {name: daemon.process_of(name) for name in (RELAY, sleeper)}
        # Only the relay is suspended: it alone can go, and a value brings it back.
        daemon.suspend(RELAY)
        daemon.wait_for('the relay is ended', lambda: press_until(daemon, RELAY))
        daemon.wait_launched(RELAY, processes[RELAY])
        daemon.wait_told('willRestore')
        assert daemon.process_of(sleeper) == processes[sleeper]
        daemon.operate(quit=RELAY)
        daemon.suspend(sleeper)
        daemon.wait_for('the sleeper is ended', lambda: press_until(daemon, sleeper))
        daemon.wait_for('its process is gone', lambda: state_of(processes[sleeper]) == 'Z')
        time.sleep(3)
        assert daemon.process_of(sleeper) == 0, 'launched again without a restore identifier'


def press_until(daemon, name):
    """Values wake the app again and again, and an app that runs cannot go: press while it is stopped."""
    if state_of(daemon.process_of(name) or 0) == 'T':
        daemon.press()
        time.sleep(0.05)
    return f'‘{name}’ is ended, suspended for' in daemon.said()


def test_longest_suspended_first():
    """of several suspended apps the one that was suspended first makes room, then the next"""
    names = ['one', 'two', 'three']
    with Daemon(apps=[actor(name, {'scan': ['feab']}, modes=[]) for name in names]) as daemon:
        for name in names:
            daemon.operate(foreground=name)
            daemon.wait_for(f'{name} is connected', lambda: daemon.operate(list={})[name].is_connected)
        processes = {name: daemon.process_of(name) for name in names}
        order = ['two', 'three', 'one']
        for name in order:
            daemon.suspend(name)
            daemon.wait_stopped(processes[name])
        for count, name in enumerate(order, 1):
            daemon.press()
            daemon.wait_for(f'{name} is ended', lambda: daemon.said().count('memory is short') == count)
            daemon.wait_for(f'{name} is gone', lambda: state_of(processes[name]) == 'Z')
            assert all(state_of(processes[other]) == 'T' for other in order[count:])
