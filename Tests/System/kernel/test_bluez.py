"""`bletool` beside BlueZ's daemon, which advertises on hci0; hci1 is ours."""
import os, signal

from pytest import mark

from kernel.bluez import BLUEZ_ADDRESS, BLUEZ_NAME, BlueZ, forget, has_agent, paired_with_bluez, said, the_advertiser
from kernel.harness import OUR_ADDRESS, PROFILE, Served, claim_user_channel, is_up, running, tool, wait_until

pytestmark = mark.usefixtures('bluez')


def test_lescan_sees_bluez():
    """`-t user:1 lescan` sees the advertiser of BlueZ's daemon on hci0, and gives the adapter back"""
    found = the_advertiser(tool('lescan', '--name', BLUEZ_NAME, '--count', '1', '--duration', '30', transport='user:1'))
    assert found['name'] == BLUEZ_NAME, f'name {found["name"]!r}'
    assert not is_up(1), 'the adapter was left up'
    assert is_up(0), "the daemon's adapter was touched"


def test_gatt_discovers_bluez():
    """`gatt` connects to BlueZ and prints its services, twice in a row"""
    for _ in range(2):
        services = tool('gatt', f'{BLUEZ_ADDRESS}', 'discover', transport='user:1').lines[0]['services']
        assert {'1800', '1801'} <= {s['uuid'] for s in services}, [s["uuid"] for s in services]
        generic = next(s for s in services if s['uuid'] == '1800')
        assert '2A00' in {c['uuid'] for c in generic['characteristics']}, generic
    assert not is_up(1), 'the adapter was left up'


def test_gatt_reads_bluez():
    """`gatt NAME read 2A00` reads the daemon's name"""
    run = tool('gatt', BLUEZ_NAME, 'read', '2A00', transport='user:1')
    assert bytes.fromhex(run.events('value')[0]['value']).decode() == BLUEZ_NAME, run


def test_interrupt_gives_the_adapter_back():
    """^C during a scan ends it with status 0 and gives the adapter back"""
    with running('lescan', '--duplicates') as process:
        assert 'discovered' in process.stdout.readline(), 'nothing discovered'
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=180)
    assert process.returncode == 0, f'status {process.returncode}'
    assert not is_up(1), 'the adapter was left up'
    os.close(claim_user_channel(1))


def test_bluez_is_a_client_of_serve():
    """`bluetoothctl` scans, connects to `-t user:1 serve`, lists its attributes, reads, writes and is notified"""
    served = Served()
    try:
        BlueZ.finds_and_connects()
        served.wait_event('connected')
        BlueZ.types('menu gatt', 'acquire-notify')
        BlueZ.types(f'list-attributes {OUR_ADDRESS}', *(
            # Bluetooth's own UUIDs are printed in their long form too.
            (u if len(u) > 4 else f'0000{u}-0000-1000-8000-00805F9B34FB').lower()
            for s in PROFILE['services'] for u in (s['uuid'], *(c['uuid'] for c in s['characteristics']))))
        BlueZ.selects('00002a38-0000-1000-8000-00805f9b34fb')
        BlueZ.reads('01 02')
        BlueZ.selects('6b7a0003-9d1c-4f5e-8a2b-3c4d5e6f7081')
        BlueZ.reads('aa 55')
        BlueZ.types('write "0x10 0x20 0x30"', 'Attempting to write')
        assert served.wait_event('written')[-1]['value'] == '102030', served.events("written")
        BlueZ.reads('10 20 30')
        BlueZ.selects('00002a37-0000-1000-8000-00805f9b34fb')
        BlueZ.types('notify on', 'Notify started')
        served.wait_event('subscribed')
        BlueZ.hears(len(said()), 'notifications', r'(?s)Value:\s+00 48\b.*Value:\s+00 48\b')
        BlueZ.types('notify off', 'Notify stopped|Notifying: no')
        BlueZ.disconnects(served)
    finally:
        BlueZ.types('back')
        BlueZ.forgets()
        served.stop()


def test_serve_ends_a_link_of_bluez():
    """^C ends `serve` under a connected BlueZ: it sees the link end, and the adapter is given back"""
    served = Served()
    try:
        BlueZ.finds_and_connects()
        before = len(said())
        served.stop()
        BlueZ.hears(before, 'the end of the link', f'{OUR_ADDRESS} Connected: no')
    finally:
        served.process.kill()
        BlueZ.forgets()


# Pairing with BlueZ

def test_bluez_pairs_with_serve():
    """BlueZ pairs with `serve`; after both have disconnected, the bond encrypts the next link, and the encrypted value is read"""
    has_agent('NoInputNoOutput')
    served = Served()
    try:
        BlueZ.finds_and_connects()
        BlueZ.types(f'pair {OUR_ADDRESS}', 'Pairing successful', seconds=180)
        paired = served.wait_event('paired')[0]
        assert paired['keySize'] == 16 and not paired['authenticated'], paired
        assert paired['identity'] == BLUEZ_ADDRESS and paired['identityType'] == 'public', paired
        BlueZ.disconnects(served)
        served.stop()
        bonds = tool('bonds').events('bond')
        assert [b['identity'] for b in bonds] == [BLUEZ_ADDRESS], bonds
        served = Served()
        BlueZ.finds_and_connects()
        assert served.wait_event('encrypted')[0]['bonded'], served.events("encrypted")
        BlueZ.types('menu gatt', 'acquire-notify')
        BlueZ.selects('6b7a0006-9d1c-4f5e-8a2b-3c4d5e6f7081')
        BlueZ.reads('5e c2 e7')
        assert not served.events('paired'), 'a second pairing'
        BlueZ.disconnects(served)
    finally:
        BlueZ.types('back')
        served.stop()
        forget()


def test_pair_with_bluez():
    """`bletool pair` pairs with BlueZ and keeps the bond, which encrypts the next link; `unpair` removes it"""
    BlueZ.types('pairable on')
    try:
        run = paired_with_bluez()
        paired = run.events('paired')[0]
        assert paired['identity'] == BLUEZ_ADDRESS and paired['keySize'] == 16, paired
        assert [b['identity'] for b in tool('bonds').events('bond')] == [BLUEZ_ADDRESS], 'no bond'
        run = tool('gatt', BLUEZ_ADDRESS, 'read', '2A00', transport='user:1')
        assert bytes.fromhex(run.events('value')[0]['value']).decode() == BLUEZ_NAME, run
        # BlueZ forgets its half: the remedy is told.
        BlueZ.forgets()
        wait_until(lambda: the_advertiser(tool('lescan', '--duration', '2', transport='user:1')), 'the advertiser')
    finally:
        tool('unpair', BLUEZ_ADDRESS, status=None)
    assert not tool('bonds').events('bond'), 'the bond is still there'
