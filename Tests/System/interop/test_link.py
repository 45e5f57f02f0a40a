"""The radio of links: PHYs, power, channels, parameters, authenticated payloads, with Bumble at the other end."""
import struct

from pytest import mark

from interop.test_gatt import CONTROL, ENCRYPTED
from jelling.lab import PEER_ADDRESS
from jelling.relay import ACL, TO_CONTROLLER
from interop.test_set import peer

KINDS = ('bumble', 'btvirt', 'simulator')
CHANNEL_CLASSIFICATION, CREATE_CONNECTION, EXTENDED_CREATE = 0x2014, 0x200D, 0x2043
CONNECTION_UPDATE, PARAMETERS_ACCEPTED, PARAMETERS_REJECTED = 0x2013, 0x2020, 0x2021
WRITE_PAYLOAD_TIMEOUT = 0x0C7C


@mark.lab(KINDS, through_bled=True)
def test_link_tells_its_radio(lab):
    """`link` connects on the PHYs asked for, keeps off channels, and tells what both controllers know"""
    # Neither Bumble's controller nor btvirt classifies channels or knows the commands for power.
    avoid = ['--avoid', '0-10,36'] if lab.is_simulator else []
    done = lab.run('link', 'BumblePeer', '--phys', '1m,2m', *avoid, '--duration', '1')
    told = done.events('radio')[0]
    assert told['address'] == 'F2:F1:F0:00:00:02'
    assert 7.5 <= told['interval'] <= 4000 and told['timeout'] >= 100, f'parameters: {told}'
    if lab.is_simulator:
        assert (told['power'], told['maximumPower'], told['peersPower']) == (0, 10, 0)
        assert (told['transmitPHY'], told['receivePHY']) == ('LE 1M', 'LE 1M')


@mark.lab(('simulator',), through_bled=True)
def test_link_tells_path_loss(lab):
    """`link --path-loss` tells the zone of a Bumble device"""
    tool = lab.start('link', 'BumblePeer', '--path-loss', '20-30')
    assert tool.wait_event('pathLoss')[0]['zone'] == 'high'
    tool.end()


@mark.lab(('simulator',), peer=False, through_bled=True)
def test_link_is_subrated(lab):
    """`link --subrate` agrees with a Bumble device on the share of the connection events that are used"""
    lab.start_peer('--subrate')
    tool = lab.start('link', 'BumblePeer', '--subrate', '4')
    told = tool.wait_event('subrateChanged')[0]
    assert (told['factor'], told['continuation']) == (4, 1)
    tool.end()


@mark.lab(('bumble', 'btvirt'), through_bled=True)
def test_link_refuses_what_is_unknown(lab):
    """`link --path-loss` says that the controller does not know the command"""
    result = lab.run('link', 'BumblePeer', '--path-loss', '20-30', status=1)
    assert '0x2078' in result.stderr.lower() or 'path loss' in result.stderr.lower(), result.stderr


@mark.lab(('simulator',))
def test_link_keeps_off_channels(lab):
    """`link --avoid` gives the controller a map without these channels; without it the map stays the controller's own"""
    for options, want in (['--avoid', '0-10,36'], [(((1 << 37) - 1) & ~0x7FF & ~(1 << 36)).to_bytes(5, 'little')]), ([], []):
        relay = lab.relay()
        lab.run('link', 'BumblePeer', *options, '--duration', '1', via=relay.endpoint)
        assert [p for _, p in relay.commands(CHANNEL_CLASSIFICATION)] == want, f'maps with {options}'


@mark.lab(('bumble', 'simulator'))
def test_link_begins_on_the_phys_asked_for(lab):
    """`link --phys` names these PHYs when it connects, and LE 1M alone without the option"""
    for options, want in ([], 1), (['--phys', '1m,2m'], 3), (['--phys', '1m,2m,coded'], 7):
        relay = lab.relay()
        lab.run('link', 'BumblePeer', *options, '--duration', '0.5', via=relay.endpoint)
        assert ([p[9] for _, p in relay.commands(EXTENDED_CREATE)] if len(relay.commands(EXTENDED_CREATE)) else None) == [want], (
            f'PHYs of {options}')


@mark.lab(('simulator',), peer=False)
def test_link_reaches_a_device_on_coded(lab):
    """`link --phys coded` connects to a Bumble device that advertises on LE Coded, and says on what the link runs; 1m does not reach it"""
    peer(lab, '--sets', '1', '--phy', '3')
    told = lab.run('link', 'F2:F1:F0:00:01:01/random', '--phys', 'coded', '--duration', '1').events('radio')[0]
    assert (told['transmitPHY'], told['receivePHY']) == ('LE Coded', 'LE Coded')
    lab.run('link', 'F2:F1:F0:00:01:01/random', '--phys', '1m', '--connect-timeout', '2', '--duration', '1', status=1)


@mark.lab(('bumble', 'simulator'), through_bled=True)
def test_link_pings(lab):
    """`link --ping` needs a bond, gives the controller the time once the link is encrypted, and tells when the controller says it is over"""
    result = lab.run('link', 'BumblePeer', '--ping', '1', '--duration', '1', status=1)
    assert 'pair' in result.stderr, result.stderr
    lab.gatt('read', ENCRYPTED)
    relay = lab.relay()
    tool = lab.start('link', 'BumblePeer', '--ping', '1.5', via=relay.endpoint)
    # Printed when the time is set: an expiry that came before would be told to nobody.
    tool.wait_event('radio')
    _, parameters = relay.commands(WRITE_PAYLOAD_TIMEOUT)[0]
    assert int.from_bytes(parameters[2:], 'little') == 150
    assert [l for l in tool.lines if l['event'] == 'unauthenticated'] == []
    relay.tell_host(bytes([4, 0x57, 2]) + parameters[:2])   # Authenticated Payload Timeout Expired
    tool.wait_event('unauthenticated')
    tool.end()


# What the peer asks for: 30 to 50 ms, a latency of 2, 4 s; and what each policy makes of it.
WISH = (24, 40, 2, 400)
POLICIES = [
    (['--parameter-policy', 'reject'], None), (['--parameter-policy', '7.5-28.75'], None),
    (['--parameter-policy', '30-50,latency=1'], None), (['--parameter-policy', '30-50,timeout=4010-32000'], None),
    (['--parameter-policy', '40-500,latency=2,timeout=2000-6000'], (32, 40)), (['--parameter-policy', '15-40'], (24, 32)),
    (['--parameter-policy', 'accept'], (24, 40)), ([], (24, 40)),
]


def asked(lab, layer, answers):
    """The peer asks over this layer, 0 L2CAP or 1 the link layer, on a link with each policy."""
    request = (struct.pack('<2B4H', 8, layer, *WISH)).hex()
    for turn, (options, granted) in enumerate(POLICIES, 1):
        relay = lab.relay()
        lab.gatt('write', CONTROL, request, *options, peer=PEER_ADDRESS + '/random', via=relay.endpoint)
        told = lab.wait_peer('parameters-asked', turn)[-1]
        assert told['accepted'] == (granted is not None), f'{options}: accepted'
        assert answers(relay) == [granted and struct.pack('<4H', *granted, *WISH[2:])], f'{options}: granted'
        # btvirt lets nobody connect to a device again whose last link had its parameters updated.
        if granted and lab.kind == 'btvirt':
            break


@mark.lab(KINDS, through_bled=True)
def test_link_parameters_by_a_policy_over_l2cap(lab):
    """`--parameter-policy` accepts, bounds or rejects what a Bumble peripheral asks for over L2CAP"""
    def answers(relay):
        responses = [p[13:15] for p in relay.packets(TO_CONTROLLER) if p[0] == ACL and p[7:9] == b'\5\0' and p[9] == 0x13]
        updates = [p[2:10] for _, p in relay.commands(CONNECTION_UPDATE)]
        assert responses == [b'\0\0' if updates else b'\1\0']
        return updates or [None]
    asked(lab, 0, answers)


@mark.lab(('simulator',), through_bled=True)
def test_link_parameters_by_a_policy_over_the_link_layer(lab):
    """`--parameter-policy` accepts, bounds or rejects what a Bumble peripheral asks for through the link layer"""
    def answers(relay):
        replies = relay.commands(PARAMETERS_ACCEPTED, PARAMETERS_REJECTED)
        return [p[2:10] if opcode == PARAMETERS_ACCEPTED else None for opcode, p in replies]
    asked(lab, 1, answers)
