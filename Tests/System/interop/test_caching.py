"""Attributes that are kept beyond a connection: the Database Hash of a Bumble device shows whether they are the same."""

from pytest import mark

from interop.test_gatt import ENCRYPTED, value_of

HASH = '2B2A'


def asked(lab, capture):
    """What was asked of the device in a capture: names of requests, and the types of attributes where they have one."""
    packets = lab.run('decode', capture).events('packet')
    return [(p['name'], p['fields'].get('attributeType')) for p in packets
            if p.get('protocol') == 'ATT' and p['direction'] == 'sent' and p['name'].endswith('Request')]


def discoveries(requests):
    return [r for r in requests if r[0] in ('Read By Group Type Request', 'Find By Type Value Request', 'Find Information Request')
            or r[0] == 'Read By Type Request' and r[1] in ('2802', '2803')]


@mark.lab(('bumble', 'btvirt', 'simulator'), peer=False)
def test_a_bonded_device_is_discovered_once(lab):
    """A bonded Bumble device is discovered once: later commands read its Database Hash, until it changes or the bond is gone"""
    keys = lab.path('keys.json')
    lab.start_peer('--keystore', keys)

    def captured(*verb):
        lab.number += 1
        capture = lab.path(f'caching{lab.number}.btsnoop')
        result = lab.gatt(*verb, options=('-w', capture))
        return result, asked(lab, capture)

    # Without a bond nothing is kept.
    for _ in range(2):
        _, requests = captured('discover')
        assert discoveries(requests) and ('Read By Type Request', HASH) not in requests, f'without a bond: {requests}'
    lab.gatt('read', ENCRYPTED)
    first, requests = captured('discover')
    assert discoveries(requests), f'the first time: {requests}'
    second, requests = captured('discover')
    assert discoveries(requests) == []
    assert ('Read By Type Request', HASH) in requests, f'no hash: {requests}'
    assert second.lines[0]['services'] == first.lines[0]['services']
    result, requests = captured('read', '2A38')
    assert discoveries(requests) == []
    value_of(result)
    result, requests = captured('subscribe', '2A37', '--count', '1')
    # Service Changed is sought to subscribe to it.
    assert len(discoveries(requests)) <= 5, f'subscribe: {requests}'
    # As after an update of its firmware.
    lab.peer.end()
    lab.start_peer('--keystore', keys, '--eatt')
    third, requests = captured('discover')
    assert discoveries(requests), f'after a change: {requests}'
    assert third.lines[0]['services'] != first.lines[0]['services'], 'the change was not seen'
    _, requests = captured('read', '2A38')
    assert discoveries(requests) == []
    lab.run('unpair', 'F2:F1:F0:00:00:02/random')
    _, requests = captured('discover')
    assert discoveries(requests), f'without the bond: {requests}'
