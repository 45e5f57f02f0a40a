"""Cases of a full disk, a folder that cannot be written, damaged files, and of which ends of an app bring it back (SPEC SPR-30)."""
import glob, os, pathlib, random, signal, subprocess, tempfile, time

from jelling.apps import CENTRAL, Air, actor, launch
from jelling.daemon import RELAY, Daemon, relay_manifest, state_of
from daemon.test_scenarios import scans


class Disk:
    """A small disk of its own."""

    def __init__(self, folder):
        self.path = folder
        mounted = subprocess.run(['mount', '-t', 'tmpfs', '-o', 'size=1m,mode=700', 'tmpfs', folder], capture_output=True,
                                 text=True)
        assert mounted.returncode == 0, f'a small disk cannot be mounted: {mounted.stderr}'

    def fill(self):
        others = os.open(os.path.join(self.path, 'others'), os.O_WRONLY | os.O_CREAT)
        try:
            while os.write(others, bytes(4096)):
                pass
        except OSError:
            os.close(others)

    def empty(self):
        os.unlink(os.path.join(self.path, 'others'))

    def freeze(self):
        subprocess.run(['mount', '-o', 'remount,ro', self.path], check=True, capture_output=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        subprocess.run(['umount', '-l', self.path], check=True, capture_output=True)


def works(daemon):
    """An app is launched, hears its sensor, is stopped and woken."""
    daemon.operate(foreground=RELAY)
    daemon.beats_more('beats', 2)
    daemon.suspend(RELAY)
    daemon.wait_stopped(daemon.process_of(RELAY))
    daemon.beats_more('a beat wakes it')


def test_full_disk():
    """a full disk is told of, and apps live on; when there is room again, what is new outlives bled"""
    with tempfile.TemporaryDirectory() as folder, Disk(folder) as disk:
        disk.fill()
        with Daemon(apps=[relay_manifest()], words=['--state', folder]) as daemon:
            works(daemon)
            said = daemon.said()
            assert 'No space left' in said, said[-2000:]
            assert said.count('No space left') < 10, f'told again and again: {said.count("No space left")} times'
            disk.empty()
            # With the next change of anything, what was not written is.
            first = daemon.process_of(RELAY)
            daemon.install(actor('org.example.second', {'restore': 'second', 'scan': ['180d']}))
            daemon.operate(reload={})
            launch(daemon, 'org.example.second')
            journal = os.path.join(folder, 'apps', 'bled.journal')
            daemon.wait_for('its scan is written down', lambda: os.path.exists(journal) and b'"second"' in open(journal, 'rb').read())
            second = daemon.process_of('org.example.second')
            daemon.kill()
            for process in first, second:
                os.kill(process, signal.SIGKILL)
            before = len(daemon.told('willRestore'))
            daemon.start()
            daemon.wait_for('it is restored', lambda: len(daemon.told('willRestore')) > before)
            daemon.wait_launched(RELAY, first)
            daemon.operate(quit='org.example.second')
            daemon.operate(quit=RELAY)
            daemon.wait_for('it is gone', lambda: daemon.process_of(RELAY) == 0)
            works(daemon)
            process = daemon.kill(RELAY)
            daemon.start()
            daemon.wait_launched(RELAY, process)
            daemon.wait_told('willRestore')


def test_read_only_state():
    """a state folder that cannot be written is told of, and apps live on"""
    with tempfile.TemporaryDirectory() as folder, Disk(folder) as disk:
        disk.freeze()
        with Daemon(apps=[relay_manifest()], words=['--state', folder]) as daemon:
            works(daemon)
            assert 'Read-only' in daemon.said(), daemon.said()[-2000:]


def test_damaged_files():
    """damaged bonds, a damaged journal and a damaged list of processes are each told of, and the rest works"""
    chance = random.Random(3)
    with Daemon(apps=[relay_manifest()]) as daemon:
        works(daemon)
        process = daemon.process_of(RELAY)
        state = daemon.state
        for round in range(3):
            daemon.kill()
            files = [path for path in glob.glob(state + '/**', recursive=True)
                     if os.path.isfile(path) and os.path.getsize(path) and not path.endswith('.damaged')]
            assert len(files) >= 2, files
            for path in files:
                octets = bytearray(pathlib.Path(path).read_bytes())
                if round % 3 == 0:
                    octets = bytearray(chance.randbytes(500))
                elif round % 3 == 1:
                    del octets[len(octets) // 2:]
                else:
                    for _ in range(8):
                        octets[chance.randrange(len(octets))] ^= 1 << chance.randrange(8)
                pathlib.Path(path).write_bytes(octets)
            daemon.start()
            daemon.wait_for('it listens', daemon.listens)
            assert daemon.process.poll() is None
            if state_of(process) == 'T':
                os.killpg(process, signal.SIGKILL)
            daemon.operate(quit=RELAY)
            if state_of(process) not in 'Z':
                os.killpg(process, signal.SIGKILL)
            works(daemon)
            process = daemon.process_of(RELAY)
        said = daemon.said()
        assert 'damaged' in said and 'Fatal' not in said, said[-2000:]


def test_relaunch_table():
    """the table of SPR-30 with a real process: what ends an app, and whether the next event launches it again"""
    told = []
    # Swift's report of a crash would take its time.
    manifest = relay_manifest(environment={'SWIFT_BACKTRACE': 'enable=no'})
    with Daemon(apps=[manifest]) as daemon:
        def memory():
            daemon.wait_stopped(process)
            daemon.press()

        def restart():
            daemon.kill(RELAY)
            daemon.start()

        rows = [
            ('suspended in memory', lambda: None, 'resumed'),
            ('removed from memory', memory, 'launched'),
            ('crashed (SIGSEGV)', lambda: os.kill(process, signal.SIGSEGV), 'launched'),
            ('crashed (SIGABRT)', lambda: os.kill(process, signal.SIGABRT), 'launched'),
            ('killed (SIGKILL)', lambda: os.kill(process, signal.SIGKILL), 'launched'),
            ('device restarted', restart, 'launched'),
            ('quit by the user', lambda: daemon.operate(quit=RELAY), 'gone'),
        ]
        works(daemon)
        for what, end, wanted in rows:
            process = daemon.process_of(RELAY)
            restored, beats = len(daemon.told('willRestore')), len(daemon.told('beat'))
            end()
            if wanted == 'resumed':
                daemon.wait_for(what, lambda: len(daemon.told('beat')) > beats)
                assert daemon.process_of(RELAY) == process, what
            elif wanted == 'launched':
                daemon.wait_launched(RELAY, process)
                daemon.wait_for(f'{what}: restored', lambda: len(daemon.told('willRestore')) > restored)
                daemon.beats_more(f'{what}: beats')
                assert state_of(process) == 'Z', what
            else:
                daemon.wait_for(what, lambda: state_of(process) == 'Z')
                time.sleep(3)
                assert daemon.process_of(RELAY) == 0, what
            told.append(f'{what}: {wanted}')
    print('; '.join(told))


def test_restore_trace():
    """the trace of SPR-35 from real processes: end, a new process, its launch key, willRestore with the scan, state, discovery"""
    name = 'org.example.eddystone'
    manifest = actor(name, {'restore': 'myCentralManagerIdentifier', 'scan': ['feaa'], 'duplicates': True}, modes=CENTRAL)
    with Air() as air, Daemon(adapter=air.endpoint, apps=[manifest]) as daemon:
        daemon.operate(foreground=name)
        daemon.wait_for('it scans', lambda: name in scans(daemon))
        daemon.operate(background=name)
        first = daemon.kill_app(name)
        time.sleep(1)
        assert daemon.process_of(name) == 0, 'launched without an event'
        air.lab.start('advertise', '--name', 'Beacon', '--service', 'FEAA', via=air.lab.endpoints[1])
        daemon.wait_told('discovered')
        second = daemon.process_of(name)
        trace = [line for line in map(dict, sum((daemon.told(kind) for kind in (
            'began', 'willRestore', 'state', 'discovered')), [])) if line['process'] == second]
        order = [line['event'] for line in daemon.events() if line.get('process') == second and line['event'] != 'log'][:4]
    assert second != first and order == ['began', 'willRestore', 'state', 'discovered'], (first, second, order)
    began, restore, state, _ = trace[:4]
    assert began['launch'] == ['myCentralManagerIdentifier'] and began['environment'] == {'CB_LAUNCH_CENTRALS': 'myCentralManagerIdentifier'}, began
    assert restore['scan'] == ['feaa'] and restore['duplicates'], restore
    assert state['state'] == 5, state
    print(f'process {first} → {second}: ' + ', '.join(order))
