"""The browser in the live table, as a person uses it: keys into a terminal, and what its screen shows."""
import contextlib, json, os, pathlib, re, shlex, signal, subprocess, time

from pytest import fixture, mark

from jelling.lab import Lab
from jelling.measures import wake_ups
from jelling.programs import BLETOOL
from jelling.screen import Program

BELT, LAMP, SHED = 'C0:DE:00:00:00:11', 'C0:DE:00:00:00:22', '00:DE:00:00:00:33'
HOSTILE = 'L\x1b[2J\u202egpj 名前 ' + 'x' * 40
WORLD = {'devices': [
    {'name': 'Belt', 'address': f'{BELT}/random', 'interval': 0.1, 'rssi': -40, 'services': [
        {'uuid': '180F', 'characteristics': [
            {'uuid': '2A19', 'properties': ['read', 'write', 'notify'], 'value': '57', 'notifyEvery': 0.2}]},
        {'uuid': '180A', 'characteristics': [{'uuid': '2A29', 'value': HOSTILE.encode().hex()},
                                             {'uuid': '2A24', 'value': '4a31', 'readError': 2}]}]},
    {'name': 'Lamp', 'address': f'{LAMP}/random', 'interval': 0.1, 'rssi': -60, 'services': [
        {'uuid': '1815', 'characteristics': [{'uuid': '2A56', 'properties': ['read', 'write'], 'value': '00'}]},
        {'uuid': '6A656C6C-696E-6700-8000-0000000000A1', 'characteristics': [
            {'uuid': '6A656C6C-696E-6700-8000-0000000000A2', 'value': '01'}]}]},
    {'name': 'Shed', 'address': f'{SHED}/public', 'interval': 0.1, 'rssi': -70,
     'serviceData': {'uuid': 'FCD2', 'value': '4002c40903bf130164'}}]}
FOREIGN = re.compile('[\u202a-\u202e\u2066-\u2069\x9b]')


@contextlib.contextmanager
def table(folder, transport, *devices, **terminal):
    """`lescan` at a terminal of 80 × 24, once it shows these devices."""
    command = [BLETOOL, '--state', os.path.join(folder, 'state'), '-t', transport, 'lescan']
    with Program(command, **{'columns': 80, 'rows': 24, **terminal}) as program:
        for device in devices:
            see(program, re.escape(device))
        yield program


def see(program, pattern, seconds=60):
    assert program.shows(pattern, seconds), f'no {pattern!r} in\n{program.screen.text}'


def gone(program, pattern):
    assert program.until(lambda screen: not re.search(pattern, screen.text)), f'still {pattern!r} in\n{program.screen.text}'


def press(program, keys, pattern):
    program.press(keys)
    see(program, pattern)


def shows_command(program, words):
    """Shows the command of what is on the screen, which has these words wherever its lines are wrapped."""
    program.press('c')
    wanted = ''.join(words.split())
    assert program.until(lambda screen: wanted in ''.join(screen.text.split())), f'no {words!r} in\n{program.screen.text}'


def chosen(screen):
    """How the chosen row begins, which is its name."""
    row = next((row for row in screen.cells if any('7' in style.split(';') for _, style in row)), [])
    return ''.join(letter for letter, _ in row)[:30]


def choose(program, title):
    """Moves to the row with this title, down and then up."""
    for key in '\x1b[B', '\x1b[A':
        for _ in range(60):
            before = chosen(program.screen)
            if title in before:
                return
            program.press(key)
            if not program.until(lambda screen: chosen(screen) != before, 2):
                break
    raise AssertionError(f'{title} cannot be chosen in\n{program.screen.text}')


def whole(screen):
    """Its rows as one line."""
    return ''.join(letter for row in screen.cells for letter, _ in row)


def open_device(program, name, expected='connected'):
    choose(program, name)
    press(program, '\r', f'{name}.*{expected}')


def ends(program, status=0):
    assert program.end() == status, program.screen.text
    assert program.is_given_back()
    assert program.raw.endswith('\n') and '\x1b[?25h' in program.raw and '\x1b[?7h' in program.raw
    assert not program.screen.unknown and not FOREIGN.search(program.raw)


@fixture
def world(tmp_path):
    path = tmp_path / 'world.json'
    path.write_text(json.dumps(WORLD), encoding='utf-8')
    return f'sim:{path}'


@mark.parametrize('words, shown', [('lescan', 'quit'), ('gatt Belt', r'\[Belt\] >')])
def test_idle(tmp_path, world, words, shown):
    """nothing looks again and again for keys, sizes or devices: a table without devices, and the shell of an idle link"""
    (tmp_path / 'empty.json').write_text('{"devices": []}', encoding='utf-8')
    place = world if words.startswith('gatt') else f'sim:{tmp_path}/empty.json'
    with Program([BLETOOL, '--state', str(tmp_path / 'state'), '-t', place, *words.split()], columns=80) as program:
        see(program, shown)
        # What began with the program may go on for a while. Dispatch looks at its threads once a second.
        counts = []
        while len(counts) < 20 and not (counts and counts[-1] <= 9):
            before = wake_ups(program.process)
            time.sleep(3)
            counts.append(wake_ups(program.process) - before)
        assert counts[-1] <= 9, f'wake-ups in 3 s each: {counts}'
        program.press('q' if words == 'lescan' else '\x04')
        assert program.end() == 0, program.screen.text


def test_browse(tmp_path, world):
    """From the table into a device: its tree, values read, subscribed and written, the command, a second device, and back"""
    with table(tmp_path, world, 'Belt', 'Lamp') as program:
        open_device(program, 'Belt')
        for pattern in ('180F Battery', '2A19 Battery Level +read write notify', 'MTU 517', 'not encrypted, no bond', 'interval .* ms',
                        'Esc table', r'-\d+ dBm'):
            see(program, pattern)
        choose(program, '2A19')
        press(program, '\x1b[C', '2902 Client')
        press(program, 'r', '57 = 87 %')
        press(program, 's', r'subscribed, \d\d values')
        press(program, 'w32', '(?m)^hex > 32_')
        see(program, '32 = 50 %')
        press(program, '\r', 'written: 1 byte to 0x')
        see(program, r'50 … 87 %  .*█.*▁')
        # What cannot be read says so where it was asked, and a value obeys nothing.
        choose(program, '2A29')
        press(program, 'R', '! the device answered 0x02')
        see(program, '4c1b5b324ae280ae')
        program.press('c')
        assert program.until(lambda screen: f'gatt {BELT}/random read 2A29' in whole(screen)), program.screen.text
        program.press('c')
        press(program, '\x1b', r'● Belt.*\n')
        see(program, '1 link ')
        open_device(program, 'Lamp')
        see(program, '1 more open')
        press(program, '\t', r'Belt.*connected')
        press(program, '\x1b', '2 links')
        for columns, rows in ((40, 10), (200, 60), (80, 24)):
            program.resize(columns, rows)
            see(program, 'Belt')
            press(program, '\t', '2A29')
            assert all(len(line) <= columns for line in program.screen.lines)
            press(program, '\x1b', 'ADDRESS')
        choose(program, 'Lamp')
        press(program, 'X', '! Lamp')
        see(program, '1 link ')
        program.press('q')
        ends(program)
        see(program, r'(?m)^. Lamp|^Belt|^NAME')


def test_command_does_the_same(tmp_path, world):
    """The command that a page shows reads what the page has read"""
    with table(tmp_path, world, 'Belt', columns=300, rows=40) as program:
        open_device(program, 'Belt')
        choose(program, '2A19')
        press(program, 'r', '57 = 87 %')
        shows_command(program, 'read 2A19')
        command = shlex.split(re.search(r'(?m)^bletool .* read 2A19$', program.screen.text)[0])
        program.press('qq')
        ends(program)
    run = subprocess.run([BLETOOL, *command[1:]], capture_output=True, text=True, timeout=60)
    assert (run.returncode, run.stdout.strip()) == (0, '57 = 87 %'), run.stderr


def test_beacon(tmp_path, world):
    """What accepts no connections is not connected to: its page has what it advertises, and the command that shows it"""
    with table(tmp_path, world, 'Shed') as program:
        open_device(program, 'Shed', 'not connectable')
        for pattern in ('says BTHome v2: temperature 25 °C', '0x16 Service Data: d2fc4002c40903bf130164', r'every \d+ ms',
                        r'accepts\s+no\s+connections', 'Enter look again'):
            see(program, pattern)
        shows_command(program, f'lescan --accept {SHED}/public')
        press(program, '\x1b', 'accepts\\s+no')
        assert not program.shows('lescan --accept', 0.5)
        press(program, '\r', 'not connectable')
        press(program, '\x1b', 'ADDRESS')
        assert not re.search('link', program.screen.lines[0])
        program.press('q')
        ends(program)


def test_advertised(tmp_path, world):
    """`d` on a page shows what the device advertises, and Esc its services again; c is hidden by Esc, too"""
    with table(tmp_path, world, 'Belt') as program:
        open_device(program, 'Belt')
        see(program, '2A19')
        press(program, 'd', '0x09 Complete Local Name: 42656c74 = Belt')
        gone(program, '2A19')
        press(program, '\x1b', '2A19')
        shows_command(program, f'gatt {BELT}/random')
        program.press('\x1b')
        gone(program, f'gatt {BELT}')
        see(program, 'Belt.*connected')
        press(program, '\x1b', 'ADDRESS')
        program.press('q')
        ends(program)


def test_small_terminals(tmp_path, world):
    """Help scrolls where it has no room, and a terminal that is too small is told so"""
    with table(tmp_path, world, 'Belt') as program:
        program.resize(40, 12)
        press(program, '?', 'any other key')
        assert not re.search('end the scan', program.screen.text)
        press(program, '\x1b[F', 'end the scan')
        press(program, '\x1b[H', 'sort by')
        press(program, '?', 'Belt')
        open_device(program, 'Belt', 'conn')
        see(program, '2A19')
        press(program, '?', 'any other key')
        press(program, '\x1b[F', r'link\s+stays')
        press(program, '?', '2A19')
        program.resize(30, 8)
        see(program, '(?s)30.*columns.*8.*rows.*40')
        program.resize(80, 24)
        press(program, '\x1b', 'ADDRESS')
        program.press('q')
        ends(program)


def test_long_uuids(tmp_path, world):
    """Where a UUID has no room, its middle is left out"""
    with table(tmp_path, world, 'Lamp') as program:
        open_device(program, 'Lamp')
        see(program, '6A656C6C-696E-6700-8000-0000000000A1')
        see(program, r'6A656C6C-\S*…\S*0A2 +read')
        program.press('qq')
        ends(program)


@mark.parametrize('how', ['q', '\x03', signal.SIGTERM, signal.SIGHUP])
def test_ends(tmp_path, world, how):
    """Whatever ends it on a page gives the terminal back"""
    with table(tmp_path, world, 'Belt') as program:
        open_device(program, 'Belt')
        if how == 'q':
            press(program, 'q', 'ADDRESS')
        if isinstance(how, str):
            program.press(how)
        else:
            program.process.send_signal(how)
        ends(program)


def test_stop_and_continue(tmp_path, world):
    """^Z gives the terminal to the shell as it was, and fg brings the page back"""
    command = ' '.join(map(shlex.quote, [BLETOOL, '--state', str(tmp_path / 'state'), '-t', world, 'lescan']))
    with Program(['bash', '--norc', '--noprofile', '-i'], columns=80, rows=24, PS1='shell> ') as program:
        see(program, 'shell>')
        press(program, command + '\r', 'Belt')
        open_device(program, 'Belt')
        see(program, '2A19')
        program.press('\x1a')
        assert program.until(lambda screen: 1049 not in screen.modes and re.search('Stopped', screen.text)), program.screen.text
        press(program, 'echo it is $((6*7))\r', 'it is 42')
        press(program, 'fg\r', '2A19 Battery Level')
        choose(program, '2A19')
        press(program, 'r', '57 = 87 %')
        press(program, 'qq', r'(?m)^shell>$')
        program.press('exit\r')
        assert program.end() == 0


def test_plain_terminals(tmp_path, world):
    """Without colours, and without UTF-8, everything is there"""
    with table(tmp_path, world, 'Belt', LANG='C', LC_ALL='C', NO_COLOR='1') as program:
        open_device(program, 'Belt')
        choose(program, '2A19')
        press(program, 's', r'\* 87 %')
        press(program, 'w32\r', r'50 ~ 87 %  .*@.*\.')
        program.press('qq')
        ends(program)
        assert program.raw.isascii() and not re.search(r'\x1b\[(2|3\d)m', program.raw)


# Bumble as the device

@mark.lab(['bumble'])
def test_bumble(lab, tmp_path):
    """A heart rate that moves, an error in words, a value that is written; the link is lost in the middle, and made again"""
    with table(tmp_path, lab.endpoint, 'BumblePeer') as program:
        open_device(program, 'BumblePeer')
        choose(program, '2A37')
        press(program, 's', r'subscribed, \d\d values')
        see(program, r'\d+ … \d+ bpm  ▁.*█')
        choose(program, '2A39')
        press(program, 'w00\r', '! .*0x80')
        press(program, 'w01\r', 'written: 1 byte')
        lab.wait_peer('write')
        # The device ends the link.
        choose(program, '6B7A0008')
        press(program, 'w03\r', r'(?s)NO LINK.*Enter connects\s+again')
        lab.wait_peer('disconnected')
        press(program, '\r', r'BumblePeer.*connected')
        choose(program, '2A37')
        # It is subscribed to again.
        see(program, r'● \d+ bpm')
        # The device is gone for good; the table is still there.
        lab.peer.end(signal.SIGKILL)
        program.press('\x1b')
        see(program, 'ADDRESS')
        program.press('q')
        ends(program)


@mark.lab(['bumble'], peer=False)
def test_passkey(lab, tmp_path):
    """A value that needs an authenticated link asks for the passkey on the screen"""
    lab.start_peer('--io', 'display', '--mitm', '--passkey', '123456')
    with table(tmp_path, lab.endpoint, 'BumblePeer') as program:
        open_device(program, 'BumblePeer')
        press(program, 'b', 'enter the passkey that F2:F1:F0:00:00:02/random displays: _')
        # What is typed at once was not meant for it.
        time.sleep(0.7)
        press(program, '123456', 'displays: 123456_')
        press(program, '\r', 'paired with')
        see(program, 'encrypted, authenticated, key of 16 bytes, bonded')
        program.press('qq')
        ends(program)


@mark.lab(['bumble'])
def test_through_bled(lab, tmp_path):
    """Through bled it is the same"""
    with table(tmp_path, f'bled:{lab.bled(lab.endpoint)}', 'BumblePeer') as program:
        open_device(program, 'BumblePeer')
        choose(program, '2A19')
        press(program, 'r', '57 = 87 %')
        choose(program, '2A37')
        press(program, 's', r'\d+ … \d+ bpm')
        press(program, '\x1b', '● BumblePeer')
        program.press('q')
        ends(program)
