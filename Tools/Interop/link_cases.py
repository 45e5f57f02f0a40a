"""The radio of links: PHYs, power, channels, authenticated payloads, with Bumble at the other end."""
from cases import case, check, same

KINDS = ('bumble', 'btvirt', 'simulator')


@case(KINDS)
def link_tells_its_radio(lab):
    """`link` connects on the PHYs asked for, keeps off channels, and tells what both controllers know"""
    # Neither Bumble's controller nor btvirt classifies channels or knows the commands for power.
    avoid = ['--avoid', '0-10,36'] if lab.is_simulator else []
    done = lab.run('link', 'BumblePeer', '--phys', '1m,2m', *avoid, '--duration', '1')
    told = done.events('radio')[0]
    same('address', told['address'], 'F2:F1:F0:00:00:02')
    check(7.5 <= told['interval'] <= 4000 and told['timeout'] >= 100, f'parameters: {told}')
    if lab.is_simulator:
        same('power', (told['power'], told['maximumPower'], told['peersPower']), (0, 10, 0))
        same('PHYs', (told['transmitPHY'], told['receivePHY']), ('LE 1M', 'LE 1M'))


@case(('simulator',))
def link_tells_path_loss(lab):
    """`link --path-loss` tells the zone of a Bumble device"""
    tool = lab.start('link', 'BumblePeer', '--path-loss', '20-30')
    same('zone', tool.wait_for(lambda l: l.get('event') == 'pathLoss', 'pathLoss')[0]['zone'], 'high')
    tool.end()


@case(('simulator',), peer=False)
def link_is_subrated(lab):
    """`link --subrate` agrees with a Bumble device on the share of the connection events that are used"""
    lab.start_peer('--subrate')
    tool = lab.start('link', 'BumblePeer', '--subrate', '4')
    told = tool.wait_for(lambda l: l.get('event') == 'subrateChanged', 'subrateChanged')[0]
    same('subrate', (told['factor'], told['continuation']), (4, 1))
    tool.end()


@case(('bumble', 'btvirt'))
def link_refuses_what_is_unknown(lab):
    """`link --path-loss` says that the controller does not know the command"""
    result = lab.run('link', 'BumblePeer', '--path-loss', '20-30', status=1)
    check('0x2078' in result.stderr.lower() or 'path loss' in result.stderr.lower(), result.stderr)


@case(('bumble', 'simulator'))
def link_pings(lab):
    """`link --ping` needs a bond, and is accepted by the controllers where there is one"""
    from gatt_cases import ENCRYPTED
    result = lab.run('link', 'BumblePeer', '--ping', '1', '--duration', '1', status=1)
    check('pair' in result.stderr, result.stderr)
    lab.gatt('read', ENCRYPTED)
    same('unauthenticated', lab.run('link', 'BumblePeer', '--ping', '1', '--duration', '3').events('unauthenticated'), [])
