"""Cases of what people read, and can do, about a controller in trouble: what was learned of it, recoveries in the log, the owner's
own program for a reset, and a name of an adapter that is wrong."""
import json, os, pathlib, signal, tempfile

from pytest import mark

from daemon.test_adapters import Adapters
from jelling.child import wait_until
from jelling.client import is_listening
from jelling.daemon import LIMIT, Daemon, Running, bletool, ended, needs_root
from jelling.lab import Lab
from jelling.programs import BLED, BLETOOL, CONTROLLERS

LEARNED = ' found 1 refuted 100\n'
FOUND, REFUTED = ['scansWithLegacyCommands'], ['cannotScanOnCodedPHY']


def kept(folder, text):
    """What was learned, as bled has written it."""
    path = pathlib.Path(folder, 'controllers')
    path.write_text(text)
    path.chmod(0o600)
    return path


def test_traits():
    """traits shows what is kept of the adapter's controller, also while that is away, as a person calls it; forget forgets it"""
    place = 'unix:/nonexistent/controller'
    with Daemon(adapter=place) as daemon:
        def learned():
            line, = daemon.lines('traits')
            assert (line['event'], line['controller'], line['adapter']) == ('traits', f'transport:{place}', place), line
            return line['found'], line['refuted']

        assert learned() == ([], [])
        path = kept(daemon.state, f'transport:{place}{LEARNED}transport:other found 2 refuted 0\n')
        assert learned() == (FOUND, REFUTED)
        text = daemon.tool('traits').splitlines()
        assert text == [place, '  scans with the legacy commands only', '  not: cannot scan on LE Coded'], text
        # The same without bled.
        alone = ended(BLETOOL, '--state', daemon.state, '--json', 'traits')
        lines = list(map(json.loads, alone.stdout.splitlines()))
        assert [(line['found'], line['refuted']) for line in lines][:1] == [(FOUND, REFUTED)] and len(lines) == 2, alone
        assert 'transport:' not in ended(BLETOOL, '--state', daemon.state, 'traits').stdout
        assert daemon.lines('traits', 'forget')[0]['event'] == 'forgotten'
        assert learned() == ([], []) and path.read_text() == 'transport:other found 2 refuted 0\n'


def test_expectations_are_not_learned():
    """of a family with weak points, of which nothing was learned, traits lists nothing"""
    with Daemon(adapter='sim:realtek-8761') as daemon:
        daemon.wait_for('it is ready', lambda: daemon.status()['adapters'][0]['ready'])
        line, = daemon.lines('traits')
        assert line['found'] == line['refuted'] == [], line
        assert 'nothing was learned' in daemon.tool('traits')


@mark.parametrize('kind', ['link', 'folder', 'writable', 'too long', 'foreign'])
@needs_root
def test_traits_that_are_not_used(kind):
    """a file that is no file, too long, or another user's is an error of traits and of forget, with bled and without, and stays as it is"""
    place = 'unix:/nonexistent/controller'
    with Daemon(adapter=place) as daemon:
        path = kept(daemon.state, f'transport:{place}{LEARNED}')
        if kind == 'link':
            path.rename(daemon.place('other'))
            path.symlink_to(daemon.place('other'))
        elif kind == 'folder':
            path.unlink()
            path.mkdir()
        elif kind == 'writable':
            path.chmod(0o666)
        elif kind == 'too long':
            kept(daemon.state, 100_000 * 'x')
        else:
            os.chown(path, 65534, 65534)
        before = None if kind == 'folder' else path.read_bytes()
        for words in ['traits'], ['traits', 'forget']:
            code, out, said = bletool(f'bled:{daemon.path}', '--json', *words)
            error, = map(json.loads, out.splitlines())
            assert code == 1 and error['event'] == 'error' and str(path) in said, (words, code, out, said)
            done = ended(BLETOOL, '--state', daemon.state, '--json', *words)
            error, = map(json.loads, done.stdout.splitlines())
            assert done.returncode == 1 and error['code'] == 'stateUnusable' and str(path) in done.stderr, (words, done)
        assert (None if kind == 'folder' else path.read_bytes()) == before and path.is_symlink() == (kind == 'link')


def reset_program(folder):
    """A program that writes down with what it was called."""
    said, path = os.path.join(folder, 'called'), os.path.join(folder, 'reset')
    pathlib.Path(path).write_text(f'#!/bin/sh\nprintf "%s\\n" "$*" >>{said}\n')
    os.chmod(path, 0o700)
    return [path, '-q'], lambda: pathlib.Path(said).read_text().splitlines() if os.path.exists(said) else []


def test_reset_by_program():
    """the owner's program resets a controller that is no adapter of the kernel, on an operator's word and as the last step of a recovery;
    the log says why links end, and each remedy once"""
    with Adapters() as air, tempfile.TemporaryDirectory() as folder:
        command, calls = reset_program(folder)
        place = air.addresses[0]
        with Daemon(adapter=place, settings={'recoveryCommand': command}) as daemon:
            ready = lambda: daemon.status()['adapters'][0]['ready']
            daemon.wait_for('it is ready', ready)
            line, = daemon.lines('power', 'reset')
            assert (line['event'], line['adapter']) == ('reset', place), line
            assert calls() == [f'-q {place}'], calls()
            daemon.wait_for('it is ready', ready)
            tool = daemon.connect()
            tool.request(scan={'is_active': True})
            air.lines[0].is_mute = True
            # A command that gets no answer.
            tool.request(scan={'is_active': False})
            daemon.wait_said('the controller is recovered by a Reset, after a command without an answer',
                             'the controller is recovered by closing and opening its transport',
                             'the controller is recovered by a reset of its device', 'the controller failed')
            daemon.wait_for('the program is called', lambda: f'-q {place}' in calls()[1:])
            for said in daemon.said().splitlines():
                assert said.count('unplug it or switch it off and on') <= 1, said


def test_reset_of_a_serial_port():
    """the owner's program gets the transport of a chip at a serial port, and the port is opened again behind it"""
    with Lab('simulator') as lab, tempfile.TemporaryDirectory() as folder:
        command, calls = reset_program(folder)
        lab.spawn('controllers', [CONTROLLERS, f'pty:{lab.path("port")}']).wait_for(lambda line: 'endpoints' in line, 'READY')
        place = f'uart:{lab.path("port")}@115200'
        with Daemon(adapter=place, settings={'recoveryCommand': command}) as daemon:
            ready = lambda: daemon.status()['adapters'][0]['ready']
            daemon.wait_for('it is ready', ready)
            line, = daemon.lines('power', 'reset')
            assert (line['event'], line['adapter']) == ('reset', place), line
            assert calls() == [f'-q {place}'], calls()
            daemon.wait_for('it is ready', ready)


def test_reset_without_program():
    """without a program, power reset says what was done, and what would be needed; what programs want goes on"""
    with Adapters() as air, Daemon(adapter=air.addresses[0]) as daemon:
        daemon.wait_for('it is ready', lambda: daemon.status()['adapters'][0]['ready'])
        said = daemon.tool('power', 'reset', status=1)
        assert 'the transport was closed and opened again' in said and '‘recoveryCommand’' in said and air.addresses[0] in said, said
        assert 'no adapter of this machine' not in said, said
        daemon.tool('lescan', '--name', 'Sensor', '--count', '1', '--duration', '30')


def test_wrong_program():
    """a program for resets that is not there or not named is refused at the start, one that cannot be executed is warned of"""
    with tempfile.TemporaryDirectory() as folder:
        file, text = os.path.join(folder, 'config.json'), os.path.join(folder, 'text')
        pathlib.Path(text).write_text('no program\n')
        for wrong in [], ['/nonexistent/x'], ['relative'], [folder]:
            pathlib.Path(file).write_text(json.dumps({'recoveryCommand': wrong}))
            os.chmod(file, 0o600)
            done = ended(BLED, '--adapter', 'sim', '--socket', os.path.join(folder, 's'), '--config', file)
            assert done.returncode == 2 and '‘recoveryCommand’' in done.stderr and file in done.stderr, (wrong, done)
        with Daemon(settings={'recoveryCommand': [text]}) as daemon:
            daemon.wait_said(f'‘recoveryCommand’: ‘{text}’ is not executable')


def test_mistyped_adapter():
    """an adapter that is not there takes over no state; one that works does, and bled says so"""
    with Adapters() as air, tempfile.TemporaryDirectory() as folder:
        def run(adapter, until):
            path = os.path.join(folder, 'bled.sock')
            words = ['--adapter', adapter, '--socket', path, '--state', os.path.join(folder, 'state'), '--log-level', 'info']
            log = os.path.join(folder, 'log')
            with open(log, 'w') as said, Running([BLED, *words], stdout=None, stderr=said) as bled:
                wait_until(lambda: until in pathlib.Path(log).read_text(), f'{until}; {pathlib.Path(log).read_text()}', LIMIT)
                wait_until(lambda: is_listening(path), 'it listens', LIMIT)
                if until == 'listening':
                    bletool(f'bled:{path}', 'lescan', '--count', '1', '--duration', '20')
                bled.send_signal(signal.SIGTERM)
                bled.wait(LIMIT)
            return pathlib.Path(log).read_text()

        record = pathlib.Path(folder, 'state', 'adapters.json')
        first = lambda: json.loads(record.read_text())['first']
        run('sim', 'listening')
        assert first() == 'sim'
        said = run('uart:/nonexistent/typo@115200', 'does not exist')
        assert 'takes the place' not in said and first() == 'sim', said
        said = run(air.addresses[0], 'takes the place of sim')
        assert first() == air.addresses[0], said
        assert not pathlib.Path(folder, 'state', 'adapters').exists()


def test_forms_of_adapters():
    """a value of --adapter that names none is answered with those that bled takes"""
    done = ended(BLED, '--adapter', 'foo', '--socket', '/nonexistent/s')
    assert done.returncode == 2, done
    for form in 'hciN', 'all', 'port:PLACE', 'ADDRESS', 'uart:DEVICE@BAUD', 'usb:VID:PID':
        assert form in done.stderr, done
    assert 'bled:PATH' not in done.stderr, done
    with tempfile.NamedTemporaryFile('w') as file:
        file.write(json.dumps({'adapters': ['foo']}))
        file.flush()
        done = ended(BLED, '--config', file.name, '--socket', '/nonexistent/s')
        assert done.returncode == 2 and 'hciN' in done.stderr and '‘adapters’' in done.stderr, done
