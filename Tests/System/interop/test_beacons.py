"""Beacons of `bletool` on the air: Bumble hears them, and readers that others have made read them."""
import json, os, subprocess, sys

from pytest import fixture, mark

from jelling.programs import ROOT

UUID = 'e2c56db5-dffb-48d2-b060-d0f5a71096e0'
KEY = '231d39c1d7cc1ab1aee224cd096db932'
# Bumble's controller delivers legacy advertising only if it is connectable.
EXTENDED = {'bumble': ['--extended']}


@fixture(scope='module')
def reader():
    """What beacontools, TheengsDecoder and bthome-ble read in an advertisement; the first call may have to install them."""
    def read(**line):
        run = subprocess.run([sys.executable, os.path.join(ROOT, 'Tools', 'Checks', 'sensors'), '--read'], input=json.dumps(line) + '\n',
                             capture_output=True, text=True, timeout=600)
        assert run.returncode == 0, run.stderr
        return json.loads(run.stdout)
    return read


def on_air(lab, listener, seen, *options):
    """(the octets, the address) of a beacon as Bumble hears it; nothing else is on the air"""
    tool = lab.start('advertise', *options, *EXTENDED.get(lab.kind, []))
    tool.wait_for(lambda l: l.get('event') == 'advertising' or l.get('state') == 'started', 'advertising')
    heard = listener.wait_for(lambda l: l.get('ev') == 'heard' and l['data'] and l['data'] not in seen, f'{options[0]} on the air')[0]
    if lab.is_simulator:     # Bumble's controller reports other properties
        assert (heard['connectable'], heard['legacy']) == (False, True), heard
    tool.end()
    seen.add(heard['data'])
    return heard['data'], heard['address'].removesuffix('/P')


@mark.lab(('bumble', 'simulator'), peer=False, through_bled=True)
def test_beacons_are_read(lab, reader):
    """iBeacon, Eddystone URL and UID, AltBeacon and BTHome, plain and encrypted: what Bumble hears says what was asked for to
    beacontools, TheengsDecoder and bthome-ble"""
    listener, seen = lab.bumble('peer_sets', lab.endpoints[1], '--listen', '600'), set()

    data, address = on_air(lab, listener, seen, '--ibeacon', f'{UUID},258,772,-61', '--name', 'Door')
    found = reader(data=data, address=address)
    assert [found['beacontools'][k] for k in ('uuid', 'major', 'minor', 'tx_power')] == [UUID, 258, 772, -61], found
    if 'TheengsDecoder' in found:     # it needs a C++ compiler
        assert [found['TheengsDecoder'][k] for k in ('uuid', 'major', 'minor', 'txpower')] == [UUID.replace('-', ''), 258, 772, -61], found

    data, address = on_air(lab, listener, seen, '--eddystone-url', 'https://example.com/a')
    assert reader(data=data, address=address)['beacontools']['url'] == 'https://example.com/a'
    data, address = on_air(lab, listener, seen, '--eddystone-uid', '00112233445566778899,aabbccddeeff,-20')
    found = reader(data=data, address=address)['beacontools']
    assert (found['namespace'], found['instance'], found['tx_power']) == ('00112233445566778899', 'aabbccddeeff', -20)

    values = {'temperature': -3.25, 'humidity': 50.55, 'battery': 80}
    words = ','.join(f'{k}={v}' for k, v in values.items())
    for secret in ([], ['--key', KEY]):
        data, address = on_air(lab, listener, seen, '--bthome', words, *secret)
        found = reader(data=data, address=address, key=KEY if secret else '')
        assert {k: found['bthome-ble'].get(k) for k in values} == values, found
        assert bool(secret) is ('temperature' not in reader(data=data, address=address).get('bthome-ble', {}))

    # No reader of PyPI knows it: the layout is that of the AltBeacon specification 1.0.
    data, _ = on_air(lab, listener, seen, '--altbeacon', f'{UUID},1,2,-59,0x0118')
    assert bytes.fromhex('1bff1801beac' + UUID.replace('-', '') + '00010002c500') in bytes.fromhex(data)
