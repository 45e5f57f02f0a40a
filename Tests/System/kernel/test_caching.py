"""GATT caching with BlueZ's daemon: a Database Hash shows each side that it knows the other's attributes."""
from pytest import mark

from kernel.bluez import BLUEZ_ADDRESS, BlueZ, forget, has_agent, paired_with_bluez
from kernel.harness import OUR_ADDRESS, PROFILE, Served, tool

pytestmark = mark.usefixtures('bluez')

HASH = '2B2A'
NEW_SERVICE = '6b7a00aa-9d1c-4f5e-8a2b-3c4d5e6f7081'


def asked(capture, direction):
    """The requests of ATT that crossed in one direction: their names, and the types of attributes where they have one."""
    return [(p['name'], p['fields'].get('attributeType')) for p in tool('decode', capture).events('packet')
            if p.get('protocol') == 'ATT' and p['direction'] == direction and p['name'].endswith('Request')]


def discoveries(requests):
    return [r for r in requests if r[0] in ('Read By Group Type Request', 'Find Information Request')
            or r[0] == 'Read By Type Request' and r[1] in ('2802', '2803')]


def test_bluez_is_discovered_once():
    """`gatt` discovers a bonded BlueZ once: later it reads the Database Hash, until BlueZ gets another service"""
    has_agent('DisplayYesNo')
    BlueZ.types('pairable on')

    def discover(number):
        capture = f'/tmp/discovered-{number}.btsnoop'
        run = tool('-w', capture, 'gatt', BLUEZ_ADDRESS, 'discover', transport='user:1')
        return run.lines[0]['services'], asked(capture, 'sent')

    try:
        paired_with_bluez()
        first, requests = discover(1)
        assert discoveries(requests), f'the first time: {requests}'
        second, requests = discover(2)
        assert not discoveries(requests) and ('Read By Type Request', HASH) in requests, f'the second time: {requests}'
        assert second == first, f'{second} and {first}'
        BlueZ.types('menu gatt', 'acquire-notify')
        BlueZ.types(f'register-service {NEW_SERVICE}', 'yes/no')
        BlueZ.types('yes')
        BlueZ.types('register-application', 'Application registered')
        third, requests = discover(3)
        assert discoveries(requests), f'with another service: {requests}'
        assert NEW_SERVICE.upper() in str(third).upper(), third
        _, requests = discover(4)
        assert not discoveries(requests), f'after it: {requests}'
    finally:
        BlueZ.types('unregister-application')
        BlueZ.types('back')
        forget()


def test_serve_is_discovered_once_by_bluez():
    """A bonded BlueZ discovers `serve` once: on the next link it reads the Database Hash, and discovers again what has changed"""
    has_agent('NoInputNoOutput')

    def connected(number, profile, pairs=False):
        """What BlueZ asks on a link of its own with a process of its own."""
        capture = f'/tmp/served-{number}.btsnoop'
        served = Served(capture=capture, profile=profile)
        try:
            BlueZ.finds_and_connects()
            if pairs:
                BlueZ.types(f'pair {OUR_ADDRESS}', 'Pairing successful', seconds=180)
                served.wait_event('paired')
            else:
                served.wait_event('encrypted')
            BlueZ.disconnects(served)
        finally:
            served.stop()
        return asked(capture, 'received')

    try:
        requests = connected(1, PROFILE, pairs=True)
        assert discoveries(requests), f'the first time: {requests}'
        requests = connected(2, PROFILE)
        assert ('Read By Type Request', HASH) in requests, f'no hash: {requests}'
        assert ('Read By Group Type Request', '2800') not in requests, f'the second time: {requests}'
        more = {'services': PROFILE['services'] + [{'uuid': NEW_SERVICE, 'characteristics': [
            {'uuid': '2A19', 'properties': ['read'], 'permissions': ['readable'], 'value': '57'}]}]}
        requests = connected(3, more)
        assert discoveries(requests), f'with another service: {requests}'
        assert NEW_SERVICE in BlueZ.types(f'info {OUR_ADDRESS}', NEW_SERVICE), 'BlueZ does not see the new service'
    finally:
        forget()
