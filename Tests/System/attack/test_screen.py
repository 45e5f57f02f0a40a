"""What a stranger can put on a screen, into a column, into a line of JSON: names and descriptions."""
import json, re, subprocess, time

from pytest import mark

from jelling.attributes import READ
from attack.test_honest import OPEN, PROFILE

ESCAPES = {
    'escape': '\x1b[2J\x1b]0;owned\x07', 'c1': '\x9b2J\x9d0;x', 'bidi': 'a\u202egpj.exe', 'isolate': 'a\u2066b\u2069',
    'arabic_mark': 'a\u061cb', 'zero_width': 'Lo\u200bck', 'byte_order': '\ufeffLock', 'tags': 'L\U000e0041\U000e007f',
    'lines': 'Lock\r\nC0:DE:00:00:00:01 random', 'separators': 'a\u2028b\u2029c', 'nul': 'a\0b', 'delete': 'a\x7fb',
    'joiner': 'a\u2060b\u200d', 'broken': None}
# What no output may contain, except the line feeds of its own lines.
FOREIGN = re.compile('[\\x00-\\x09\\x0b-\\x1f\\x7f-\\x9f\\u061c\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\ufeff\\U000e0000-\\U000e0fff]')
COLUMNS = 'Lock                                          C0:DE:00:00:00:01 random  -40 dBm  Bank'


def encoded(name):
    text = ESCAPES[name]
    return b'\xff\xfeLo\xc3\x28\xed\xa0\x80' if text is None else text.encode('utf-8')


def named(bench, raw, address='C0:00:00:00:00:66'):
    peer = bench.device('', address)
    peer.scan_response = bytes([len(raw) + 1, 9]) + raw
    peer.server.service('1800')
    peer.server.characteristic('2A00', READ, raw)
    peer.server.service('180D')
    handle = peer.server.characteristic(OPEN, READ, b'open')
    peer.server.add('2901', raw)
    peer.open = handle
    return peer.advertise()


def output(bench, *arguments, json=False, status=0):
    """Everything that a run showed, standard output and error."""
    run = subprocess.run(bench.command(*arguments, json=json), stdin=subprocess.DEVNULL, capture_output=True, timeout=60,
                         env=bench.environment)
    if status is not None:
        assert run.returncode == status, f'exit status of {arguments}: {run.stderr[-300:]}'
    return (run.stdout + run.stderr).decode('utf-8')     # what is no UTF-8 fails here


def clean(text, what):
    found = FOREIGN.search(text)
    assert not found, f'{what}: {found and found[0]!r} in {text[:300]!r}'


@mark.parametrize('name', ESCAPES)
def test_shown(bench, name):
    """A name with what a terminal would obey: nothing of it reaches a terminal or a line of JSON as it is"""
    peer = named(bench, encoded(name))
    clean(output(bench, 'lescan', '--duration', '0.4'), 'lescan')
    said = output(bench, 'lescan', '--duration', '0.4', json=True)
    clean(said, 'lescan --json')
    for line in said.splitlines():
        json.loads(line)
    clean(output(bench, 'gatt', peer.address + '/random', 'discover'), 'gatt discover')
    clean(output(bench, 'gatt', peer.address + '/random', 'read', '2A00'), 'gatt read')
    clean(output(bench, 'gatt', encoded(name).decode('utf-8', 'replace').replace('\0', ''), 'read', '2AFF',
                 '--connect-timeout', '1', status=None), 'gatt by that name')


def test_name_forges_columns(bench):
    """A name with a run of spaces forges no column of `lescan`"""
    named(bench, COLUMNS.encode()[:29])
    text = output(bench, 'lescan', '--duration', '0.4')
    assert 'Lock' in text and not re.search(r'Lock {3,}\S', text), f'the run of spaces is shown: {text!r}'


def test_name_in_json_is_whole(bench):
    """A name in JSON is what the device sent, complete: escaped, not truncated"""
    named(bench, ESCAPES['bidi'].encode())
    line = json.loads(output(bench, 'lescan', '--duration', '0.4', json=True).splitlines()[0])
    assert line['name'] == ESCAPES['bidi']


def test_values_written_by_a_central(bench):
    """What a central writes to `serve` is shown as octets, and its name is made printable"""
    tool, peer = bench.served(PROFILE, json=False)
    peer.write(peer.find(OPEN), ESCAPES['escape'].encode())
    time.sleep(0.3)
    result = bench.stop(tool)
    clean(''.join(result.strays) + result.stderr, 'serve')
