"""Programs of BlueZ on BlueZ's own daemon and on bled-bluez, in one guest, on one air: scripts of Tests/System/bluez, which results they
have on both, and what the daemons say on the bus meanwhile."""
import importlib, json, os, pathlib

import pytest
from pytest import mark

from kernel import beside

IS_INSIDE = 'JELLING_GUEST' in os.environ
if IS_INSIDE:
    from kernel import door, interfaces

# By client: a raw one of dbus-fast, bleak, bluetoothctl, programs of GLib.
SCRIPTS = ['order.discovery', 'order.connection', 'order.values', 'order.notify_socket', 'order.pairing', 'errors.attributes', 'bleak.values',
           'bleak.notifications STREAM', 'bluetoothctl.a_session', 'bluetoothctl.pairing', 'glib.a_session', 'errors.adapter']
# Those that do the same on both.
SESSIONS = [script for script in SCRIPTS if script not in beside.BLUEZ_DIFFERS]
PAGE = '/host/BlueZ.md'
RECORDS = {}


@pytest.fixture(scope='module')
def desk(guests):
    if not IS_INSIDE:
        yield
        return
    desk = door.Desk('{"devices": []}')
    yield desk
    desk.close()


def run(desk, host, script):
    """Runs a script on a host, and notes what crosses the bus. What went wrong, or None."""
    name, *arguments = script.split()
    module, _, function = name.partition('.')
    function = getattr(importlib.import_module(f'bluez.test_{module}'), f'test_{function}')
    wish = {key: value for one in getattr(function, 'pytestmark', ()) if one.name == 'desk' for key, value in one.kwargs.items()}
    desk.has_peer(wish.get('peer', True))
    desk.start_host(host)
    desk.record()
    failure = None
    try:
        function(desk, *arguments)
        desk.check_end()
    except Exception as error:
        failure = f'{type(error).__name__}: {error}'
    finally:
        messages, owner = desk.recorded()
        desk.stop_host()
    RECORDS[host, script] = beside.sequence(messages, owner)
    with open('/host/traffic.jsonl', 'a') as file:
        file.write(json.dumps({'host': host, 'script': script, 'failure': failure, 'lines': RECORDS[host, script]}) + '\n')
    return failure


@mark.parametrize('script', SCRIPTS)
@mark.parametrize('host', beside.HOSTS)
def test_script(desk, host, script):
    """A script of the ring `bluez` passes on both daemons, but where BlueZ is known to differ"""
    failure = run(desk, host, script)
    if host == 'bluetoothd' and script in beside.BLUEZ_DIFFERS:
        assert failure, f'it passes: {beside.BLUEZ_DIFFERS[script]} is no longer so'
    else:
        assert not failure, failure


@mark.parametrize('script', SESSIONS)
def test_traffic(desk, script):
    """Both daemons say the same on the bus in the same order, but for what Documentation/BlueZ.md names"""
    for host in beside.HOSTS:
        if (host, script) not in RECORDS:
            assert not run(desk, host, script)
    found = beside.unnamed(*(RECORDS[host, script] for host in beside.HOSTS), script)
    assert not found, 'not in Documentation/BlueZ.md: ' + '\n'.join(found)


@mark.usefixtures('guests')
def test_unnamed():
    """What only one of them says, and what both say in another order, is found; what is known of one session, in each other one"""
    for ours, found in (['a', 'c'], ['- b']), (['a', 'b', 'b', 'c'], ['+ b']), (['b', 'a', 'c'], ['+ b', '- b']), (['a', 'b', 'c'], []):
        assert sorted(beside.unnamed(['a', 'b', 'c'], ours)) == found
    battery = 'signal added hci0/dev_F2_F1_F0_00_00_02 {Battery1: {Percentage: 90}}'
    for session, found in (None, ['+ ' + battery]), ('bluetoothctl.a_session', ['+ ' + battery]), ('bluetoothctl.pairing', []):
        assert beside.unnamed([], [battery], session) == found


@mark.usefixtures('guests')
def test_page():
    """Documentation/BlueZ.md names the differences that are known, and has the interfaces of both"""
    page = pathlib.Path(PAGE).read_text()
    rows = [beside.KNOWN, beside.MOVED, *beside.KNOWN_IN.values()]
    missing = [words for words in (*(words for row in rows for words in row), *beside.BLUEZ_DIFFERS.values()) if words not in page]
    assert not missing, missing


def test_interfaces(desk):
    """The table of interfaces in Documentation/BlueZ.md is current; JELLING_GUEST_TABLE names a file that gets a new one"""
    found = []
    for host in beside.HOSTS:
        desk.has_peer(True)
        desk.start_host(host)
        try:
            found.append(interfaces.introspected(desk))
        finally:
            desk.stop_host()
    table = interfaces.table(*found)
    pathlib.Path('/host/table.md').write_text(table)
    assert table in pathlib.Path(PAGE).read_text(), f'Documentation/BlueZ.md has another table than\n{table}'
