"""What `bletool`, `bled` and `simulated-controllers` say about mistakes in transports and presets, about controllers that go away or
hang, and about endpoints that are in use."""
import json, os, signal, socket, subprocess, time

from pytest import mark

from jelling.child import PATIENCE, Terminal
from jelling.controller import SILENT
from jelling.programs import BLED, BLETOOL, CONTROLLERS


SET_SCAN_ENABLE = 0x200C


def run(program, *arguments, timeout=20 * PATIENCE):
    return subprocess.run([program, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=timeout)


def refused(*arguments, status=2, program=BLETOOL):
    """What the program says on standard error, when it ends with the status."""
    done = run(program, *arguments)
    assert done.returncode == status, f'{done.returncode}: {done.stdout}{done.stderr}'
    return done.stderr


class Controllers:
    """simulated-controllers with these arguments, ready."""

    def __init__(self, *arguments):
        self.process = subprocess.Popen([CONTROLLERS, *arguments], stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        assert line.startswith('READY '), line
        self.ready = json.loads(line[6:])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()

    def end(self, signal=signal.SIGTERM):
        self.process.send_signal(signal)
        self.process.wait(10 * PATIENCE)


def test_presets():
    """A misspelt preset: the tool and the daemon name the one that was meant, and all of them; `--help` lists them; a file that is missing
    is still a file"""
    for arguments in (('-t', 'sim:realtek-8671', 'check'), ('-t', 'sim', 'check', '--with', 'sim:realtek-8671')):
        text = refused(*arguments)
        assert 'there is no preset ‘realtek-8671’' in text and 'did you mean ‘realtek-8761’?' in text and 'csr-clone' in text, text
    assert 'did you mean ‘realtek-8761’?' in refused('--adapter', 'sim:realtek-8671', program=BLED, status=2)
    assert '‘./realtek-8671’ does not exist' in refused('-t', 'sim:./realtek-8671', 'info')
    assert 'virtual-machine' in run(BLETOOL, 'check', '--help').stdout


@mark.parametrize('transport, words', [
    ('uart:/dev/ttyX@fast', '‘fast’ is no speed (such as 115200)'), ('uart:/dev/ttyX', 'the speed is missing'),
    ('uart:/dev/ttyX@9600,h6', 'there is no option ‘h6’'), ('uart:/dev/ttyX@9600,h5,h5', '‘h5’ is there twice'),
    ('uart:/dev/ttyX@9600,chip=foo', 'there is no chip ‘foo’: auto, broadcom'), ('uart:/dev/ttyX@9600,flow=soft', 'no flow control ‘soft’'),
    ('uart:/dev/ttyX@9600,address=24:00:00:00:00:01', '‘address=’ needs ‘chip=’'), ('usb:0a12', 'neither VID:PID'),
    ('usb:0x0a12:0x0001', 'without ‘0x’'), ('tcp:127.0.0.1:99999', 'a port is 1 to 65535')])
def test_a_wrong_transport(transport, words):
    """A mistake in a transport: the wrong part is named, and what would be right, in place of all forms"""
    for text in (refused('-t', transport, 'info'), refused('--adapter', transport, program=BLED)):
        assert words in text, text
        assert 'replay:FILE@RATE' not in text.split('Usage')[0].split('Help')[0], text


def test_power_reset(tmp_path):
    """`power reset` of what is no device: the tool says what to do instead"""
    assert 'begins afresh' in refused('-t', 'sim', 'power', 'reset')
    assert 'switch its power off and on' in refused('-t', 'uart:/dev/ttyX@9600', 'power', 'reset')
    assert 'start the program behind it again' in refused('-t', f'unix:{tmp_path}/x', 'power', 'reset')
    assert 'power switch' not in refused('-t', 'usb:1-2', 'power', 'reset', status=3)


class Tool:
    """The tool on a terminal of its own, or into a pipe."""

    def __init__(self, *arguments, folder):
        self.terminal = Terminal()
        self.process = subprocess.Popen([BLETOOL, '--state', f'{folder}/state', *arguments], stdin=subprocess.DEVNULL,
                                        stdout=self.terminal.device, stderr=self.terminal.device)

    def wait_for(self, text, timeout=3 * PATIENCE):
        self.terminal.wait_for(text, timeout)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.terminal.close()


def steps(done):
    """{step: its object} and the text of the verdict."""
    events = [json.loads(line) for line in done.stdout.splitlines()]
    return ({e['step']: e for e in events if e['event'] == 'check'}, [e['text'] for e in events if e['event'] == 'checked'])


def test_a_serial_port_that_comes_back(tmp_path):
    """`lescan` on a serial port whose adapter is unplugged: the scan waits, and goes on when it is back"""
    port = f'{tmp_path}/tty'
    first = Controllers(f'pty:{port}')
    with Tool('-t', f'uart:{port}@115200', 'lescan', '--lines', folder=tmp_path) as tool:
        tool.wait_for('reports,')
        first.end(signal.SIGKILL)
        tool.wait_for('waiting until the adapter is back')
        with Controllers(f'pty:{port}'):
            tool.wait_for('bletool: the adapter is back')
            tool.terminal.shown = ''
            tool.wait_for('reports,')


def test_a_simulated_adapter_that_comes_back(tmp_path):
    """`lescan` on the simulator whose adapter is unplugged: the scan waits, and finds what comes later"""
    air = tmp_path / 'unplugged.json'
    air.write_text(json.dumps({
        'devices': [{'name': 'Early', 'address': 'C0:DE:00:00:00:61/random', 'interval': 0.1},
                    {'name': 'Late', 'address': 'C0:DE:00:00:00:62/random', 'interval': 0.1, 'comes': [15]}],
        'faults': [{'at': 12, 'kind': 'transportClosed'}]}))
    with Tool('-t', f'sim:{air}', 'lescan', '--lines', folder=tmp_path) as tool:
        for text in ('Early', 'waiting until the adapter is back', 'bletool: the adapter is back', 'Late'):
            tool.wait_for(text, 10 * PATIENCE)


def test_the_wrong_framing(tmp_path):
    """H4 on a line with H5, and H5 on one with H4: the remedy names what may be wrong, and a scan does not wait for an adapter that never
    was there"""
    with Controllers(f'pty:{tmp_path}/h5,h5', f'pty:{tmp_path}/h4'):
        assert 'the framing (‘,h5’ is for three wires)' in refused('-t', f'uart:{tmp_path}/h5@115200', 'info', status=3)
        text = refused('-t', f'uart:{tmp_path}/h4@115200,h5', 'lescan', status=3)
        assert 'for H4 leave out ‘,h5’' in text and 'waiting until' not in text, text


def test_a_line_without_a_controller():
    """A serial port at which nothing answers: the remedy is one for serial ports"""
    with Terminal() as line:
        text = refused('-t', f'uart:{os.ttyname(line.device)}@115200', 'info', status=3)
        assert 'check the baud rate, ‘,h5’, ‘chip=’ and the wires' in text, text


def test_a_check_of_a_controller_that_leaves(tmp_path):
    """The controller leaves during `check`: the scan fails with a remedy, and no later step claims anything"""
    with Controllers(f'unix:{tmp_path}/hci') as controllers:
        check = subprocess.Popen([BLETOOL, '--json', '-t', f'unix:{tmp_path}/hci', 'check', '--seconds', '30'], stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, text=True)
        lines = [check.stdout.readline() for _ in range(5)]
        time.sleep(1)
        controllers.end(signal.SIGKILL)
        rest, errors = check.communicate(timeout=20 * PATIENCE)
    assert check.returncode == 1, errors
    found, verdict = steps(subprocess.CompletedProcess([], 1, ''.join(lines) + rest, errors))
    assert found['scan']['verdict'] == 'failed' and '; ' in found['scan']['text'], found['scan']
    for step in ('hear', 'connect', 'notify', 'advertise', 'reset', 'commands', 'counters'):
        assert found[step]['verdict'] == 'skipped' and 'the controller is gone' in found[step]['text'], found[step]
    assert verdict == ['not usable: “scan” failed']


class Silence(dict):
    def get(self, opcode):
        return lambda parameters: SILENT


def test_a_check_of_a_controller_that_hangs(bench):
    """The controller hangs while it scans: `check` says so, and does not say that no device is near"""
    def enable(parameters):
        answer = bench.controller.honest(SET_SCAN_ENABLE, parameters)
        if parameters[:1] == b'\1':
            bench.controller.answers = Silence()
        return answer
    bench.controller.answers[SET_SCAN_ENABLE] = enable
    done = bench.run('check', '--seconds', '2', status=1, timeout=8 * PATIENCE)
    found = {line['step']: line for line in done.events('check')}
    assert found['scan']['verdict'] == 'failed' and 'no device is near' not in found['scan']['text'], found['scan']
    assert found['counters']['verdict'] != 'ok', found['counters']
    assert 'Reset answered' not in found['reset']['text'], found['reset']


def test_a_controller_in_use(tmp_path):
    """A socket controller that another program uses: the tool says that it has one client at a time; `check --with` says which of the
    two adapters has failed"""
    first, second = f'unix:{tmp_path}/1', f'unix:{tmp_path}/2'
    with Controllers(first, second), Tool('-t', second, 'lescan', '--lines', folder=tmp_path) as user:
        user.wait_for('reports,')
        assert 'one client at a time' in refused('-t', second, 'info', status=3)
        assert f'the second adapter, {second}: ' in refused('-t', first, 'check', '--with', second, status=3)
        assert f'the first adapter, {second}: ' in refused('-t', second, 'check', '--with', first, status=3)


def test_a_controller_that_says_nothing(tmp_path):
    """A controller that answers nothing: on a terminal the tool says what it waits for and what it tries"""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(f'{tmp_path}/hci')
    listener.listen()
    with Tool('-t', f'unix:{tmp_path}/hci', 'info', folder=tmp_path) as tool:
        tool.wait_for('starting the controller …')
        tool.wait_for('does not answer; ')


def test_a_report(tmp_path):
    """`check --report`: a check that is interrupted leaves a report of what it found; a wrong file is refused with a remedy"""
    assert '--report writes a file' in refused('-t', 'sim', 'check', '--report', '-')
    assert 'make its folder first' in refused('-t', 'sim', 'check', '--report', f'{tmp_path}/no/r.md', status=1)
    assert '--with is given twice' in refused('-t', 'sim', 'check', '--with', 'sim', '--with', 'sim')
    report = tmp_path / 'r.md'
    with Tool('-t', 'sim', 'check', '--seconds', '600', '--report', str(report), folder=tmp_path) as tool:
        tool.wait_for('s left')
        tool.process.send_signal(signal.SIGINT)
        tool.process.wait(5 * PATIENCE)
    text = report.read_text(encoding='utf-8')
    assert 'unknown: the check was interrupted' in text and '| chip | ok |' in text, text


@mark.parametrize('arguments, words', [
    (['--preset', 'realtek-8671', 'unix:x'], 'did you mean ‘realtek-8761’?'), (['--preset'], '--preset needs a name'),
    (['--acl-len', '5', 'unix:x'], '--acl-len is a number, 27 to 65535'), (['bla:x'], '‘bla:x’ is no endpoint: unix:PATH'),
    (['uart:/tmp/x'], '‘uart:/tmp/x’ is no endpoint'), (['tcp:127.0.0.1:99999'], '‘99999’ is no port'),
    (['tcp:foo:1'], '‘foo’ is no IPv4 address'), (['pty:/tmp/p,h6'], 'there is no option ‘h6’ of a pty'), ([], 'name an endpoint'),
    (['--legcy', 'unix:x'], 'did you mean ‘--legacy’?')])
def test_a_mistake_for_simulated_controllers(arguments, words):
    """A mistake on the command line of `simulated-controllers`: the cause, and what to write, in one line"""
    text = refused(*arguments, program=CONTROLLERS)
    assert words in text and text.count('\n') == 1, text


def test_places_of_simulated_controllers(tmp_path):
    """`simulated-controllers`: help and version are results; a place that cannot be used is named with the remedy; one that is in use
    stays with the program that has it; a controller without a public address has none in READY"""
    for option in ('--help', '--version'):
        done = run(CONTROLLERS, option)
        assert done.returncode == 0 and done.stdout and not done.stderr
    for scheme in ('unix', 'pty'):
        assert 'its folder does not exist' in refused(f'{scheme}:/nonexistent/x', program=CONTROLLERS, status=3)
        path = f'{tmp_path}/{scheme}'
        place = f'{scheme}:{path}'
        with Controllers(place):
            assert 'in use' in refused(place, program=CONTROLLERS, status=3)
            assert os.path.lexists(path)
        assert not os.path.lexists(path)
        # What is left of a program that was killed is replaced.
        Controllers(place).end(signal.SIGKILL)
        assert os.path.lexists(path)
        with Controllers(place):
            pass
    with Controllers('--preset', 'zephyr-usb', f'unix:{tmp_path}/none') as controllers:
        assert controllers.ready['addresses'] == [None], controllers.ready
