"""The scenarios of appendix B that speak of processes, each with real ones: apps in Python (actor.py) that bled launches, stops,
wakes and ends. Documentation/Requirements/Scenarios.md says which case shows which scenario."""
import os

from jelling.apps import CENTRAL, Air, actor, launch, leave, told, wait_for
from jelling.daemon import Client, Daemon, answered
from jelling.programs import EXAMPLES

ONE, TWO = 'org.example.one', 'org.example.two'


def status(daemon):
    """(what is wanted of the radio, the links, the programs), as the daemon's own status tells it."""
    told = answered(daemon.path, status={}).status
    adapter = told.adapters[0]
    return (list(adapter.wanted), list(adapter.links), list(told.clients))


def reader(air):
    """What `completed` says of a read of the app's value, as often as it is called, by a client of another bled; the client, the link."""
    central = Client(air.lab.bled(air.lab.endpoints[1]))
    central.greeted()
    link = central.connected(central.found(lambda found: b'Door' in found.advertisement + found.scan_response))
    return lambda: central.done(gatt={'link': link, 'read_using_uuid': {
        'uuid': bytes.fromhex('2a19'), 'range': {'first': 1, 'last': 0xFFFF}}}), central, link


def scans(daemon):
    """Whether each app's scan is one in the background, by app; without those that do not scan."""
    return {wanted.client: wanted.scan.is_in_background for wanted in status(daemon)[0] if wanted.HasField('scan')}


def waiting(daemon, name):
    """How many events wait for a connected app."""
    return sum(program.waiting_events for program in status(daemon)[2] if program.name == name)


def wait_for_all(daemon, event, count=1):
    for name in ONE, TWO:
        wait_for(daemon, name, event, count)


def test_scenarios_6_to_8():
    """the wish for an absent device outlives the app and bled; without a restore identifier or after a force quit nothing is launched"""
    wish = {'scan': ['180d'], 'connect': {}, 'subscribe': '2a37', 'again': True}
    apps = [actor(ONE, {**wish, 'restore': 'r'}, modes=CENTRAL), actor(TWO, wish, modes=CENTRAL)]
    with Air() as air, Daemon(adapter=air.endpoint, apps=apps) as daemon:
        def wanted():
            return [one.client for one in status(daemon)[0] if one.HasField('connect')]

        air.come()
        launch(daemon, ONE, TWO)
        wait_for_all(daemon, 'value')
        air.go()
        daemon.wait_for('both want it back', lambda: sorted(wanted()) == [ONE, TWO])
        # Both run: the wish has no end.
        air.come()
        wait_for_all(daemon, 'connected', 2)
        air.go()
        daemon.wait_for('both want it back', lambda: sorted(wanted()) == [ONE, TWO])
        leave(daemon, ONE, TWO)
        for name in ONE, TWO:
            daemon.kill_app(name)
        daemon.wait_for('nothing is kept for the one without identifier', lambda: wanted() == [ONE])
        air.come()
        launches(daemon, 1)
        leave(daemon, ONE)
        # The same across a bled that is killed, as by a restart of the machine.
        air.go()
        daemon.wait_for('it wants it back', lambda: wanted() == [ONE])
        daemon.kill(ONE)
        daemon.start_again()
        daemon.wait_for('it waits again', lambda: wanted() == [ONE])
        assert not daemon.process_of(ONE)
        air.come()
        launches(daemon, 2)
        daemon.operate(quit=ONE)
        assert wanted() == [] and status(daemon)[1] == [], 'something of it goes on'
        assert len(told(daemon, TWO, 'began')) == 1, 'launched without a restore identifier'


def launches(daemon, count):
    """The app was launched for its manager, and told in the order of Apple's system."""
    daemon.wait_for('it is launched', lambda: len(told(daemon, ONE, 'began')) > count and daemon.process_of(ONE))
    process = daemon.process_of(ONE)
    daemon.wait_for('it is connected', lambda: told(daemon, ONE, 'connected', process))
    lines = told(daemon, ONE, process=process)
    # The restored scan may hear the device before the controller connects to it.
    order = [line['event'] for line in lines if line['event'] not in ('log', 'discovered')][:4]
    assert order == ['began', 'willRestore', 'state', 'connected'], order
    assert lines[0]['launch'] == ['r'] and len(lines[1]['peripherals']) == 1, lines[:2]


def test_five_programs():
    """five programs in both roles at once: Core Bluetooth's relay, two apps in Python and two of bletool; a central finds all that is served"""
    apps = [{'BundleIdentifier': 'org.example.relay', 'command': [os.path.join(EXAMPLES, 'heart-rate-relay')],
             'UIBackgroundModes': CENTRAL + ['bluetooth-peripheral']},
            actor('org.example.follower', {'scan': ['180d'], 'connect': {}, 'subscribe': '2a37'}),
            actor('org.example.door', {'publish': [['180f', ['2a19', 2, 1]]], 'advertise': 'Door', 'services': ['180f']})]
    profile = {'services': [{'uuid': 'FFF0', 'characteristics': [
        {'uuid': 'FFF1', 'properties': ['read'], 'permissions': ['readable'], 'value': '6c616d70'}]}]}
    with Air(3) as air, Daemon(adapter=air.endpoint, apps=apps) as daemon:
        air.come()
        lamp = air.lab.start('serve', '--profile', air.lab.profile(profile), '--name', 'Lamp', via=f'bled:{daemon.path}')
        launch(daemon, *(app['BundleIdentifier'] for app in apps))
        subscriber = air.lab.start('gatt', 'Sensor', 'subscribe', '2A37', via=f'bled:{daemon.path}')
        daemon.wait_told('beat', 3)
        wait_for(daemon, 'org.example.follower', 'value', 3)
        subscriber.wait_for(lambda line: line.get('value') == '0040', 'values of bletool', count=3)
        wait_for(daemon, 'org.example.door', 'advertising')
        lamp.wait_event('advertising')
        # By the service that the door advertises.
        found = air.lab.run('lescan', '--service', '180F', '--count', '1', '--duration', '60', via=air.lab.endpoints[2])
        address = found.events('discovered')[0]['address']
        read = air.lab.run('gatt', address, 'read', '2A19', 'FFF1', '7C7D0002-5B0E-4C63-9C0B-5C2D0D3C9A11',
                           via=air.lab.endpoints[2])
        values = [line.get('value') for line in read.lines]
        assert '68657265' in values and '6c616d70' in values and any((value or '').startswith('00') for value in values), values
        holders = [link for link in status(daemon)[1] if len(link.holders) >= 3]
        assert holders, status(daemon)[1]
