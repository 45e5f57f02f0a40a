"""Samples for Core Bluetooth through `bled`: several at once, their processes, their manifests, and ones that mean harm."""
import os, signal, socket, tempfile, time

from jelling import floods
from jelling.daemon import (
    LIMIT, PYTHON3, RELAY, AppClient, Client, Daemon, Running, bletool, grows_less_than, octets, relay_manifest, state_of)
from jelling.programs import BLED


def test_two_apps():
    """two apps for Core Bluetooth and bletool on one peripheral: the one that is killed leaves the others alone (SPEC CEN-23, CEN-24)"""
    with Daemon() as daemon, daemon.app('heart-rate-central', '1000') as one, daemon.app('heart-rate-central', '8') as two:
        one.wait_for('beat', 2)
        two.wait_for('beat', 2)
        daemon.tool('gatt', 'C0:DE:00:00:00:01/random', 'read', '2A38')
        one.process.kill()
        two.wait_for('disconnected')
        assert two.process.wait(LIMIT) == 0 and len(two.events('beat')) >= 8, two.lines
        assert not two.events('state', state='resetting'), two.lines
        assert two.events('disconnected') == [{'event': 'disconnected', 'error': 'none'}], two.lines


def test_app_outlives_bled():
    """bled is killed again and again under an app: it hears resetting, the end of its link, then poweredOn, and goes on"""
    with Daemon() as daemon, daemon.app('heart-rate-central', '1000') as app:
        for round in range(1, 6):
            app.wait_for('state', round, state='poweredOn')
            app.wait_for_more('beat', 2)
            daemon.kill()
            app.wait_for('state', round, state='resetting')
            daemon.start()
        app.wait_for_more('beat', 2)
        assert app.process.poll() is None
        told = [line.get('state') or line['event'] for line in app.lines if line['event'] in ('state', 'disconnected', 'connected')]
        again = ['resetting', 'disconnected', 'poweredOn', 'connected']
        assert told == ['poweredOn', 'connected'] + 5 * again, told


def test_life_of_a_process():
    """an installed app is launched, really stopped, woken for each value, launched again when it was killed, not after a force quit"""
    with Daemon(apps=[relay_manifest()]) as daemon:
        process = daemon.relays()
        assert state_of(process) != 'T', 'stopped in the foreground'
        daemon.suspend(RELAY)
        # Stopped, and yet it hears of each value (SPEC BGX-2, BGX-4).
        daemon.wait_stopped(process)
        for _ in range(3):
            daemon.beats_more('a beat wakes it')
            daemon.wait_stopped(process)
        # Killed while it is stopped: the next value launches it again (SPEC SPR-5, SPR-30, SPR-31, SPR-35).
        os.kill(process, signal.SIGKILL)
        process = daemon.wait_launched(RELAY, process)
        daemon.wait_for('it is restored', lambda: any(line['role'] == 'central' for line in daemon.told('willRestore')))
        assert f'as process {process} for sensor, relay' in daemon.said(), daemon.said()[-2000:]
        daemon.beats_more('a beat after the relaunch')
        # bled is killed while the app is stopped: the next one finds it, and it goes on as the same process. A value may wake it
        # at the moment of the kill: then once more.
        was_stopped = False
        for _ in range(20):
            daemon.wait_stopped(process)
            daemon.kill()
            was_stopped = state_of(process) == 'T'
            daemon.start()
            daemon.beats_more('it goes on with the new bled')
            daemon.wait_for('it is the same process', lambda: daemon.process_of(RELAY) == process)
            if was_stopped:
                break
        assert was_stopped, 'it was never stopped when bled was killed'
        # By force: nothing of it goes on (SPEC SPR-30).
        daemon.operate(quit=RELAY)
        daemon.wait_for('it is gone', lambda: state_of(process) == 'Z')
        time.sleep(3)
        assert daemon.process_of(RELAY) == 0, daemon.said()[-2000:]


def test_place_outlives_bled():
    """an app that an operator has launched into the foreground is there after bled was ended or killed, and so is one in the background"""
    with Daemon(apps=[relay_manifest()]) as daemon:
        def place():
            return daemon.lines('app', 'list')[0]['place']

        def ends(by):
            daemon.process.send_signal(by)
            assert daemon.process.wait(LIMIT) == (0 if by == signal.SIGTERM else -by)
            daemon.start()
            # An app that is not in front is stopped two seconds after it has come back.
            daemon.beats_more(count=5)

        process = daemon.relays()
        for by in signal.SIGKILL, signal.SIGTERM, signal.SIGKILL:
            ends(by)
            assert (place(), daemon.process_of(RELAY)) == ('foreground', process), (by, place(), daemon.said()[-1500:])
        daemon.operate(background=RELAY)
        for by in signal.SIGKILL, signal.SIGTERM:
            ends(by)
            assert place() in ('background', 'woken', 'suspended') and daemon.process_of(RELAY) == process, (by, place())
        daemon.operate(foreground=RELAY)
        ends(signal.SIGKILL)
        assert (place(), daemon.process_of(RELAY)) == ('foreground', process), (place(), daemon.said()[-1500:])


def test_operators_verbs():
    """bletool app lists, launches, suspends and quits an installed app; what is not installed is refused in words"""
    with Daemon(apps=[relay_manifest()]) as daemon:
        def listed():
            return {key: value for key, value in daemon.lines('app', 'list')[0].items() if key not in ('time', 'adapter')}

        assert listed() == {'event': 'app', 'identifier': RELAY, 'place': 'notRunning', 'process': None,
                            'user': os.geteuid(), 'backgroundModes': ['bluetooth-central', 'bluetooth-peripheral']}
        daemon.tool('app', 'launch', RELAY)
        daemon.wait_for('it is in front', lambda: listed()['place'] == 'foreground')
        daemon.tool('app', 'background', RELAY)
        daemon.tool('app', 'suspend', RELAY)
        daemon.wait_for('it is stopped', lambda: state_of(listed()['process'] or 0) == 'T')
        daemon.tool('app', 'quit', RELAY)
        daemon.wait_for('it is gone', lambda: listed()['process'] is None)
        assert 'no app ‘org.example.unknown’ is installed' in daemon.tool('app', 'launch', 'org.example.unknown', status=1)
        status, _, said = bletool('sim', 'app', 'list')
        assert status == 2 and '-t bled' in said, (status, said)


def test_service_manager():
    """under a service manager bled takes the socket that it is given, says that it is ready and lives, and that it stops"""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'bled.sock')
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(path)
        listener.listen()
        manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        manager.bind(os.path.join(folder, 'notify'))
        manager.settimeout(LIMIT)
        # The program becomes bled: LISTEN_PID is its number.
        become = (f'import os; os.dup2({listener.fileno()}, 3); os.environ["LISTEN_PID"] = str(os.getpid()); '
                  f'os.execv("{BLED}", ["bled", "--adapter", "sim", "--socket", "{path}"])')
        with Running([PYTHON3, '-c', become], pass_fds=[listener.fileno()], env={
                **os.environ, 'LISTEN_FDS': '1', 'NOTIFY_SOCKET': os.path.join(folder, 'notify'), 'WATCHDOG_USEC': '200000'}) as process:
            said = [manager.recv(100).decode()]
            while 'READY=1' not in said or said.count('WATCHDOG=1') < 4:
                said.append(manager.recv(100).decode())
            Client(path).greeted()
            process.send_signal(signal.SIGTERM)
            while said[-1] != 'STOPPING=1':
                said.append(manager.recv(100).decode())
            assert process.wait(LIMIT) == 0
            assert os.path.exists(path), 'the socket file is the manager\'s'


def test_refused_roles():
    """an app is not let have a manager of a role that its manifest does not name; the other one works"""
    with Daemon(apps=[relay_manifest(roles=['central'])]) as daemon:
        daemon.relays(1)
        states = [line['state'] for line in daemon.told('state') if line['role'] != 'central']
        assert states and set(states) == {'unauthorized'}, states


def test_bad_manifests():
    """manifests that others may write, or that say nonsense, are ignored and told of; SIGHUP reads them again"""
    with Daemon() as daemon:
        daemon.install(relay_manifest(roles=['king']))
        daemon.install({'BundleIdentifier': 'open', 'command': ['/bin/true']})
        os.chmod(os.path.join(daemon.apps, 'open.json'), 0o666)
        daemon.install({'BundleIdentifier': 'good', 'command': ['/bin/true']})
        daemon.process.send_signal(signal.SIGHUP)
        daemon.wait_for('it is read', lambda: 'good' in daemon.operate(list={}))
        assert set(daemon.operate(list={})) == {'good'}
        said = daemon.said()
        assert said.count('is ignored') == 2 and 'king' in said and 'open.json' in said, said


def test_hostile_apps():
    """apps that send garbage, half a frame, too many managers or never read harm themselves alone"""
    def refusal(client):
        while (message := client.receive()) is not None:
            if message.HasField('refusal'):
                return message.refusal.reason

    with Daemon() as daemon, daemon.app('heart-rate-central', '1000') as victim:
        victim.wait_for('beat', 2)
        with grows_less_than(daemon, 32):
            garbage = AppClient(daemon.path, 'garbage')
            garbage.socket.sendall(b'\x03\0\0\0\xff\xff\xff')
            assert refusal(garbage) == 2
            tool = AppClient(daemon.path, 'tool')
            tool.request(scan={'is_active': True})
            assert refusal(tool) == 2
            half = AppClient(daemon.path, 'half')
            half.socket.sendall(b'\xff\0\0\0\x1a')
            many = AppClient(daemon.path, 'many')
            for number in range(17):
                many.send(app_request={'manager': number + 1, 'create_central': {}})
            assert refusal(many) == 10
            # What it asks for is answered, and it never reads.
            stuck = AppClient(daemon.path, 'stuck')
            stuck.send(app_request={'manager': 1, 'create_central': {}})
            count, _ = floods.fill(stuck, lambda number: octets(app_request={'manager': 1, 'number': number, 'stop_scan': {}}))
            assert count < 1_000_000, 'it could flood without end'
            victim.wait_for_more('beat', 2)
            half.socket.close()


def test_memory():
    """memory with ten programs connected"""
    with Daemon() as daemon:
        alone = daemon.own_kilobytes()
        clients = [daemon.connect() for _ in range(10)]
        before = daemon.processor_seconds()
        time.sleep(2)
        used = daemon.processor_seconds() - before
        assert all(client.done(cancel={'operation': 99}) for client in clients)
        # What is not optimised takes more, but not for each connection.
        more = daemon.own_kilobytes() - alone
        assert more < 16 * 1024, f'{more} kB more than before'
        print(f'{daemon.resident_kilobytes()} kB resident, {more} kB for the programs, {used:.2f} s of processor in 2 s of rest')
