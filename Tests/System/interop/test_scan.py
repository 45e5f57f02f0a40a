"""Scanning, the controller's own facts, and what the transports and exit statuses say."""

from pytest import mark

from jelling.child import PATIENCE
from jelling.lab import PEER_ADDRESS
from jelling.programs import BLETOOL
from interop.test_odd import odd

SCAN_PARAMETERS, SCAN_ENABLE = 0x200B, 0x200C
EXTENDED_SCAN_PARAMETERS, EXTENDED_SCAN_ENABLE = 0x2041, 0x2042
CLEAR_LIST, ADD_TO_LIST = 0x2010, 0x2011
# Resolvable, and nobody here has the key.
TARGET = '4A:12:34:56:78:9A'
SERVICE = '6B7A0001-9D1C-4F5E-8A2B-3C4D5E6F7081'


@mark.lab(through_bled=True)
def test_lescan_finds_the_peer(lab):
    """`lescan` finds the peer's name, address with its type, and services"""
    result = lab.run('lescan', '--duration', '2')
    found = [e for e in result.events('discovered') if e.get('address') == PEER_ADDRESS]
    assert found, 'the peer is not among the discovered: ' + result.describe()
    last = found[-1]
    assert last.get('name') == 'BumblePeer'
    assert last.get('addressType') == 'random'
    assert last.get('connectable') is True
    assert {'180D', '180F'} <= set(last.get('serviceUUIDs', [])), f'serviceUUIDs: {last.get("serviceUUIDs")}'
    assert isinstance(last.get('rssi'), (int, type(None))), f'rssi: {last.get("rssi")!r}'
    assert bytes.fromhex(last['advertisement']).startswith(b'\x02\x01\x06'), f'advertisement: {last["advertisement"]}'
    if lab.kind == 'btvirt' or lab.is_simulator:     # Bumble's controller has no scan response of its own
        assert SERVICE in last['serviceUUIDs'], f'the scan response is not merged in: {last}'
        assert last.get('scanResponse'), f'no scan response: {last}'
    assert len(found) <= 3, f'an unchanged advertisement was reported {len(found)} times'


@mark.lab(through_bled=True)
def test_lescan_count_ends_the_scan(lab):
    """`lescan --count 1 --name BumblePeer` ends by itself at the first match and leaves the controller not scanning"""
    relay = lab.relay()
    result = lab.run('lescan', '--count', '1', '--name', 'BumblePeer', via=relay.endpoint)
    assert len(result.events('discovered')) == 1
    check_scanning_stopped(relay)


@mark.lab(('bumble', 'bumble-legacy', 'btvirt', 'simulator', 'simulator-legacy'), through_bled=True)
def test_lescan_filters(lab):
    """`lescan --service` reports only devices with the service, `--rssi` only near ones, `--duplicates` every packet"""
    heart = lab.run('lescan', '--service', '180D', '--count', '1', '--duration', str(PATIENCE)).events('discovered')
    assert [e['address'] for e in heart] == [PEER_ADDRESS]
    none = lab.run('lescan', '--service', '1234', '--duration', '1').events('discovered')
    assert none == []
    far = lab.run('lescan', '--rssi', '10', '--duration', '1').events('discovered')
    assert far == []
    if lab.kind != 'btvirt':     # it reports an advertiser once each time that scanning is switched on
        every = lab.run('lescan', '--duplicates', '--count', '6', '--duration', str(PATIENCE)).events('discovered')
        assert len(every) == 6


def policies(relay):
    """The filter policies of the scans that passed."""
    return ([p[6] for _, p in relay.commands(SCAN_PARAMETERS)] + [p[1] for _, p in relay.commands(EXTENDED_SCAN_PARAMETERS)])


@mark.lab(('bumble', 'bumble-legacy', 'btvirt', 'simulator', 'simulator-legacy'))
def test_lescan_of_named_devices(lab):
    """`lescan --accept` writes the controller's filter accept list, scans with policy 1, and reports no other device"""
    relay = lab.relay()
    found = lab.run('lescan', '--accept', PEER_ADDRESS + '/random', '--accept', '00:11:22:33:44:55', '--count', '1',
                    '--duration', str(PATIENCE), via=relay.endpoint).events('discovered')
    assert [e['address'] for e in found] == [PEER_ADDRESS]
    peer = bytes.fromhex(PEER_ADDRESS.replace(':', ''))[::-1]
    assert [bytes(p) for _, p in relay.commands(CLEAR_LIST, ADD_TO_LIST)] == [b'', b'\1' + peer, b'\0' + bytes.fromhex('554433221100')]
    assert set(policies(relay)) == {1}
    none = lab.run('lescan', '--accept', '00:11:22:33:44:55', '--duration', '1').events('discovered')
    assert none == []


# Bumble's controller and btvirt pass on nothing directed; the legacy simulator has no policy 2.
@mark.lab(('simulator',), peer=False)
def test_lescan_hears_unresolved_targets(lab):
    """What Bumble directs to a private address is heard with --unresolved-targets, by policy 2 or 3, and not without"""
    odd(lab, '--directed', TARGET)
    assert lab.run('lescan', '--duration', '1').events('discovered') == []
    for policy, options in ((2, []), (3, ['--accept', PEER_ADDRESS + '/random'])):
        relay = lab.relay()
        found = lab.run('lescan', '--unresolved-targets', *options, '--count', '1', via=relay.endpoint).events('discovered')[0]
        assert (found['address'], found['target'], found['connectable']) == (PEER_ADDRESS, TARGET, True)
        assert set(policies(relay)) == {policy}


@mark.lab(('bumble', 'bumble-legacy', 'simulator', 'simulator-legacy'), through_bled=True)
def test_passive_scan(lab):
    """`lescan --passive` sends no scan requests, `scan` is the same command"""
    relay = lab.relay()
    lab.run('scan', '--passive', '--duration', '0.5', via=relay.endpoint)
    legacy = [p[0] for _, p in relay.commands(SCAN_PARAMETERS)]
    extended = [p[3] for _, p in relay.commands(EXTENDED_SCAN_PARAMETERS)]
    assert set(legacy + extended) == {0}


@mark.lab(('bumble', 'btvirt', 'simulator'), peer=False, through_bled=True)
def test_lescan_understands_a_sensor(lab):
    """`lescan` says what a BTHome sensor measures, with names and units, for people and in JSON"""
    lab.start_peer('--service-data', 'FCD2:4002c409')
    event = lab.run('lescan', '--count', '1', '--name', 'BumblePeer').events('discovered')[0]
    assert [f['format'] for f in event.get('formats', [])] == ['BTHome v2']
    assert event.get('values') == [{'name': 'temperature', 'value': 25, 'unit': '°C', 'deviceClass': 'temperature', 'format': 'BTHome v2'}]
    text = '\n'.join(lab.run('lescan', '--count', '1', '--name', 'BumblePeer', json=False).strays)
    assert 'BTHome v2: temperature 25 °C' in text, f'no temperature in {text!r}'


@mark.lab(('bumble', 'btvirt'), through_bled=True)
def test_text_output(lab):
    """without `--json` a scan prints name, address and type, and no progress when piped"""
    result = lab.run('lescan', '--count', '1', '--name', 'BumblePeer', json=False)
    text = '\n'.join(result.strays)
    for wanted in ('BumblePeer', PEER_ADDRESS, 'random'):
        assert wanted in text, f'{wanted} is not in {text!r}'
    assert '\r' not in text + result.stderr and '\x1b' not in text + result.stderr, f'progress was printed: {text!r}'


def test_info_says_what_the_controller_is(lab):
    """`info` prints version, manufacturer, address, features, commands and the ACL buffers"""
    lines = lab.run('info').lines
    assert len(lines) == 1
    info = lines[0]
    for key in ('version', 'manufacturer', 'address', 'features', 'commands', 'aclLength', 'aclCount'):
        assert key in info, f'no {key} in {info}'
    buffers = {'bumble-acl251': (251, 3), 'btvirt': (192, 1), 'simulator': (251, 8),
               'simulator-legacy': (27, 4)}.get(lab.kind, (27, 64))
    assert (info['aclLength'], info['aclCount']) == buffers
    if lab.address:
        assert info['address'] == lab.address
    assert len(info['features']) > 0, 'no feature'


@mark.lab(('bumble', 'btvirt'))
def test_a_command_of_the_operators_own(lab):
    """`cmd 0x04 0x0001` sends Read Local Version Information"""
    relay = lab.relay()
    lab.run('cmd', '0x04', '0x0001', via=relay.endpoint)
    assert relay.commands(0x1001), 'the command was not sent'
    lab.run('cmd', '0x08', '0x0005', '01', '02', '03', '04', '05', 'c6', via=relay.endpoint)
    assert (0x2005, bytes.fromhex('0102030405c6')) in relay.commands(0x2005), 'the parameters did not arrive'


@mark.lab(('bumble', 'simulator'))
def test_tcp_transport(lab):
    """`-t tcp:HOST:PORT` works like a unix socket"""
    lab.gatt('read', '2A38', via=lab.tcp_endpoint)


@mark.lab(('bumble', 'btvirt'))
def test_serial_line(lab):
    """`-t uart:DEVICE@BAUD` works like a unix socket"""
    relay = lab.relay(uart=True)
    value = lab.gatt('read', SERVICE[:4] + '0002' + SERVICE[8:], via=relay.endpoint).events('value')[0]['value']
    assert len(value) // 2 == 512


@mark.lab(('bumble',))
def test_usage_errors(lab):
    """wrong usage exits with status 2 and says so on stderr"""
    for wrong in (['nonsense'], ['gatt'], ['gatt', 'BumblePeer', 'write', '2A39', 'zz'], ['lescan', '--duration', 'soon'],
                  ['lescan', '--no-such-option'], ['gatt', 'BumblePeer', 'read', 'no-uuid'], ['cmd', '0x04']):
        result = lab.run(*wrong, status=2)
        assert result.stderr, f'{wrong}: nothing on stderr'
        assert not result.strays, f'{wrong}: not JSON on stdout: {result.strays}'
    result = lab.finish(lab.launch([BLETOOL, '-t', 'carrier-pigeon:1', '--json', 'lescan']))
    assert result.status == 2


@mark.lab(('bumble',))
def test_transports_that_do_not_open(lab):
    """a transport that cannot be opened exits with status 3 and names it"""
    for endpoint, name in (('unix:/nonexistent/hci0', '/nonexistent/hci0'), ('tcp:127.0.0.1:1', '127.0.0.1:1'),
                           ('uart:/dev/nonexistent@115200', '/dev/nonexistent')):
        result = lab.run('lescan', '--duration', '1', via=endpoint, status=3)
        assert name in result.stderr, f'{name} is not in {result.stderr!r}'


@mark.lab(('bumble',))
def test_advertising_data_alone(lab):
    """`ad decode` reads an advertisement without any transport"""
    result = lab.finish(lab.launch([BLETOOL, '--json', 'ad', 'decode', '02010603030D180B0942756d626c6550656572']))
    assert result.status == 0
    assert result.lines[0].get('localName') == 'BumblePeer'
    assert result.lines[0].get('serviceUUIDs') == ['180D']
    assert result.lines[0].get('flags') == 6


def check_scanning_stopped(relay):
    """Scanning was disabled last."""
    enables = [p[0] for _, p in relay.commands(SCAN_ENABLE, EXTENDED_SCAN_ENABLE)]
    assert enables and enables[0] == 1, f'scan enable commands: {enables}'
    assert enables[-1] == 0
