"""Cases of several adapters, of one that goes away and comes back, and of one that hangs: the controllers are processes of their
own, and between them and bled stands a line that can be cut or fall silent."""
import glob, json, os, pathlib, signal, socket, tempfile, threading, time

from pytest import mark

from jelling import lab as bench
from jelling.apps import sensor
from jelling.client import is_listening
from jelling.daemon import LIMIT, RELAY, AppClient, Daemon, Running, alerted, bletool, ended, operate, relay_manifest
from jelling.measures import wake_ups
from jelling.programs import BLETOOL
from jelling.relay import Line


class Adapters:
    """Two adapters, each behind a line, and a sensor on the same air: processes of their own."""

    def __enter__(self):
        self.lab = bench.Lab('simulator', 3).open(peer=False)
        ends = [end.split(':', 1)[1] for end in self.lab.endpoints]
        self.lines = [Line(self.lab.path(f'line{number}'), ends[number]) for number in (0, 1)]
        self.addresses = [f'unix:{line.path}' for line in self.lines]
        self.lab.serving(sensor(), 'Sensor', '--advertise', '180D', via=self.lab.endpoints[2])
        return self

    def __exit__(self, *_):
        for line in self.lines:
            line.cut()
        self.lab.close()


def sees(path):
    """Whether a tool at this socket hears the sensor."""
    status, out, said = bletool(f'bled:{path}', 'lescan', '--name', 'Sensor', '--count', '1', '--duration', '30')
    return status == 0 and 'Sensor' in out


def threads(daemon):
    names = []
    for path in glob.glob(f'/proc/{daemon.process.pid}/task/*/comm'):
        names.append(pathlib.Path(path).read_text().strip())
    return names


def test_two_adapters():
    """two adapters have a thread and a socket each; an app runs on the one that its manifest names; one is lost, the other goes on"""
    with Adapters() as air:
        other = relay_manifest(adapter=air.addresses[1])
        with Daemon(adapter=air.addresses[0], words=['--adapter', air.addresses[1]], apps=[other]) as daemon:
            second = daemon.path + '.2'
            daemon.wait_for('the second socket', lambda: is_listening(second))
            # A thread takes its name after it has begun.
            daemon.wait_for('both threads', lambda: {'bled', 'bled-2'} <= set(threads(daemon)))
            assert sees(daemon.path) and sees(second)
            assert daemon.operate(list={}) == {}, 'the app belongs to the second adapter'
            operate(second, foreground=RELAY)
            daemon.wait_told('beat', 2)
            air.lines[0].cut()
            daemon.wait_said('no controller')
            daemon.beats_more(count=3)
            states = {line['state'] for line in daemon.told('state')}
            assert states == {'poweredOn'}, states
            air.lines[0].listen()
            daemon.wait_for('the first is back', lambda: sees(daemon.path))
            operate(second, quit=RELAY)


def test_operators_of_two_adapters():
    """status, app, alerts, bonds and monitor of bled with two adapters tell of both, each line with its adapter; -t bled:PATH of one"""
    with Adapters() as air:
        other = relay_manifest(adapter=air.addresses[1])
        with Daemon(adapter=air.addresses[0], words=['--adapter', air.addresses[1]],
                    apps=[{'BundleIdentifier': 'org.example.first'}]) as daemon:
            second = daemon.path + '.2'
            daemon.wait_for('the second socket', lambda: is_listening(second))
            # One that a bled with more adapters has left.
            stale = socket.socket(socket.AF_UNIX)
            stale.bind(daemon.path + '.3')
            stale.close()

            def of_all(*words, status=0):
                done = of_bled(daemon, *words)
                assert done.returncode == status, (words, done)
                return done.stdout if status == 0 else done.stderr

            def told(*words):
                return list(map(json.loads, of_all('--json', *words).splitlines()))

            # It goes to the folder through the first socket, and the second adapter reads it.
            path = daemon.place('relay.json')
            pathlib.Path(path).write_text(json.dumps(other))
            assert of_all('app', 'install', path) == ''
            places = lambda: {line['identifier']: (line['adapter'], line['place']) for line in told('app', 'list')}
            daemon.wait_for('both apps', lambda: set(places()) == {RELAY, 'org.example.first'})
            assert places()[RELAY] == (air.addresses[1], 'notRunning'), places()
            assert places()['org.example.first'][0] == air.addresses[0], places()
            assert f'{RELAY}  notRunning  {air.addresses[1]}' in of_all('app', 'list')
            of_all('app', 'launch', RELAY)
            daemon.wait_told('beat', 2)
            shown = told('app', 'show', RELAY)
            assert [(line['adapter'], line['place']) for line in shown] == [(air.addresses[1], 'foreground')], shown
            now = told('status')
            assert [line['adapter'] for line in now] == [line['adapters'][0]['transport'] for line in now] == air.addresses, now
            assert [[app['identifier'] for app in line['apps']] for line in now] == [['org.example.first'], [RELAY]], now
            one = json.loads(bletool(f'bled:{second}', '--json', 'status')[1])
            assert one['adapter'] == air.addresses[1] and len(one['adapters']) == 1, one
            assert bletool(f'bled:{daemon.path}', 'app', 'launch', RELAY)[0] == 1, 'one adapter has the app of another'
            assert told('alerts') == [] and told('bonds') == []
            assert 'no app' in of_all('app', 'quit', 'org.example.unknown', status=1)
            assert 'no alert 7' in of_all('alerts', 'answer', '7', status=1)
            for words in ['app', 'background', RELAY], ['app', 'foreground', RELAY], ['app', 'reload']:
                of_all(*words)
            watch_both(daemon, second)
            # Each adapter counts its alerts: both have the number 1.
            apps = [alerted(daemon.path), alerted(second)]
            daemon.wait_for('both alerts', lambda: {(line['adapter'], line['id']) for line in told('alerts')} == {
                (address, 1) for address in air.addresses})
            said = of_all('alerts', 'answer', '1', status=2)
            assert f'-t bled:{second}' in said and f'-t bled:{daemon.path}' in said, said
            assert bletool(f'bled:{daemon.path}', 'alerts', 'answer', '1')[0] == 0
            assert [line['adapter'] for line in told('alerts')] == [air.addresses[1]]
            of_all('alerts', 'answer', '1')
            assert told('alerts') == []
            for app in apps:
                app.socket.close()
            of_all('app', 'quit', RELAY)
            daemon.wait_for('the app has ended', lambda: places()[RELAY][1] == 'notRunning')


def of_bled(daemon, *words):
    """bletool of a person who names no adapter."""
    return ended(BLETOOL, *words, env={**os.environ, 'JELLING_SOCKET': daemon.path})


def watch_both(daemon, second):
    """monitor shows and writes down the packets of both adapters."""
    capture = daemon.place('both.btsnoop')
    lines = []
    with Running([BLETOOL, '--json', '-w', capture, 'monitor'], env={**os.environ, 'JELLING_SOCKET': daemon.path}) as watcher:
        threading.Thread(target=lambda: lines.extend(map(json.loads, watcher.stdout)), daemon=True).start()
        for path in daemon.path, second:
            daemon.wait_for('it watches', lambda: any(
                client['kind'] == 'operator' and client['process'] == watcher.pid
                for client in json.loads(bletool(f'bled:{path}', '--json', 'status')[1])['clients']))
            assert sees(path)
        daemon.wait_for('packets of both', lambda: {line['adapter'] for line in list(lines)} == {0, 1})
        watcher.send_signal(signal.SIGINT)
        assert watcher.wait(LIMIT) == 0
    _, out, said = bletool('sim', '--json', 'decode', capture)
    assert {json.loads(line)['adapter'] for line in out.splitlines()} == {0, 1}, said


def preserved(daemon):
    """The app has values, in the background."""
    daemon.relays()
    daemon.operate(background=RELAY)


def goes_on(air, daemon):
    """The adapter is back, and the app is launched again."""
    air.lines[0].listen()
    daemon.wait_launched(RELAY)
    daemon.wait_for('it is restored', lambda: any(line['role'] == 'central' for line in daemon.told('willRestore')))
    daemon.beats_more(count=2)


def test_adapter_comes_back():
    """an adapter is unplugged under an app that runs and one that is preserved: what both wanted goes on when it is back"""
    with Adapters() as air, Daemon(adapter=air.addresses[0], apps=[relay_manifest()]) as daemon:
        states = lambda: [line['state'] for line in daemon.told('state') if line['role'] == 'central']
        daemon.relays()
        for round in range(1, 4):
            air.lines[0].cut()
            daemon.wait_for('resetting', lambda: states().count('resetting') == round)
            # A second or longer without it.
            time.sleep(0.5 * round)
            air.lines[0].listen()
            daemon.beats_more(count=2)
        assert states() == ['poweredOn'] + 3 * ['resetting', 'poweredOn'], states()
        # The app does not run: the adapter goes and comes, and the next value launches the app.
        daemon.operate(background=RELAY)
        process = daemon.process_of(RELAY)
        air.lines[0].cut()
        daemon.wait_for('resetting', lambda: states().count('resetting') == 4)
        os.kill(process, signal.SIGKILL)
        daemon.wait_for('it has ended', lambda: daemon.process_of(RELAY) == 0)
        goes_on(air, daemon)


def test_absent_at_the_start():
    """bled starts without its adapter: it says so, answers, and an app that was preserved is launched when the adapter is there"""
    with Adapters() as air, Daemon(adapter=air.addresses[0], apps=[relay_manifest()]) as daemon:
        preserved(daemon)
        daemon.kill(RELAY)
        air.lines[0].cut()
        daemon.start()
        daemon.wait_said('no controller')
        assert daemon.process_of(RELAY) == 0
        status, _, said = bletool(f'bled:{daemon.path}', 'lescan', '--count', '1', '--duration', '5')
        assert status != 0, said
        goes_on(air, daemon)


def test_several_from_one():
    """bled of one adapter is started with two: what was preserved with the first goes on, in whatever order they are named"""
    with Adapters() as air, Daemon(adapter=air.addresses[0], apps=[relay_manifest()]) as daemon:
        preserved(daemon)
        for adapters in air.addresses, air.addresses[::-1]:
            daemon.kill(RELAY)
            daemon.adapter, daemon.words = adapters[0], ['--adapter', adapters[1]]
            # It is the first adapter's app, whichever is named first.
            daemon.install(relay_manifest(adapter=air.addresses[0]))
            daemon.start()
            daemon.beats_more(count=2)
            assert any(line['role'] == 'central' for line in daemon.told('willRestore')), daemon.said()
            assert os.path.exists(os.path.join(daemon.state, 'apps')), 'the first adapter has lost its state'
        operate(daemon.path + '.2', quit=RELAY)


def test_one_state_for_one_bled():
    """a second bled with the same state folder ends at once and says why; after a kill the next one has it"""
    with Daemon(apps=[relay_manifest()]) as daemon:
        words = daemon.arguments()
        words[words.index('--socket') + 1] += '.other'
        second = ended(*words)
        assert second.returncode != 0 and 'another bled uses' in second.stderr and '--state' in second.stderr, second
        assert daemon.operate(list={}), 'the first one has suffered'
        daemon.kill()
        daemon.start_again()


def test_adapter_hangs():
    """an adapter that answers no command any more is told of, holds up neither operators nor the other adapter, and may come back"""
    with Adapters() as air, Daemon(
            adapter=air.addresses[0], words=['--adapter', air.addresses[1]], apps=[relay_manifest()]) as daemon:
        second = daemon.path + '.2'
        daemon.wait_for('the second socket', lambda: is_listening(second))
        daemon.relays()
        air.lines[0].is_mute = True
        # A command that gets no answer.
        tool = daemon.connect()
        tool.request(scan={'is_active': True})
        daemon.wait_for('the app hears of it', lambda: any(
            line['state'] == 'resetting' for line in daemon.told('state')))
        daemon.wait_for('it is told of', lambda: 'the controller failed' in daemon.said() or 'no controller' in daemon.said())
        started = time.monotonic()
        assert daemon.operate(list={})[RELAY].process
        answered = time.monotonic() - started
        assert sees(second), 'the other adapter is held up'
        air.lines[0].is_mute = False
        daemon.beats_more(count=2)
        print(f'an operator was answered in {1000 * answered:.0f} ms')


@mark.alone
def test_idle_apps():
    """ten idle apps, connected and with managers of both roles, wake bled not once in three seconds"""
    with bench.Lab('simulator', 2).open(peer=False) as lab:
        with Daemon(adapter=lab.endpoint) as daemon:
            apps = [AppClient(daemon.path, f'idle{number}') for number in range(10)]
            for app in apps:
                app.ask(1, number=1, create_central={})
                app.ask(2, number=2, create_peripheral={})
                while app.receive().app_taken != 2:
                    pass
            # Answers of the controller may still come; nothing may come for ever.
            counts = []
            while len(counts) < 20 and counts[-1:] != [0]:
                before = wake_ups(daemon.process)
                time.sleep(3)
                counts.append(wake_ups(daemon.process) - before)
            assert counts[-1] == 0, f'wake-ups in 3 s each: {counts}'
            print(f'wake-ups in 3 s each: {counts}; {daemon.resident_kilobytes()} kB resident')


def test_scan_through_a_slow_bled():
    """the time of a scan begins when bled answers, also when that takes longer, as with a bled that its socket starts"""
    with Daemon() as daemon, tempfile.TemporaryDirectory() as folder:
        line = Line(os.path.join(folder, 'slow.sock'), daemon.path, delay=2)
        status, _, words = bletool(f'bled:{line.path}', 'lescan', '--duration', '1')
        line.cut()
        assert status == 0, words
